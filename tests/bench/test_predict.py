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
import socket
import subprocess
import sys
import tempfile
import unittest

from common import MODELS, RECIPE, TINY

BENCH, MANUAL = sys.argv[1], pathlib.Path(sys.argv[2])
with open(pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'], 'gpus.csv'),
          newline='', encoding='utf-8') as file:
    GPUS = list(csv.DictReader(file))
REFERENCE = 'h200-141gb-sxm'
NUMBERS = (1, 2, 4, 8)
ALL = ('--gpu', 'all', '--gpus', '1,2,4,8')

PLACE = {'model', 'gpu', 'gpu_id', 'gpus', 'level'}
FITS = PLACE | {
    'fits', 'link', 'bridged', 'half_lanes',
    'provenance', 'settings', 'precision', 'micro_batch',
    'accumulation', 'checkpointing', 'sharding', 'offloading', 'memory_bytes',
    'host_bytes', 'pass_s', 'update_s', 'exchange_s', 'step_s', 'days',
    'days_low', 'days_high', 'clock', 'bound', 'shares', 'calibrated',
    'residual', 'export'}
FITS_NOT = PLACE | {
    'fits', 'smallest_bytes', 'smallest_host_bytes', 'settings', 'precision',
    'micro_batch', 'accumulation', 'checkpointing', 'sharding', 'offloading'}
UNSUPPORTED = PLACE | {'unsupported'}


RATE = {
    'id', 'provenance', 'model', 'gpu', 'gpu_id', 'gpus', 'link', 'level',
    'batch_size', 'micro_batch', 'checkpointing', 'source', 'defect',
    'samples_per_s', 'predicted', 'predicted_low', 'predicted_high',
    'utilization', 'fits', 'verdict', 'problem', 'residual'}


def bench(*arguments, data=None):
    environment = {**os.environ,
                   **({'QUARTERMASTER_DATA_DIR': data} if data else {})}
    return subprocess.run([BENCH, *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, env=environment)


@functools.cache
def predict(*arguments):
    """The lines of an answer, which are not to be changed."""
    result = bench('predict', *arguments, '--json')
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def probes(gpu, slower=1.0, bytes_slower=1.0):
    """What the shipped measurement says, as if another GPU had found it, in so
    many times the time."""
    data = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
    found = json.loads((data / 'speeds' / f'{REFERENCE}.json').read_text())
    found['gpu'] = gpu
    for name, probe in found['probes'].items():
        moves = 'flops' not in probe
        probe['seconds'] *= bytes_slower if moves else slower
    return found


class Calibrated(unittest.TestCase):
    """Rates as calibrate found them, instead of the catalog's."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name, 'found.json')

    def days(self, gpu, *more, home=None):
        environment = {**os.environ, **({'XDG_DATA_HOME': home} if home else {})}
        result = subprocess.run(
            [BENCH, 'predict', '--model', 'pythia-160m', '--gpu', gpu,
             '--level', 'engine', '--json', *map(str, more)],
            capture_output=True, text=True, timeout=300, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.said = result.stderr
        answer = json.loads(result.stdout)
        return (answer['days'] / answer['residual']['factor'],
                answer['calibrated'])

    def test_file(self):
        reference, when = self.days(REFERENCE)
        self.assertRegex(when, r'^20\d\d-\d\d-\d\d$')
        sheet, nothing = self.days('rtx6000-ada')
        self.assertIsNone(nothing)
        # Who finds the same is as fast, but for what its memory holds.
        self.file.write_text(json.dumps(probes('rtx6000-ada')))
        same, when = self.days('rtx6000-ada', '--speeds', self.file)
        self.assertAlmostEqual(same / reference, 1, delta=0.025)
        self.assertIsNotNone(when)
        self.assertLess(same, sheet / 2)
        self.file.write_text(json.dumps(probes('rtx6000-ada', 4, 4)))
        slower, when = self.days('rtx6000-ada', '--speeds', self.file)
        self.assertGreater(slower, 2.5 * same)
        # It says of one GPU, and nothing of others.
        self.assertEqual(self.days('a6000', '--speeds', self.file),
                         self.days('a6000'))
        text = bench('predict', '--model', 'pythia-160m', '--gpu',
                     'rtx6000-ada', '--speeds', self.file).stdout
        self.assertIn('rates as measured on NVIDIA H200', text)

    def test_links(self):
        """What calibrate of several GPUs timed counts for as many of them."""
        def exchange(*more):
            one, = predict.__wrapped__(
                '--model', 'pythia-160m', '--gpu', 'rtx6000-ada', '--speeds',
                self.file, *more)
            return one['link'], one['exchange_s']

        def found(gpus, seconds):
            sizes = [{'bytes': 65536, 'seconds': seconds / 1e4},
                     {'bytes': 1 << 30, 'seconds': seconds}]
            return {'gpus': gpus, 'transport': 'nccl', 'collectives': {
                name: sizes for name in ('all_reduce', 'reduce_scatter',
                                         'all_gather')}}

        self.file.write_text(json.dumps(probes('rtx6000-ada')))
        sheet = exchange('--gpus', 2)
        self.file.write_text(json.dumps(
            {**probes('rtx6000-ada'), 'links': [found(2, 2), found(4, 1e-3)]}))
        link, slow = exchange('--gpus', 2)
        self.assertEqual(link, 'measured')
        self.assertGreater(slow, 5 * sheet[1])
        self.assertEqual(exchange('--gpus', 4)[0], 'measured')
        self.assertLess(exchange('--gpus', 4)[1], sheet[1])
        self.assertEqual(exchange('--gpus', 2, '--link', 'pcie'), sheet)
        self.assertEqual(exchange('--gpus', 8)[0], sheet[0])
        text = bench('predict', '--model', 'pythia-160m', '--gpu',
                     'rtx6000-ada', '--gpus', '2', '--speeds', self.file).stdout
        self.assertIn('through links as measured', text)
        for links, word in (({}, 'links: has to be a list'),
                            ([1], 'links: has to be of objects'),
                            ([found(2, 1)] * 2, 'links: has 2 GPUs twice'),
                            ([found(1, 1)], 'gpus:')):
            self.file.write_text(json.dumps({**probes('rtx6000-ada'),
                                             'links': links}))
            result = bench('predict', '--model', 'pythia-160m', '--gpu',
                           'rtx6000-ada', '--speeds', self.file)
            self.assertEqual(result.returncode, 1)
            self.assertIn(word, result.stderr)

    def test_own_folder(self):
        """What calibrate keeps counts; broken, it is told and stops nothing."""
        home = self.folder.name
        own = pathlib.Path(home, 'quartermaster', 'speeds', 'rtx6000-ada.json')
        own.parent.mkdir(parents=True)
        sheet = self.days('rtx6000-ada', home=home)
        own.write_text(json.dumps(probes('rtx6000-ada')))
        self.assertLess(self.days('rtx6000-ada', home=home)[0], sheet[0] / 2)
        own.write_text('{"format": "quartermaster-speeds-1"')
        self.assertEqual(self.days('rtx6000-ada', home=home), sheet)
        self.assertRegex(self.said, r'rtx6000-ada\.json:1:\d+: .*left out')

    def test_wrong(self):
        base = ('predict', '--model', 'pythia-160m', '--gpu', 'a6000')
        for text, word in (('{', 'found.json:1:'), ('[]', 'JSON object'),
                           (json.dumps({**probes('a6000'), 'gpu': None}),
                            'does not say which GPU'),
                           (json.dumps({**probes('a6000'), 'probes': 1}),
                            'probes: is not an object')):
            self.file.write_text(text)
            result = bench(*base, '--speeds', self.file)
            self.assertEqual(result.returncode, 1)
            self.assertIn(word, result.stderr)
        result = bench(*base, '--speeds', self.file.parent / 'nothing')
        self.assertEqual(result.returncode, 1)

    def test_no_gpu(self):
        result = bench('calibrate', '--device', 'cpu')
        self.assertEqual(result.returncode, 5)
        self.assertIn('predicted for GPUs', result.stderr)
        result = bench('calibrate', '--device', 'cpu', '--gpus', '2')
        self.assertEqual(result.returncode, 5)
        event, = (json.loads(line) for line in bench(
            'calibrate', '--device', 'cpu', '--events').stdout.splitlines()
            if 'error' in line)
        self.assertIn('predicted for GPUs', event['reason'])


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
        self.assertEqual((one['bridged'], eight['bridged'], slow['bridged']),
                         (None, None, None))
        text = bench('predict', *base, '--gpus', 8).stdout
        self.assertIn('hides, through NVLink', text)
        self.assertRegex(text, r'predicted: [0-9.]+ days \([0-9.]+ to ')
        self.assertNotIn('host', text)
        text = bench('predict', '--model', 'pythia-6.9b', '--gpu',
                     'rtx3090').stdout
        self.assertIn('offloading', text)
        self.assertRegex(text, r'host +[0-9.]+ GiB')

    def test_half_lanes(self):
        """What half of the lanes make of what goes through them."""
        ada, = predict('--model', 'pythia-6.9b', '--gpu', 'rtx6000-ada',
                       '--gpus', 2)
        self.assertGreater(ada['half_lanes']['days'], ada['days'])
        self.assertLess(ada['half_lanes']['days'], 1.5 * ada['days'])
        pair, = predict('--model', 'pythia-1b', '--gpu', 'rtx4090', '--gpus', 2)
        self.assertGreaterEqual(pair['half_lanes']['days'], pair['days'])
        one, = predict('--model', 'pythia-160m', '--gpu', 'rtx4090')
        self.assertFalse(one['offloading'])
        board, = predict('--model', 'pythia-1b', '--gpu', 'h100-80gb-sxm',
                         '--gpus', 8)
        for line in (one, board):
            self.assertIsNone(line['half_lanes'])

    def test_complaints(self):
        base = ('--model', 'pythia-1b', '--gpu', 'h100-80gb-sxm')
        for status, complaint, words in (
                (2, '--gpu has to say', base[:2]),
                (2, '--gpu has to say', (*base, '--device', 'cpu')),
                (4, 'no device', (*base[:2], '--device', 'nothing')),
                (5, '--gpu names one', (*base[:2], '--device', 'cpu')),
                (2, 'there is no level', (*base, '--level', 'best')),
                (2, "--link cannot be 'rope'; choose auto, nvlink or "
                 'pcie', (*base, '--link', 'rope')),
                (2, 'no GPU', (*base[:3], 'voodoo', *ALL[2:])),
                (2, 'no GPU', (*base[:3], 'rtx4090,', *ALL[2:])),
                (2, 'no model', ('--model', 'gpt-9', *ALL)),
                (2, '--gpus has to be at least 1', (*base, '--gpus', '1,0')),
                (2, 'no whole number', (*base, '--gpus', '1,,2')),
                (2, 'no whole number', (*base, '--gpus', '2x')),
                (2, 'more than 16', (*base, '--gpus', ','.join(['1'] * 17))),
                (2, 'is auto or', (*base, '--micro-batch', '1025')),
                (2, 'no size', (*base, '--host-memory', 'much')),
                (5, 'no share for each', (*base, '--gpus', 4000)),
                (5, 'no rates are known', (*base[:3], 'mi300x')),
                (5, 'too old', ('--model', 'pythia-160m', '--gpu',
                                'v100-32gb-sxm2', '--level', 'engine')),
                (5, 'has no rate of bf16', (*base[:3], 't4')),
                (3, 'needs', ('--model', 'pythia-6.9b', '--gpu', 'rtx3090',
                              '--level', 'naive')),
                (3, "at least 153.3 GiB of the host's memory, and 64.0",
                 ('--model', 'pythia-6.9b', '--gpu', 'rtx3090',
                  '--host-memory', '64GiB'))):
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
        if line['level'] == 'engine':
            self.assertEqual(line['host_bytes'], host * line['gpus'])
        else:
            self.assertGreaterEqual(line['host_bytes'], host * line['gpus'])
            self.assertFalse(line['offloading']
                             and line['sharding'].startswith('fsdp'))
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
        # Somewhere each is the best; PyTorch does not offload as FSDP.
        self.assertEqual(ways, {('none', False)} | {
            (way, offloading) for offloading in (False, True)
            for way in ('zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3')
            if not (offloading and way.startswith('fsdp'))})

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
        # What DeepSpeed says that it needs for so many parameters.
        self.assertAlmostEqual(one['host_bytes'] / (24 * 6857302016), 1,
                               delta=1e-3)
        # Ours has three states in fp32, and sums of gradients where they are
        # divided.
        ours, = predict(*arguments, '--level', 'engine')
        self.assertTrue(ours['offloading'])
        self.assertGreater(ours['host_bytes'], 6.8e9 * 12)
        less, = predict(*arguments, '--host-memory', '64GiB')
        self.assertEqual(less['fits'], False)
        enough, = predict(*arguments, '--host-memory', '256GiB')
        self.assertEqual(one, enough)
        # Who can well do without gains a little by it, or does not.
        for line in predict('--model', 'pythia-1b', *ALL):
            gpu, = (gpu for gpu in GPUS if gpu['id'] == line['gpu_id'])
            if line.get('offloading') and float(gpu['memory_gib']) > 50:
                plain, = predict('--model', 'pythia-1b', '--gpu',
                                 line['gpu_id'], '--gpus', line['gpus'],
                                 '--methods', 'free-lunch')
                self.assertLess(line['days'], plain['days'], line)
                self.assertGreater(line['days'], 0.98 * plain['days'], line)

    def test_more_memory_is_no_slower(self):
        """GPUs that are no worse in any column are not slower, each with the
        settings that are found for it, but for what errors of the rates of their
        types have told (engine/residual.h)."""
        columns = ('memory_gib', 'memory_bandwidth_gbs', 'fp16_tflops',
                   'tf32_tflops', 'fp32_tflops', 'tdp_w', 'multiprocessors',
                   'boost_mhz', 'l2_mib', 'nvlink_gbs', 'nvlink_gpus',
                   'pcie_generation', 'pcie_lanes', 'bf16', 'peer_access')

        def value(gpu, column):
            said = {'none': '0', 'yes': '1', 'no': '0'}.get(gpu[column],
                                                           gpu[column])
            return float(said) if said else None

        def no_worse(one, other):
            pairs = [(value(one, column), value(other, column))
                     for column in columns]
            return all(a == b or (None not in (a, b) and a >= b)
                       for a, b in pairs)

        pairs = [(one['id'], other['id']) for one in GPUS for other in GPUS
                 if one is not other and no_worse(one, other)]
        self.assertIn(('rtxpro5000-72gb', 'rtxpro5000-48gb'), pairs)
        self.assertGreater(len(pairs), 40)
        for model, level in (('pythia-6.9b', 'tuned'), ('olmoe-1b-7b', 'cuda'),
                             ('olmoe-1b-7b', 'tuned'), ('smollm3-3b', 'engine'),
                             ('pythia-2.8b', 'eager')):
            days = {(line['gpu_id'], line['gpus']):
                    line['days'] / (line['residual'] or {'factor': 1})['factor']
                    for line in predict('--model', model, '--level', level,
                                        *ALL) if 'days' in line}
            compared = 0
            for one, other in pairs:
                for n in NUMBERS:
                    if (one, n) in days and (other, n) in days:
                        compared += 1
                        self.assertLessEqual(
                            days[one, n], 1.000001 * days[other, n],
                            (model, level, one, other, n))
            self.assertGreater(compared, 100)

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
        self.assertLessEqual(FITS | FITS_NOT | UNSUPPORTED | RATE, words)


class OneFormula(unittest.TestCase):
    """What the default finds, and the same way asked for by its name."""

    def test_places(self):
        compared = 0
        for model in ('pythia-1b', 'pythia-6.9b', 'gpt2-124m'):
            for place in predict(
                    '--model', model, '--gpu', 'rtx3090,a6000,rtx4090,'
                    'h100-80gb-pcie,h200-141gb-sxm', '--gpus', '2,4,8'):
                if not place['fits']:
                    continue
                named, = predict(
                    '--model', model, '--gpu', place['gpu_id'], '--gpus',
                    place['gpus'], '--micro-batch', place['micro_batch'],
                    '--offload' if place['offloading'] else '--sharding',
                    place['sharding'],
                    *(['--checkpoint'] if place['checkpointing'] else []))
                with self.subTest(model=model, gpu=place['gpu_id'],
                                  gpus=place['gpus']):
                    self.assertTrue(named.get('fits'), named)
                    for key in ('link', 'accumulation', 'bound'):
                        self.assertEqual(named[key], place[key])
                    # Places scale what was planned for two GPUs, of which
                    # each starts as many calls for its part of an update.
                    for key in ('step_s', 'days', 'days_low', 'days_high'):
                        self.assertAlmostEqual(named[key] / place[key], 1,
                                               delta=1e-3)
                    self.assertAlmostEqual(
                        named['memory_bytes']['total']
                        / place['memory_bytes']['total'], 1, delta=1e-3)
                    compared += 1
        self.assertGreater(compared, 35)


class Residual(unittest.TestCase):
    """What rates of a model tell of it elsewhere."""

    def predict(self, *arguments, rows=None):
        """Of one place, by the shipped residuals or by these rows alone."""
        with tempfile.TemporaryDirectory() as folder:
            shipped = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
            for path in shipped.iterdir():
                if rows is None or path.name != 'residuals.csv':
                    (pathlib.Path(folder) / path.name).symlink_to(
                        path.resolve())
            if rows:
                with open(pathlib.Path(folder) / 'residuals.csv', 'w',
                          newline='', encoding='utf-8') as file:
                    writer = csv.DictWriter(file, rows[0])
                    writer.writeheader()
                    writer.writerows(rows)
            result = bench('predict', *arguments, '--json', data=folder)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        return json.loads(result.stdout)

    def rows(self, model, level):
        path = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
        with open(path / 'residuals.csv', newline='',
                  encoding='utf-8') as file:
            return [row for row in csv.DictReader(file)
                    if (row['model'], row['level']) == (model, level)]

    def test_factor(self):
        """All times are longer by what is said, of all GPUs and ways."""
        rows = self.rows('pythia-1b', 'tuned')
        self.assertGreater(len(rows), 2)
        for place in (('--gpu', 'h200-141gb-sxm', '--gpus', 4),
                      ('--gpu', 'rtx4090'),
                      ('--gpu', 'rtx3090', '--gpus', 2, '--sharding',
                       'zero_3')):
            arguments = '--model', 'pythia-1b', *place
            plain = self.predict(*arguments, rows=())
            self.assertIsNone(plain['residual'])
            told = self.predict(*arguments, rows=rows)
            factor = told['residual']['factor']
            self.assertTrue(1.03 < factor < 1.12, factor)
            self.assertEqual(told['residual']['measured'], len(rows))
            self.assertEqual(told['residual']['reported'], 0)
            self.assertEqual(set(told['residual']['gpus']),
                             {row['gpu'] for row in rows})
            for time in ('pass_s', 'update_s', 'exchange_s', 'step_s', 'days'):
                self.assertAlmostEqual(told[time], factor * plain[time],
                                       delta=1e-6 * plain['step_s'])
            self.assertAlmostEqual(
                (told['days_high'] / told['days_low']),
                (plain['days_high'] / plain['days_low'])
                ** told['residual']['interval'], places=6)
            self.assertLess(told['residual']['interval'], 1)

    def own(self, home, lines):
        """What predict says of an L40S where these lines are own results."""
        path = pathlib.Path(home, 'quartermaster', 'measurements',
                            f'{socket.gethostname()}.jsonl')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(''.join(f'{line}\n' for line in lines),
                        encoding='utf-8')
        result = subprocess.run(
            [BENCH, 'predict', '--model', 'pythia-1b', '--gpu', 'l40s',
             '--level', 'engine', '--json'], capture_output=True, text=True,
            timeout=300, check=True, env={**os.environ, 'XDG_DATA_HOME': home})
        return json.loads(result.stdout), result.stderr

    def test_own_results(self):
        """What the user measured counts: of each place the fastest, trained as
        all others; a broken file is told and stops nothing."""
        shipped = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'],
                               'measurements', 'h100-80gb-sxm.jsonl')
        results = [json.loads(line) for line in
                   shipped.read_text(encoding='utf-8').splitlines()]
        results = [one for one in results if one['model'] == 'pythia-1b'
                   and one['status'] == 'measured' and not one['offloading']]
        plain = [one for one in results if not one['checkpointing']
                 and one['settings'] == 'free-lunch']
        self.assertTrue(plain and len(plain) < len(results))

        def on(results, times):
            return [json.dumps({**one, 'gpu': 'l40s', 'days':
                                one['days'] * times, 'step':
                                {'mean_s': one['step']['mean_s'] * times}})
                    for one in results]

        with tempfile.TemporaryDirectory() as home:
            before, said = self.own(home, [])
            self.assertEqual((before['residual']['own'], said), (0, ''))
            fastest = min(one['days'] for one in plain)
            # As long as 1.2 times what was predicted.
            slow, said = self.own(home, on(results,
                                           1.2 * before['days'] / fastest))
            self.assertEqual((slow['residual']['own'], said), (1, ''))
            self.assertEqual(slow['residual']['measured'],
                             before['residual']['measured'] + 1)
            self.assertIn('l40s', slow['residual']['gpus'])
            self.assertTrue(1.03 < slow['days'] / before['days'] < 1.2)
            self.assertLess(slow['residual']['interval'],
                            before['residual']['interval'] / 1.5)
            # What computes activations twice tells nothing.
            other, said = self.own(home, on(
                [one for one in results if one['checkpointing']], 3))
            self.assertEqual((other['residual'], said),
                             (before['residual'], ''))
            broken, said = self.own(home, ['garbage'])
            self.assertEqual(broken['days'], before['days'])
            self.assertIn('own results are left out', said)

    def test_own_model(self):
        """Who trains the same has the same times, whatever it is called, and
        for however long; who trains longer sequences has them not."""
        shipped = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
        model = json.loads((shipped / 'models' / 'pythia-1b.json').read_text())
        for change, known in (({}, True), ({'steps': 7}, True),
                              ({'sequence_length': 512}, False)):
            with tempfile.TemporaryDirectory() as folder:
                config = pathlib.Path(folder) / 'config.json'
                recipe = pathlib.Path(folder) / 'recipe.json'
                config.write_text(json.dumps(model['config']))
                recipe.write_text(json.dumps({**model['recipe'], **change}))
                told = self.predict('--config', config, '--recipe', recipe,
                                    '--gpu', 'a6000')
            self.assertEqual(told['residual'] is not None, known, change)

    def test_text(self):
        result = bench('predict', '--model', 'pythia-1b', '--gpu', 'a6000')
        self.assertRegex(result.stdout, r'times 1\.\d+, by \d+ rates of this '
                                        r'model on h200-141gb-sxm')

    def test_refused(self):
        row = self.rows('pythia-1b', 'tuned')[0]
        with self.assertRaisesRegex(AssertionError, 'predicted'):
            self.predict('--model', 'pythia-1b', '--gpu', 'a6000',
                         rows=[{**row, 'predicted': 'nan'}])


class Rates(unittest.TestCase):
    """predict --rates, of the shipped rates and of some of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = pathlib.Path(folder.name)
        shipped = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
        for path in shipped.iterdir():
            if path.name != 'rates.csv':
                (self.data / path.name).symlink_to(path.resolve())
        with open(shipped / 'rates.csv', newline='',
                  encoding='utf-8') as file:
            self.shipped = list(csv.DictReader(file))

    def write(self, *changes):
        """A rate for each of these, one of the shipped ones with changes."""
        base = next(row for row in self.shipped
                    if (row['model'], row['level'], row['micro_batch'])
                    == ('pythia-1b', 'tuned', '32') and not row['defect'])
        with open(self.data / 'rates.csv', 'w', newline='',
                  encoding='utf-8') as file:
            writer = csv.DictWriter(file, base)
            writer.writeheader()
            for i, change in enumerate(changes):
                writer.writerow({**base, 'id': f'x{i}', **change})

    def rates(self, *arguments):
        result = bench('predict', '--rates', '--json', *arguments,
                       data=self.data)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        for line in lines:
            self.assertEqual(set(line), RATE)
        return lines

    def test_shipped(self):
        lines = predict('--rates')
        self.assertEqual([line['id'] for line in lines],
                         [row['id'] for row in self.shipped])
        for line, row in zip(lines, self.shipped):
            with self.subTest(id=line['id']):
                self.assertEqual(set(line), RATE)
                for name in ('provenance', 'model', 'level', 'source'):
                    self.assertEqual(line[name], row[name])
                self.assertEqual((line['gpu_id'], line['defect'] or ''),
                                 (row['gpu'], row['defect']))
                self.assertAlmostEqual(line['samples_per_s'],
                                       float(row['samples_per_s']))
                self.assertIsNone(line['problem'])
                self.assertLess(line['predicted_low'], line['predicted'])
                self.assertLess(line['predicted'], line['predicted_high'])
                self.assertTrue(0 < line['utilization'] < 1)
                fast = line['samples_per_s'] > line['predicted_high']
                self.assertEqual(line['verdict'],
                                 'defect' if row['defect']
                                 else 'doubtful' if fast else 'ok')
                if row['micro_batch']:
                    self.assertEqual(line['micro_batch'],
                                     int(row['micro_batch']))
        # The fit saw them: nine of ten, or nearly all, are as predicted.
        self.assertGreater(sum(line['verdict'] == 'ok' for line in lines),
                           0.9 * len(lines))

    def test_as_predicted_elsewhere(self):
        """Of a training that `predict` can be asked for, both say the same, by
        the same rates of its model."""
        self.write({'gpu': 'a100-80gb-sxm', 'gpus': 4, 'micro_batch': 8,
                    'checkpointing': 'yes', 'sequence': 2049})
        rate, = self.rates()
        place, = predict('--model', 'pythia-1b', '--gpu', 'a100-80gb-sxm',
                         '--gpus', 4, '--micro-batch', 8, '--checkpoint')
        samples = rate['batch_size']
        self.assertEqual(samples, 1024)
        self.assertGreater(place['residual']['factor'], 1.03)
        self.assertEqual(rate['residual'], place['residual'])
        self.assertAlmostEqual(rate['predicted'] * place['step_s'], samples,
                               delta=1e-3 * samples)
        self.assertAlmostEqual(rate['predicted'] / rate['predicted_low'],
                               place['days_high'] / place['days'], places=3)

    def test_not_by_itself(self):
        """A rate is held against what others tell, not against itself."""
        self.write({'samples_per_s': 1})
        rate, = self.rates()
        with open(self.data / 'residuals.csv', newline='',
                  encoding='utf-8') as file:
            rows = [row for row in csv.DictReader(file)
                    if (row['model'], row['level']) == ('pythia-1b', 'tuned')]
        elsewhere = [row for row in rows if (row['gpu'], int(row['gpus']))
                     != (rate['gpu_id'], rate['gpus'])]
        self.assertTrue(0 < len(elsewhere) < len(rows))
        told = rate['residual']
        self.assertEqual(told['measured'] + told['reported'], len(elsewhere))
        self.assertNotEqual(told['factor'], 1)
        text = bench('predict', '--rates', data=self.data)
        self.assertEqual(text.stderr.count('by: how many rates'), 1)
        self.assertRegex(text.stdout, rf' {len(elsewhere)} +\d+\.\d %')

    def test_verdicts(self):
        self.write({'samples_per_s': 1})
        one, = self.rates()
        predicted, peak = one['predicted'], 1 / one['utilization']
        self.assertLess(1.5 * predicted, peak)
        self.write({'samples_per_s': 1.2 * peak},
                   {'samples_per_s': 0.99 * peak},
                   {'samples_per_s': 1.5 * predicted},
                   {'samples_per_s': 0.99 * one['predicted_high']},
                   {'samples_per_s': 0.01 * predicted},
                   {'samples_per_s': 1.2 * peak, 'defect': 'on a whim'},
                   {'samples_per_s': 1.2 * peak, 'level': 'faster'},
                   {'samples_per_s': 0.5 * peak, 'level': 'faster'},
                   {'model': 'gpt-9'}, {'gpu': 'voodoo'},
                   {'settings': 'narrow+swift'}, {'config': '{'},
                   {'gpu': 'mi300x'})
        lines = self.rates()
        self.assertEqual([line['verdict'] for line in lines],
                         ['impossible', 'doubtful', 'doubtful', 'ok', 'ok',
                          'defect', 'impossible', 'possible', 'unknown',
                          'unknown', 'unknown', 'unknown', 'possible'])
        self.assertAlmostEqual(lines[0]['utilization'], 1.2, places=4)
        for line, problem in zip(lines[6:], (
                "no level 'faster'", "no level 'faster'", "no model 'gpt-9'",
                "no GPU 'voodoo'", "'swift' is no setting", '', 'no rates')):
            self.assertIn(problem, line['problem'])
            self.assertIsNone(line['predicted'])
        text = bench('predict', '--rates', data=self.data)
        table = text.stdout.splitlines()
        self.assertEqual(len(table), 1 + len(lines))
        for line, words in zip(table[1:], (
                '120.0 %  impossible', '99.0 %  doubtful', 'doubtful',
                'plausible', 'plausible', 'on a whim', 'impossible: ',
                "possible: there is no level 'faster'",
                "unknown: there is no model 'gpt-9'")):
            self.assertIn(words, line)

    def test_filters(self):
        lines = predict('--rates')
        for words, name, wanted in (
                (('--level', 'cuda,naive'), 'level', {'cuda', 'naive'}),
                (('--gpu', 'rtx4090,A40'), 'gpu_id', {'rtx4090', 'a40'})):
            found = predict('--rates', *words)
            self.assertTrue(found)
            self.assertEqual(found, [line for line in lines
                                     if line[name] in wanted])
        none = bench('predict', '--rates', '--gpu', 'l4', '--level', 'naive')
        self.assertEqual((none.returncode, none.stdout), (0, ''))
        self.assertIn('no such rates', none.stderr)
        self.assertEqual(self.rates(), [])  # without a file

    def test_wrong(self):
        self.write({}, {'batch': 'many'})
        result = bench('predict', '--rates', '--json', data=self.data)
        self.assertEqual((result.returncode, result.stdout), (1, ''))
        self.assertRegex(result.stderr,
                         r"rates\.csv:3:\d+: batch: 'many' is not a whole")
        for words in (('--model', 'pythia-1b'), ('--gpus', 2),
                      ('--link', 'pcie'), ('--checkpoint',),
                      ('--micro-batch', 1), ('--host-memory', '1GiB')):
            result = bench('predict', '--rates', *words)
            self.assertEqual((result.returncode, result.stdout), (2, ''))
            self.assertIn('--rates takes', result.stderr)
        for words in (('--level', 'best'), ('--gpu', 'voodoo')):
            self.assertEqual(bench('predict', '--rates', *words).returncode, 2)


class Ways(unittest.TestCase):
    """Ways that are said instead of looked for."""

    QUESTION = ('--model', 'pythia-1b', '--gpu', 'rtx4090', '--gpus', '4',
                '--level', 'engine')

    def test_all(self):
        lines = predict(*self.QUESTION, '--methods', 'all')
        self.assertEqual(len(lines), 23)
        ways = {(line['settings'], line['checkpointing'], line['sharding'],
                 line['offloading']) for line in lines}
        self.assertEqual(len(ways), 23)
        days = [line['days'] for line in lines if line['fits']]
        self.assertEqual(days, sorted(days))
        self.assertGreater(len(days), 20)
        for line in lines:
            if line['fits']:
                self.assertEqual(line['link'], 'host')
                self.assertGreater(line['exchange_s'], 0)
                self.assertLess(line['exchange_s'], line['step_s'])
                self.assertLessEqual(line['exchange_s'],
                                     line['exchange_total_s'] * 1.001)

    def test_one(self):
        """Each as it is among all."""
        every = predict(*self.QUESTION, '--methods', 'all')
        for way in ('zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3'):
            for more in ((), ('--checkpoint',)):
                for kind in ('--sharding', '--offload'):
                    one, = predict(*self.QUESTION, kind, way, *more)
                    self.assertIn(one, every)

    def test_everywhere(self):
        """Every GPU of the catalog is a line, whatever is known of it."""
        lines = predict('--model', 'pythia-160m', '--gpu', 'all', '--gpus',
                        '2,4', '--sharding', 'fsdp_2')
        self.assertEqual(len(lines), 2 * len(GPUS))
        self.assertGreater(sum(line.get('fits', False) for line in lines),
                           len(GPUS))

    def test_boards(self):
        """Half of an H200's step is not exchange, and cards are worse off."""
        for gpu, most in (('h200-141gb-sxm', 0.1), ('rtx4090', 0.7)):
            one, = predict('--model', 'pythia-160m', '--gpu', gpu, '--gpus',
                           '8', '--sharding', 'none')
            self.assertLess(one['exchange_s'] / one['step_s'], most)

    def test_wrong(self):
        for arguments in (('--sharding', 'zero_9'),
                          ('--methods', 'all', '--sharding', 'zero_1'),
                          ('--sharding', 'zero_1', '--offload', 'zero_2')):
            result = bench('predict', *self.QUESTION, *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
        result = bench('predict', *self.QUESTION, '--links', '/nowhere')
        self.assertNotEqual(result.returncode, 0)


class Machines(unittest.TestCase):
    """--nodes and --between."""

    ONE = ('--model', 'pythia-1b', '--gpu', 'h100-80gb-sxm', '--gpus', '8')

    def machines(self, between, *arguments, nodes=4):
        return predict(*self.ONE, '--nodes', str(nodes), '--between', between,
                       *arguments)

    def test_place(self):
        one, = predict(*self.ONE)
        self.assertNotIn('nodes', one)
        days = []
        for between in ('1gbe', '10gbe', '100gbe', 'edr', 'hdr', '8xndr'):
            line, = self.machines(between)
            self.assertEqual(set(line), FITS | {'nodes', 'between'})
            self.assertEqual((line['nodes'], line['between'], line['gpus']),
                             (4, between, 32))
            days.append(line['days'])
        # Dividing has to be worth a twentieth, and may be on a slower network
        # where it is not on a faster one.
        for slower, faster in zip(days, days[1:]):
            self.assertLess(faster, slower * 1.05)
        self.assertGreater(days[0], one['days'])
        self.assertGreater(days[-1], one['days'] / 4.2)
        self.assertLess(days[-1], one['days'] / 3.8)

    def test_one_gpu_each(self):
        """There is no link but the network."""
        line, = predict('--model', 'pythia-160m', '--gpu', 'rtx3090', '--nodes',
                        '2', '--between', '10gbe')
        self.assertEqual((line['gpus'], line['link']), (2, 'none'))

    def test_machine_of_its_own(self):
        """It has no second GPU, and may have a neighbour."""
        ask = ('--model', 'pythia-160m', '--gpu', 'gb10')
        line, = predict(*ask, '--nodes', '2', '--between', '200gbe-roce')
        self.assertTrue(line['fits'])
        line, = predict(*ask, '--gpus', '2', '--nodes', '2', '--between',
                        '200gbe-roce')
        self.assertIn('machine of its own', line['unsupported'])

    def test_ways(self):
        lines = self.machines('10gbe', '--methods', 'all', nodes=2)
        self.assertEqual({line['gpus'] for line in lines}, {16})
        slow = {(line['sharding'], line['checkpointing'], line['offloading'],
                 line['settings']): line['exchange_total_s']
                for line in lines if line.get('fits')}
        self.assertGreater(len(slow), 10)
        for line in self.machines('8xhdr', '--methods', 'all', nodes=2):
            if line.get('fits') and line['exchange_total_s'] > 0:
                way = (line['sharding'], line['checkpointing'],
                       line['offloading'], line['settings'])
                self.assertLess(line['exchange_total_s'], slow[way])

    def test_host_of_each(self):
        """Each machine has as much as is said, for its own GPUs."""
        ask = ('--model', 'pythia-6.9b', '--gpu', 'rtx4090', '--gpus', '4',
               '--nodes', '2', '--between', 'hdr', '--offload', 'zero_2')
        line, = predict(*ask, '--level', 'engine')
        needs = 4 * line['memory_bytes']['host']
        for more, fits in ((1 << 20, True), (-(1 << 20), False)):
            line, = predict(*ask, '--level', 'engine', '--micro-batch',
                            line.get('micro_batch', 1), '--host-memory',
                            needs + more)
            self.assertEqual(line['fits'], fits)

    def test_text(self):
        result = bench('predict', *self.ONE, '--nodes', '4', '--between', 'hdr')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('4 x 8 x H100', result.stdout)
        self.assertIn('between machines: hdr', result.stdout)

    def test_wrong(self):
        for arguments, word in (
                (('--nodes', '4'), '--between'),
                (('--between', 'hdr'), '--nodes'),
                (('--nodes', '4', '--between', 'wifi'), 'no network'),
                (('--nodes', '4', '--between', '17xhdr'), 'no network'),
                (('--nodes', '4', '--between', '0xhdr'), 'no network'),
                (('--nodes', '4', '--between', 'xhdr'), 'no network'),
                (('--nodes', '99999', '--between', 'hdr'), '--nodes'),
                (('--nodes', '4', '--between', 'hdr', '--links', '/nowhere'),
                 '--links')):
            result = bench('predict', *self.ONE, *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(word, result.stderr)
        result = bench('predict', *self.ONE, '--nodes', '4096', '--between',
                       'hdr')
        self.assertIn('no share for each', result.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
