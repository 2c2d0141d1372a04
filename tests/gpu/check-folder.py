# SPDX-License-Identifier: Apache-2.0
"""Runs a folder for another machine (tests/ui/write-folder) where nothing but
the driver is, on a GPU: CUDA is out of sight, and so is every cuBLASLt.

Checked are that run.sh finds the machine good, that its search measures every
model, with products of our own, and says so in its log and results; that
operators are right then (--tests: the folder of the built tests of kernels/);
and, where cuBLASLt 13 is somewhere (--library, else PyTorch's package or
/usr/local/cuda), that it is found there when it is named, in Python's packages
and beside the program.  Then each model is timed with it and without, in turns,
which is the cost that is told: a table in Markdown.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import common

MODELS = {'pythia-160m': 32, 'pythia-1b': 8, 'vit-large': 64}
NAME = 'libcublasLt.so.13'


def folders_with(variable, name):
    """Those of a variable in which there is a file of that name."""
    return [place for place in os.environ.get(variable, '').split(':')
            if place and (pathlib.Path(place) / name).exists()]


def hidden(*libraries):
    """An environment in which nothing is found but the driver."""
    environment = {
        'PATH': ':'.join(['/usr/bin:/bin',
                          *folders_with('PATH', 'nvidia-smi')]),
        'LD_LIBRARY_PATH': ':'.join(
            [*map(str, libraries),
             *folders_with('LD_LIBRARY_PATH', 'libcuda.so.1')]),
        'HOME': '/nowhere'}
    if 'CUDA_VISIBLE_DEVICES' in os.environ:
        environment['CUDA_VISIBLE_DEVICES'] = os.environ[
            'CUDA_VISIBLE_DEVICES']
    return environment


class Check:

    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.folder).resolve()
        self.passed = self.failed = 0

    def that(self, good, what, detail=''):
        self.passed += bool(good)
        self.failed += not good
        print(f'{"ok    " if good else "FAILED"} {what}'
              + (f': {detail}' if detail and not good else ''), flush=True)

    def run(self, program, *words, **environment):
        """Status, JSON lines, all that was said."""
        result = subprocess.run(
            [str(program), *map(str, words)],
            env={**hidden(self.folder / 'lib'), **environment},
            capture_output=True, text=True, timeout=600, check=False)
        lines = [json.loads(line) for line in result.stdout.splitlines()
                 if line.startswith('{')]
        return result.returncode, lines, result.stdout + result.stderr

    def bench(self, *words, **environment):
        return self.run(self.folder / 'qm-bench', *words,
                        QUARTERMASTER_DATA_DIR=str(self.folder / 'data'),
                        **environment)

    def products(self, **environment):
        """Name and file of what multiplies, as the first GPU tells."""
        _, lines, said = self.bench('devices', '--json', **environment)
        gpu = next((line for line in lines if 'bus' in line), {})
        return gpu.get('products'), gpu.get('products_file'), said


def check_search(check):
    """The folder as it is: in the place of CUDA's there is nothing."""
    status, _, said = check.run(check.folder / 'run.sh', '--check',
                                QUARTERMASTER_CUBLASLT='none')
    check.that(status == 0 and 'products of our own' in said,
               'run.sh --check', said)
    shutil.rmtree(check.folder / 'results', ignore_errors=True)
    status, _, said = check.run(check.folder / 'run.sh',
                                QUARTERMASTER_CUBLASLT='none')
    check.that(status == 0, 'run.sh measures', said[-2000:])
    check.that('no cuBLASLt' in said, 'its log says with what', said[:500])
    found = [json.loads(line)
             for path in (check.folder / 'results').glob('*.jsonl')
             for line in path.read_text().splitlines()]
    check.that(found and all(line['device']['products'] == 'own'
                             for line in found), 'its results say so',
               str(found)[:300])
    for model in check.options.models.split(','):
        check.that(any(line['model'] == model and line['status'] == 'measured'
                       for line in found), f'{model} is measured')


def check_operators(check):
    """The tests of kernels/ with our products alone."""
    tests = pathlib.Path(check.options.tests)
    for words in (('test-cuda-products',),
                  ('test-cuda-products', '--architecture', '80')):
        status, _, said = check.run(tests / words[0], *words[1:],
                                    QUARTERMASTER_CUBLASLT='none')
        check.that(status == 0, ' '.join(words), said[-2000:])


def find_library(options):
    """A cuBLASLt of this machine, or None."""
    places = [pathlib.Path(place) for place in sys.path + ['/usr/local']]
    patterns = ['nvidia/cu13/lib/' + NAME, 'nvidia/cublas/lib/' + NAME,
                'cuda*/lib64/' + NAME, 'cuda*/targets/*/lib/' + NAME]
    if options.library:
        return pathlib.Path(options.library)
    return next((path.resolve() for place in places for pattern in patterns
                 for path in place.glob(pattern)), None)


def check_places(check, library):
    # What the loader or /usr/local has comes before Python's packages.
    here = check.products()[1]
    with tempfile.TemporaryDirectory() as scratch:
        packages = (pathlib.Path(scratch) / 'lib/python3.12/site-packages'
                    / 'nvidia/cu13/lib')
        packages.mkdir(parents=True)
        (packages / NAME).symlink_to(library)
        beside = check.folder / 'lib' / NAME
        for what, path, environment in (
                ('named', library, {'QUARTERMASTER_CUBLASLT': str(library)}),
                ("in Python's packages", packages / NAME,
                 {'VIRTUAL_ENV': scratch}),
                ('beside the program', beside, {})):
            if environment.get('VIRTUAL_ENV') and here:
                print(f'skip   {what}: {here} comes first')
                continue
            if path == beside and not beside.exists():
                beside.symlink_to(library)
            name, file, said = check.products(**environment)
            check.that(name is not None and name.startswith('cuBLASLt 13.')
                       and file is not None and os.path.samefile(file, path),
                       f'cuBLASLt is found {what}', f'{name} {file} {said}')
            if beside.is_symlink():
                beside.unlink()


def time_pass(check, model, **environment):
    """Milliseconds of a pass, or None."""
    status, lines, said = check.bench(
        'run', '--model', model, '--micro-batch', MODELS.get(model, 4),
        '--repeat', 3, '--device', check.options.device, '--json',
        *(['--architecture', check.options.architecture]
          if check.options.architecture else []), **environment)
    if status != 0:
        print(said[-500:], file=sys.stderr)
        return None, None
    return lines[-1]['pass']['mean_s'] * 1e3, lines[-1]['device']['products']


def check_times(check, library):
    rows = []
    for model in check.options.models.split(','):
        times = {'own': [], 'library': []}
        for way in ('own', 'library', 'own', 'library'):
            if way == 'library' and library is None:
                continue
            value = 'none' if way == 'own' else str(library)
            time, name = time_pass(check, model, QUARTERMASTER_CUBLASLT=value)
            check.that(time is not None and (name == 'own') == (way == 'own'),
                       f'{model} with {way}', str(name))
            if time is not None:
                times[way].append(time)
        own, theirs = (sum(t) / len(t) if t else float('nan')
                       for t in times.values())
        rows.append(f'| {model} | {MODELS.get(model, 4)} | {theirs:.1f} | '
                    f'{own:.1f} | {own / theirs:.2f} |')
    print('\n| model | micro-batch | pass, ms: cuBLASLt | own products | '
          'times as long |\n| --- | --- | --- | --- | --- |')
    print('\n'.join(rows) + '\n')


def main():
    parser = common.arguments(__doc__.splitlines()[0], folder='', tests='',
                              library='', models=','.join(MODELS),
                              architecture='')
    check = Check(parser.parse_args())
    if not check.options.folder:
        parser.error('--folder has to say where write-folder wrote')
    library = find_library(check.options)
    print(f'cuBLASLt: {library}')
    if check.options.tests:
        check_operators(check)
    check_search(check)
    if library is not None:
        check_places(check, library)
    check_times(check, library)
    common.conclude(check.failed, check.passed + check.failed)


if __name__ == '__main__':
    main()
