# SPDX-License-Identifier: Apache-2.0
"""check-manual.py PROGRAM MANUAL: the manual page explains the commands, the options
and the choices that the program's own help shows, and no others."""

import os
import re
import subprocess
import sys

import project

MANUAL = sys.argv[2]
COMMAND = re.compile(r'^  ([a-z]+)  ', re.MULTILINE)
CHOICES = re.compile(r'[a-z]+( ?\| ?[a-z]+)+')


def help_of(*words):
    return subprocess.run([sys.argv[1], *words, '--help'], check=True,
                          stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8'}).stdout


def options(text, line_pattern, option_pattern):
    """{('--kind', 'overall|experiment'), ('-o', ''), ...}"""
    found = set()
    for line in re.findall(line_pattern, text, re.MULTILINE):
        choices = CHOICES.search(line)
        for option in re.findall(option_pattern, line):
            name = option if len(option) == 1 else '-' + option.lstrip('-')
            found.add(('-' + name, choices.group().replace(' ', '')
                       if choices and len(option) > 1 else ''))
    return found


commands = COMMAND.findall(help_of())
helped = {('-h', ''), ('--help', ''), ('--version', '')}
for command in commands:
    if command == 'help':
        continue
    texts = [help_of(command)]
    texts += [help_of(command, word) for word in COMMAND.findall(texts[0])]
    for text in texts:
        helped |= options(text, r'^  (-.*?)(?:  |$)',
                          r'(?<![\w-])--?([a-z][a-z-]*)')
explained = options(project.read(MANUAL), r'^\.It (Fl .*)$',
                    r'\bFl (-?[a-z][a-z-]*)')
explained_commands = re.findall(r'^\.It Cm (\w+)$', project.read(MANUAL),
                                re.MULTILINE)

problems = []
for word, first, second in ((f'{MANUAL} does not explain', helped, explained),
                            ('the help does not show', explained, helped)):
    problems += [f'{word} {name} {choices}'
                 for name, choices in sorted(first - second)]
if sorted(commands) != sorted(explained_commands):
    problems.append(f'{MANUAL} explains {explained_commands}, the help shows '
                    f'{commands}')
project.conclude(problems, commands)
