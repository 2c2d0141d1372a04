# SPDX-License-Identifier: Apache-2.0
"""ranks-table.py BENCH DATA PAGE [check]: makes the table of several GPUs in
PAGE anew, between its marks: what was measured on them (in DATA/measurements,
of more than one GPU) beside what BENCH predicts from a plan with its exchange,
to which no constant of exchange was fitted, and without what these rates tell
of their models.  With check it says whether it is what it would be, and whether
what is predicted is as near as it was."""

import csv
import json
import os
import re
import subprocess
import sys

BEGIN, END = '<!-- table: ranks -->\n', '<!-- end -->\n'

# Of each software: half of the errors, and the worst, in percent.
BARS = {'engine': (3, 8), 'tuned': (12, 25)}

BENCH, DATA, PAGE = sys.argv[1:4]


def bench(*arguments):
    answer = subprocess.run(
        [BENCH, *arguments, '--json'], check=True, stdout=subprocess.PIPE,
        text=True, env={**os.environ, 'QUARTERMASTER_DATA_DIR': DATA})
    return [json.loads(line) for line in answer.stdout.splitlines()]


def measured():
    """What ran on several GPUs, at its own micro-batch."""
    folder = os.path.join(DATA, 'measurements')
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.jsonl'):
            continue
        for line in bench('results', os.path.join(folder, name)):
            if line['status'] == 'measured' and line['gpus'] > 1 \
                    and not (line['checkpointing'] or line['deterministic']):
                yield (line['engine'], line['model'], line['gpu'],
                       line['gpus'], line['sharding'], line['offloading'],
                       line['micro_batch'], line['step']['mean_s'])
    with open(os.path.join(folder, 'pytorch.csv'), encoding='utf-8') as file:
        for row in csv.DictReader(file):
            if row['provenance'] == 'measured' and int(row['gpus']) > 1:
                yield ('pytorch', row['model'], row['gpu'], int(row['gpus']),
                       row['sharding'], False, int(row['micro_batch_size']),
                       86400 * float(row['days']) / steps_of(row['model']))


def steps_of(model):
    with open(os.path.join(DATA, 'models', f'{model}.json'),
              encoding='utf-8') as file:
        return json.load(file)['recipe']['steps']


def predicted(engine, model, gpu, gpus, sharding, offloading, micro_batch):
    told, = bench('predict', '--model', model, '--gpu', gpu, '--gpus',
                  str(gpus), '--level',
                  'engine' if engine == 'quartermaster' else 'tuned',
                  '--offload' if offloading else '--sharding', sharding,
                  '--micro-batch', str(micro_batch))
    known = told['residual']['factor'] if told['residual'] else 1
    return {**told, 'step_s': told['step_s'] / known,
            'exchange_s': told['exchange_s'] / known}


def table():
    errors = {'engine': [], 'tuned': []}
    yield '| model | GPUs | software | way | micro-batch | step, s | ' \
          'predicted | of it exchange, ms | time off, % |'
    yield '| --- ' * 9 + '|'
    for *place, step in sorted(measured(), key=lambda line: (
            line[3], line[0] != 'quartermaster', line[1], line[4:7])):
        told = predicted(*place)
        engine, model, gpu, gpus, sharding, offloading, micro_batch = place
        off = 100 * (told['step_s'] / step - 1)
        errors[told['level']].append(abs(off))
        yield (f'| {model} | {gpus} x {gpu} | {told["level"]} | {sharding}'
               f'{", offloaded" if offloading else ""} | {micro_batch} '
               f'| {step:.4g} | {told["step_s"]:.4g} '
               f'| {1000 * told["exchange_s"]:.3g} | {off:+.1f} |')
    for level, sizes in errors.items():
        sizes.sort()
        half, worst = sizes[(len(sizes) - 1) // 2], sizes[-1]
        yield f'| {len(sizes)} of {level}: half, worst | | | | | | | ' \
              f'| {half:.1f}, {worst:.1f} |'
        if half > BARS[level][0] or worst > BARS[level][1]:
            sys.exit(f'several GPUs, {level}: half of the errors are within '
                     f'{half:.1f} %, the worst is {worst:.1f}')


def main():
    with open(PAGE, encoding='utf-8') as file:
        text = file.read()
    if BEGIN not in text:
        sys.exit(f'{PAGE} has no mark {BEGIN.strip()}')
    made = '\n'.join(table()) + '\n'
    is_new = re.sub(re.escape(BEGIN) + '.*?' + re.escape(END),
                    lambda match: BEGIN + made + END, text, flags=re.DOTALL)
    if is_new == text:
        return
    if sys.argv[4:] == ['check']:
        sys.exit(f'{PAGE}: the table of several GPUs is to be made anew:\n'
                 f'{made}')
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write(is_new)


main()
