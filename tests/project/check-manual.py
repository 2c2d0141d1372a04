# SPDX-License-Identifier: Apache-2.0
"""check-manual.py PROGRAM MANUAL: the manual page explains the commands, the options
and the choices that the program's own help shows, and no others; its synopsis has a
line for each command, with options that the command takes."""

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


def synopsis(text):
    """The forms of a call, each as the words after .Cm, line by line, and its
    options."""
    part = re.search(r'^\.Sh SYNOPSIS\n(.*?)^\.Sh ', text,
                     re.MULTILINE | re.DOTALL).group(1)
    for form in re.split(r'^\.Nm$\n', part, flags=re.MULTILINE)[1:]:
        yield ([re.findall(r'[a-z]+', line)
                for line in re.findall(r'^\.Cm (.*)$', form, re.MULTILINE)],
               re.findall(r'\bFl (-?[a-z][a-z-]*)', form))


def synopsis_problems(text, commands, helps):
    """helps: of each command the texts of its help, and of that of its words."""
    seen = {}
    for lines, flags in synopsis(text):
        begun = [words[0] for words in lines if words[0] in commands]
        if len(begun) > 1:
            yield f'the synopsis has no .Nm before {begun[1]}'
        for command in begun:
            seen.setdefault(command, set()).update(*lines)
        known = {option for command in begun for text in helps[command]
                 for line in re.findall(r'^  (-.*?)(?:  |$)', text,
                                        re.MULTILINE)
                 for option in re.findall(r'(?<![\w-])-(-?[a-z][a-z-]*)',
                                          line)}
        for flag in flags:
            if begun and flag not in known:
                yield f'the synopsis has {begun[0]} -{flag}, the help has not'
    for command in commands:
        words = set(COMMAND.findall(helps[command][0]))
        if command not in seen and command != 'help':
            yield f'the synopsis has no {command}'
        elif words - seen.get(command, words):
            yield (f'the synopsis has no {command} '
                   f'{sorted(words - seen[command])}')


commands = COMMAND.findall(help_of())
helps = {'help': ['']}
helped = {('-h', ''), ('--help', ''), ('--version', '')}
for command in commands:
    if command == 'help':
        continue
    texts = [help_of(command)]
    texts += [help_of(command, word) for word in COMMAND.findall(texts[0])]
    helps[command] = texts
    for text in texts:
        helped |= options(text, r'^  (-.*?)(?:  |$)',
                          r'(?<![\w-])--?([a-z][a-z-]*)')
explained = options(project.read(MANUAL), r'^\.It (Fl .*)$',
                    r'\bFl (-?[a-z][a-z-]*)')
explained_commands = re.findall(r'^\.It Cm (\w+)$', project.read(MANUAL),
                                re.MULTILINE)

problems = list(synopsis_problems(project.read(MANUAL), commands, helps))
for word, first, second in ((f'{MANUAL} does not explain', helped, explained),
                            ('the help does not show', explained, helped)):
    problems += [f'{word} {name} {choices}'
                 for name, choices in sorted(first - second)]
if sorted(commands) != sorted(explained_commands):
    problems.append(f'{MANUAL} explains {explained_commands}, the help shows '
                    f'{commands}')
project.conclude(problems, commands)
