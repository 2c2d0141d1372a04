# SPDX-License-Identifier: Apache-2.0
"""./dev help names every command that there is and no other, and what is no
command, room or number is refused before anything is built."""

import os
import re
import subprocess

import project


def dev(*words):
    return subprocess.run([os.path.join(project.ROOT, 'dev'), *words],
                          check=False, capture_output=True, text=True,
                          timeout=60)


text = project.read('dev')
# Between `case $command in` and the branch for all else.
branches = re.search(r'^case \$command in\n(.*?)^  \*\)', text,
                     re.MULTILINE | re.DOTALL).group(1)
commands = {word for branch in re.findall(r'^  ([^()]+)\)', branches,
                                          re.MULTILINE)
            for word in branch.replace(' ', '').split('|')
            if not word.startswith('-')}
rooms = re.search(r"^rooms='(.*)'$", text, re.MULTILINE).group(1).split()

problems = []
help_texts = {words: dev(*words) for words in ((), ('help',), ('--help',),
                                               ('-h',))}
for words, answer in help_texts.items():
    if answer.returncode or answer.stdout != help_texts[('help',)].stdout:
        problems.append(f'dev {" ".join(words)} does not show the help')
named = set(re.findall(r'^  ([a-z]+)\b(?= .*  | {2,})',
                       help_texts[('help',)].stdout, re.MULTILINE))
if named != commands:
    problems.append(f'dev help names {sorted(named)}, there are '
                    f'{sorted(commands)}')

for words, status, said in (
        (('no-such-command',), 2, 'no-such-command'),
        (('--no-such-option',), 2, '--no-such-option'),
        (('quick', 'no-such-room'), 1, 'no-such-room'),
        (('quick', 'pricing', 'no-such-room'), 1, 'no-such-room'),
        (('quick', 'pricing engine'), 1, 'pricing engine'),
        (('quick', ''), 1, 'no room ""'),
        (('package', 'no-such-kind'), 1, 'no-such-kind'),
        (('package', 'deb', ''), 1, 'no package ""'),
        (('fuzz', 'long'), 1, 'number'),
        (('fuzz', '-1'), 1, 'number')):
    answer = dev(*words)
    if answer.returncode != status or said not in answer.stderr:
        problems.append(f'dev {words}: {answer.returncode}, {answer.stderr}')
    if status == 2 and 'Usage:' not in answer.stderr:
        problems.append(f'dev {words}: the usage is not shown')

missing = [room for room in rooms
           if not os.path.isdir(os.path.join(project.ROOT, 'tests', room))]
if missing:
    problems.append(f'dev has rooms without tests: {missing}')
suites = re.search(r"^ROOMS = \{(.*?)\}",
                   project.read('tests/project/check-suites.py'),
                   re.MULTILINE | re.DOTALL).group(1)
if set(rooms) != set(re.findall(r"'(\w+)'", suites)):
    problems.append(f'dev has the rooms {rooms}, check-suites.py {suites}')
project.conclude(problems, commands)
