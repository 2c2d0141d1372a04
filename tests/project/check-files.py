# SPDX-License-Identifier: Apache-2.0
"""What holds for every file of the project."""

import os
import re

import project

BYTES_MAX = 1 << 20
LINES_MAX = 800

SOURCES = ('.c', '.h', '.cu', '.cuh')
BINARIES = ('.png', '.pdf', '.gz', '.ods', '.safetensors', '.xlsx')
CORPUS = 'tests/fuzz/corpus/'
SPDX = 'SPDX-License-Identifier: Apache-2.0'
OPEN_ENDS = re.compile(r'\b(TO' r'DO|FIX' r'ME|X' r'XX)\b')
HOMES = re.compile(r'(?<![\w.])/(home|root|Users)/\w')
# A root's own folder is no more than a word, as /clone in a container's.
OWN_PLACE = (project.ROOT if project.ROOT.count('/') > 1
             else f'{project.ROOT}/tests/project')


def problems_of(name):
    size = os.path.getsize(os.path.join(project.ROOT, name))
    if size > BYTES_MAX:
        yield f'{name}: {size} bytes are too many; the limit is {BYTES_MAX}'
    if name.endswith(BINARIES) or name.startswith(CORPUS):
        return
    try:
        text = project.read(name)
    except UnicodeDecodeError:
        yield f'{name}: is not UTF-8'
        return
    lines = text.split('\n')
    if text and lines[-1]:
        yield f'{name}: the last line does not end'
    if '\r' in text:
        yield f'{name}: has carriage returns'
    if name.endswith(SOURCES):
        if SPDX not in lines[0]:
            yield f'{name}:1: does not start with "{SPDX}"'
        if len(lines) - 1 > LINES_MAX:
            yield f'{name}: {len(lines) - 1} lines; {LINES_MAX} are enough'
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and not name.endswith(('.csv', '.po')):
            yield f'{name}:{number}: white space at the end'
        if OWN_PLACE in line or (HOMES.search(line)
                                    and not name.startswith('tests/')):
            yield f'{name}:{number}: a path of one machine'
        if name.endswith(SOURCES) and OPEN_ENDS.search(line):
            yield f'{name}:{number}: something left open'


names = project.files()
project.conclude([problem for name in names for problem in problems_of(name)],
                 names)
