# SPDX-License-Identifier: Apache-2.0
"""ranks-table.py BENCH DATA PAGE [check]: makes the table of several GPUs in
PAGE anew, between its marks: what was measured on them (in DATA/measurements,
of more than one GPU) beside what BENCH predicts from a plan with its exchange,
to which no constant of exchange was fitted, and without what these rates tell
of their models: of each model and count the fastest, and the errors of all.
With check it says whether it is what it would be, and whether what is predicted
is as near as it was."""

import concurrent.futures
import csv
import json
import os
import re
import subprocess
import sys

BEGIN, END = '<!-- table: ranks -->\n', '<!-- end -->\n'

# Of each software: half of the errors, and the worst, in percent.
BARS = {'engine': (3.5, 11), 'tuned': (12, 25)}

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


def half_and_worst(lines):
    """Of the errors, without their signs."""
    sizes = sorted(abs(off) for *_, off in lines)
    return sizes[(len(sizes) - 1) // 2], sizes[-1]


def errors_of(name, lines):
    """A row of the table."""
    half, worst = half_and_worst(lines)
    return (f'| {len(lines)} of {name}: half, worst | | | | | | | '
            f'| {half:.1f}, {worst:.1f} |')


def row(place, step, told, off):
    engine, model, gpu, gpus, sharding, offloading, micro_batch = place
    return (f'| {model} | {gpus} x {gpu} | {told["level"]} | {sharding}'
            f'{", offloaded" if offloading else ""} | {micro_batch} '
            f'| {step:.4g} | {told["step_s"]:.4g} '
            f'| {1000 * told["exchange_s"]:.3g} | {off:+.1f} |')


def compared():
    """Each place, its step, what is predicted, and how much that is off, in
    percent."""
    lines = sorted(measured(), key=lambda line: (
        line[3], line[0] != 'quartermaster', line[1], line[4:7]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda line: predicted(*line[:-1]), lines)
    return [(line[:-1], line[-1], told, 100 * (told['step_s'] / line[-1] - 1))
            for line, told in zip(lines, answers)]


def check(level, lines):
    half, worst = half_and_worst(lines)
    if half > BARS[level][0] or worst > BARS[level][1]:
        sys.exit(f'several GPUs, {level}: half of the errors are within '
                 f'{half:.1f} %, the worst is {worst:.1f}')


def table():
    lines = compared()
    yield '| model | GPUs | software | way | micro-batch | step, s | ' \
          'predicted | of it exchange, ms | time off, % |'
    yield '| --- ' * 9 + '|'
    fastest = {}
    for line in lines:
        (engine, model, gpu, gpus, *_), step = line[:2]
        found = fastest.setdefault((engine, model, gpu, gpus), line)
        if step < found[1]:
            fastest[engine, model, gpu, gpus] = line
    for line in fastest.values():
        yield row(*line)
    for level in BARS:
        some = [line for line in lines if line[2]['level'] == level]
        check(level, some)
        for gpus in sorted({line[0][3] for line in some}):
            yield errors_of(f'{level} on {gpus}', [
                line for line in some if line[0][3] == gpus])
    ours = [line for line in lines if line[2]['level'] == 'engine']
    for way in sorted({line[0][4:6] for line in ours},
                      key=lambda way: (way[1], way[0])):
        yield errors_of(f'engine, {way[0]}{", offloaded" * way[1]}', [
            line for line in ours if line[0][4:6] == way])


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
