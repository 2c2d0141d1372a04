# SPDX-License-Identifier: Apache-2.0
"""qm-bench predict: in one place, and in many at once.

usage: test_predict.py QM_BENCH MANUAL
"""

import csv
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from common import MODELS, RECIPE, TINY

BENCH, MANUAL = sys.argv[1], pathlib.Path(sys.argv[2])
with open(pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'], 'gpus.csv'),
          newline='', encoding='utf-8') as file:
    GPUS = list(csv.DictReader(file))
NUMBERS = (1, 2, 4, 8)
ALL = ('--gpu', 'all', '--gpus', '1,2,4,8')

PLACE = {'model', 'gpu', 'gpu_id', 'gpus', 'level'}
FITS = PLACE | {
    'fits', 'link', 'provenance', 'settings', 'precision', 'micro_batch',
    'accumulation', 'checkpointing', 'sharding', 'offloading', 'memory_bytes',
    'host_bytes', 'pass_s', 'update_s', 'exchange_s', 'step_s', 'days',
    'days_low', 'days_high', 'clock', 'bound', 'shares'}
FITS_NOT = PLACE | {'fits', 'smallest_bytes'}
UNSUPPORTED = PLACE | {'unsupported'}


def bench(*arguments):
    return subprocess.run([BENCH, *map(str, arguments)], capture_output=True,
                          text=True, timeout=120)


@functools.cache
def predict(*arguments):
    """The lines of an answer, which are not to be changed."""
    result = bench('predict', *arguments, '--json')
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


class Predict(unittest.TestCase):
    def test_one_place(self):
        """A time without a GPU, what it is made of, and its interval."""
        base = ('--model', 'pythia-1b', '--gpu', 'h100-80gb-sxm')
        one, = predict(*base)
        self.assertEqual((one['provenance'], one['gpu_id'], one['gpu'],
                          one['gpus'], one['level'], one['settings']),
                         ('predicted', 'h100-80gb-sxm', 'H100 SXM5 80GB', 1,
                          'tuned', 'free-lunch'))
        self.assertAlmostEqual(sum(one['shares'].values()), 1, places=6)
        self.assertIn(one['bound'], ('power', 'arithmetic', 'bandwidth'))
        # What PyTorch took on one: 50.9 days.
        self.assertLess(one['days_low'], 50.9)
        self.assertLess(50.9, one['days_high'])
        days = {level: predict(*base, '--level', level)[0]['days']
                for level in ('engine', 'cuda', 'tuned', 'eager', 'naive')}
        self.assertLess(days['engine'], days['tuned'])
        self.assertLess(days['tuned'], days['naive'])
        eight, = predict(*base, '--gpus', 8)
        self.assertLess(eight['days'], one['days'] / 7)
        self.assertLessEqual(one['days'] / 8, eight['days'])
        slow, = predict(*base, '--gpus', 8, '--link', 'pcie')
        self.assertEqual((one['link'], eight['link'], slow['link']),
                         ('none', 'nvlink', 'pcie'))
        self.assertLessEqual(eight['step_s'], slow['step_s'])
        text = bench('predict', *base, '--gpus', 8).stdout
        self.assertRegex(text, r'predicted: [0-9.]+ days \([0-9.]+ to ')
        self.assertNotIn('host', text)
        text = bench('predict', '--model', 'pythia-6.9b', '--gpu',
                     'rtx3090').stdout
        self.assertIn('offloading', text)
        self.assertRegex(text, r'host +[0-9.]+ GiB')

    def test_complaints(self):
        base = ('--model', 'pythia-1b', '--gpu', 'h100-80gb-sxm')
        for status, complaint, words in (
                (2, '--gpu has to say', base[:2]),
                (2, 'there is no level', (*base, '--level', 'best')),
                (2, 'there is no link', (*base, '--link', 'rope')),
                (2, 'no GPU', (*base[:3], 'voodoo', *ALL[2:])),
                (2, 'no GPU', (*base[:3], 'rtx4090,', *ALL[2:])),
                (2, 'no model', ('--model', 'gpt-9', *ALL)),
                (2, 'from 1 on', (*base, '--gpus', '1,0')),
                (2, 'no whole number', (*base, '--gpus', '1,,2')),
                (2, 'no whole number', (*base, '--gpus', '2x')),
                (2, 'more than 16', (*base, '--gpus', ','.join(['1'] * 17))),
                (2, 'is auto or', (*base, '--micro-batch', '1025')),
                (2, 'no size', (*base, '--host-memory', 'much')),
                (5, 'no share for each', (*base, '--gpus', 4000)),
                (5, 'no rates are known', (*base[:3], 'mi300x')),
                (5, 'too old', ('--model', 'pythia-160m', '--gpu', 't4',
                                '--level', 'engine')),
                (3, 'needs', ('--model', 'pythia-6.9b', '--gpu', 'rtx3090',
                              '--level', 'naive')),
                (3, "the host's", ('--model', 'pythia-6.9b', '--gpu',
                                   'rtx3090', '--host-memory', '64GiB'))):
            with self.subTest(words=words):
                result = bench('predict', *words)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(complaint, result.stderr)
                if status == 2:
                    self.assertEqual(bench('predict', *words,
                                           '--json').stdout, '')

    def check_fits(self, line):
        self.assertEqual(set(line), FITS)
        gpu, = [gpu for gpu in GPUS if gpu['id'] == line['gpu_id']]
        memory = dict(line['memory_bytes'])
        total, host = memory.pop('total'), memory.pop('host')
        self.assertEqual(total, sum(memory.values()))
        self.assertLessEqual(total, float(gpu['memory_gib']) * 2**30)
        self.assertEqual(line['link'] == 'none', line['gpus'] == 1)
        self.assertEqual(line['host_bytes'] > 0, line['offloading'])
        self.assertEqual(line['host_bytes'], host * line['gpus'])
        self.assertFalse(line['offloading'] and line['sharding'] == 'none')
        size = line['micro_batch']
        self.assertEqual(size & size - 1, 0)
        self.assertAlmostEqual(
            line['step_s'], line['pass_s'] * line['accumulation']
            + line['update_s'] + line['exchange_s'],
            delta=1e-6 * line['step_s'])
        self.assertLess(0, line['days_low'])
        self.assertLess(line['days_low'], line['days'])
        self.assertLess(line['days'], line['days_high'])
        self.assertIn(line['bound'], ('power', 'arithmetic', 'bandwidth',
                                      'exchange', 'host'))

    def check_lines(self, lines, model, level):
        """Of every place one line, in the order of the catalog."""
        self.assertEqual([(line['gpu_id'], line['gpus']) for line in lines],
                         [(gpu['id'], n) for gpu in GPUS for n in NUMBERS])
        for line in lines:
            with self.subTest(model=model, gpu=line['gpu_id'], n=line['gpus']):
                self.assertEqual((line['model'], line['level']),
                                 (model, level))
                if 'unsupported' in line:
                    self.assertEqual(set(line), UNSUPPORTED)
                    self.assertTrue(line['unsupported'])
                elif line['fits']:
                    self.check_fits(line)
                else:
                    self.assertEqual(set(line), FITS_NOT)
                    self.assertGreater(line['smallest_bytes'], 2**30)

    def test_all_places(self):
        ways = set()
        for model in MODELS:
            lines = predict('--model', model, *ALL)
            self.check_lines(lines, model, 'tuned')
            ways |= {(line['sharding'], line['offloading'])
                     for line in lines if line.get('fits')}
        self.assertEqual(ways, {('none', False), ('zero_3', False),
                                ('zero_2', True), ('fsdp_3', True)})

    def test_levels(self):
        for level in ('engine', 'cuda', 'eager', 'naive'):
            lines = predict('--model', 'pythia-2.8b', *ALL, '--level', level)
            self.check_lines(lines, 'pythia-2.8b', level)
            settings = {line['settings'] for line in lines if line.get('fits')}
            self.assertEqual(settings, {{'eager': 'kernels+tf32'}.get(
                level, 'naive' if level == 'naive' else 'free-lunch')})

    def test_more_gpus_are_faster(self):
        """Or the exchange between them is what is waited for."""
        for model in ('pythia-160m', 'pythia-6.9b', 'vit-large', 'mamba-2.8b'):
            before = None
            for line in predict('--model', model, *ALL):
                if not line.get('fits'):
                    continue
                if before is not None and before['gpu'] == line['gpu']:
                    with self.subTest(model=model, gpu=line['gpu']):
                        self.assertTrue(line['days'] < before['days']
                                        or line['bound'] == 'exchange')
                before = line

    def test_off_the_shelf(self):
        """One way: nothing is divided, made twice or offloaded."""
        lines = predict('--model', 'pythia-6.9b', *ALL, '--level', 'naive')
        fits = [line for line in lines if line.get('fits')]
        small = {line['gpus']: line for line in lines
                 if line['gpu_id'] == 'rtx3090'}
        for line in fits:
            self.assertEqual((line['checkpointing'], line['sharding'],
                              line['offloading'], line['settings']),
                             (False, 'none', False, 'naive'))
        self.assertTrue(fits)
        for n in NUMBERS:
            self.assertEqual(small[n]['fits'], False)
            self.assertGreater(small[n]['smallest_bytes'], 100 * 2**30)

    def test_offloading(self):
        """Where nothing else fits, and as far as the host has memory."""
        arguments = ('--model', 'pythia-6.9b', '--gpu', 'rtx3090')
        one, = predict(*arguments)
        self.assertTrue(one['offloading'])
        # Three fp32 states and the sums of gradients of 6.9 billion.
        self.assertGreater(one['host_bytes'], 6.8e9 * 16)
        less, = predict(*arguments, '--host-memory', '64GiB')
        self.assertEqual(less['fits'], False)
        enough, = predict(*arguments, '--host-memory', '256GiB')
        self.assertEqual(one, enough)
        for line in predict('--model', 'pythia-1b', *ALL):
            self.assertFalse(line.get('offloading', False))

    def test_agrees_with_plan(self):
        """What fits on one GPU is what a plan of every way says."""
        models = ('pythia-1b', 'vit-large')
        if 'QM_TEST_FULL' in os.environ:
            models += ('pythia-2.8b', 'convnext-xlarge')
        for model in models:
            plans = {}
            for text in bench('plan', '--model', model, '--methods', 'all',
                              '--gpu', 'all', '--json').stdout.splitlines():
                line = json.loads(text)
                if line.get('fits') and line['settings'] != 'naive':
                    plans.setdefault(line['gpu_id'], []).append(line)
            for line in predict('--model', model, '--gpu', 'all', '--level',
                                'engine'):
                if 'unsupported' in line:
                    continue
                with self.subTest(model=model, gpu=line['gpu']):
                    self.assertEqual(line['fits'], line['gpu_id'] in plans)
                    names = ('checkpointing', 'sharding', 'micro_batch',
                             'memory_bytes', 'accumulation')
                    self.assertIn([line[name] for name in names],
                                  [[plan[name] for name in names]
                                   for plan in plans[line['gpu_id']]])

    def test_names_and_numbers(self):
        """In the catalog's order and ascending, each once."""
        lines = predict('--model', 'pythia-160m', '--gpu',
                        'h200-141gb-sxm,RTX 4090,mi300x,rtx4090', '--gpus',
                        '4,1,4')
        self.assertEqual([(line['gpu_id'], line['gpus']) for line in lines],
                         [(gpu, n) for gpu in ('rtx4090', 'h200-141gb-sxm',
                                               'mi300x') for n in (1, 4)])
        text = bench('predict', '--model', 'pythia-6.9b', '--level', 'naive',
                     '--gpu', 'rtx4090,mi300x,h200-141gb-sxm').stdout
        self.assertRegex(text, r'1 x GeForce RTX 4090 +does not fit: ')
        self.assertRegex(text, r'1 x Instinct MI300X +no rates')
        self.assertRegex(text, r'1 x H200 SXM 141GB +\S+ days \(.*micro-batch')

    def test_what_is_asked_for(self):
        line, = predict('--model', 'pythia-1b', '--gpu', 'h100-80gb-sxm',
                        '--micro-batch', 3, '--checkpoint')
        self.assertEqual((line['micro_batch'], line['checkpointing'],
                          line['accumulation']), (3, True, 342))
        line, = predict('--model', 'pythia-1b', '--gpu', 'rtx4090',
                        '--micro-batch', 512, '--level', 'naive')
        self.assertEqual(line['fits'], False)
        line, = predict('--model', 'pythia-1b', '--gpu', 'rtx4090', '--gpus',
                        4, '--micro-batch', 512)
        self.assertIn('more than the 256', line['unsupported'])

    def test_own_model(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, 'config.json')
            recipe = pathlib.Path(folder, 'recipe.json')
            config.write_text(json.dumps(TINY))
            recipe.write_text(json.dumps(RECIPE))
            lines = predict('--config', config, '--recipe', recipe, '--gpu',
                            'a40', '--gpus', '8,16')
        self.check_fits(lines[0])
        self.assertEqual(lines[0]['micro_batch'], 1)
        self.assertIn('no share for each', lines[1]['unsupported'])

    def test_documented(self):
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text()))
        self.assertLessEqual(FITS | FITS_NOT | UNSUPPORTED, words)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
