# SPDX-License-Identifier: Apache-2.0
"""coverage.py BUILD [--holes ROOM]: which lines of each room the tests ran.

BUILD was configured with -Db_coverage=true, and tests ran in it.  With --holes,
the functions of a room that none ran, the longest first.  A line or function of
a file that is compiled into several programs counts once, and as run where any
of them ran it."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOMS = ('data', 'kernels', 'engine', 'pricing', 'ui', 'app')


class Room:
    """What of a room was run: of (file, line) and (file, function) how often."""

    def __init__(self):
        self.lines = collections.Counter()
        self.functions = collections.Counter()
        self.lengths = {}

    def add(self, path, found):
        for line in found['lines']:
            self.lines[path, line['line_number']] += line['count']
        for function in found['functions']:
            key = path, function['name']
            self.functions[key] += function['execution_count']
            self.lengths[key] = (function['end_line'] - function['start_line']
                                 + 1)

    @staticmethod
    def share(counts):
        run = sum(count > 0 for count in counts.values())
        return run, len(counts), 100 * run / len(counts) if counts else 0


def read(build, notes):
    """What gcov says of one object: its files."""
    done = subprocess.run(['gcov', '--json-format', '--stdout', notes],
                          cwd=build, capture_output=True, check=False)
    if done.returncode != 0:  # its compiler was stopped, or is another one
        sys.exit(f'coverage: {notes}: '
                 + done.stderr.decode(errors='replace').strip())
    return [found for line in done.stdout.splitlines() if line.strip()
            for found in json.loads(line)['files']]


def collect(build):
    source = pathlib.Path(__file__).resolve().parent.parent
    rooms = {name: Room() for name in ROOMS}
    notes = [str(path.relative_to(build)) for name in ROOMS
             for path in sorted((build / name).rglob('*.gcno'))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for files in pool.map(lambda one: read(build, one), notes):
            for found in files:
                path = (build / found['file']).resolve()
                if not path.is_relative_to(source):
                    continue
                path = path.relative_to(source)
                if path.parts[0] in rooms and path.suffix in ('.c', '.h'):
                    rooms[path.parts[0]].add(str(path), found)
    return rooms


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--holes', choices=ROOMS)
    asked = parser.parse_args()
    if shutil.which('gcov') is None:
        sys.exit('coverage: gcov is missing')
    rooms = collect(asked.build.resolve())
    if not any(any(room.lines.values()) for room in rooms.values()):
        sys.exit(f'coverage: no test ran in {asked.build}, or it was '
                 'configured without -Db_coverage=true')
    if asked.holes:
        room = rooms[asked.holes]
        for key in sorted((key for key, count in room.functions.items()
                           if count == 0), key=lambda key: -room.lengths[key]):
            print(f'{room.lengths[key]:4} {key[0]}: {key[1]}')
        return
    print(f'{"room":8} {"lines run":>17} {"":>7} {"functions run":>15}')
    for name, room in rooms.items():
        run, n, share = room.share(room.lines)
        called, functions, of = room.share(room.functions)
        print(f'{name:8} {run:8} of {n:5} {share:5.1f} % {called:6} of '
              f'{functions:4} {of:5.1f} %')


main()
