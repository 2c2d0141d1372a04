# SPDX-License-Identifier: Apache-2.0
"""readme-table.py BENCH QUARTERMASTER DATA PAGE README [check]: makes anew what
README says of predictions; or says whether it is what it would be:

- the table of measured and predicted days, between its marks, from the results
  in DATA/measurements and what BENCH predicts without what such results tell of
  their models;
- which published times the audit of QUARTERMASTER finds impossible and
  doubtful, between its marks;
- how large errors are, in the sentence that does, from the table of PAGE."""

import csv
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

MODELS = ('pythia-160m', 'pythia-410m', 'pythia-1b', 'pythia-2.8b',
          'pythia-6.9b', 'roberta-large', 'mamba-2.8b', 'convnext-xlarge',
          'vit-large', 'bert-large-phase1', 'bert-large-phase2', 'gpt2-124m',
          'llama-3.2-1b', 'qwen3-0.6b', 'olmo-2-1b', 'olmoe-1b-7b',
          'smollm3-3b', 'modernbert-large', 'esm-2-650m',
          'dinov2-large-supervised', 'dinov3-large-supervised')
H100, H200 = 'h100-80gb-sxm', 'h200-141gb-sxm'
END = '<!-- end -->\n'
ERRORS = re.compile(r'(know are within )\S+( %, nine of ten within )\S+'
                    r'( %, the worst is )\S+( % away)')

BENCH, QUARTERMASTER, DATA, PAGE, README = sys.argv[1:6]


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
    number = f"{line['days']:.3g}" if line['days'] < 999.5 \
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


def catalog(*what):
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(subprocess.run(
            [QUARTERMASTER, 'catalog', *what, '--json'], check=True,
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, 'QUARTERMASTER_DATA_DIR': DATA,
                 'XDG_DATA_HOME': folder}).stdout)[what[0]]


def listed(words):
    return ' and '.join(filter(None, (', '.join(words[:-1]), *words[-1:])))


def places(times):
    """"Pythia (1B) on 1 and 2 A100 and on 4 RTX 3090, ViT (large) on ...": in the
    order of the catalog."""
    names = {model['id']: model['name'] for model in catalog('models')}
    short = {gpu['id']: re.sub('^GeForce | (SXM|PCIe|NVL).*$|^RTX (?=A)', '',
                               gpu['name']) for gpu in catalog('gpus')}
    found = {}
    for time in times:
        found.setdefault(time['model'], {}).setdefault(
            time['gpu'], []).append(str(time['gpus']))
    return ', '.join(
        f'{names[model]} ' + ' and '.join(
            f'on {listed(numbers)} {short[gpu]}'
            for gpu, numbers in gpus.items())
        for model, gpus in found.items())


def audit():
    """What the audit says of the published times with the best methods."""
    times = [time for time in catalog('measurements')
             if time['provenance'] == 'published'
             and time['settings'] == 'optimal' and time['days'] is not None]
    impossible, doubtful = ([time for time in times if time['verdict'] == word]
                            for word in ('impossible', 'doubtful'))
    return textwrap.fill(
        f'Of the {len(times)} published times with the best methods '
        f'{len(impossible)} are impossible: {places(impossible)}; they stay in '
        'view, marked, but are not recommended. '
        f'{len(doubtful)} are doubtful: {places(doubtful)}.', 88,
        break_on_hyphens=False)


def errors():
    """Of half the rates of tuned and cuda, of nine of ten, and the worst, without
    their source."""
    with open(PAGE, encoding='utf-8') as file:
        row, = re.findall(r'^\| tuned and cuda \(.*$', file.read(), re.MULTILINE)
    return row.split('|')[3].strip().split(', ')


def put(text, mark, made):
    begin = f'<!-- made: {mark} -->\n'
    if begin not in text:
        sys.exit(f'{README} has no mark {begin.strip()}')
    return re.sub(re.escape(begin) + '.*?' + re.escape(END),
                  lambda match: begin + made + '\n' + END, text,
                  flags=re.DOTALL)


def main():
    with open(README, encoding='utf-8') as file:
        text = file.read()
    half, most, worst = errors()
    is_new = put(text, 'days', '\n'.join(table()))
    is_new = put(is_new, 'audit', audit())
    is_new, told = ERRORS.subn(rf'\g<1>{half}\g<2>{most}\g<3>{worst}\g<4>',
                               is_new)
    if told != 1:
        sys.exit(f'{README} does not say once how large errors are')
    if is_new == text:
        return
    if sys.argv[6:] == ['check']:
        sys.stdout.writelines(difflib.unified_diff(
            text.splitlines(True), is_new.splitlines(True)))
        sys.exit(f'{README} is to be made anew')
    with open(README, 'w', encoding='utf-8') as file:
        file.write(is_new)


main()
