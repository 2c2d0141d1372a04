# SPDX-License-Identifier: Apache-2.0
"""qm-bench predict of all models of the catalog: what fits on a machine, how,
what would have the rest fit, and the commands that export what was found.

usage: test_fits.py QM_BENCH MANUAL
"""

import functools
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from common import RECIPE, TINY

BENCH, MANUAL = sys.argv[1], pathlib.Path(sys.argv[2])
DATA = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
MODELS = {path.stem: json.loads(path.read_text())
          for path in (DATA / 'models').glob('*.json')}
EMPTY = tempfile.TemporaryDirectory()  # a home without results
ENTRY = {'group', 'available_bytes', 'plain_bytes', 'change', 'measured'}


def run(*arguments, home=None, command='predict'):
    return subprocess.run(
        [BENCH, command, *map(str, arguments)], capture_output=True, text=True,
        timeout=300, env={**os.environ, 'XDG_DATA_HOME': home or EMPTY.name})


@functools.cache
def predict(*arguments, home=None):
    result = run(*arguments, '--json', home=home)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def by_model(lines):
    return {line['model']: line for line in lines}


class Fits(unittest.TestCase):
    def test_all_models(self):
        """Each once, the newest group first, as if it were asked for alone."""
        lines = predict('--gpu', 'rtx4090')
        self.assertEqual(lines, predict('--gpu', 'rtx4090', '--model', 'all'))
        self.assertEqual(sorted(line['model'] for line in lines),
                         sorted(MODELS))
        groups = [line['group'] for line in lines]
        self.assertEqual(groups, sorted(groups, key=['today', 'publication']
                                        .index))
        self.assertEqual(groups, [MODELS[line['model']]['group']
                                  for line in lines])
        for line in lines[::4]:
            with self.subTest(model=line['model']):
                one, = predict('--gpu', 'rtx4090', '--model', line['model'])
                self.assertEqual({name: line[name] for name in line
                                  if name not in ENTRY}, one)
                self.assertEqual(set(line) - set(one), ENTRY)
                self.assertIsNone(line['change'])

    def test_plain(self):
        """What saves nothing takes what plan says, at a sample at a time."""
        for gpus in 1, 2:
            for line in predict('--gpu', 'rtx4090', '--gpus', gpus, '--level',
                                'engine')[::4]:
                plan = json.loads(run(
                    '--gpu', 'rtx4090', '--gpus', gpus, '--micro-batch', 1,
                    '--model', line['model'], '--json',
                    command='plan').stdout)
                self.assertEqual(line['plain_bytes'],
                                 plan['memory_bytes']['total'])

    def rows(self, text, part=None):
        """What stands in the table, by model; of a part of the answer."""
        wanted, rows = part is None, {}
        for line in text.splitlines():
            if not line:
                wanted = False
            if part is not None and line.startswith(part):
                wanted = True
            words = line.split()
            if wanted and words and words[0].rstrip(',') in MODELS:
                rows[words[0].rstrip(',')] = line
        return rows

    def check_text(self, *place):
        lines, text = by_model(predict(*place)), run(*place).stdout
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100, line)
        rows = self.rows(text)
        fits = {model for model, line in lines.items() if line.get('fits')}
        self.assertEqual(set(rows), fits)
        for model, row in rows.items():
            line = lines[model]
            days, low, high = (
                f'{value:.3g}' if value < 1000 else f'{value:.0f}'
                for value in (line['days'], line['days_low'],
                              line['days_high']))
            way = [str(line['micro_batch'])]
            way += ['checkpointing'] * line['checkpointing']
            if line['sharding'] != 'none':
                way.append(line['sharding'])
                way += ['offloading'] * line['offloading']
            gib = [f'{line["memory_bytes"]["total"] / 2**30:.1f}']
            gib += [f'{line["host_bytes"] / 2**30:.1f}'] * line['offloading']
            self.assertEqual(
                row.split(), [model, days, low, 'to', high, *gib,
                              *', '.join(way).split()])
        saving = sum(lines[model]['plain_bytes']
                     > lines[model]['available_bytes'] for model in fits)
        self.assertRegex(text, f'(?m)^{len(fits)} of {len(MODELS)} models fit' + (
            f', {saving} of them only by' if saving else '(;|$)'))
        return text

    def test_text(self):
        """What people read is what programs read, in 100 columns."""
        for place in (('--gpu', 'rtx4090'), ('--gpu', 't4'),
                      ('--gpu', 'h100-80gb-sxm', '--gpus', 8),
                      ('--gpu', 'rtx4090', '--host-memory', '32GiB'),
                      ('--gpu', 'a6000', '--gpus', 2, '--level', 'engine')):
            with self.subTest(place=place):
                self.check_text(*place)
        text = self.check_text('--gpu', 'rtx4090', '--level', 'naive')
        self.assertNotIn('offload', text)
        text = run('--gpu', 'a6000', '--gpus', 2, '--level', 'engine').stdout
        command = text.splitlines()[-1].split(': ')[1]
        self.assertEqual(command, 'qm-bench predict --gpu a6000 --gpus 2 '
                                  '--level engine --model ID')

    def test_asked_alike(self):
        """What is asked of one then is what was asked of all."""
        asked = ('--gpu', 'l40s', '--host-memory', '64GiB', '--checkpoint')
        text = run(*asked).stdout
        program, *words = shlex.split(text.splitlines()[-1].split(': ')[1])
        self.assertEqual((program, words[0]), ('qm-bench', 'predict'))
        words[words.index('ID')] = 'pythia-2.8b'
        one = predict(*words[1:])[0]
        same = by_model(predict(*asked))['pythia-2.8b']
        self.assertTrue(one['checkpointing'])
        for field in ('days', 'micro_batch', 'host_bytes', 'sharding'):
            self.assertEqual(one[field], same[field])

    def test_places(self):
        """Each place has its table."""
        text = run('--gpu', 't4,rtx4090', '--gpus', '1,2', '--level',
                   'tuned,naive').stdout
        heads = re.findall(r'(?m)^(\d x [^,]*), .*: (.*), predicted$', text)
        # In the order of the catalog.
        self.assertEqual(heads, [
            (f'{n} x {gpu}', level) for level in ('tuned', 'naive')
            for gpu in ('GeForce RTX 4090', 'Tesla T4') for n in (1, 2)])
        many = predict('--gpu', 't4,rtx4090', '--gpus', '1,2')
        self.assertEqual(
            [line for line in many if (line['gpu_id'], line['gpus'])
             == ('rtx4090', 2)], predict('--gpu', 'rtx4090', '--gpus', 2))

    def test_fp16(self):
        """Instead of a precision that the GPU has not: as with that recipe."""
        lines = by_model(predict('--gpu', 't4'))
        wanting = {model for model, entry in MODELS.items()
                   if entry['recipe']['precision'] == 'bf16'}
        self.assertEqual({model for model, line in lines.items()
                          if 'unsupported' in line}, wanting)
        for model in ('llama-3.2-1b', 'gpt2-124m', 'pythia-1b'):
            change = lines[model]['change']
            with tempfile.TemporaryDirectory() as folder:
                recipe = pathlib.Path(folder, 'recipe.json')
                recipe.write_text(json.dumps({**MODELS[model]['recipe'],
                                              'precision': 'fp16'}))
                one, = predict('--model', model, '--recipe', recipe, '--gpu',
                               't4')
            self.assertEqual(change, {name: one[name] for name in change})
            self.assertEqual((change['precision'], change['gpus'],
                              change['fits']), ('fp16', 1, True))
        text = run('--gpu', 't4').stdout
        self.assertEqual(set(self.rows(text, 'In fp16')), {
            model for model in wanting if lines[model]['change']['fits']})
        self.assertIn(f'{len(wanting)} more in fp16', text)

    def test_too_large(self):
        """By how much, and how many GPUs are the first that suffice."""
        place = '--gpu', 'rtx4090', '--host-memory', '32GiB'
        lines = by_model(predict(*place))
        more = {n: by_model(predict(*place, '--gpus', n)) for n in (2, 4, 8)}
        large = {model for model, line in lines.items() if not line['fits']}
        self.assertGreater(len(large), 3)
        text = run(*place).stdout
        rows = self.rows(text, 'Too large')
        self.assertEqual(set(rows), large)
        numbers = set()
        for model in large:
            line, change = lines[model], lines[model]['change']
            first = next(n for n in (2, 4, 8) if more[n][model]['fits'])
            numbers.add(first)
            self.assertEqual(change['gpus'], first)
            self.assertEqual(change, {name: more[first][model][name]
                                      for name in change})
            # The GPU would do.
            self.assertLessEqual(line['smallest_bytes'],
                                 line['available_bytes'])
            needs = line['smallest_host_bytes'] / 2**30
            self.assertGreater(needs, 32)
            self.assertIn(f'host: {needs:.1f} ', rows[model])
            self.assertIn(f' {needs - 32:.1f} ', rows[model])
            self.assertIn(f' {first}: ', rows[model])
            # With as much it fits, and with less it does not.
            for bytes_, fits in ((line['smallest_host_bytes'], True),
                                 (line['smallest_host_bytes'] - 2**20, False)):
                one, = predict('--model', model, '--gpu', 'rtx4090',
                               '--host-memory', bytes_)
                self.assertEqual(one['fits'], fits)
        self.assertGreater(len(numbers), 1)

    def test_least_of_the_host(self):
        """Of ways that take different parts of it the one that takes least."""
        place = '--gpu', 'a6000', '--level', 'engine', '--model', 'pythia-6.9b'
        small, = predict(*place, '--host-memory', '8GiB')
        least = small['smallest_host_bytes']
        for bytes_, fits in ((least, True), (least - 2**20, False)):
            one, = predict(*place, '--host-memory', bytes_)
            self.assertEqual(one['fits'], fits)
        self.assertEqual(one['smallest_host_bytes'], least)

    def test_too_large_for_the_gpu(self):
        """The smallest way is said, and takes what plan says of it."""
        place = ('--gpu', 'rtx4090', '--level', 'engine', '--micro-batch', 16,
                 '--checkpoint')
        lines = [line for line in predict(*place) if not line.get('fits', 1)]
        self.assertTrue(lines)
        rows = self.rows(run(*place).stdout, 'Too large')
        for line in lines:
            self.assertTrue(line['checkpointing'])
            self.assertIsNone(line['smallest_host_bytes'])
            plan = json.loads(run(
                '--gpu', 'rtx4090', '--model', line['model'], '--checkpoint',
                '--micro-batch', 16, '--offload', line['sharding'], '--json',
                command='plan').stdout)
            self.assertEqual(line['smallest_bytes'],
                             plan['memory_bytes']['total'])
            short = line['smallest_bytes'] - line['available_bytes']
            self.assertIn(f' {short / 2**30:.1f}', rows[line['model']])
            self.assertIn(f'16, checkpointing, {line["sharding"]}, offloading ',
                          rows[line['model']])

    def test_nothing_known(self):
        """What holds for all is said once."""
        result = run('--gpu', 'mi300x')
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.count('no rates are known'), 1)
        self.assertIn('Nothing is predicted: ', result.stdout)
        # Nor is fp16 proposed where there are no kernels.
        for line in predict('--gpu', 'v100-32gb-sxm2', '--level', 'engine'):
            self.assertIn('too old', line['unsupported'])
            self.assertIsNone(line['change'])

    def test_complaints(self):
        for words, complaint in (
                ((), '--gpu has to say'),
                (('--gpu', 't4', '--methods', 'all'), 'of one model'),
                (('--gpu', 't4', '--sharding', 'zero_1'), 'of one model'),
                (('--gpu', 't4', '--recipe', 'recipe.json'), 'of one model'),
                (('--gpu', 't4', '--micro-batch', '0'), 'from 1 on')):
            result = run(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ''))
            self.assertIn(complaint, result.stderr)

    def test_own_model(self):
        """One of the user's comes first."""
        with tempfile.TemporaryDirectory() as home:
            folder = pathlib.Path(home, 'quartermaster', 'models')
            folder.mkdir(parents=True)
            (folder / 'mine.json').write_text(json.dumps({
                'id': 'mine', 'name': 'Mine', 'source': 'me', 'config': TINY,
                'recipe': RECIPE}))
            lines = predict('--gpu', 'rtx4090', home=home)
            text = run('--gpu', 'rtx4090', home=home).stdout
        self.assertEqual((lines[0]['model'], lines[0]['group']), ('mine', ''))
        self.assertLess(text.index('your own:'), text.index('\nmine '))
        self.assertLess(text.index('\nmine '), text.index('of today:'))

    def test_interrupted(self):
        """It tells how far it is, and stops when it is asked to."""
        with subprocess.Popen(
                [BENCH, 'predict', '--gpu', 'all', '--gpus', '1,2,3,4,5,6,7,8',
                 '--level', 'tuned,engine,eager'], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True) as child:
            first = child.stderr.readline()
            begun = time.monotonic()
            child.send_signal(signal.SIGINT)
            rest = child.communicate(timeout=60)[1]
            self.assertLess(time.monotonic() - begun, 10)
        self.assertRegex(first, r'^ *\d+ %')
        self.assertEqual(child.returncode, 130)
        self.assertIn('interrupted', rest)

    def test_documented(self):
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text()))
        self.assertLessEqual(ENTRY | {'export', 'smallest_host_bytes'}, words)


class Measured(unittest.TestCase):
    """What the user measured stands beside what is predicted."""

    def results(self, home, *changes):
        """Of pythia-1b, as of a place that is an L40S."""
        shipped = DATA / 'measurements' / 'h100-80gb-sxm.jsonl'
        one = next(
            one for one in map(json.loads, shipped.read_text().splitlines())
            if (one['model'], one['status'], one['settings']) == (
                'pythia-1b', 'measured', 'free-lunch')
            and not one['offloading'] and one['engine'] == 'quartermaster')
        path = pathlib.Path(home, 'quartermaster', 'measurements',
                            f'{socket.gethostname()}.jsonl')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(''.join(
            json.dumps({**one, 'gpu': 'l40s', **change}) + '\n'
            for change in changes))

    def measured(self, home, *arguments):
        lines = predict.__wrapped__('--gpu', 'l40s', *arguments, home=home)
        said = {line['model']: line['measured'] for line in lines}
        mine = said.pop('pythia-1b')
        self.assertEqual(set(said.values()), {None})
        return mine

    def test_measured(self):
        with tempfile.TemporaryDirectory() as home:
            self.results(home, dict(days=71.25, micro_batch=8),
                         dict(days=70.5, micro_batch=4, checkpointing=True),
                         dict(days=90.5, micro_batch=2, settings='naive',
                              engine='pytorch', checkpointing=False))
            mine = self.measured(home, '--level', 'engine')
            self.assertEqual(
                (mine['days'], mine['micro_batch'], mine['checkpointing'],
                 mine['level'], mine['line']), (70.5, 4, True, 'engine', 2))
            # That of the level, if there is one, else the fastest.
            self.assertEqual(self.measured(home, '--level', 'naive')['days'],
                             90.5)
            self.assertEqual(self.measured(home, '--level', 'tuned'), mine)
            self.assertIsNone(self.measured(home, '--gpus', 2))
            text = run('--gpu', 'l40s', '--level', 'engine', home=home).stdout
            self.assertRegex(
                text, r'(?m)^pythia-1b .*\n  measured, engine +70\.5 .* '
                r'4, checkpointing$')

    def test_rounded(self):
        """Nearly a thousand days are so many, and no power of ten."""
        with tempfile.TemporaryDirectory() as home:
            self.results(home, dict(days=999.7))
            text = run('--gpu', 'l40s', '--level', 'engine', home=home).stdout
        self.assertRegex(text, r'(?m)^  measured, engine +1000 ')

    def test_broken(self):
        """It is said once, and stops nothing."""
        with tempfile.TemporaryDirectory() as home:
            self.results(home)
            path, = pathlib.Path(home).rglob('*.jsonl')
            path.write_text('garbage\n')
            result = run('--gpu', 'l40s', home=home)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count('own results are left out'), 1)
        self.assertEqual(result.stdout, run('--gpu', 'l40s').stdout)


class Exported(unittest.TestCase):
    """The commands do what they say: they are run as they are printed."""

    def export(self, command, *more):
        program, *words = shlex.split(command)
        self.assertEqual((program, words[0]), ('qm-bench', 'export'))
        result = run(*words[1:], *more, '--json', command='export')
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)['arguments']

    def check(self, line):
        got = self.export(line['export'])
        fsdp = line['sharding'].startswith('fsdp')
        zero = line['sharding'].startswith('zero')
        self.assertEqual((got['per_device_train_batch_size'],
                          got['gradient_accumulation_steps']),
                         (line['micro_batch'], line['accumulation']))
        self.assertEqual(got['tf32'], line['settings'] != 'naive')
        if fsdp:
            self.assertEqual(
                (got['fsdp_config']['reshard_after_forward'],
                 got['fsdp_config']['cpu_offload'],
                 got['fsdp_config'].get('activation_checkpointing', False)),
                (line['sharding'] == 'fsdp_3', line['offloading'],
                 line['checkpointing']))
            return
        self.assertNotIn('fsdp', got)
        self.assertEqual(got['gradient_checkpointing'], line['checkpointing'])
        self.assertEqual('deepspeed' in got, zero)
        if zero:
            stage = got['deepspeed']['zero_optimization']
            self.assertEqual(
                (stage['stage'], 'offload_optimizer' in stage),
                (int(line['sharding'][-1]), line['offloading']))
            if not line['checkpointing']:
                self.assertEqual(
                    self.export(line['export'], '--format', 'deepspeed'),
                    got['deepspeed'])

    def test_lines(self):
        seen = set()
        for place in (('--gpu', 'rtx4090'),
                      ('--gpu', 'h100-80gb-sxm', '--gpus', 8),
                      ('--gpu', 'rtx3090', '--gpus', 3, '--level', 'eager'),
                      ('--gpu', 'rtx4090', '--level', 'naive')):
            for line in predict(*place):
                if not line.get('fits'):
                    continue
                with self.subTest(place=place, model=line['model']):
                    entry = MODELS[line['model']]
                    takes = (entry['recipe']['optimizer'] in ('adam', 'adamw')
                             and not {'head_n_prototypes', '_class_name',
                                      'vision_config'} & set(entry['config']))
                    self.assertEqual(line['export'] is not None, takes)
                    if takes:
                        seen.add((line['checkpointing'], line['sharding'],
                                  line['offloading']))
                        self.check(line)
        # Each way was exported.
        self.assertIn((True, 'zero_3', True), seen)
        self.assertIn((False, 'none', False), seen)
        self.assertTrue(any(sharding.startswith('fsdp')
                            for _, sharding, _ in seen))

    def test_none(self):
        """Of other software, and of several machines."""
        for more in (('--level', 'engine'), ('--level', 'cuda'),
                     ('--nodes', 2, '--between', 'hdr')):
            self.assertEqual({line.get('export') for line in predict(
                '--gpu', 'h100-80gb-sxm', *more)}, {None})

    def test_text(self):
        text = run('--gpu', 'rtx4090', '--model', 'pythia-2.8b').stdout
        line, = predict('--gpu', 'rtx4090', '--model', 'pythia-2.8b')
        self.assertIn(f'  settings: {line["export"]}\n', text)
        text = run('--gpu', 'rtx4090', '--model', 'pythia-2.8b', '--gpus', 2,
                   '--methods', 'all').stdout
        first, = re.findall('(?m)^settings for the first: (.*)$', text)
        got = self.export(first)
        way = text.splitlines()[2]
        self.assertIn(f'micro-batch {got["per_device_train_batch_size"]},',
                      way)
        self.assertEqual(got['gradient_checkpointing'],
                         'checkpointing' in way)

    def test_own_files(self):
        """Names that a shell would take apart, and a batch that is no multiple
        of what all GPUs take at a time."""
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, 'my config.json')
            recipe = pathlib.Path(folder, 'my $recipe.json')
            config.write_text(json.dumps(TINY))
            recipe.write_text(json.dumps(RECIPE))
            for gpus in (1, 2):
                line, = predict('--config', config, '--recipe', recipe,
                                '--gpu', 'a40', '--gpus', gpus)
                self.check(line)
            recipe.write_text(json.dumps({**RECIPE, 'batch_size': 10}))
            line, = predict('--config', config, '--recipe', recipe, '--gpu',
                            'a40', '--gpus', '3', '--micro-batch', 4)
            self.assertTrue(line['fits'])
            self.assertIsNone(line['export'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
