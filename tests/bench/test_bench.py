# SPDX-License-Identifier: Apache-2.0
"""qm-bench as a user calls it, on the CPU.

usage: test_bench.py QM_BENCH GOLDEN_FOLDER MANUAL
"""

import json
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from common import RECIPE, read_tensors, write_tensors

BENCH, GOLDEN, MANUAL = sys.argv[1], *map(pathlib.Path, sys.argv[2:])

CONFIG = dict(model_type='gpt_neox', vocab_size=256, hidden_size=32,
              num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=64, hidden_act='gelu', hidden_dropout=0.1,
              max_position_embeddings=32)
BERT = dict(model_type='bert', vocab_size=256, hidden_size=32,
            num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=32, hidden_dropout_prob=0,
            attention_probs_dropout_prob=0)
VIT = dict(model_type='vit', hidden_size=32, num_hidden_layers=2,
           num_attention_heads=4, intermediate_size=64, image_size=8,
           patch_size=4, num_channels=1, num_labels=4)
IMAGE_RECIPE = {key: value for key, value in RECIPE.items()
                if key != 'sequence_length'} | dict(image_size=8)


def numbers_of(path):
    """All numbers of a file of fp32."""
    data = pathlib.Path(path).read_bytes()
    begin = 8 + struct.unpack('<Q', data[:8])[0]
    return struct.unpack(f'<{(len(data) - begin) // 4}f', data[begin:])


def bench(*arguments, **options):
    return subprocess.run([BENCH, *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, **options)


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        with open(self.path(name), 'w') as file:
            file.write(value if isinstance(value, str) else json.dumps(value))
        return self.path(name)

    def tiny(self, recipe=RECIPE, **changes):
        return ('--config', self.write('config.json', {**CONFIG, **changes}),
                '--recipe', self.write('recipe.json', recipe))

    def line(self, result):
        self.assertEqual(result.stderr.count('Traceback'), 0)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count('\n'), 1)
        return json.loads(result.stdout)

    def fails(self, status, text, *arguments, **options):
        result = bench(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, '')
        return result

    def test_devices(self):
        result = bench('devices', '--json')
        last = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(last['id'], 'cpu')
        self.assertGreater(last['memory_bytes'], 0)
        self.assertTrue(last['usable'])
        self.documented(last)
        self.assertRegex(bench('devices').stdout, r'(?m)^cpu  .*\n +.* GiB')

    def test_no_gpu_is_said(self):
        result = bench('devices', env={**os.environ,
                                       'CUDA_VISIBLE_DEVICES': ''})
        self.assertEqual(result.returncode, 0)
        self.assertIn('--device cpu', result.stderr)
        self.assertTrue(result.stdout.startswith('cpu'))
        why = json.loads(bench('devices', '--json', env={
            **os.environ, 'CUDA_VISIBLE_DEVICES': ''}).stdout)['no_gpu']
        self.assertIn(why['cause'], ('no-cuda', 'no-driver', 'old-driver',
                                     'no-gpu', 'broken'))
        self.assertIn(why['reason'], result.stderr)
        result = bench('run', *self.tiny(), '--json',
                       env={**os.environ, 'CUDA_VISIBLE_DEVICES': ''})
        self.assertEqual(json.loads(result.stdout)['device']['id'], 'cpu')
        self.assertIn('This is the cpu.', result.stderr)

    def documented(self, value):
        """Every name in JSON is in the manual page."""
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text()))
        if isinstance(value, dict):
            self.assertLessEqual(set(value), words)
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, (dict, list)):
                self.documented(item)

    def test_plan_of_the_catalog(self):
        for model in ('pythia-160m', 'pythia-410m', 'pythia-1b', 'pythia-2.8b',
                      'pythia-6.9b', 'roberta-large', 'vit-large',
                      'convnext-xlarge', 'mamba-2.8b'):
            begin = time.monotonic()
            plan = self.line(bench('plan', '--model', model, '--memory',
                                   '141GB', '--json'))
            self.assertLess(time.monotonic() - begin, 1)
            self.documented(plan)
            parts = dict(plan['memory_bytes'])
            total = parts.pop('total')
            self.assertEqual(total, sum(parts.values()))
            self.assertLessEqual(total, 141e9)
            self.assertTrue(plan['fits'])

    def test_plan_for_a_gpu_of_the_catalog(self):
        for name in ('rtx-4090', 'RTX4090', 'geforce rtx 4090', '4090'):
            plan = self.line(bench('plan', '--model', 'pythia-1b', '--gpu',
                                   name, '--json'))
            self.assertEqual(plan['gpu'], 'GeForce RTX 4090')
            self.assertEqual(plan['architecture'], 89)
            self.assertLessEqual(plan['memory_bytes']['total'],
                                 plan['available_bytes'])
            self.assertLess(plan['available_bytes'], 24 * 2**30)
            self.assertGreater(plan['twice_bytes'], plan['available_bytes'])
        arguments = ('plan', '--model', 'pythia-160m', '--gpu')
        self.fails(2, 'h100-80gb-pcie, h100-80gb-sxm', *arguments, 'h100')
        self.fails(2, "no GPU 'voodoo'", *arguments, 'voodoo')
        self.fails(5, 'too old', *arguments, 'v100-16gb-pcie')
        self.fails(5, 'AMD', *arguments, 'mi300x')
        self.fails(5, 'too old', 'plan', '--model', 'pythia-160m', '--memory',
                   '24GiB', '--architecture', 70)
        plan = self.line(bench(*arguments, 't4', '--json'))
        self.assertEqual(plan['architecture'], 75)
        self.fails(5, 'has no bf16', 'plan', '--model', 'pythia-1b', '--gpu',
                   't4')
        text = bench(*arguments, 'h200-141gb-sxm').stdout
        self.assertIn('fits in the 138.2 GiB of H200 SXM 141GB', text)

    def test_plan_tells_the_whole_host(self):
        """What lies in the memory of a host is that of all GPUs together, as
        predictions have it, whoever says it."""
        question = ('--model', 'pythia-6.9b', '--gpu', 'rtx4090', '--gpus', 4)
        every = bench('plan', *question, '--methods', 'all').stdout
        one = bench('plan', *question, '--offload', 'zero_3',
                    '--checkpoint').stdout
        predicted = bench('predict', *question, '--level', 'engine').stdout
        self.assertIn('checkpointing, zero_3, offloading', predicted)
        said = re.search(r'checkpointing, zero_3, offloading .* and ([0-9.]+) '
                         'GiB of the host', every)[1]
        self.assertEqual(said, '115.5')
        self.assertRegex(one, 'of the host, for all +115.469 GiB')
        self.assertRegex(predicted, f'host +{said} GiB of its memory')

    def test_plan_of_every_way_on_many_gpus(self):
        """Each line is what a plan of its own says."""
        begin = os.times().children_user
        result = bench('plan', '--model', 'pythia-1b', '--gpu', 'all',
                       '--methods', 'all', '--json')
        self.assertLess(os.times().children_user - begin, 10)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        for line in lines:
            self.documented(line)
        refused = {line['gpu_id'] for line in lines if 'unsupported' in line}
        self.assertIn('t4', refused)
        self.assertIn('mi300x', refused)
        ways = [line for line in lines if line['gpu_id'] == 'rtx4090']
        self.assertEqual(len(ways), 13)
        for line in ways[:3] + ways[-1:]:
            options = ['--settings', line['settings']]
            options += ['--checkpoint'] if line['checkpointing'] else []
            options += (['--offload', line['sharding']]
                        if line['offloading'] else [])
            alone = self.line(bench('plan', '--model', 'pythia-1b', '--gpu',
                                    'rtx4090', *options, '--json'))
            for name in set(alone) - {'twice_bytes'}:
                self.assertEqual(line[name], alone[name], name)
            smallest = self.line(bench(
                'plan', '--model', 'pythia-1b', '--gpu', 'rtx4090', *options,
                '--micro-batch', 1, '--json'))
            self.assertEqual(line['smallest_bytes'],
                             smallest['memory_bytes']['total'])

        # One that does not fit says what a micro-batch of 1 would take.
        lines = [json.loads(line) for line in bench(
            'plan', '--model', 'pythia-6.9b', '--gpu', 'rtx4090,a5000',
            '--methods', 'naive', '--json').stdout.splitlines()]
        self.assertEqual([line['gpu_id'] for line in lines],
                         ['rtx4090', 'a5000'])
        for line in lines:
            self.assertFalse(line['fits'])
            self.assertEqual(line['memory_bytes']['total'],
                             line['smallest_bytes'])
        text = bench('plan', *self.tiny(), '--memory', '1GiB', '--methods',
                     'all').stdout
        self.assertIn('free-lunch, checkpointing, zero_3, offloading ', text)
        arguments = ('plan', '--model', 'pythia-1b', '--methods')
        self.fails(2, "--methods cannot be 'x'; choose naive", *arguments, 'x',
                   '--memory', '1GiB')
        self.fails(2, '--gpu or --memory', *arguments, 'all')
        self.fails(2, 'many settings', *arguments, 'all', '--checkpoint',
                   '--memory', '1GiB')

    def test_operators(self):
        """As text behind the plan, and in JSON as a part of its only line."""
        arguments = ('plan', *self.tiny(), '--micro-batch', 1, '--operators')
        text = bench(*arguments).stdout
        plan = self.line(bench(*arguments, '--json'))
        self.documented(plan)
        self.assertGreater(len(plan['operators']), 40)
        for call in plan['operators']:
            line = ' '.join(
                [call['phase'], call['operator'] + ':', *(one or '-' for one in call['inputs']),
                 '->', *(one or '-' for one in call['outputs'])])
            self.assertIn('\n' + line + '\n', text)
        phases = [call['phase'] for call in plan['operators']]
        order = ['forward', 'backward', 'update']
        self.assertEqual(phases, sorted(phases, key=order.index))
        self.assertEqual(phases.count('update'), 5)
        self.assertEqual(plan['passes'], [
            'attention', 'scan', 'fuse-forward', 'differentiate',
            'fuse-backward', 'loss', 'tf32', 'gates', 'rotary', 'turn',
            'units', 'advance', 'update'])
        naive = self.line(bench(*arguments, '--settings', 'naive',
                                '--checkpoint', '--json'))
        self.assertEqual(naive['passes'], [
            'differentiate', 'checkpoint', 'units', 'advance', 'update'])
        phases = [call['phase'] for call in naive['operators']]
        self.assertIn('recompute', phases)

    def test_after(self):
        """The graph on its way: each pass leaves what the next one begins
        with, and who reads what who writes."""
        arguments = ('plan', *self.tiny(), '--micro-batch', 1, '--after')
        none = self.line(bench(*arguments, 'none', '--json'))
        self.documented(none)
        self.assertEqual(none['passes'], [])
        calls = [call['operator'] for call in none['operators']]
        self.assertEqual(calls.count('softmax'), CONFIG['num_hidden_layers'])
        self.assertNotIn('backward', bench(*arguments, 'none').stdout)
        softmax = none['operators'][calls.index('softmax')]
        product = none['operators'][calls.index('softmax') + 1]
        self.assertEqual(product['reads'][0], softmax['writes'][0])
        fused = self.line(bench(*arguments, 'attention', '--json'))
        self.assertEqual(fused['passes'], ['attention'])
        calls = [call['operator'] for call in fused['operators']]
        self.assertNotIn('softmax', calls)
        self.assertEqual(calls.count('attention'),
                         CONFIG['num_hidden_layers'])
        last = self.line(bench(*arguments, 'update', '--json'))
        whole = self.line(bench(*arguments[:-1], '--operators', '--json'))
        self.assertEqual(last['operators'], whole['operators'])
        self.fails(2, "cannot be 'checkpoint'", *arguments, 'checkpoint')
        self.fails(2, 'many settings', *arguments, 'none', '--methods', 'all',
                   '--memory', '1GiB')

    def test_loss_rows(self):
        """Logits of many words in pieces, by itself and where it is asked."""
        recipe = dict(RECIPE, batch_size=1024, precision='bf16')
        arguments = ('plan', *self.tiny(recipe, vocab_size=70000),
                     '--micro-batch', 1024, '--operators')
        losses = [line for line in bench(*arguments).stdout.splitlines()
                  if ' cross_entropy: ' in line]
        self.assertEqual(len(losses), 4)
        self.assertIn('4096 of 16384 rows of logits at a time\n',
                      bench(*arguments).stdout)
        plan = self.line(bench(*arguments, '--json'))
        self.documented(plan)
        self.assertEqual(plan['loss_rows'], 4096)
        whole = self.line(bench(*arguments, '--json', '--loss-rows', 16384))
        self.assertNotIn('loss_rows', whole)
        self.assertNotIn('of logits',
                         bench(*arguments, '--loss-rows', 16384).stdout)
        self.assertEqual(
            len([call for call in whole['operators']
                 if call['operator'] == 'cross_entropy']), 1)
        saved = (whole['memory_bytes']['activations']
                 - plan['memory_bytes']['activations'])
        self.assertAlmostEqual(saved / (3 * 4096 * 70016 * 2), 1, delta=0.01)
        run = self.line(bench('run', *self.tiny(), '--device', 'cpu',
                              '--micro-batch', 2, '--loss-rows', 20, '--json'))
        self.documented(run)
        self.assertEqual(run['loss_rows'], 20)
        self.fails(2, 'many settings', *arguments[:-1], '--methods', 'all',
                   '--memory', '1GiB', '--loss-rows', 5)

    def test_pairs_of_a_pass(self):
        """A loss over pairs says how many it compares, where that is not all of
        a step; no other loss says anything."""
        tower = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                     intermediate_size=32)
        config = dict(model_type='siglip',
                      vision_config=dict(tower, image_size=8, patch_size=4),
                      text_config=dict(tower, vocab_size=9,
                                       max_position_embeddings=3))
        files = ('--config', self.write('towers.json', config), '--recipe',
                 self.write('recipe.json', IMAGE_RECIPE), '--micro-batch')
        other = ('--config', self.write('vit.json', VIT), *files[2:])
        gpu = ('--gpu', 'h100-80gb-sxm')
        for command, size, pairs in (
                (('plan', *files, 4), 4, 4), (('plan', *files, 8), 8, None),
                (('plan', *other, 4), 4, None),
                (('plan', *files, 2, '--gpus', 2), 2, 4),
                (('plan', *files, 4, '--gpus', 2), 4, None),
                (('predict', *files, 1, *gpu), 1, 1),
                (('predict', *files, 1, *gpu, '--gpus', 4), 1, 4),
                (('predict', *files, 1, *gpu, '--gpus', 8), 1, None),
                (('predict', *files, 1, *gpu, '--gpus', 4, '--sharding',
                  'zero_1'), 1, 4),
                (('predict', *other, 1, *gpu), 1, None),
                (('run', *files, 2, '--device', 'cpu', '--repeat', 1), 2, 2),
                (('run', *files, 8, '--device', 'cpu', '--repeat', 1), 8,
                 None)):
            with self.subTest(command=command):
                line = self.line(bench(*command, '--json'))
                self.documented({key: None for key in line})
                self.assertEqual(line['micro_batch'], size)
                self.assertEqual(line.get('pairs_compared'), pairs)
                said = re.findall('the loss compares .*', bench(*command).stdout)
                self.assertEqual(
                    said, [f'the loss compares the {pairs} pairs of a pass, not '
                           'the 8 of a step'] if pairs else [])
        lines = bench('plan', *files[:-1], *gpu, '--methods', 'all', '--json')
        for line in map(json.loads, lines.stdout.splitlines()):
            self.assertNotIn('pairs_compared', line)

    def test_plan_of_many_layers(self):
        begin = os.times().children_user
        plan = self.line(bench(
            'plan', *self.tiny(num_hidden_layers=4096), '--micro-batch', 1,
            '--json'))
        self.assertGreater(plan['memory_bytes']['activations'], 4096 * 2**10)
        self.assertLess(os.times().children_user - begin, 20)

    def test_settings_need_less(self):
        def need(settings):
            plan = self.line(bench('plan', '--model', 'pythia-1b', '--json',
                                   '--micro-batch', 1, '--settings', settings))
            return plan['memory_bytes']['activations']

        self.assertLess(need('kernels'), need('naive'))
        self.assertLess(need('free-lunch'), need('kernels'))

    def test_every_state_does_not_fit(self):
        options = ('plan', '--model', 'mamba-2.8b', '--memory', '141GB',
                   '--settings')
        self.fails(3, 'needs', *options, 'naive')
        self.assertIn('fits', bench(*options, 'kernels').stdout)

    def test_run_of_other_families(self):
        convnext = dict(model_type='convnext', num_stages=2, depths=[1, 2],
                        hidden_sizes=[8, 16], image_size=20, num_labels=10,
                        layer_scale_init_value=0.1, drop_path_rate=0.2)
        mamba = dict(model_type='mamba', hidden_size=16, num_hidden_layers=2,
                     state_size=4, vocab_size=50)
        images = dict(RECIPE, image_size=20)
        del images['sequence_length']
        for config, recipe in ((convnext, images),
                               (mamba, dict(RECIPE, sequence_length=70))):
            last = []
            for precision in ('fp32', 'bf16', 'fp16'):
                for settings in ('naive', 'free-lunch'):
                    got = self.line(bench(
                        'run', '--config', self.write('config.json', config),
                        '--recipe', self.write('recipe.json',
                                               dict(recipe,
                                                    precision=precision)),
                        '--device', 'cpu', '--micro-batch', 4, '--settings',
                        settings, '--validate', 1, '--json'))
                    last.append(got['loss'])
            for loss in last:
                self.assertAlmostEqual(loss / last[0], 1, places=1)
            self.assertAlmostEqual(last[0], last[1], places=3)

    def test_run(self):
        for settings in ('naive', 'kernels', 'compile', 'tf32', 'free-lunch'):
            got = self.line(bench('run', *self.tiny(), '--device', 'cpu',
                                  '--micro-batch', 4, '--settings', settings,
                                  '--validate', 1, '--repeat', 2, '--json'))
            self.assertEqual(got['settings'], settings)
            self.assertEqual(got['accumulation'], 2)
            self.assertEqual(got['device']['id'], 'cpu')
            step = 2 * got['pass']['mean_s'] + got['update']['mean_s']
            self.assertAlmostEqual(got['step']['mean_s'] / step, 1, places=6)
            self.assertAlmostEqual(
                got['days'] / (got['step']['mean_s'] * 100 / 86400), 1,
                places=6)
            self.documented(got)
            self.assertIsNone(got['memory_use']['used_bytes'])
            phases = got['phases_s']
            self.assertLess(sum(phases.values()), 2.01 * phases['total'])
            self.assertAlmostEqual(float.fromhex(got['loss_hex']), got['loss'],
                                   places=9)
            # What was timed has learned a little from log(256).
            self.assertTrue(3 < got['loss'] < 7, got['loss'])

    def test_run_chooses_the_micro_batch(self):
        got = self.line(bench('run', *self.tiny(), '--device', 'cpu', '--json'))
        self.assertEqual(got['micro_batch'], 8)

    def test_profile(self):
        arguments = (*self.tiny(), '--device', 'cpu', '--profile')
        got = self.line(bench('run', *arguments, '--json'))
        self.documented(got)
        profile = got['profile']
        for part, total in (('pass', 'pass_s'), ('update', 'update_s')):
            rows = [row for row in profile['rows'] if row['part'] == part]
            self.assertGreater(len(rows), 3)
            self.assertAlmostEqual(sum(row['seconds'] for row in rows),
                                   profile[total], places=6)
            self.assertAlmostEqual(sum(row['share'] for row in rows), 1)
            times = [row['seconds'] for row in rows]
            self.assertEqual(times, sorted(times, reverse=True))
        names = {row['operator'] for row in profile['rows']}
        self.assertTrue({'attention', 'attention_backward', 'linear', 'adam',
                         'cross_entropy'} <= names, names)
        self.assertTrue(all('tflops' in row or 'gbs' in row
                            for row in profile['rows']))
        attention, = (row for row in profile['rows']
                      if row['operator'] == 'attention')
        self.assertEqual(attention['count'], CONFIG['num_hidden_layers'])
        self.assertIn('f32[8,4,16,8]', attention['shape'])
        text = bench('run', *arguments, '--verbose').stdout
        self.assertIn('Pass operator by operator', text)
        self.assertIn('tuning', text)

    def test_same_seed_same_bits(self):
        def loss(*arguments):
            return self.line(bench(
                'run', *self.tiny(), '--device', 'cpu', '--validate', 2,
                '--json', *arguments))['loss_hex']

        first = loss('--deterministic')
        self.assertEqual(loss('--deterministic'), first)
        # Nor does it matter how often was measured before.
        self.assertEqual(loss('--repeat', 3), first)
        self.assertNotEqual(loss('--seed', 1), first)

    def test_half_precision(self):
        for precision in ('fp16', 'bf16'):
            got = self.line(bench(
                'run', *self.tiny(dict(RECIPE, precision=precision)),
                '--device', 'cpu', '--validate', 1, '--json'))
            self.assertTrue(3 < got['loss'] < 7, got['loss'])
            self.assertGreater(got['memory_bytes']['master_weights'], 0)

    def check(self, *arguments, model='bert'):
        return bench('check', '--config', GOLDEN / f'{model}.json',
                     '--weights', GOLDEN / f'{model}.weights.safetensors',
                     '--batch', GOLDEN / f'{model}.batch.safetensors',
                     '--device', 'cpu', '--out', self.path('out.safetensors'),
                     *arguments)

    def test_check(self):
        exact = self.line(self.check('--json', '--precision', 'fp32'))
        self.assertGreater(os.path.getsize(self.path('out.safetensors')), 1000)
        self.assertEqual(os.listdir(self.folder.name), ['out.safetensors'])
        for precision, places in (('tf32', 6), ('bf16', 1), ('fp16', 2)):
            got = self.line(self.check('--json', '--precision', precision))
            self.assertAlmostEqual(got['loss'], exact['loss'], places=places)

    def test_train(self):
        text = self.write('text', 'All work and no play makes a dull text. '
                          * 200)
        result = bench('train', *self.tiny(), '--device', 'cpu', '--text',
                       text, '--steps', 60, '--json')
        losses = [json.loads(line)['loss']
                  for line in result.stdout.splitlines()]
        self.assertEqual(len(losses), 60, result.stderr)
        self.assertGreater(losses[0], 5)
        self.assertLess(losses[-1], 2.5)

    def test_train_mamba(self):
        config = dict(model_type='mamba', hidden_size=32, num_hidden_layers=2,
                      state_size=4, vocab_size=256)
        text = self.write('text', 'All work and no play makes a dull text. '
                          * 200)
        result = bench('train', '--config', self.write('config.json', config),
                       '--recipe', self.write('recipe.json', RECIPE),
                       '--device', 'cpu', '--text', text, '--steps', 60,
                       '--json')
        losses = [json.loads(line)['loss']
                  for line in result.stdout.splitlines()]
        self.assertEqual(len(losses), 60, result.stderr)
        self.assertGreater(losses[0], 5)
        self.assertLess(losses[-1], 2.5)

    def test_training_is_the_same_in_every_setting(self):
        text = self.write('text', 'abcdefghijklmnopqrstuvwxyz' * 30)
        last = [float(bench('train', *self.tiny(), '--device', 'cpu',
                            '--text', text, '--steps', 4, '--settings',
                            settings).stdout.split()[-3])
                for settings in ('naive', 'free-lunch')]
        self.assertAlmostEqual(last[0], last[1], places=3)

    def test_train_masked(self):
        text = self.write('text', 'All work and no play makes a dull text. '
                          * 200)
        files = ('--config', self.write('config.json', BERT), '--recipe',
                 self.write('recipe.json', RECIPE))
        runs = []
        for more in ((), (), ('--seed', 1), ('--mask-token', 7)):
            result = bench('train', *files, '--device', 'cpu', '--text', text,
                           '--steps', 40, '--micro-batch', 4, '--json', *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            runs.append([json.loads(line)['loss']
                         for line in result.stdout.splitlines()])
        self.assertGreater(runs[0][0], 5)
        self.assertLess(sum(runs[0][-5:]) / 5, 3.5)
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])
        self.assertNotEqual(runs[0], runs[3])

    def test_train_images(self):
        images = self.path('images.safetensors')
        labels = [i % 4 for i in range(16)]
        pixels = [float(label == j // 16) for label in labels
                  for j in range(64)]
        write_tensors(images, pixel_values=('F32', [16, 1, 8, 8],
                                            struct.pack('<1024f', *pixels)),
                      labels=('I64', [16], struct.pack('<16q', *labels)))
        files = ('--config', self.write('config.json', VIT), '--recipe',
                 self.write('recipe.json', IMAGE_RECIPE))
        result = bench('train', *files, '--device', 'cpu', '--images', images,
                       '--steps', 60, '--json')
        losses = [json.loads(line)['loss']
                  for line in result.stdout.splitlines()]
        self.assertEqual(len(losses), 60, result.stderr)
        self.assertGreater(losses[0], 1)
        self.assertLess(losses[-1], 0.1)
        self.fails(2, 'learns from --images', 'train', *files, '--device',
                   'cpu', '--text', MANUAL)
        self.fails(1, 'shape', 'train', '--config',
                   self.write('config.json', dict(VIT, num_channels=3)),
                   *files[2:], '--device', 'cpu', '--images', images)

    def test_train_hidden_patches(self):
        """No labels; stripes of every width are told from the patches that are
        there, and who has other patches begins with another loss."""
        images = self.path('images.safetensors')
        pixels = [float(j % 8 // (1 + i % 4) % 2) for i in range(16)
                  for j in range(64)]
        write_tensors(images, pixel_values=('F32', [16, 1, 8, 8],
                                            struct.pack('<1024f', *pixels)))
        config = dict(model_type='vit_mae', hidden_size=32,
                      num_hidden_layers=2, num_attention_heads=2,
                      intermediate_size=64, image_size=8, patch_size=2,
                      num_channels=1, decoder_hidden_size=32,
                      decoder_num_hidden_layers=1,
                      decoder_num_attention_heads=2,
                      decoder_intermediate_size=64, mask_ratio=0.5)
        files = ('--config', self.write('config.json', config), '--recipe',
                 self.write('recipe.json', IMAGE_RECIPE))

        def train(*arguments):
            result = bench('train', *files, '--device', 'cpu', '--images',
                           images, '--json', *arguments)
            losses = [json.loads(line)['loss']
                      for line in result.stdout.splitlines()]
            self.assertEqual(result.returncode, 0, result.stderr)
            return losses

        weights = self.path('weights.safetensors')
        losses = train('--steps', 120, '--seed', 1, '--out', weights)
        self.assertLess(losses[-1], 0.3 * losses[0])
        first = train('--steps', 1, '--seed', 2, '--weights', weights)
        self.assertNotEqual(first, train('--steps', 1, '--seed', 3,
                                         '--weights', weights))
        for name in ('vit.embeddings.position_embeddings',
                     'decoder.decoder_pos_embed'):
            self.assertIn(name.encode(), pathlib.Path(weights).read_bytes())
        self.fails(1, "there is no tensor 'noise'", 'check', *files[:2],
                   '--weights', weights, '--batch', images, '--device', 'cpu',
                   '--out', self.path('out'))

    def test_train_noise(self):
        """Latents all of whose pixels are what their class says: the noise is
        what is there besides, and the more is told of it.  A label that is no
        class is refused."""
        images = self.path('images.safetensors')
        pixels = [float(i % 3 - 1) for i in range(12) for _ in range(2 * 16)]

        def write(labels):
            write_tensors(images,
                          pixel_values=('F32', [12, 2, 4, 4],
                                        struct.pack('<384f', *pixels)),
                          labels=('I64', [12], struct.pack('<12q', *labels)))

        config = dict(_class_name='DiTTransformer2DModel', num_layers=2,
                      num_attention_heads=2, attention_head_dim=16,
                      sample_size=4, patch_size=2, in_channels=2,
                      out_channels=4, num_embeds_ada_norm=3)
        recipe = dict(IMAGE_RECIPE, image_size=4, batch_size=8)
        files = ('--config', self.write('config.json', config), '--recipe',
                 self.write('recipe.json', recipe))

        def train(*arguments):
            result = bench('train', *files, '--device', 'cpu', '--images',
                           images, '--json', *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            return [json.loads(line)['loss']
                    for line in result.stdout.splitlines()]

        weights = self.path('weights.safetensors')
        write([i % 3 for i in range(12)])
        losses = train('--steps', 150, '--seed', 1, '--out', weights)
        self.assertLess(sum(losses[-20:]), 0.6 * sum(losses[:20]))
        first = train('--steps', 1, '--seed', 2, '--weights', weights)
        self.assertNotEqual(first, train('--steps', 1, '--seed', 3,
                                         '--weights', weights))
        for name in ('pos_embed', 'blocks.1.adaLN_modulation.1.weight'):
            self.assertIn(name.encode(), pathlib.Path(weights).read_bytes())
        self.fails(1, "there is no tensor 'noise'", 'check', *files[:2],
                   '--weights', weights, '--batch', images, '--device', 'cpu',
                   '--out', self.path('out'))
        for command in 'framework', 'export':
            self.fails(5, 'Transformers has no dit model', command, *files,
                       '--micro-batch', 4)
        write([3] * 12)
        self.fails(1, 'labels', 'train', *files, '--device', 'cpu', '--images',
                   images, '--steps', 1)

    def test_train_pairs(self):
        """Images of one shade, and texts of the word that says which: they are
        told apart before long.  What texts are is looked at."""
        images = self.path('images.safetensors')
        shades = [i % 6 for i in range(12)]

        def write(words, tokens=3):
            write_tensors(
                images,
                pixel_values=('F32', [12, 3, 4, 4], struct.pack(
                    '<576f', *(float((s >> c & 1) * 2 - 1) for s in shades
                               for c in range(3) for _ in range(16)))),
                input_ids=('I64', [12, tokens], struct.pack(
                    f'<{12 * tokens}q', *words)))

        tower = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                     intermediate_size=32)
        vision = dict(tower, image_size=4, patch_size=2)
        text = dict(tower, vocab_size=9, max_position_embeddings=3)
        recipe = self.write('recipe.json', dict(IMAGE_RECIPE, image_size=4,
                                                batch_size=4))
        weights = self.path('weights.safetensors')
        for kind in 'clip', 'siglip':
            config = dict(model_type=kind, vision_config=vision,
                          text_config=dict(text, **(
                              dict(eos_token_id=8) if kind == 'clip' else {})))
            files = ('--config', self.write(f'{kind}.json', config), '--recipe',
                     recipe)
            # The end comes after the word, which SigLIP has last.
            write([t for s in shades for t in (0, s, 8 if kind == 'clip'
                                               else s)])
            result = bench('train', *files, '--device', 'cpu', '--images',
                           images, '--json', '--steps', 150, '--seed', 1,
                           '--out', weights)
            self.assertEqual(result.returncode, 0, result.stderr)
            losses = [json.loads(line)['loss']
                      for line in result.stdout.splitlines()]
            self.assertLess(sum(losses[-20:]), 0.5 * sum(losses[:20]), kind)
            self.assertEqual(read_tensors(weights)['logit_scale'][1],
                             [] if kind == 'clip' else [1])
            self.fails(5, f'{kind} model', 'export', *files, '--micro-batch', 2)
        train = ('train', *files, '--device', 'cpu', '--images', images,
                 '--steps', 1)
        write([9] * 36)
        self.fails(1, 'input_ids', *train)
        write([1] * 48, 4)
        self.fails(1, "tensor 'input_ids' does not have the shape [12, 3]",
                   *train)

    def test_train_averaged(self):
        """After one step the average is half of what it began with and half of
        the weights."""
        text = self.write('text', 'abcdefghijklmnopqrstuvwxyz' * 30)
        recipe = dict(RECIPE, ema_decay=0.5)
        files = ('--config', self.tiny()[1], '--recipe',
                 self.write('averaged.json', recipe))

        def train(steps, *arguments):
            out = self.path(f'{steps}{len(arguments)}')
            result = bench('train', *files, '--device', 'cpu', '--text', text,
                           '--seed', 3, '--steps', steps, '--learning-rate',
                           0.01, '--warm-up', 0, '--schedule', 'constant',
                           '--out', out, *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            return numbers_of(out)

        zero = bench('train', *files, '--device', 'cpu', '--text', text,
                     '--seed', 3, '--steps', 1, '--learning-rate', 0, '--out',
                     self.path('zero'))
        self.assertEqual(zero.returncode, 0, zero.stderr)
        first, after = numbers_of(self.path('zero')), train(1)
        averages = train(1, '--averaged')
        self.assertNotEqual(first, after)
        self.assertEqual(len(averages), len(first))
        for average, before, weight in zip(averages, first, after):
            self.assertAlmostEqual(average, (before + weight) / 2, 6)
        self.fails(2, '--averaged needs --out', 'train', *files, '--device',
                   'cpu', '--text', text, '--averaged')
        self.fails(2, 'ema_decay', 'train', *self.tiny(), '--device', 'cpu',
                   '--text', text, '--out', self.path('none'), '--averaged')

    def test_train_continues(self):
        text = self.write('text', 'abcdefghijklmnopqrstuvwxyz' * 30)
        first, second = self.path('first'), self.path('second')

        def train(*arguments):
            result = bench('train', *self.tiny(), '--device', 'cpu', '--text',
                           text, '--json', *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            return [json.loads(line) for line in result.stdout.splitlines()]

        # A learning rate of 0 changes nothing.
        train('--steps', 1, '--learning-rate', 0, '--out', first)
        train('--steps', 1, '--learning-rate', 0, '--weights', first, '--out',
              second)
        with open(first, 'rb') as a, open(second, 'rb') as b:
            self.assertEqual(a.read(), b.read())
        drawn = train('--steps', 3)
        self.assertEqual([line['loss'] for line in drawn], [
            line['loss'] for line in train('--steps', 3, '--weights', first)])
        rates = [line['learning_rate'] for line in train(
            '--steps', 6, '--warm-up', 2, '--schedule', 'linear')]
        for rate, share in zip(rates, (0, 0.5, 1, 0.75, 0.5, 0.25)):
            self.assertAlmostEqual(rate, 3e-3 * share)
        self.fails(1, 'cannot be written', 'train', *self.tiny(), '--text',
                   text, '--out', self.path('absent/out'), '--device', 'cpu')
        self.fails(2, '--schedule', 'train', *self.tiny(), '--text', text,
                   '--schedule', 'steep', '--device', 'cpu')

    def test_checkpoint(self):
        def need(*options):
            plan = self.line(bench('plan', '--model', 'pythia-1b', '--json',
                                   '--micro-batch', 8, *options))
            self.assertEqual(plan['checkpointing'], bool(options))
            return plan['memory_bytes']['activations']

        def losses(*options):
            result = bench('train', *self.tiny(), '--device', 'cpu', '--text',
                           MANUAL, '--steps', 20, '--json', *options)
            return [json.loads(line)['loss']
                    for line in result.stdout.splitlines()]

        self.assertLess(need('--checkpoint') * 4, need())
        self.assertEqual(len(losses()), 20)
        self.assertEqual(losses('--checkpoint'), losses())
        self.line(self.check('--json'))
        whole = pathlib.Path(self.path('out.safetensors')).read_bytes()
        self.line(self.check('--json', '--checkpoint'))
        again = pathlib.Path(self.path('out.safetensors')).read_bytes()
        self.assertEqual(again, whole)
        got = self.line(bench('run', *self.tiny(), '--device', 'cpu', '--json',
                              '--checkpoint'))
        self.assertTrue(got['checkpointing'])

    def test_offload(self):
        def plan(*options):
            plan = self.line(bench('plan', '--model', 'pythia-6.9b', '--json',
                                   *options))
            self.documented(plan)
            return plan

        ways = ('zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3')
        whole = plan('--micro-batch', 1)['memory_bytes']
        self.assertEqual(whole['host'], 0)
        for way in ways:
            saving = plan('--micro-batch', 1, '--offload', way)
            self.assertEqual(saving['sharding'], way)
            self.assertTrue(saving['offloading'])
            parts = dict(saving['memory_bytes'])
            self.assertGreater(parts.pop('host'), 12 * 6.8e9)
            self.assertEqual(parts.pop('total'), sum(parts.values()))
            self.assertLess(sum(parts.values()), whole['total'] / 2)
        fits = plan('--offload', 'zero_3', '--memory', '24GiB',
                    '--host-memory', '128GiB')
        self.assertTrue(fits['fits'])
        self.assertEqual(fits['host_available_bytes'], 128 << 30)
        fits = plan('--offload', 'zero_3', '--micro-batch', 1,
                    '--host-memory', '100GiB')
        self.assertFalse(fits['fits'])

    def test_offload_trains_the_same(self):
        def losses(*options):
            result = bench('train', *self.tiny(), '--device', 'cpu', '--text',
                           MANUAL, '--steps', 10, '--json', *options)
            return [json.loads(line)['loss']
                    for line in result.stdout.splitlines()]

        plain = losses()
        self.assertEqual(len(plain), 10)
        for way in ('zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3'):
            self.assertEqual(losses('--offload', way), plain)
            got = self.line(bench('run', *self.tiny(), '--device', 'cpu',
                                  '--json', '--offload', way))
            self.assertEqual(got['sharding'], way)
            self.assertGreater(got['memory_bytes']['host'], 0)
            self.documented(got)

    def test_offload_refused(self):
        self.fails(2, '--offload', 'plan', '--model', 'pythia-1b', '--memory',
                   '24GiB', '--offload', 'zero_4')
        self.fails(3, 'host', 'plan', '--model', 'pythia-6.9b', '--memory',
                   '80GiB', '--offload', 'zero_2', '--host-memory', '64GiB')
        for size in ('auto', 2):
            self.fails(3, 'memory', 'run', *self.tiny(), '--device', 'cpu',
                       '--offload', 'zero_2', '--host-memory', '1MiB',
                       '--micro-batch', size, '--json')
        self.fails(2, 'size', 'run', *self.tiny(), '--device', 'cpu',
                   '--offload', 'zero_2', '--host-memory', 'much')
        self.fails(5, 'offloading', 'run', *self.tiny(), '--device', 'cpu',
                   '--offload', 'zero_2', '--profile')

    def test_refusals(self):
        self.fails(2, 'command')
        self.fails(2, 'command', 'walk')
        self.fails(2, 'takes no --text', 'plan', '--text', 'x')
        self.fails(2, 'needs a value', 'plan', '--model')
        self.fails(2, 'takes no value', 'plan', '--json=1')
        self.fails(2, 'whole number', 'run', '--repeat', 'x')
        self.fails(2, 'needs --config', 'check')
        self.fails(2, "no model 'x'", 'plan', '--model', 'x', '--memory',
                   '1GiB')
        for size in ('1 furlong', '0', '-1GiB', '0.5'):
            self.fails(2, 'size', 'plan', '--model', 'pythia-1b', '--memory',
                       size)
        self.fails(2, 'size', 'plan', '--model', 'pythia-1b', '--memory',
                   '1GiB', '--host-memory', 0)
        self.fails(2, '--learning-rate', 'train', *self.tiny(), '--device',
                   'cpu', '--text', MANUAL, '--learning-rate', '1e300')
        self.fails(2, '--recipe', 'run', '--config',
                   self.write('config.json', CONFIG), '--device', 'cpu')
        self.fails(2, 'micro-batch', 'run', *self.tiny(), '--micro-batch', 9,
                   '--device', 'cpu')
        self.fails(4, 'no device', 'run', *self.tiny(), '--device', 'tpu')
        self.fails(3, 'needs', 'plan', '--model', 'pythia-6.9b', '--memory',
                   '24GiB')
        self.fails(2, 'no GPU of compute capability 8.0', 'run', *self.tiny(),
                   '--device', 'cpu', '--architecture', 80)
        self.fails(2, '--architecture', 'run', *self.tiny(), '--device', 'cpu',
                   '--architecture', 'hopper')
        self.fails(4, 'no device cuda:63', 'run', *self.tiny(), '--device',
                   'cuda:63')
        self.fails(5, 'rope_scaling', 'run',
                   *self.tiny(rope_scaling=dict(type='linear')), '--device',
                   'cpu')
        self.fails(2, 'one of', 'train', '--model', 'roberta-large')
        self.fails(2, '--mask-token', 'train', '--config',
                   self.write('config.json', BERT), '--recipe',
                   self.write('recipe.json', RECIPE), '--mask-token', 256,
                   '--device', 'cpu', '--text', MANUAL)

    def test_check_refuses(self):
        broken = self.write('broken.safetensors', 'nothing of the kind')
        self.fails(1, 'safetensors', 'check', '--config', GOLDEN / 'bert.json',
                   '--weights', broken, '--batch', broken, '--out',
                   self.path('out'), '--device', 'cpu')
        self.fails(1, 'no tensor', 'check', '--config', GOLDEN / 'bert.json',
                   '--weights', GOLDEN / 'vit.weights.safetensors', '--batch',
                   GOLDEN / 'bert.batch.safetensors', '--out',
                   self.path('out'), '--device', 'cpu')
        self.fails(1, 'cannot be written', 'check', '--config',
                   GOLDEN / 'bert.json', '--weights',
                   GOLDEN / 'bert.weights.safetensors', '--batch',
                   GOLDEN / 'bert.batch.safetensors', '--out',
                   self.path('absent/out'), '--device', 'cpu')
        self.assertEqual(os.listdir(self.folder.name), ['broken.safetensors'])

    def test_interrupt(self):
        process = subprocess.Popen(
            [BENCH, 'run', *self.tiny(), '--device', 'cpu', '--validate',
             '1000000', '--micro-batch', '1', '--json'],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(out, '')
        self.assertTrue(err.endswith('qm-bench: interrupted\n'), err)

    def stopped(self, *arguments, wait):
        """Interrupted when it has used so many seconds of the processor."""
        process = subprocess.Popen([BENCH, *map(str, arguments)],
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        ticks = os.sysconf('SC_CLK_TCK')
        while process.poll() is None:
            with open(f'/proc/{process.pid}/stat') as file:
                fields = file.read().rsplit(')', 1)[1].split()
            if (int(fields[11]) + int(fields[12])) / ticks > wait:
                break
            time.sleep(0.05)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(out, '')
        self.assertTrue(err.endswith('qm-bench: interrupted\n'), err)
        return time.monotonic() - begin

    def test_interrupt_within_a_pass(self):
        recipe = self.write('recipe.json', dict(RECIPE, sequence_length=1024))
        wide = self.write('config.json', dict(
            CONFIG, hidden_size=512, intermediate_size=2048,
            num_hidden_layers=8, max_position_embeddings=1024))
        self.assertLess(self.stopped(
            'run', '--config', wide, '--recipe', recipe, '--device', 'cpu',
            '--micro-batch', 8, '--json', wait=0.5), 3)

    def test_out_of_memory(self):
        def little():
            # More than the libraries of CUDA map, less than the weights.
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

        if b'__asan_init' in pathlib.Path(BENCH).read_bytes():
            self.skipTest('a sanitizer needs address space')
        self.fails(3, 'memory', 'run', '--model', 'pythia-160m',
                   '--micro-batch', 1, '--device', 'cpu', '--json',
                   preexec_fn=little)

    def test_full_disk_is_said(self):
        for words in (['plan', '--model', 'pythia-160m', '--memory', '24GiB'],
                      ['plan', '--model', 'pythia-160m', '--memory', '24GiB',
                       '--json'], ['devices', '--json'], ['--help']):
            with open('/dev/full', 'w') as full:
                result = subprocess.run([BENCH, *words], stdout=full,
                                        stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode, 1, words)
            self.assertIn('standard output', result.stderr)

    def test_closed_streams(self):
        """No file takes the place of one, nor what belongs there."""
        results = self.path('results.jsonl')
        words = ' '.join(map(str, self.tiny()))
        for closed, status in (('2>&-', 0), ('>&-', 1), ('<&- >&- 2>&-', 1)):
            done = subprocess.run(
                ['/bin/sh', '-c', f'exec "$0" search {words} --device cpu '
                 f'--methods naive --again all --results {results} {closed}',
                 BENCH], capture_output=True, timeout=120)
            self.assertEqual(done.returncode, status, done.stderr)
        with open(results) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line['status'] for line in lines],
                         ['measured'] * 3)

    def test_pipes_are_no_files(self):
        pipe = self.path('pipe')
        os.mkfifo(pipe)
        for option in ('--text', '--tokens', '--weights'):
            more = () if option != '--weights' else ('--text', MANUAL)
            self.fails(1, 'regular file', 'train', *self.tiny(), '--device',
                       'cpu', '--steps', 1, option, pipe, *more)
        self.fails(1, 'regular file', 'train', *self.tiny(), '--device', 'cpu',
                   '--steps', 1, '--text', MANUAL, '--out', pipe)

    def test_links_stay(self):
        """What is written goes where a link leads, and a folder is refused
        before anything is trained."""
        words = ('train', *self.tiny(), '--device', 'cpu', '--steps', 1,
                 '--text', MANUAL, '--out')
        self.fails(1, 'directory', *words, self.folder.name)
        os.symlink('weights', self.path('link'))
        with open(self.path('weights'), 'w') as file:
            file.write('')
        result = bench(*words, self.path('link'))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.path.islink(self.path('link')))
        self.assertGreater(os.path.getsize(self.path('weights')), 1000)
        self.assertFalse([name for name in os.listdir(self.folder.name)
                          if name.endswith('.part')])

    def test_odd_names(self):
        recipe = self.write('recipe.json', RECIPE)
        for name in (b'a\nb.json', b'a\xff.json'):
            path = os.path.join(os.fsencode(self.folder.name), name)
            with open(path, 'w') as file:
                json.dump(CONFIG, file)
            result = subprocess.run(
                [BENCH, 'run', '--config', path, '--recipe', recipe,
                 '--device', 'cpu'], capture_output=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b'one line of UTF-8', result.stderr)
            self.assertEqual(result.stderr.count(b'\n'), 1)
        path = self.write('é' * 100 + '.json', CONFIG)
        got = self.line(bench('run', '--config', path, '--recipe', recipe,
                              '--device', 'cpu', '--json'))
        self.assertTrue(path.startswith(got['model']))

    def test_no_terminal_is_moved(self):
        odd = self.write('odd.json', {**CONFIG, '\x1b[2J\x07': 1})
        result = self.fails(5, 'unsupported', 'run', '--config', odd,
                            '--recipe', self.write('recipe.json', RECIPE),
                            '--device', 'cpu')
        self.assertNotIn('\x1b', result.stderr)

    def test_help(self):
        for option in ('--help', '--version'):
            result = bench(option)
            self.assertEqual(result.returncode, 0)
            self.assertIn('qm-bench', result.stdout)
        commands = re.findall(r'(?m)^  ([a-z]+)  ', bench('-h').stdout)
        self.assertEqual(commands, ['devices', 'plan', 'predict', 'calibrate',
                                    'run', 'check', 'train', 'search',
                                    'results', 'export', 'framework', 'links',
                                    'accept', 'share'])
        for command in commands:
            text = bench(command, '--help').stdout
            self.assertIn('--json', text)
            self.assertTrue(all(len(line) <= 80 and line == line.rstrip()
                                for line in text.splitlines()), text)


unittest.main(argv=sys.argv[:1])
