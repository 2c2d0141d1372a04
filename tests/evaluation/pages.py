#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py PROGRAM FOLDER [--list FILE] [--rules FILE] [--errors SET]: how
often "quartermaster extract" tells the right price of real pages.

FOLDER holds the pages of the list as ID.html.gz or ID.html; README.md says
where they are to be had.  A price counts as right if it is one of those that
the list has for the page, as a decimal.  Precision is the share of right ones
among those told, recall that among the pages that have a price, both with
Wilson's interval of 95 %.  A price behind a question mark stands on a page of
a thing that is no longer sold: it may be told, and it may be kept quiet."""

import argparse
import csv
import decimal
import gzip
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


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


def share(part, whole):
    """The share and Wilson's interval, as text."""
    if not whole:
        return 'unknown'
    z = 1.959964
    p = part / whole
    middle = p + z * z / (2 * whole)
    reach = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return (f'{p:.3f} ({(middle - reach) / scale:.3f} to '
            f'{(middle + reach) / scale:.3f})')


class Score:
    def __init__(self):
        self.right = self.wrong = self.missed = self.silent = 0

    def add(self, told, prices, sold):
        if told is None:
            self.missed += sold
            self.silent += not sold
        elif told in prices:
            self.right += 1
        else:
            self.wrong += 1
            self.missed += sold

    def __str__(self):
        told = self.right + self.wrong
        priced = self.right + self.missed
        return (f'{self.right} right, {self.wrong} wrong, '
                f'{self.missed} without the right price, {self.silent} '
                f'rightly without one: precision {share(self.right, told)}, '
                f'recall {share(self.right, priced)}')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('program')
    parser.add_argument('folder')
    parser.add_argument('--list', default='pages.csv',
                        help='which list: pages.csv or shops.csv')
    parser.add_argument('--rules', help='rules for sites')
    parser.add_argument('--errors', metavar='SET',
                        help='list the pages of this set that are not right')
    arguments = parser.parse_args()
    options = ['--rules', arguments.rules] if arguments.rules else []
    scores = {}
    with open(os.path.join(HERE, arguments.list), encoding='utf-8',
              newline='') as file:
        for row in csv.DictReader(file):
            offer = extract(arguments.program, options + ['--url', row['url']],
                            read_page(arguments.folder, row['id']))
            prices = {decimal.Decimal(price)
                      for price in row['prices'].replace('?', '').split()}
            sold = bool(prices) and '?' not in row['prices']
            told = (None if offer['price'] is None
                    else decimal.Decimal(str(offer['price'])))
            names = [row['set'], 'all']
            if 'source' in row:
                names += [row['source'], row['set'] + ' ' + row['source']]
            for name in names:
                scores.setdefault(name, Score()).add(told, prices, sold)
            if row['set'] == arguments.errors and (
                    told not in prices if told is not None else sold):
                print(row['id'][:12], row['url'][:60], row['prices'] or '-',
                      told, offer['method'], offer['reason'] or '')
    for name, score in sorted(scores.items()):
        print(f'{name}: {score}')


main()
