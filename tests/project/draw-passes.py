# SPDX-License-Identifier: Apache-2.0
"""draw-passes.py BENCH FILE [check]: draws the graph of a small model as it is
before the passes of a plan and after each of those that change it, as BENCH says
that it is; or says whether FILE is that drawing."""

import difflib
import json
import os
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

BENCH, FILE = sys.argv[1:3]

MODEL = {'model_type': 'gpt_neox', 'vocab_size': 256, 'hidden_size': 32,
         'num_hidden_layers': 1, 'num_attention_heads': 4,
         'intermediate_size': 64, 'hidden_act': 'gelu',
         'max_position_embeddings': 32}
RECIPE = {'batch_size': 8, 'steps': 100, 'sequence_length': 15,
          'precision': 'bf16', 'optimizer': 'adamw', 'learning_rate': 3e-3,
          'beta1': 0.9, 'beta2': 0.95, 'epsilon': 1e-8, 'weight_decay': 0.01,
          'max_grad_norm': 1.0}
SETTINGS = ('--micro-batch', '2', '--architecture', '90', '--checkpoint')

BEFORE = 'none'
TITLES = {BEFORE: 'as the model has it'}

# Points.
ROW, BOX, WIDTH, COLUMN, TOP, MARGIN = 21, 17, 150, 228, 52, 12
COLOURS = {'forward': '#d7e6f5', 'backward': '#f8dcc4',
           'recompute': '#e3d5f0', 'last': '#dddddd', 'update': '#d5ecd2'}


def stage(folder, after):
    """The line that BENCH prints for a plan as it is after a pass."""
    paths = []
    for name, value in (('config', MODEL), ('recipe', RECIPE)):
        paths += [f'--{name}', os.path.join(folder, f'{name}.json')]
        with open(paths[-1], 'w', encoding='utf-8') as file:
            json.dump(value, file)
    return json.loads(subprocess.run(
        [BENCH, 'plan', *paths, *SETTINGS, '--json', '--after', after],
        check=True, stdout=subprocess.PIPE, text=True).stdout)


def stages():
    """What a pass left and its name, of those that changed something."""
    with tempfile.TemporaryDirectory() as folder:
        found = [(BEFORE, stage(folder, BEFORE)['operators'])]
        # The last that every plan has names those before it.
        for name in stage(folder, 'update')['passes']:
            operators = stage(folder, name)['operators']
            if words(operators) != words(found[-1][1]):
                found.append((name, operators))
    return found


def words(operators):
    return [(one['phase'], one['operator'], *one['inputs'], *one['outputs'])
            for one in operators]


def edges(operators):
    """Pairs of an operator that writes and one that reads the same memory, if
    there is no other writer between them."""
    wrote = {}
    for number, one in enumerate(operators):
        for owner in sorted({owner for owner in one['reads']
                             if owner in wrote}):
            yield wrote[owner], number
        for owner in one['writes']:
            if owner is not None:
                wrote[owner] = number


def new_ones(before, after):
    """Which of the operators after a pass were not there before it."""
    matcher = difflib.SequenceMatcher(None, words(before), words(after), False)
    kept = {b + i for _, b, n in matcher.get_matching_blocks()
            for i in range(n)}
    return set(range(len(after))) - kept


def column(x, name, operators, new):
    yield (f'<text x="{x}" y="{TOP - 22}" class="title">'
           f'{escape(TITLES.get(name, name))}</text>')
    yield (f'<text x="{x}" y="{TOP - 8}" class="note">'
           f'{len(operators)} operators</text>')
    for start, end in edges(operators):
        right = x + WIDTH
        high, low = (TOP + n * ROW + BOX / 2 for n in (start, end))
        reach = right + min(6 + 2.2 * (end - start), COLUMN - WIDTH - 8)
        yield (f'<path d="M{right} {high:g}C{reach:.1f} {high:g} {reach:.1f} '
               f'{low:g} {right} {low:g}"/>')
    for number, one in enumerate(operators):
        y = TOP + number * ROW
        mark = ' class="new"' if number in new else ''
        yield (f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{BOX}" rx="3" '
               f'fill="{COLOURS[one["phase"]]}"{mark}/>')
        yield (f'<text x="{x + 5}" y="{y + 12.5}">'
               f'{escape(one["operator"])}</text>')


def draw(found):
    width = len(found) * COLUMN + 2 * MARGIN - 8
    height = (TOP + max(len(operators) for _, operators in found) * ROW
              + MARGIN + 24)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        '<title>The graph of a model with one layer before the passes of a '
        'plan, and after each that changes it</title>',
        '<style>path{fill:none;stroke:#777;stroke-width:.9}'
        'rect{stroke:#999;stroke-width:.6}'
        'rect.new{stroke:#b00020;stroke-width:1.8}'
        '.title{font-size:13px;font-weight:bold}.note{fill:#555}</style>',
        f'<rect width="{width}" height="{height}" fill="#ffffff" '
        'stroke="none"/>']
    before = found[0][1]
    for number, (name, operators) in enumerate(found):
        lines += column(MARGIN + number * COLUMN, name, operators,
                        new_ones(before, operators))
        before = operators
    x, y = MARGIN, height - MARGIN
    for phase in ('forward', 'backward', 'recompute', 'update'):
        lines.append(f'<rect x="{x}" y="{y - 11}" width="14" height="14" '
                     f'rx="3" fill="{COLOURS[phase]}"/>')
        lines.append(f'<text x="{x + 20}" y="{y}">{phase}</text>')
        x += 100
    lines.append(f'<rect x="{x}" y="{y - 11}" width="14" height="14" rx="3" '
                 'fill="none" class="new"/>')
    lines.append(f'<text x="{x + 20}" y="{y}">changed by this pass</text>')
    return '\n'.join(lines + ['</svg>', ''])


drawing = draw(stages())
if sys.argv[3:] == ['check']:
    with open(FILE, encoding='utf-8') as file:
        if file.read() != drawing:
            sys.exit(f'{FILE} is not what {sys.argv[0]} {BENCH} {FILE} makes')
else:
    with open(FILE, 'w', encoding='utf-8') as file:
        file.write(drawing)
