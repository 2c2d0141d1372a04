# SPDX-License-Identifier: Apache-2.0
"""words.py IN.csv OUT.h: lists of words as macros of C.

A row of the table is a list, what its words tell (or nothing), and words with
"|" between them; rows of a list go on where it began.  Of a list ONE come

  QM_EACH_ONE(W)      W ("word", TELLS) for each word,
  QM_ROWS_ONE(W)      W ("word|word", TELLS) for all words that tell the same,
  QM_WORDS_ONE        "word|word", all of a list that tells nothing,

in the order of the table."""

import csv
import re
import sys


def read(path):
    """(list, tells): words, in their order."""
    lists = {}
    with open(path, encoding='utf-8', newline='') as file:
        table = csv.reader(file, strict=True)
        if next(table) != ['list', 'tells', 'words']:
            sys.exit(f'{path}: the columns are list, tells and words')
        for row in table:
            where = f'{path}:{table.line_num}'
            if len(row) != 3 or not re.fullmatch('[a-z_]+', row[0]):
                sys.exit(f'{where}: a list, what it tells, and its words')
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


def main():
    lists = read(sys.argv[1])
    lines = ['/* Made of a table of words in data/words. */', '#pragma once']
    for name in dict.fromkeys(name for name, tells in lists):
        each = []
        rows = []
        for (other, tells), words in lists.items():
            if other == name:
                each += [f'  W ("{word}", {tells})' for word in words]
                rows.append(f'  W ("{"|".join(words)}", {tells})')
        macro = name.upper()
        lines.append(' \\\n'.join([f'#define QM_EACH_{macro}(W)', *each]))
        lines.append(' \\\n'.join([f'#define QM_ROWS_{macro}(W)', *rows]))
        if (name, '') in lists:
            words = '|'.join(lists[name, ''])
            lines.append(f'#define QM_WORDS_{macro} "{words}"')
    with open(sys.argv[2], 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')


main()
