# SPDX-License-Identifier: Apache-2.0
"""qm-bench with recipes in FP8, on the CPU: what it says of them, that no result
of them is another precision's, and who refuses them.

usage: test_fp8.py QM_BENCH
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from common import RECIPE, TINY

BENCH = sys.argv.pop(1)

WAYS = {
    'bf16': dict(precision='bf16'),
    'tensor': dict(precision='fp8'),
    'delayed': dict(precision='fp8', fp8_amax='delayed'),
    'row': dict(precision='fp8', fp8_scales='row'),
}
# What is said of each.
FIELDS = {
    'bf16': (None, None, None),
    'tensor': ('tensor', 'current', 'e5m2'),
    'delayed': ('tensor', 'delayed', 'e5m2'),
    'row': ('row', 'current', 'e4m3'),
}
NAMES = ('fp8_scales', 'fp8_amax', 'fp8_gradients')
UNKNOWN = 'how fast products in FP8 are is not known: too few were measured'


class Fp8(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / 'config.json').write_text(json.dumps(TINY))
        for name, fields in WAYS.items():
            self.write(name, **fields)

    def write(self, name, **fields):
        (self.path / f'{name}.json').write_text(json.dumps(
            {**RECIPE, **fields}))

    def bench(self, command, way, *words):
        return subprocess.run(
            [BENCH, command, '--config', self.path / 'config.json', '--recipe',
             self.path / f'{way}.json', *map(str, words)],
            capture_output=True, text=True, check=False, timeout=120,
            env={**os.environ, 'XDG_DATA_HOME': self.folder.name})

    def said(self, *words):
        result = self.bench(*words, '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])

    def check_fields(self, way, line):
        self.assertEqual(line['precision'], 'bf16' if way == 'bf16' else 'fp8')
        self.assertEqual(tuple(map(line.get, NAMES)), FIELDS[way])

    def test_plan(self):
        shares = set()
        for way in WAYS:
            line = self.said('plan', way, '--device', 'cpu', '--micro-batch', 4)
            self.check_fields(way, line)
            if way == 'bf16':
                self.assertNotIn('fp8_share', line)
                continue
            shares.add(line['fp8_share'])
            text = self.bench('plan', way, '--device', 'cpu', '--micro-batch',
                              4).stdout
            self.assertIn('fp8 (' + ', '.join(FIELDS[way]) + '),', text)
            self.assertIn(f'{100 * line["fp8_share"]:.1f} % of the operations '
                          'of a pass in FP8', text)
        self.assertEqual(len(shares), 1)
        self.assertTrue(0.3 < shares.pop() < 0.9)

    def test_passes(self):
        for way in WAYS:
            line = self.said('plan', way, '--device', 'cpu', '--micro-batch', 4,
                             '--operators')
            self.assertEqual('fp8' in line['passes'], way != 'bf16')
            self.assertEqual(any(one['operator'] == 'quantize'
                                 for one in line['operators']), way != 'bf16')

    def test_results_stand_by_themselves(self):
        """Of four recipes of one model in one file, each has its own, and a
        second search of any finds them."""
        results = self.path / 'results.jsonl'
        for way in WAYS:
            for again in False, True:
                before = results.read_text() if again else ''
                result = self.bench('search', way, '--device', 'cpu', '--methods',
                                    'free-lunch', '--results', results)
                self.assertEqual(result.returncode, 0, result.stderr)
                if again:
                    self.assertEqual(results.read_text(), before)
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        keys = list(dict.fromkeys(line['model_key'] for line in lines))
        self.assertEqual(len(keys), len(WAYS))
        for line in lines:
            self.check_fields(list(WAYS)[keys.index(line['model_key'])], line)
        listed = subprocess.run([BENCH, 'results', '--best', results],
                                capture_output=True, text=True, check=True).stdout
        heads = [line for line in listed.splitlines() if ' on 1 x ' in line]
        self.assertEqual(len(heads), len(WAYS))
        for way in WAYS:
            if way != 'bf16':
                words = ', fp8 (' + ', '.join(FIELDS[way]) + ') on 1 x '
                self.assertEqual(sum(words in head for head in heads), 1)

    def test_links(self):
        """Nothing is made of links where nothing is predicted."""
        links = self.path / 'links.json'
        links.write_text(json.dumps(dict(devices=[{}] * 3, collectives={
            name: [dict(bytes=4096, seconds=1)]
            for name in ('all_reduce', 'reduce_scatter', 'all_gather')})))
        words = '--gpu', 'h100-80gb-sxm', '--gpus', 4, '--links', links
        for way in WAYS:
            said = self.bench('predict', way, *words, '--sharding',
                              'none').stderr
            self.assertEqual('extrapolated' in said, way == 'bf16', said)
            self.assertEqual(UNKNOWN in said, way != 'bf16', said)

    def test_who_refuses(self):
        micro = ('--micro-batch', 4)
        gpu = ('--gpu', 'h100-80gb-sxm')
        self.write('both', precision='fp8', fp8_scales='row',
                   fp8_amax='delayed')
        for status, complaint, words in (
                (5, UNKNOWN, ('predict', 'tensor', *gpu)),
                (5, UNKNOWN, ('predict', 'row', *gpu, '--gpus', 8)),
                (5, UNKNOWN, ('predict', 'row', *gpu, '--gpus', 2, '--sharding',
                              'zero_2')),
                (5, UNKNOWN, ('predict', 'delayed', *gpu, '--methods',
                              'all')),
                (5, 'none that the settings', ('export', 'tensor', '--format',
                                               'transformers', *micro)),
                (5, 'none that the settings', ('export', 'row', '--format',
                                               'deepspeed', *micro)),
                (5, 'PyTorch has no FP8', ('framework', 'tensor', *micro)),
                (5, 'capability 8.0 has no FP8',
                 ('plan', 'tensor', '--gpu', 'a100-80gb-sxm', *micro)),
                (5, 'a scale for each row', ('plan', 'row', '--gpu', 'rtx4090',
                                             *micro)),
                (5, 'rows are others', ('plan', 'both', '--device', 'cpu',
                                        *micro))):
            with self.subTest(words=words):
                result = self.bench(*words)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(complaint, result.stderr)


if __name__ == '__main__':
    unittest.main()
