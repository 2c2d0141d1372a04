# SPDX-License-Identifier: Apache-2.0
"""What pages about the project name is there: files and folders in `backticks`,
functions, constants, commands of ./dev, and what links lead to.

A name is looked for from the root, from the page's own folder, and, behind a name
of a file with a folder, from that folder; `*` and NAME stand for anything."""

import fnmatch
import os
import re

import project

PAGES = ('ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md',
         'data/README.md', 'engine/PERFORMANCE.md', 'engine/README.md',
         'kernels/README.md', 'pricing/PREDICTION.md', 'pricing/README.md')
# Of these every word in backticks that could be a name is one.
EXACT = ('ARCHITECTURE.md', 'engine/README.md', 'kernels/README.md')

CODE = re.compile(r'```.*?```', re.DOTALL)
WORD = re.compile(r'`([^`\n]+)`')
LINK = re.compile(r'(?:\]\(|src(?:set)?=")(?!https?:|mailto:|#)([^)"#\s]+)')
ENDING = re.compile(r'\.(c|h|cu|cuh|py|md|ui|csv|json|xml|txt|build|1|svg|sh)$')
FUNCTION = re.compile(r'((?:qm|gradient)_[a-z0-9_]+) ?\(\)$')
NAME = re.compile(r'QM_[A-Z0-9_]+\*?$|Qm[A-Z]\w+$')
# What is built, installed, or somebody's own.
ELSEWHERE = re.compile(r'/|~|\.|build[-/]|\$|[A-Z_]+/|torch/|config\.json$')

names = project.files()
folders = {os.path.dirname(name) for name in names}
while True:
    above = {os.path.dirname(name) for name in folders} - folders
    if not above:
        break
    folders |= above
source = '\n'.join(project.read(name) for name in names
                   if name.endswith(('.c', '.h', '.cu', '.cuh', '.build')))
words = set(re.findall(r'\w+', source))


def is_there(name, page):
    name = name.rstrip('/').replace('NAME', '*')
    for folder in ('', os.path.dirname(page)):
        path = os.path.normpath(os.path.join(folder, name))
        if '*' in path:
            if fnmatch.filter(names, path):
                return True
        elif path in folders or path in names:
            return True
    return False


def is_path(word, page):
    if ' ' in word or ELSEWHERE.match(word) or '://' in word:
        return False
    if page not in EXACT:
        return '/' in word and ENDING.search(word) is not None
    return bool(ENDING.search(word)) or '/' in word or word.endswith('*')


def problems_of(page):
    text = project.read(page)
    for link in LINK.findall(text):
        if not os.path.exists(os.path.join(
                project.ROOT, os.path.dirname(page), link)):
            yield f'{page}: {link} does not exist'
    for word in WORD.findall(CODE.sub('', text)):
        function = FUNCTION.fullmatch(word)
        if function:
            if function.group(1) not in words:
                yield f'{page}: there is no function {word}'
        elif NAME.fullmatch(word):
            if (word not in words if not word.endswith('*') else
                    not any(one.startswith(word[:-1]) for one in words)):
                yield f'{page}: there is no {word}'
        elif is_path(word, page) and not is_there(word, page):
            yield f'{page}: {word} does not exist'


pages = [page for page in PAGES if page in names]
project.conclude([problem for page in pages for problem in problems_of(page)],
                 pages)
