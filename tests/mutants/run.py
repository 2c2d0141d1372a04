#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the program in one line at a time and looks whether a test notices.

run.py [OPTION...] [NAME...]

The mutants are in the .txt files beside this one, and NAME is one of them, or a
file's name without .txt; none means all.  A section is one mutant:

  [name]
  file = the file that it is in
  after = a line of that file, if the next one is there more than once (optional)
  - the line as it stands
  + the line instead of it
  tests = names of tests, as `meson test --list` has them, one of which has to
          fail; * stands for anything

Space at the beginning and end of lines does not count, so that only what the
code says can make a mutant unfit.  Mutants are never made in the checkout, but
in a copy of it with its own build, without CUDA.  All tests that are named are
run without a mutant first: one that fails anyway tells nothing.

Ends with one line of sums, and with 0 if every mutant fits, and of those that
build at least 90 % were killed.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENOUGH = 0.9

KILLED, SURVIVED = 'killed', 'SURVIVED'
UNFIT, UNBUILT = 'DOES NOT APPLY', 'does not build'

Mutant = collections.namedtuple('Mutant', 'name file after old new tests')


def read_list(path):
    """The mutants of one file."""
    fields = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        if line.startswith('['):
            if fields:
                yield Mutant(**fields)
            fields = {'name': line[1:-1], 'after': None}
            continue
        key, _, value = line.partition(' ')
        key = {'-': 'old', '+': 'new'}.get(key, key)
        if key not in ('old', 'new'):
            value = value.removeprefix('= ')
        if fields is None or key not in Mutant._fields or not value:
            sys.exit(f'{path.name}:{number}: this is nothing of a mutant')
        fields[key] = value.split() if key == 'tests' else value
    if fields:
        yield Mutant(**fields)


def choose(names):
    """The mutants that are called for."""
    chosen, seen = [], set()
    unknown = set(names)
    for path in sorted(HERE.glob('*.txt')):
        for mutant in read_list(path):
            if mutant.name in seen:
                sys.exit(f'{path.name}: there are two mutants {mutant.name}')
            seen.add(mutant.name)
            if not names or {mutant.name, path.stem} & set(names):
                chosen.append(mutant)
            unknown -= {mutant.name, path.stem}
    if unknown:
        sys.exit(f'no mutant is called {", ".join(sorted(unknown))}')
    return chosen


def mutate(text, mutant):
    """The text with the mutant in it, or None where it does not fit."""
    lines = text.splitlines(keepends=True)
    bare = [line.strip() for line in lines]
    begin = 0
    if mutant.after is not None:
        if bare.count(mutant.after) != 1:
            return None
        begin = bare.index(mutant.after) + 1
    elif bare.count(mutant.old) != 1:
        return None
    if mutant.old not in bare[begin:]:
        return None
    at = bare.index(mutant.old, begin)
    lines[at] = lines[at].replace(mutant.old, mutant.new)
    return ''.join(lines)


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)


def must(command, what):
    done = run(command)
    if done.returncode != 0:
        sys.stdout.write(done.stdout[-4000:])
        sys.exit(f'run.py: {what}')
    return done.stdout


class Copy:
    """A copy of the working tree with a build folder."""

    def __init__(self, scratch, patience):
        self.tree = scratch / 'tree'
        self.build = self.tree / 'build-mutants'
        self.patience = patience

    def update(self):
        """Makes it like the checkout; what is the same keeps its time, so that
        little is built again."""
        listed = must(['git', '-C', str(ROOT), 'ls-files', '-z', '-c', '-o',
                       '--exclude-standard'], 'git does not list the files')
        names = {name for name in listed.split('\0')
                 if name and (ROOT / name).is_file()}
        for name in names:
            source, target = ROOT / name, self.tree / name
            if target.exists() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)
        for target in self.tree.rglob('*'):
            name = target.relative_to(self.tree)
            if (name.parts[0] != self.build.name and target.is_file()
                    and str(name) not in names
                    and '__pycache__' not in name.parts):
                target.unlink()

    def configure(self):
        if not (self.build / 'build.ninja').exists():
            must(['meson', 'setup', str(self.build), str(self.tree),
                  '-Dcuda=disabled'], 'the copy could not be configured')
        must(['ninja', '-C', str(self.build), 'build.ninja'],
             'the copy could not be configured')
        self.files = {
            target['id']: [os.path.relpath(name, self.build)
                           for name in target['filename']]
            for target in self.introspect('--targets')}
        self.tests = {test['name']: test for test in self.introspect('--tests')}

    def introspect(self, what):
        return json.loads(must(['meson', 'introspect', what, str(self.build)],
                               'meson does not tell its ' + what[2:]))

    def named(self, patterns):
        """The tests that patterns stand for, in the order of the patterns."""
        found = []
        for pattern in patterns:
            matching = fnmatch.filter(self.tests, pattern)
            if not matching:
                sys.exit(f'run.py: there is no test {pattern}')
            found += [name for name in matching if name not in found]
        return found

    def make(self, names):
        """Builds what tests need: what was said, None where all is well."""
        targets = {file for name in names
                   for target in self.tests[name]['depends']
                   for file in self.files[target]}
        done = run(['ninja', '-C', str(self.build), *sorted(targets)])
        return None if done.returncode == 0 else done.stdout

    def failing(self, names, first_only=True):
        """The tests of these that fail, of a build that is made."""
        log = self.build / 'meson-logs' / 'testlog.json'
        log.unlink(missing_ok=True)
        run(['meson', 'test', '-C', str(self.build), '--no-rebuild',
             '--timeout-multiplier', str(self.patience), '--num-processes', '2',
             *(['--maxfail', '1'] if first_only else []), *names])
        results = [json.loads(line) for line in log.read_text().splitlines()]
        # What runs while the first one fails is interrupted: that tells nothing.
        return [result['name'].split(' / ')[-1] for result in results
                if result['result'] in ('FAIL', 'ERROR', 'TIMEOUT')]


def look(copy, mutant, patterns, changed):
    """What becomes of a mutant, and which test tells; `changed` is the file with
    it."""
    target = copy.tree / mutant.file
    tests = copy.named(patterns)
    original = target.read_text()
    target.write_text(changed)
    try:
        if copy.make(tests) is not None:
            return UNBUILT, ''
        failed = copy.failing(tests)
        return (KILLED, failed[0]) if failed else (SURVIVED, '')
    finally:
        target.write_text(original)


def check_unchanged(copy, patterns):
    """Builds everything once, and ends where a test fails without a mutant."""
    if not patterns:
        return
    tests = copy.named(sorted(patterns))
    said = copy.make(tests)
    if said is not None:
        sys.stdout.write(said[-4000:])
        sys.exit('run.py: the program does not build as it is')
    failed = copy.failing(tests, first_only=False)
    if failed:
        sys.exit('run.py: these tests fail without any mutant: '
                 + ', '.join(failed))


def work(arguments, scratch):
    mutants = choose(arguments.names)
    changed = {mutant.name: mutate((ROOT / mutant.file).read_text(), mutant)
               if (ROOT / mutant.file).exists() else None
               for mutant in mutants}
    sums = collections.Counter()
    if not arguments.fit:
        copy = Copy(scratch, arguments.patience)
        copy.update()
        copy.configure()
        check_unchanged(copy, arguments.tests or
                        {test for mutant in mutants for test in mutant.tests
                         if changed[mutant.name] is not None})
    for mutant in mutants:
        told = ''
        if changed[mutant.name] is None:
            outcome = UNFIT
        elif arguments.fit:
            continue
        else:
            outcome, told = look(copy, mutant, arguments.tests or mutant.tests,
                                 changed[mutant.name])
        sums[outcome] += 1
        print(f'{outcome:14}  {mutant.name}', f'({told})' if told else '',
              flush=True)
    print(f'{len(mutants)} mutants: {sums[KILLED]} killed, '
          f'{sums[SURVIVED]} survived, {sums[UNBUILT]} did not build, '
          f'{sums[UNFIT]} did not apply')
    if sums[UNFIT] > 0:
        return 1
    if arguments.fit:
        return 0
    built = sums[KILLED] + sums[SURVIVED]
    return 0 if built > 0 and sums[KILLED] >= ENOUGH * built else 1


def main():
    parser = argparse.ArgumentParser(
        description='Looks whether tests notice mutants of the program.')
    parser.add_argument('names', nargs='*', metavar='NAME',
                        help='a mutant or a list of them (all)')
    parser.add_argument('--scratch', type=pathlib.Path, metavar='FOLDER',
                        help='where to copy and build, and to leave both for the '
                        'next time (a temporary folder)')
    parser.add_argument('--tests', action='append', metavar='NAME',
                        help='the tests to run, whatever the lists name')
    parser.add_argument('--patience', type=int, default=4, metavar='FACTOR',
                        help='by which the limits of time are longer (4)')
    parser.add_argument('--fit', action='store_true',
                        help='only look whether the mutants fit; builds nothing')
    arguments = parser.parse_args()
    # Whoever ends this ends what it has started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('run.py: ended'))
    if arguments.scratch is None:
        with tempfile.TemporaryDirectory(prefix='mutants-') as scratch:
            return work(arguments, pathlib.Path(scratch))
    scratch = arguments.scratch.resolve()
    tree = scratch / 'tree'
    if ROOT in tree.parents or tree in (ROOT, *ROOT.parents):
        sys.exit('run.py: the scratch folder has to be outside of the checkout')
    scratch.mkdir(parents=True, exist_ok=True)
    return work(arguments, scratch)


if __name__ == '__main__':
    sys.exit(main())
