# SPDX-License-Identifier: Apache-2.0
"""words.py IN.csv OUT.h: lists of words, or thresholds, as macros of C.

A row of a table of words is a list, what its words tell (or nothing), and words with
"|" between them; rows of a list go on where it began.  Of a list ONE come

  QM_EACH_ONE(W)      W ("word", TELLS) for each word,
  QM_ROWS_ONE(W)      W ("word|word", TELLS) for all words that tell the same,
  QM_WORDS_ONE        "word|word", all of a list that tells nothing,
  QM_SPACED_ONE       "word word", the same where no word has a space,

in the order of the table.  A row of a table of thresholds is a name, a whole number
and what it decides; of it comes QM_NAME."""

import csv
import re
import sys

WORDS = ['list', 'tells', 'words']
THRESHOLDS = ['name', 'value', 'decides']


def read(path):
    """The columns, and the rows behind them, each with where it stands."""
    with open(path, encoding='utf-8', newline='') as file:
        table = csv.reader(file, strict=True)
        columns = next(table)
        rows = [(f'{path}:{table.line_num}', row) for row in table]
    if columns not in (WORDS, THRESHOLDS):
        sys.exit(f'{path}: the columns are {WORDS} or {THRESHOLDS}')
    for where, row in rows:
        if len(row) != 3:
            sys.exit(f'{where}: has no {len(columns)} cells')
    return columns, rows


def read_lists(rows):
    """(list, tells): words, in their order."""
    lists = {}
    for where, row in rows:
        if not re.fullmatch('[a-z_]+', row[0]):
            sys.exit(f'{where}: {row[0]} is no list')
        if not re.fullmatch('[A-Z0-9_ -]*', row[1]):
            sys.exit(f'{where}: {row[1]} is no name')
        words = lists.setdefault((row[0], row[1]), [])
        for word in row[2].split('|'):
            if word == '' or re.search(r'["\\\n]', word):
                sys.exit(f'{where}: a word is missing, or has a " or \\')
            if word in words:
                sys.exit(f'{where}: "{word}" is there already')
            words.append(word)
    return lists


def write_thresholds(rows):
    names = set()
    for where, (name, value, decides) in rows:
        if not re.fullmatch('[A-Z][A-Z0-9_]*', name) or name in names:
            sys.exit(f'{where}: {name} is no new name')
        if not re.fullmatch('[1-9][0-9]{0,9}', value):
            sys.exit(f'{where}: {value} is no whole number above 0')
        if decides == '':
            sys.exit(f'{where}: nothing says what it decides')
        names.add(name)
        yield f'#define QM_{name} {value}'


def write_lists(rows):
    lists = read_lists(rows)
    for name in dict.fromkeys(name for name, tells in lists):
        each = []
        together = []
        for (other, tells), words in lists.items():
            if other == name:
                each += [f'  W ("{word}", {tells})' for word in words]
                together.append(f'  W ("{"|".join(words)}", {tells})')
        macro = name.upper()
        yield ' \\\n'.join([f'#define QM_EACH_{macro}(W)', *each])
        yield ' \\\n'.join([f'#define QM_ROWS_{macro}(W)', *together])
        if (name, '') in lists:
            words = '|'.join(lists[name, ''])
            yield f'#define QM_WORDS_{macro} "{words}"'
            if ' ' not in words:
                yield f'#define QM_SPACED_{macro} "{words.replace("|", " ")}"'


def main():
    columns, rows = read(sys.argv[1])
    write = write_lists if columns == WORDS else write_thresholds
    lines = ['/* Made of a table in data/words. */', '#pragma once', *write(rows)]
    with open(sys.argv[2], 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')


main()
