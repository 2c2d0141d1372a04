# SPDX-License-Identifier: Apache-2.0
"""qm-bench accept, on the CPU: a machine that is as it was ordered, one that is
held back, one with too few devices, one of another type, and files that are none.

usage: test_accept.py QM_BENCH MANUAL
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from common import RECIPE, TINY

BENCH, MANUAL = sys.argv[1], pathlib.Path(sys.argv[2])


class Accept(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A model of one's own, what it is, and how fast the CPU trains it."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        models = cls.path / 'quartermaster' / 'models'
        models.mkdir(parents=True)
        (models / 'tiny.json').write_text(json.dumps(
            {'id': 'tiny', 'name': 'Tiny', 'source': 'made up',
             'config': TINY, 'recipe': RECIPE}))
        found = json.loads(cls.run_bench(
            'search', '--model', 'tiny', '--device', 'cpu', '--methods',
            'naive', '--results', str(cls.path / 'r.jsonl'), '--json').stdout)
        cls.key = found['model_key']
        cls.rate = (RECIPE['batch_size'] * RECIPE['sequence_length']
                    / found['configurations'][0]['step_s'])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_bench(cls, *arguments):
        return subprocess.run(
            [BENCH, *arguments], capture_output=True, text=True,
            env=dict(os.environ, XDG_DATA_HOME=cls.folder.name))

    def order(self, *, top=None, models=('tiny',), **fields):
        """The path of a file of what was ordered."""
        path = self.path / 'order.json'
        one = {'key': self.key, 'unit': 'tokens',
               'guaranteed_per_second': self.rate / 1000, **fields}
        path.write_text(json.dumps(
            {'format': 'quartermaster-acceptance-1', 'made_on': '2026-11-26',
             'experiments': {name: one for name in models}, **(top or {})}))
        return path

    def accept(self, path, *arguments, device='cpu', load='0'):
        return self.run_bench('accept', '--against', str(path), '--device',
                              device, '--load', load, *arguments)

    def answer(self, status, *arguments, **options):
        result = self.accept(*arguments, '--json', **options)
        self.assertEqual(result.returncode, status, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(answer['accepted'], status == 0)
        return answer

    def refusal(self, path, *arguments, status=1, **options):
        """What is said where nothing can be measured."""
        result = self.accept(path, *arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, '')
        return result.stderr.splitlines()[-1]

    def test_accepted(self):
        path = self.order(gpus=1)
        answer = self.answer(0, path)
        one, = answer['experiments']
        self.assertTrue(one['passed'])
        self.assertIsNone(one['reason'])
        self.assertEqual(one['way'], 'free-lunch')
        self.assertGreater(one['measured_per_second'], self.rate / 1000)
        self.assertAlmostEqual(
            one['days'] * 86400 * one['measured_per_second']
            / (RECIPE['batch_size'] * RECIPE['sequence_length']
               * RECIPE['steps']), 1, places=6)
        self.assertAlmostEqual(one['least_per_second'],
                               0.95 * one['guaranteed_per_second'])
        self.assertEqual(answer['sha256'],
                         hashlib.sha256(path.read_bytes()).hexdigest())
        self.assertIsNone(answer['devices'][0]['gpu'])
        self.assertIsNone(one['throttle'])

    def test_samples(self):
        """Rates are in the unit of the file."""
        tokens = self.answer(0, self.order())['experiments'][0]
        one, = self.answer(0, self.order(unit='samples',
                                         guaranteed_per_second=1)
                           )['experiments']
        self.assertEqual(one['unit'], 'samples')
        ratio = tokens['measured_per_second'] / one['measured_per_second']
        self.assertGreater(ratio, 1)
        self.assertLess(ratio, RECIPE['sequence_length'] ** 2)

    def test_held_back(self):
        """What is slower than guaranteed is not accepted, however it comes."""
        one, = self.answer(6, self.order(guaranteed_per_second=self.rate * 1000)
                           )['experiments']
        self.assertIn('below the guaranteed rate', one['reason'])
        self.assertIn('5 % are tolerated', one['reason'])
        self.assertFalse(one['passed'])

    def test_tolerance(self):
        """The tolerance of the file decides, and is no more than half."""
        rate = self.answer(0, self.order())['experiments'][0][
            'measured_per_second']
        # A thousand times apart, so that no load of the machine matters.
        slow = self.order(guaranteed_per_second=rate * 1000,
                          top={'tolerance_percent': 50})
        self.answer(6, slow)
        one, = self.answer(0, self.order(guaranteed_per_second=rate / 1000, top={
            'tolerance_percent': 0}))['experiments']
        self.assertEqual(one['least_per_second'], one['guaranteed_per_second'])
        self.assertIn('is not between 0 and 50', self.refusal(
            self.order(top={'tolerance_percent': 51})))

    def test_wrong_count(self):
        one, = self.answer(6, self.order(gpus=3), device='cpu,cpu'
                           )['experiments']
        self.assertEqual(one['reason'], '3 GPUs were ordered, and 2 can be used')
        self.assertIsNone(one['measured_per_second'])
        # More are left alone; without a number all are used.
        self.answer(0, self.order(gpus=1), device='cpu,cpu')
        text = self.accept(self.order(), device='cpu,cpu').stdout
        self.assertIn('tiny on 2 x what is there, free-lunch', text)

    def test_another_gpu(self):
        result = self.accept(self.order(gpu='rtx4090'))
        self.assertEqual(result.returncode, 6)
        self.assertIn('NOT PASSED: rtx4090 was ordered, and cpu is ',
                      result.stdout)
        self.assertIn('NOT ACCEPTED.', result.stdout)
        self.assertRegex(result.stdout, r'measured +no')

    def test_ways(self):
        """The way of the file; one that cannot be gone is no verdict."""
        method = {'settings': 'naive', 'checkpointing': True,
                  'sharding': 'zero_2', 'offloading': False}
        one, = self.answer(0, self.order(method=method), device='cpu,cpu'
                           )['experiments']
        self.assertEqual(one['way'], 'naive, checkpointing, zero_2')
        method = {'settings': 'naive', 'sharding': 'fsdp_2',
                  'offloading': True}
        one, = self.answer(0, self.order(method=method))['experiments']
        self.assertEqual(one['way'], 'naive, fsdp_2, offloading')
        for wrong in ({'settings': 'fast'},
                      {'settings': 'naive', 'sharding': 'zero_9'}):
            self.refusal(self.order(method=wrong), status=2)

    def test_all_have_to_pass(self):
        text = json.loads(self.order().read_text())
        text['experiments']['pythia-1b'] = dict(
            text['experiments']['tiny'], gpus=16)
        path = self.path / 'order.json'
        path.write_text(json.dumps(text))
        self.assertIn('another model here', self.refusal(path))
        (self.path / 'quartermaster' / 'models' / 'other.json').write_text(
            json.dumps({'id': 'other', 'name': 'Other', 'source': 'made up',
                        'config': TINY, 'recipe': RECIPE}))
        text['experiments']['other'] = text['experiments'].pop('pythia-1b')
        path.write_text(json.dumps(text))
        answer = self.answer(6, path)
        self.assertEqual([one['passed'] for one in answer['experiments']],
                         [True, False])

    def test_foreign_files(self):
        path = self.path / 'order.json'
        for text in ('', '{', '[]', '{"format": 1}', 'PK\x03\x04', '\xff',
                     '{"format": "quartermaster-quotes", "schema": 1}'):
            with self.subTest(text):
                path.write_bytes(text.encode('latin-1'))
                self.assertIn('order.json', self.refusal(path))
        self.assertIn('no model \'nobody\'', self.refusal(
            self.order(models=['nobody'])))
        self.assertIn('another model here', self.refusal(self.order(key='0')))
        self.refusal(self.path / 'nothing')
        self.refusal(self.path)
        message = self.refusal(self.order(models=['\x1b[2J']))
        self.assertNotIn('\x1b', message)

    def test_usage(self):
        result = self.run_bench('accept')
        self.assertEqual(result.returncode, 2)
        self.assertIn('--against', result.stderr)
        path = self.order()
        self.refusal(path, status=2, load='soon')
        self.refusal(path, '--model', 'tiny', status=2)
        self.refusal(path, status=2, device='cpu,')
        self.assertIn('warp', self.refusal(path, status=1, device='warp'))

    def test_load(self):
        """Under load first, then as long once more."""
        one, = self.answer(0, self.order(), load='1s')['experiments']
        self.assertGreater(one['measured_s'], 0.1)

    def test_page(self):
        path = self.order(predicted={'per_second': 2.0, 'low': 1.0,
                                     'high': 3.0})
        result = self.accept(path)
        self.assertEqual(result.returncode, 0)
        self.assertIn('nine of ten from 1 to 3: faster than that',
                      result.stdout)
        self.assertIn(hashlib.sha256(path.read_bytes()).hexdigest(),
                      result.stdout)
        self.assertIn('made on 2026-11-26', result.stdout)
        self.assertIn('Buyer:', result.stdout)
        self.assertTrue(all(line.isprintable()
                            for line in result.stdout.splitlines()))

    def test_manual(self):
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text()))
        answer = self.answer(0, self.order())
        names = set(answer) | set(answer['experiments'][0])
        self.assertEqual(names - words, set())
        self.assertIn('6 a machine', self.run_bench('--help').stdout)


unittest.main(argv=sys.argv[:1])
