# SPDX-License-Identifier: Apache-2.0
"""Holds the memory that qm-bench predicts against what a GPU really loses.

For the models of the catalog, in the settings named: the largest micro-batch
that `plan` finds for the free memory of the GPU runs, the memory used while it
runs is within 2 % of the prediction, and twice the micro-batch is refused with
exit status 3.  Where none fits, one of 1 has to be refused.  Nothing else may
use the GPU meanwhile.
"""

import json
import subprocess
import threading
import time

import common

# Exit status where a GPU has too little memory.
FULL = 3


class Watch:
    """The most memory in use, in bytes, as nvidia-smi sees it."""

    def __init__(self, gpu):
        self.process = subprocess.Popen(
            ['nvidia-smi', '--query-gpu=memory.used', '--id=' + gpu,
             '--format=csv,noheader,nounits', '--loop-ms=50'],
            stdout=subprocess.PIPE, text=True)
        self.now = self.most = None
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        while self.now is None and self.process.poll() is None:
            time.sleep(0.05)

    def read(self):
        for line in self.process.stdout:
            self.now = int(line) << 20
            self.most = max(self.most or 0, self.now)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def check(model, settings, memory, watch, options):
    """Returns how many checks failed, and of how many."""
    words = ('--model', model, '--settings', settings)
    status, lines, message = common.bench(
        options.bench, 'plan', *words, '--memory', memory, '--architecture',
        options.architecture, '--json')
    head = f'{model:14} {settings:10}'
    if status == FULL:
        refused, _, _ = common.bench(
            options.bench, 'run', *words, '--micro-batch', 1, '--repeat', 1,
            '--device', options.device, '--json')
        print(f'{head} {"ok    " if refused == FULL else "FAILED"} does not '
              f'fit: {message[-120:]}; micro-batch 1: exit status {refused}',
              flush=True)
        return int(refused != FULL), 1
    if status != 0:
        print(f'{head} FAILED plan: {status} {message}', flush=True)
        return 3, 3
    size = lines[-1]['micro_batch']
    predicted = lines[-1]['memory_bytes']['total']
    time.sleep(0.2)
    before = watch.most = watch.now
    begin = time.monotonic()
    status, lines, message = common.bench(
        options.bench, 'run', *words, '--micro-batch', size, '--repeat', 1,
        '--device', options.device, '--json')
    if status != 0:
        print(f'{head} FAILED micro-batch {size} does not run: {status} '
              f'{message}', flush=True)
        return 3, 3
    used, seconds = watch.most - before, time.monotonic() - begin
    near = abs(predicted / used - 1) <= 0.02
    failures = not near
    reported = lines[-1].get('memory_use', {}).get('used_bytes')
    status, batch = FULL, common.catalog(model)[1]['batch_size']
    note = 'the whole batch'
    if 2 * size <= batch:
        status, _, note = common.bench(
            options.bench, 'run', *words, '--micro-batch', 2 * size,
            '--repeat', 1, '--device', options.device, '--json')
    failures += status != FULL
    print(f'{head} {"FAILED" if failures else "ok    "} micro-batch {size:4} '
          f'predicted {predicted / 2**30:8.3f} GiB, used {used / 2**30:8.3f} '
          f'({100 * (predicted / used - 1):+.2f} %)'
          + (f', reported {reported / 2**30:.3f}' if reported else '')
          + f', {seconds:.0f} s; twice: exit status {status}, {note[-120:]}',
          flush=True)
    return failures, 3


def main():
    parser = common.arguments(__doc__.splitlines()[0], architecture=90,
                              models=','.join(common.MODELS),
                              settings='naive,free-lunch')
    options = parser.parse_args()
    _, lines, _ = common.bench(options.bench, 'devices', '--json')
    device = next(line for line in lines if line['id'] == options.device)
    print(json.dumps(device), flush=True)
    watch = Watch(options.device.split(':')[1])
    failures = checks = 0
    try:
        for model in options.models.split(','):
            for settings in options.settings.split(','):
                failed, of = check(model, settings, device['free_bytes'],
                                   watch, options)
                failures += failed
                checks += of
    finally:
        watch.stop()
    common.conclude(failures, checks)


main()
