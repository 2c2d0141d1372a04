#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py PROGRAM FOLDER [--rules FILE] [--errors]: how often
"quartermaster extract" tells the right price of real pages.

FOLDER holds the pages of pages.csv as ID.html.gz or ID.html; README.md says
where they are to be had.  A price counts as right if it is one of those that
the list has for the page, as a decimal.  Precision is the share of right ones
among those told, recall that among the pages that have a price."""

import argparse
import csv
import decimal
import gzip
import json
import os
import subprocess
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'pages.csv')


def read_page(folder, name):
    path = os.path.join(folder, name + '.html')
    if os.path.exists(path + '.gz'):
        with gzip.open(path + '.gz') as file:
            return file.read()
    with open(path, 'rb') as file:
        return file.read()


def extract(program, options, page):
    done = subprocess.run([program, 'extract', '-', '--json', *options],
                          input=page, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f'exit status {done.returncode}: {done.stderr.decode()}')
    return json.loads(done.stdout)


class Score:
    def __init__(self):
        self.right = self.wrong = self.missed = self.silent = 0

    def add(self, told, prices):
        if told is None:
            self.missed += bool(prices)
            self.silent += not prices
        elif told in prices:
            self.right += 1
        else:
            self.wrong += 1
            self.missed += bool(prices)

    def __str__(self):
        told = self.right + self.wrong
        priced = self.right + self.missed
        return (f'{priced + self.silent} pages, {self.right} right, '
                f'{self.wrong} wrong, {self.missed} without the right price: '
                f'precision {self.right / max(told, 1):.3f}, '
                f'recall {self.right / max(priced, 1):.3f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('program')
    parser.add_argument('folder')
    parser.add_argument('--rules', help='rules for sites')
    parser.add_argument('--errors', action='store_true',
                        help='list the pages that are not right')
    arguments = parser.parse_args()
    options = ['--rules', arguments.rules] if arguments.rules else []
    scores = {}
    with open(LIST, encoding='utf-8', newline='') as file:
        for row in csv.DictReader(file):
            offer = extract(arguments.program, options + ['--url', row['url']],
                            read_page(arguments.folder, row['id']))
            prices = {decimal.Decimal(price)
                      for price in row['prices'].split()}
            told = (None if offer['price'] is None
                    else decimal.Decimal(str(offer['price'])))
            for name in (row['set'], 'all'):
                scores.setdefault(name, Score()).add(told, prices)
            if arguments.errors and told not in (prices or {None}):
                print(row['id'][:8], row['url'][:60], row['prices'] or '-',
                      told, offer['method'], offer['reason'] or '')
    for name, score in sorted(scores.items()):
        print(f'{name}: {score}')


main()
