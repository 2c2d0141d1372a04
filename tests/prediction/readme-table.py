# SPDX-License-Identifier: Apache-2.0
"""readme-table.py BENCH DATA README [check]: makes the table of measured and
predicted days in README anew, between its marks, from the results in
DATA/measurements and what BENCH predicts without what such results tell of
their models; or says whether it is what it would be."""

import csv
import json
import os
import re
import subprocess
import sys

MODELS = ('pythia-160m', 'pythia-410m', 'pythia-1b', 'pythia-2.8b',
          'pythia-6.9b', 'roberta-large', 'mamba-2.8b', 'convnext-xlarge',
          'vit-large', 'bert-large-phase1', 'bert-large-phase2', 'gpt2-124m',
          'llama-3.2-1b', 'qwen3-0.6b', 'olmo-2-1b', 'olmoe-1b-7b',
          'smollm3-3b', 'modernbert-large', 'esm-2-650m',
          'dinov2-large-supervised', 'dinov3-large-supervised')
H100, H200 = 'h100-80gb-sxm', 'h200-141gb-sxm'
BEGIN, END = '<!-- made: days -->\n', '<!-- end -->\n'

BENCH, DATA, README = sys.argv[1:4]


def bench(*arguments):
    return [json.loads(line) for line in subprocess.run(
        [BENCH, *arguments, '--json'], check=True, stdout=subprocess.PIPE,
        text=True, env={**os.environ, 'QUARTERMASTER_DATA_DIR': DATA}
    ).stdout.splitlines()]


def measured():
    """The fastest of each place, by model, GPU, engine, and whether naive."""
    folder, best = os.path.join(DATA, 'measurements'), {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.jsonl'):
            continue
        for line in bench('results', os.path.join(folder, name)):
            if line['status'] != 'measured' or line['gpus'] != 1:
                continue
            place = (line['model'], line['gpu'], line['engine'],
                     line['settings'] == 'naive')
            if place not in best or line['days'] < best[place]['days']:
                best[place] = line
    return best


def published():
    with open(os.path.join(DATA, 'measurements', 'published.csv'),
              encoding='utf-8') as file:
        return {row['model']: row['days'] or row['feasibility']
                for row in csv.DictReader(file)
                if (row['gpu'], row['gpus'], row['settings'])
                == (H100, '1', 'optimal')}


def days(line):
    if line is None or 'days' not in line:
        return ''
    if line.get('residual'):
        line = {**line, 'days': line['days'] / line['residual']['factor']}
    number = f"{line['days']:.3g}" if line['days'] < 1000 \
        else f"{line['days']:.0f}"
    return number + ('*' if line['offloading'] else '')


def cell(known, predicted):
    own = days(known)
    return f'{own} ({days(predicted)})' if own else f'({days(predicted)})'


def table():
    known, paper = measured(), published()
    yield '| model | published, H100 | PyTorch, H100 | PyTorch, H200 | ' \
          'qm-bench, H100 | qm-bench, H200 | its MFU | naive, H200 |'
    yield '| --- ' * 8 + '|'
    for model in MODELS:
        told = {(line['gpu_id'], line['level']): line for line in bench(
            'predict', '--model', model, '--gpu', f'{H100},{H200}',
            '--level', 'tuned,engine')}
        ours = known[model, H200, 'quartermaster', False]
        yield '| ' + ' | '.join((
            model, paper.get(model, ''),
            *(cell(known.get((model, gpu, engine, False)), told[gpu, level])
              for engine, level in (('pytorch', 'tuned'),
                                    ('quartermaster', 'engine'))
              for gpu in (H100, H200)),
            f"{100 * ours['mfu']:.0f} %",
            days(known.get((model, H200, 'quartermaster', True)))
            or 'infeasible')) + ' |'


def main():
    with open(README, encoding='utf-8') as file:
        text = file.read()
    made = '\n'.join(table()) + '\n'
    is_new = re.sub(re.escape(BEGIN) + '.*?' + re.escape(END),
                    lambda match: BEGIN + made + END, text, flags=re.DOTALL)
    if BEGIN not in text:
        sys.exit(f'{README} has no mark {BEGIN.strip()}')
    if is_new == text:
        return
    if sys.argv[4:] == ['check']:
        sys.exit(f'{README}: the table of days is to be made anew:\n{made}')
    with open(README, 'w', encoding='utf-8') as file:
        file.write(is_new)


main()
