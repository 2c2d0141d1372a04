# SPDX-License-Identifier: Apache-2.0
"""Times qm-bench and compiled PyTorch side by side: one forward and backward
pass of the models of the catalog at the same micro-batch, on the same GPU, in
turns: ours, PyTorch, ours again.

All models are compiled at the same time, while nothing is timed; the largest
comes last, when no other keeps memory of the GPU.  With --devices N the models
are shared out over N GPUs of the machine, each with one at a time.  Prints a
table in Markdown and fails where a bar is missed.

With --peer, another program of PyTorch is run instead, as PROGRAM MODEL free
MICRO_BATCH, one model after the other; it prints JSON lines with `mbs` and
`fwdbwd_ms`.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

import common

PEER_NAMES = {'roberta-large': 'roberta', 'vit-large': 'vit',
              'convnext-xlarge': 'convnext'}


class Compiled:
    """torch-pass.py, compiled and waiting."""

    def __init__(self, model, gpu, options):
        self.model, self.options = model, options
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name('torch-pass.py'),
             model, str(common.SIZES[model][0]), '--wait', '--passes'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open(options.logs / f'torch-{model}.log', 'wb'), text=True,
            env={**os.environ, 'TORCHINDUCTOR_COMPILE_THREADS': '4',
                 **({'CUDA_VISIBLE_DEVICES': str(gpu)}
                    if options.devices > 1 else {})})

    def ready(self):
        return json.loads(self.process.stdout.readline() or '{}')

    def measure(self):
        try:
            out, _ = self.process.communicate('go\n')
            return json.loads(out.splitlines()[-1])['pass_ms']
        except (IndexError, ValueError, BrokenPipeError):
            return None

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Peer:
    """A program that measures sizes up to the wanted one."""

    def __init__(self, model, _, options):
        self.model, self.options = model, options

    def ready(self):
        return {'seconds': 0}

    def measure(self):
        size = common.SIZES[self.model][0]
        result = subprocess.run(
            [sys.executable, self.options.peer,
             PEER_NAMES.get(self.model, self.model), 'free', str(size)],
            capture_output=True, text=True, check=False)
        rows = [json.loads(line) for line in result.stdout.splitlines()
                if line.startswith('{')]
        return next((row['fwdbwd_ms'] for row in rows
                     if row.get('mbs') == size and 'fwdbwd_ms' in row), None)

    def stop(self):
        pass


def ours(model, gpu, options):
    """Milliseconds of a pass and MFU, or None and a message."""
    status, lines, message = common.bench(
        options.bench, 'run', '--model', model, '--micro-batch',
        common.SIZES[model][0], '--repeat', options.repeat, '--device',
        options.device if options.devices == 1 else f'cuda:{gpu}', '--json')
    if status != 0:
        return None, message
    with open(options.logs / 'ours.jsonl', 'a', encoding='utf-8') as file:
        file.write(json.dumps(lines[-1]) + '\n')
    return lines[-1]['pass']['mean_s'] * 1e3, lines[-1]['mfu']


def measure(model, gpu, peer, options):
    """A row of the table."""
    size, bar = common.SIZES[model]
    before, note = ours(model, gpu, options)
    torch = peer.measure()
    after, note = ours(model, gpu, options)
    if before is None or after is None:
        return dict(model=model, good=False,
                    text=f'| {model} | {size} | failed: {note} | {torch} | | '
                         f'{bar:.2f} | |')
    mean = (before + after) / 2
    mfu = f'{100 * note:.1f} %' if note is not None else ''
    if torch is None:  # more memory than there is, with whole logits
        return dict(model=model, good=False,
                    text=f'| {model} | {size} | {mean:.1f} | failed | | '
                         f'{bar:.2f} | {mfu} |')
    ratio = mean / torch
    return dict(
        model=model, good=ratio <= bar, ours_ms=[before, after],
        torch_ms=torch, ratio=ratio, bar=bar,
        text=f'| {model} | {size} | {mean:.1f} | {torch:.1f} | {ratio:.3f} | '
             f'{bar:.2f} | {mfu} |')


def main():
    parser = common.arguments(__doc__.splitlines()[0], repeat=2, peer='',
                              models=','.join(common.MODELS), logs='.',
                              jobs=len(common.MODELS), devices=1)
    options = parser.parse_args()
    options.logs = pathlib.Path(options.logs)
    if options.peer and options.devices > 1:
        parser.error('--peer runs on one GPU')
    models = options.models.split(',')
    begin = time.monotonic()
    kind = Peer if options.peer else Compiled
    # The largest last.
    order = sorted(models, key=lambda model: model == 'pythia-6.9b')
    gpus = {model: i % options.devices for i, model in enumerate(order)}
    peers, rows = {}, {}

    def measure_all(gpu):
        for model in order:
            if gpus[model] != gpu:
                continue
            rows[model] = measure(model, gpu, peers[model], options)
            print(f'{rows[model]["text"]} {time.monotonic() - begin:.0f} s',
                  file=sys.stderr, flush=True)

    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            def prepare(model):
                peers[model] = kind(model, gpus[model], options)
                return peers[model].ready()
            for model, ready in zip(models, pool.map(prepare, models)):
                print(f'{model}: ready {ready}, '
                      f'{time.monotonic() - begin:.0f} s', file=sys.stderr,
                      flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.devices) as pool:
            list(pool.map(measure_all, range(options.devices)))
    finally:
        for peer in peers.values():
            peer.stop()
    print('| model | micro-batch | ours, ms | PyTorch, ms | ours / PyTorch | '
          'aim | MFU |\n| --- | --- | --- | --- | --- | --- | --- |')
    for model in models:
        print(rows[model]['text'])
    (options.logs / 'side-by-side.json').write_text(
        json.dumps(list(rows.values()), indent=1) + '\n')
    common.conclude(sum(not row['good'] for row in rows.values()), len(rows))


main()
