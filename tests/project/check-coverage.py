# SPDX-License-Identifier: Apache-2.0
"""check-coverage.py COVERAGE COMPILER...: tests/coverage.py counts what was run.

Of two files, one of them in two programs that run different functions."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import project

COVERAGE, COMPILER = sys.argv[1], sys.argv[2:]
SHARED = '''int one (void);
int two (void);
int never (void);

int
one (void)
{
  return 1;
}

int
two (void)
{
  return 2;
}

int
never (void)
{
  return 3;
}
'''
MAIN = '''int %s (void);

int
main (void)
{
  return %s () == 0;
}
'''
EXPECTED = {'data': '4 of 6 66.7 % 2 of 3 66.7 %',
            'app': '4 of 4 100.0 % 2 of 2 100.0 %',
            'ui': '0 of 0 0.0 % 0 of 0 0.0 %'}


def tell(folder, *arguments):
    return subprocess.run(
        [sys.executable, folder / 'tests/coverage.py', folder / 'build',
         *arguments], capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name).resolve()
    for room in ('data', 'app', 'tests', 'build/data', 'build/app'):
        (folder / room).mkdir(parents=True)
    shutil.copy(COVERAGE, folder / 'tests/coverage.py')
    (folder / 'data/shared.c').write_text(SHARED)
    problems = []
    if 'no test ran' not in tell(folder).stderr:
        problems.append('a build without counts is not refused')
    for called in ('one', 'two'):
        (folder / f'app/{called}.c').write_text(MAIN % (called, called))
        for room, file in (('data', 'shared'), ('app', called)):
            subprocess.run(
                [*COMPILER, '-O0', '--coverage', '-c', f'../{room}/{file}.c',
                 '-o', f'{room}/{called}-{file}.o'],
                cwd=folder / 'build', check=True)
        subprocess.run([*COMPILER, '--coverage', f'app/{called}-{called}.o',
                        f'data/{called}-shared.o', '-o', called],
                       cwd=folder / 'build', check=True)
        subprocess.run([folder / 'build' / called], check=True)
    told = tell(folder)
    lines = {line.split()[0]: ' '.join(line.split()[1:])
             for line in told.stdout.splitlines()}
    problems += [f'{room}: {lines.get(room)}, not {expected} {told.stderr}'
                 for room, expected in EXPECTED.items()
                 if lines.get(room) != expected]
    holes = tell(folder, '--holes', 'data').stdout
    if holes.split() != ['4', 'data/shared.c:', 'never']:
        problems.append(f'of what was never run it says {holes}')
project.conclude(problems, ['tests/coverage.py'])
