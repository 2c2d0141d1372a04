# SPDX-License-Identifier: Apache-2.0
"""check-readme.py PROGRAM BENCHMARK: what the README files show is so.

The commands of ```console blocks exist; where output follows a command of one of
the programs, it prints just that ("…" stands for lines left out).  Files of
```csv and ```json blocks, named in the line above, are read without complaint."""

import fnmatch
import os
import re
import shlex
import subprocess
import sys
import tempfile

import project

DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md']
BLOCK = re.compile(r'(?:`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$',
                   re.MULTILINE | re.DOTALL)

PROGRAM, BENCHMARK = map(os.path.abspath, sys.argv[1:3])
# Without output they are not tried: they need a GPU, or files.
NOT_TRIED = 'run', 'check', 'train', 'search', 'framework', 'share'

problems = []


def run(command, home):
    environment = {**os.environ, 'LC_ALL': 'C.UTF-8', 'COLUMNS': '80',
                   'XDG_DATA_HOME': home,
                   # The day that the answers shown are of: prices grow old.
                   'SOURCE_DATE_EPOCH': '1795392000'}
    return subprocess.run(command, cwd=home, env=environment, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)


def same(shown, printed):
    pattern = '\n'.join('*' if line.strip() == '…' else
                        re.sub(r'([*?\[])', r'[\1]', line)
                        for line in shown)
    # Pages have no spaces at which no line may end.
    printed = printed.rstrip('\n').replace('\u00a0', ' ')
    return fnmatch.fnmatchcase(printed, pattern)


def check_command(document, line, shown, home):
    words = shlex.split(line)
    program = BENCHMARK if words[0] == 'qm-bench' else PROGRAM
    if words[0] == './dev':
        usage = subprocess.run([os.path.join(project.ROOT, 'dev'), 'help'],
                               check=True, stdout=subprocess.PIPE, text=True)
        if not re.search(rf'^  {words[1]}\b', usage.stdout, re.MULTILINE):
            problems.append(f'{document}: ./dev has no {words[1]}')
        words = words[1:] if words[1] == 'run' else []
    elif words[0] not in ('quartermaster', 'qm-bench'):
        return
    if len(words) < 2:
        return
    if program == BENCHMARK and words[1] in NOT_TRIED:
        words = words[:2] + ['--help']
    result = run([program, *words[1:]], home)
    if result.returncode == 2:
        problems.append(f'{document}: {line}: {result.stderr}')
    elif shown and not same(shown, result.stdout):
        problems.append(f'{document}: {line} prints now:\n{result.stdout}')


def check_console(document, text, home):
    command, shown = None, []
    for line in text.splitlines() + ['$ true']:
        if not line.startswith('$ '):
            shown.append(line.rstrip())
            continue
        if command:
            check_command(document, command, shown, home)
        command, shown = line[2:], []


def check_file(document, name, text):
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, 'quartermaster', os.path.basename(name))
        if name.split('/')[-2:-1] in (['models'], ['measurements']):
            path = os.path.join(home, 'quartermaster', *name.split('/')[-2:])
        os.makedirs(os.path.dirname(path))
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        result = run([PROGRAM, 'catalog', 'prices', '--json'], home)
        if result.returncode or result.stderr:
            problems.append(f'{document}: {name} is refused: {result.stderr}')


for document in DOCUMENTS:
    text = project.read(document)
    for name, language, body in BLOCK.findall(text):
        if language == 'console':
            with tempfile.TemporaryDirectory() as home:
                check_console(document, body, home)
        elif language in ('csv', 'json'):
            check_file(document, name, body)
project.conclude(problems, DOCUMENTS)
