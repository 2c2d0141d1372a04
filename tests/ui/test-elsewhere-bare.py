#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The folder for another machine runs on one that has nothing: in a root with
the C library, a shell and the few tools of run.sh, and neither CUDA nor C++ nor
any library of ours.

test-elsewhere-bare.py WRITE_FOLDER QM_BENCH
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WRITE_FOLDER, QM_BENCH = [os.path.abspath(path) for path in sys.argv[1:3]]

# What run.sh calls.
TOOLS = ['sh', 'sed', 'uname', 'dirname', 'mkdir', 'getconf', 'df']

# What the C library consists of; all else goes into the folder.
SYSTEM = re.compile(r'(libc|libm|libpthread|libdl|librt|ld-linux[-a-z0-9_]*)'
                    r'\.so')

MODEL = {
    'id': 'tiny', 'name': 'Tiny', 'source': 'a test',
    'config': {'model_type': 'gpt_neox', 'vocab_size': 64, 'hidden_size': 16,
               'num_hidden_layers': 1, 'num_attention_heads': 2,
               'intermediate_size': 32},
    'recipe': {'batch_size': 2, 'steps': 10, 'sequence_length': 8,
               'precision': 'fp32', 'optimizer': 'adam',
               'learning_rate': 1e-3, 'beta1': 0.9, 'beta2': 0.95,
               'epsilon': 1e-8, 'weight_decay': 0}}

# Loads libraries without running anything, and says where they are.
LIST = dict(os.environ, LD_TRACE_LOADED_OBJECTS='1')


def libraries(program):
    """The files that the loader loads for a program."""
    text = subprocess.run([program], env=LIST, capture_output=True, text=True,
                          check=True).stdout
    return re.findall(r'(/\S+) \(0x', text)


def install(root, path):
    to = root / path.lstrip('/')
    to.parent.mkdir(parents=True, exist_ok=True)
    if not to.exists():
        shutil.copy(path, to)


class BareTest(unittest.TestCase):

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix='qm-bare-'))
        self.addCleanup(shutil.rmtree, self.scratch)
        models = self.scratch / 'home/quartermaster/models'
        models.mkdir(parents=True)
        (models / 'tiny.json').write_text(json.dumps(MODEL))
        self.root = self.scratch / 'root'
        self.folder = self.root / 'benchmark'
        self.root.mkdir()
        result = subprocess.run(
            [WRITE_FOLDER, self.folder, 'tiny', 'naive', 'cpu'],
            env=dict(os.environ, QUARTERMASTER_BENCH=QM_BENCH,
                     XDG_DATA_HOME=str(self.scratch / 'home')),
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_nothing_is_missing(self):
        """Every library that the program names is of the C library, or in the
        folder."""
        there = set(os.listdir(self.folder / 'lib'))
        for program in [self.folder / 'qm-bench',
                        *(self.folder / 'lib').iterdir()]:
            needed = subprocess.run(
                ['readelf', '-d', program], capture_output=True, text=True,
                check=True).stdout
            for name in re.findall(r'\(NEEDED\).*\[(.*)\]', needed):
                self.assertTrue(SYSTEM.match(name) or name in there,
                                f'{program} needs {name}')

    def test_a_root_with_nothing(self):
        for tool in TOOLS:
            path = os.path.realpath(shutil.which(tool))
            install(self.root, path)
            for library in libraries(path):
                install(self.root, library)
            link = self.root / 'bin' / tool
            link.parent.mkdir(exist_ok=True)
            if not link.exists():
                link.symlink_to(path)
        for library in libraries(QM_BENCH):
            if SYSTEM.match(os.path.basename(library)):
                install(self.root, library)
        for name in ('proc/self', 'tmp', 'dev'):
            (self.root / name).mkdir(parents=True)
        (self.root / 'dev/null').touch()
        # Which needs no right to mount: qm-bench starts itself once more.
        (self.root / 'proc/self/exe').symlink_to('/benchmark/qm-bench')
        # Where sanitizers look; a search for leaks needs a whole /proc.
        (self.root / 'proc/self/environ').write_text(
            'ASAN_OPTIONS=detect_leaks=0\0')
        chroot = shutil.which('chroot', path='/usr/sbin:/sbin:/usr/bin:/bin')
        command = [chroot, self.root, '/bin/sh', '/benchmark/run.sh']
        if os.getuid() != 0:
            command = ['unshare', '--user', '--map-root-user', *command]
            if subprocess.run([*command[:3], 'true'], capture_output=True,
                              check=False).returncode != 0:
                self.skipTest('no root may be made here')
        found = sorted(str(path.relative_to(self.root))
                       for pattern in ('*cuda*', '*cublas*', 'libstdc*',
                                       'libjansson*')
                       for path in self.root.rglob(pattern)
                       if 'benchmark' not in path.parts)
        self.assertEqual(found, [])
        result = subprocess.run(command, env={'PATH': '/bin:/usr/bin'},
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        results = list((self.folder / 'results').glob('*.jsonl'))
        self.assertEqual(len(results), 1)
        lines = results[0].read_text().splitlines()
        self.assertEqual([json.loads(line)['status'] for line in lines],
                         ['measured'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
