#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qm-bench on several devices, which are the CPU as often as it takes.

usage: test_ranks.py QM_BENCH MANUAL OTHER_WORKER
"""

import json
import os
import pathlib
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from common import (RECIPE, TINY, children, left_of, read_tensors,
                    run_to_end)

BENCH = os.path.abspath(sys.argv[1])
MANUAL = pathlib.Path(sys.argv[2])
OTHER_WORKER = os.path.abspath(sys.argv[3])
# What a worker of GPUs may have found out; CPUs have one way.
TRIAL = dict(bytes=67108864, nccl_s=0.25, host_s=0.125)
# A worker that has, unless it is told; the first one has no memory for its
# second measurement, and the second one fails in its third.
TRYING = '''
import json, pathlib, subprocess, sys
bench, trial, log = json.loads(sys.argv[1])
log = pathlib.Path(log)
number = len(log.read_text().splitlines()) if log.exists() else 0
with log.open('a') as file:
    file.write(json.dumps(sys.argv[2:]) + '\\n')
tries = '--transport' not in sys.argv
real = subprocess.Popen([bench, *sys.argv[2:]], text=True,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def tell(said):
    print(json.dumps(said), flush=True)

def pass_on():
    said = json.loads(real.stdout.readline())
    if tries and said['event'] == 'ready':
        said |= dict(transport='host', transport_trial=trial)
    if tries and said['event'] == 'result':
        said['result']['transport_trial'] = trial
    tell(said)
    return said['event']

pass_on()
for count, line in enumerate(sys.stdin):
    if (number, count) in ((0, 1), (1, 2)):
        tell(dict(event='error', status=6 if number == 0 else 8,
                  message='it was made up'))
        continue
    real.stdin.write(line)
    real.stdin.flush()
    while pass_on() == 'progress':
        pass
real.stdin.close()
real.wait()
'''
WAYS = ('zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3')
# A search of several devices leaves out what comes late, and one that says
# nothing is given up: on a machine that has much to do, nothing of that.
UNHURRIED = ('--time-limit', '7d', '--patience', '86400')
# Of several devices and not of one, or the other way round.
DEEP = TINY | dict(num_hidden_layers=3)


class RanksTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        draw = random.Random(7)
        self.write('config.json', json.dumps(DEEP).encode())
        self.write('recipe.json', json.dumps(
            RECIPE | dict(batch_size=12)).encode())
        self.write('tokens', b''.join(
            struct.pack('<H', draw.randrange(256)) for _ in range(4000)))

    def write(self, name, data):
        (self.path / name).write_bytes(data)

    def command(self, verb, *arguments):
        return [BENCH, verb, '--config', str(self.path / 'config.json'),
                '--recipe', str(self.path / 'recipe.json'), *arguments]

    def run_bench(self, verb, *arguments, status=0):
        done = run_to_end(self.command(verb, *arguments))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def measure(self, *arguments):
        return json.loads(self.run_bench(
            'run', '--device', 'cpu', '--micro-batch', '2', '--json',
            *arguments).stdout)

    def train(self, *arguments):
        out = self.path / 'weights.safetensors'
        lines = self.run_bench(
            'train', '--device', 'cpu', '--tokens', str(self.path / 'tokens'),
            '--steps', '3', '--json', '--out', str(out),
            *arguments).stdout.splitlines()
        weights = [value for kind, _, data in read_tensors(out).values()
                   if kind == 'F32' for value, in struct.iter_unpack('<f',
                                                                     data)]
        return [json.loads(line)['loss'] for line in lines], weights

    def test_run(self):
        result = self.measure('--gpus', '3', '--validate', '1')
        self.assertEqual(result['gpus'], 3)
        self.assertEqual(result['accumulation'], 2)
        self.assertEqual(result['sharding'], 'none')
        self.assertEqual(result['transport'], 'host')
        self.assertEqual([rank['device']['id'] for rank in result['ranks']],
                         ['cpu'] * 3)
        self.assertAlmostEqual(
            result['step']['mean_s'],
            result['pass']['mean_s'] + result['last_pass']['mean_s']
            + result['update']['mean_s'], delta=1e-9)
        self.assertEqual(result['sums'], 'fp32')
        alone = self.measure('--validate', '1')
        self.assertNotIn('gpus', alone)
        self.assertNotIn('sums', alone)
        self.assertNotIn('ranks', alone)

    def test_every_way(self):
        for way in WAYS:
            for arguments in (['--sharding', way], ['--offload', way],
                              ['--sharding', way, '--checkpoint']):
                with self.subTest(arguments=arguments):
                    result = self.measure('--gpus', '2', *arguments)
                    self.assertEqual(result['sharding'], way)
                    self.assertEqual(result['offloading'],
                                     '--offload' in arguments)
                    self.assertGreater(result['step']['mean_s'], 0)
                    self.assertEqual(result['sums'], 'fp32')

    def test_sums(self):
        """Gradients that are shared by every pass have the products' type."""
        self.write('recipe.json', json.dumps(
            RECIPE | dict(batch_size=12, precision='bf16')).encode())
        for way in ('none', *WAYS):
            result = self.measure('--gpus', '2', '--sharding', way)
            sums = 'fp32' if way in ('none', 'zero_1') else 'bf16'
            self.assertEqual(result['sums'], sums, way)
            text = self.run_bench('run', '--device', 'cpu', '--micro-batch',
                                  '2', '--gpus', '2', '--sharding', way).stdout
            self.assertIn('  2 devices, through the memory of the host, sums '
                          f'of gradients in {sums}\n', text)

    def test_plan_of_every_way(self):
        """Each line is what a plan of its own says, on as many."""
        def lines(*arguments):
            done = self.run_bench('plan', '--gpu', 'rtx4090', '--methods',
                                  'all', '--json', *arguments)
            return [json.loads(line) for line in done.stdout.splitlines()]
        options = ['--gpus', '4', '--host-memory', '64MiB']
        ways = lines(*options)
        self.assertEqual(len(ways), 23)
        self.assertEqual({line['gpus'] for line in ways}, {4})
        self.assertEqual({line['host_available_bytes'] for line in ways},
                         {64 << 18})
        for line in ways:
            words = ['--settings', line['settings']]
            words += ['--checkpoint'] if line['checkpointing'] else []
            words += (['--offload' if line['offloading'] else '--sharding',
                       line['sharding']]
                      if line['sharding'] != 'none' else [])
            alone = json.loads(self.run_bench(
                'plan', '--gpu', 'rtx4090', '--json', *options,
                *words).stdout)
            # Of 12 samples each has 3.
            self.assertEqual(alone['micro_batch'], 2)
            self.assertTrue(alone['verified'])
            for name in set(alone) - {'twice_bytes'}:
                self.assertEqual(line[name], alone[name], (words, name))
        self.assertEqual({line['verified'] for line in
                          lines('--gpus', '3')}, {False})
        # The host has room for one and not for the parts of four.
        self.assertIn(False, {line['fits'] for line in lines(
            '--gpus', '4', '--host-memory', '10MiB')})
        self.assertEqual({line['fits'] for line in lines(
            '--host-memory', '10MiB')}, {True})

        text = self.run_bench('plan', '--gpu', 'rtx4090', '--methods', 'all',
                              '--gpus', '3').stdout
        self.assertIn('3 x GeForce RTX 4090, of each its 23.5 GiB, not '
                      'verified\n', text)
        self.assertRegex(text, r'\n  free-lunch, zero_2, offloading +micro')
        text = self.run_bench('plan', '--memory', '1GiB', '--methods', 'all',
                              '--gpus', '2').stdout
        self.assertIn('2 x GPU, of each its 1.0 GiB\n', text)
        said = self.run_bench('plan', '--gpu', 'rtx4090', '--methods', 'all',
                              '--gpus', '17', status=2)
        self.assertIn('--gpus is a number from 1 to 16', said.stderr)
        said = self.run_bench('plan', '--gpu', 'rtx4090', '--methods', 'all',
                              '--gpus', '4', '--sharding', 'fsdp_3', status=2)
        self.assertIn('--sharding, --offload', said.stderr)

    def test_plan_of_more_devices_than_samples(self):
        """Nothing is told of a GPU before that is."""
        for gpus, more, words in (
                (13, (), '--gpus is 13, and a step has 12 samples'),
                (5, ('--micro-batch', '3'), 'a number up to 2, the samples of '
                 'a step on each GPU'),
                (1, ('--micro-batch', '13'), 'a number up to 12, the samples '
                 'of a step'),
                (1, ('--micro-batch', 'some'), '--micro-batch')):
            for place in (('--gpu', 'rtx4090'), ('--memory', '1GiB'),
                          ('--gpu', 'v100-32gb-pcie,rtx4090')):
                said = self.run_bench('plan', '--methods', 'all', *place,
                                      '--gpus', str(gpus), *more, status=2)
                self.assertEqual(said.stdout, '')
                self.assertIn(words, said.stderr)

    def test_plan_says_why_a_way_is_not_possible(self):
        self.write('recipe.json', json.dumps(
            RECIPE | dict(batch_size=12, optimizer='lamb')).encode())
        text = self.run_bench('plan', '--memory', '1GiB', '--methods', 'all',
                              '--gpus', '2').stdout
        self.assertRegex(text, r'\n  free-lunch, zero_2, offloading: not '
                         'possible: .*states of lamb')

    def test_plan(self):
        """What is shared takes its part, and all of it in all."""
        def plan(*arguments):
            planned = json.loads(self.run_bench(
                'plan', '--micro-batch', '1', '--json', *arguments).stdout)
            # That of other numbers was never compared with a driver's.
            self.assertEqual(planned['verified'],
                             not arguments or arguments[1] in '248')
            return planned['memory_bytes']
        plan()
        whole = plan('--gpus', '4')
        for way, shared in (('zero_1', {'optimizer'}),
                            ('zero_2', {'optimizer', 'gradients'}),
                            ('fsdp_3', {'optimizer', 'gradients'})):
            for n in range(2, 9):
                parts = plan('--gpus', str(n), '--sharding', way)
                for name in ('optimizer', 'gradients'):
                    wanted = whole[name] / (n if name in shared else 1)
                    self.assertGreaterEqual(parts[name] * 1.01, wanted)
                    # Blocks and types begin anew, each in as many parts.
                    self.assertLess(parts[name], wanted + 8 * 128 * 8 * 8)

        for n in range(1, 9):
            said = self.run_bench('plan', '--micro-batch', '1', '--gpus',
                                  str(n)).stdout
            check = (self.assertNotIn if n in (1, 2, 4, 8)
                     else self.assertIn)
            check(f'not verified on {n} GPUs', said)

    def test_train(self):
        """Several learn what one does that makes all of their passes."""
        losses, weights = self.train('--micro-batch', '4')
        self.assertEqual(len(losses), 3)
        for arguments in (['--gpus', '3', '--micro-batch', '4'],
                          *(['--gpus', '2', '--micro-batch', '2', kind, way]
                            for way in WAYS
                            for kind in ('--sharding', '--offload'))):
            with self.subTest(arguments=arguments):
                same, others = self.train(*arguments)
                for a, b in zip(losses, same, strict=True):
                    self.assertAlmostEqual(a, b, delta=2e-5)
                self.assertEqual(len(weights), len(others))
                # Adam makes whole steps of gradients that are but rounding.
                off = sorted(abs(a - b) for a, b in zip(weights, others))
                self.assertLess(off[int(0.99 * len(off))], 1e-4)

    def test_search(self):
        """All 23 ways on each number of devices, each once."""
        def search(*arguments):
            lines = self.run_bench(
                'search', '--device', 'cpu', '--no-cut', '--results',
                str(self.path / 'results.jsonl'), '--json', *UNHURRIED,
                *arguments).stdout.splitlines()
            return [json.loads(line)['configurations'] for line in lines]
        alone, three = search('--gpus', '1,3')
        for entries, gpus, ways in ((alone, 1, 13), (three, 3, 23)):
            self.assertEqual({entry['status'] for entry in entries},
                             {'measured'})
            self.assertEqual({entry.get('gpus', 1) for entry in entries},
                             {gpus})
            self.assertEqual(ways, len({
                (entry['settings'], entry['checkpointing'], entry['sharding'],
                 entry['offloading']) for entry in entries}))
            self.assertFalse(any(entry['known'] for entry in entries))
        lines = [json.loads(line) for line in
                 (self.path / 'results.jsonl').read_text().splitlines()]
        self.assertEqual({line['gpus'] for line in lines}, {1, 3})
        # Each way on several comes before any with another micro-batch.
        of_three = [line for line in lines if line['gpus'] == 3]
        self.assertGreater(len(of_three), 23)
        self.assertEqual(23, len({
            (line['settings'], line['checkpointing'], line['sharding'],
             line['offloading']) for line in of_three[:23]}))
        # Of devices that are named each number takes the first.
        named = run_to_end(
            self.command('search', '--device', 'cpu,cpu,cpu', '--gpus',
                         '1,2,3', '--dry-run', '--results',
                         str(self.path / 'results.jsonl'), '--events'))
        self.assertEqual(named.returncode, 0, named.stderr)
        begun = [json.loads(line)['device']['id']
                 for line in named.stdout.splitlines()
                 if '"begin"' in line]
        self.assertEqual(begun, ['cpu'] * 3)
        # What is known of one number of devices is not of another.
        again, = search('--gpus', '3')
        self.assertTrue(all(entry['known'] for entry in again))
        two, = search('--gpus', '2', '--methods', 'free-lunch')
        self.assertFalse(any(entry['known'] for entry in two))

    def test_worker_is_told_how(self):
        """What a trial showed holds for the next worker of a search, too."""
        path = self.path / 'results.jsonl'
        self.run_bench('search', '--device', 'cpu', '--gpus', '2',
                       '--results', str(path), '--methods', 'naive')
        known = json.loads(path.read_text().splitlines()[0])
        job = json.dumps(dict(
            model_key=known['model_key'], settings='naive', checkpoint=False,
            sharding='none', offload='none', micro_batch='2')) + '\n'

        def worker(transport):
            said = subprocess.run(
                self.command('worker', '--device', 'cpu', '--gpus', '2',
                             '--transport', transport), text=True, input=job,
                capture_output=True, timeout=60).stdout.splitlines()
            ready, last = json.loads(said[0]), json.loads(said[-1])
            self.assertEqual(ready['event'], 'ready')
            # CPUs have one way, and try none.
            self.assertNotIn('transport', ready)
            return last
        result = worker('host')['result']
        self.assertEqual(result['transport'], 'host')
        self.assertNotIn('transport_trial', result)
        self.assertIn('NCCL is for NVIDIA GPUs', worker('nccl')['message'])

    def test_trial_stays(self):
        """Every result of a search says what a trial showed, though the worker
        that tried is gone."""
        log, results = self.path / 'log', self.path / 'results.jsonl'
        self.write('trying.py', TRYING.encode())
        self.write('worker', '\n'.join((
            '#!/bin/sh', f'exec {shlex.quote(sys.executable)} '
            f'{shlex.quote(str(self.path / "trying.py"))} '
            + shlex.quote(json.dumps([BENCH, TRIAL, str(log)])) + ' "$@"',
            '')).encode())
        (self.path / 'worker').chmod(0o700)
        command = self.command('search', '--device', 'cpu', '--gpus', '2',
                               '--results', str(results), '--methods', 'all')
        done = subprocess.run(
            [OTHER_WORKER, *command[1:]], text=True, capture_output=True,
            timeout=120,
            env=os.environ | dict(QM_TEST_WORKER=str(self.path / 'worker')))
        self.assertEqual(done.returncode, 0, done.stderr)
        first, *others = [json.loads(line) for line in
                          log.read_text().splitlines()]
        self.assertEqual(len(others), 2)
        self.assertNotIn('--transport', first)
        for other in others:
            self.assertEqual(other[other.index('--transport') + 1], 'host')
        lines = [json.loads(line) for line in
                 results.read_text().splitlines()]
        self.assertIn('failed', {line['status'] for line in lines})
        for line in lines:
            self.assertEqual((line['transport'], line['transport_trial']),
                             ('host', TRIAL))

    def test_cut(self):
        """What one pass shows to be slow is marked, and has no times."""
        path = self.path / 'results.jsonl'

        def search(*arguments):
            lines = self.run_bench(
                'search', '--device', 'cpu', '--gpus', '2', '--results',
                str(path), '--json', *UNHURRIED,
                *arguments).stdout.splitlines()
            return json.loads(lines[-1])['configurations']
        everything = search('--no-cut')
        self.assertEqual({entry['status'] for entry in everything},
                         {'measured'})
        # As if one had been faster than any can be.
        first = json.loads(path.read_text().splitlines()[0])
        first['step'] = {key: 1e-7 for key in first['step']}
        path.write_text(json.dumps(first) + '\n')
        entries = search()
        self.assertEqual(len(entries), len(everything))
        self.assertEqual(sorted({entry['status'] for entry in entries}),
                         ['cut', 'measured'])
        for entry in entries:
            if entry['status'] == 'cut':
                self.assertFalse(entry['known'])
                self.assertIn('by one pass a step takes', entry['reason'])
                self.assertNotIn('step_s', entry)
            else:
                self.assertTrue(entry['known'])
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual(len(lines), len(entries))
        for line in lines[1:]:
            self.assertIs(line['cut'], True)
            self.assertEqual(line['transport'], 'host')
            self.assertEqual(line['cause'], 'slower')
            self.assertGreater(line['cut_step_s'], line['fastest_step_s'])
            # Most passes of a step do without the exchange of the last.
            others = line['accumulation'] - 1
            if line['sharding'] in ('none', 'zero_1') and others > 0:
                self.assertNotEqual(line['cut_pass_s'], line['cut_last_pass_s'])
            if not line['offloading']:
                passes = (others * line['cut_pass_s']
                          + line['cut_last_pass_s'])
                self.assertGreater(line['cut_step_s'], passes)
                # The update was one of that measurement.
                self.assertLess(line['cut_step_s'],
                                passes + line['phases_s']['total'])
            self.assertNotIn('days', line)
            self.assertNotIn('step', line)
        self.assertTrue(all(entry['known'] for entry in search()))
        listed = run_to_end([BENCH, 'results', '--best', '--json', path])
        self.assertEqual(
            {json.loads(line)['status'] for line in
             listed.stdout.splitlines()}, {'measured'})
        again = search('--no-cut')
        self.assertEqual({entry['status'] for entry in again}, {'measured'})
        self.assertEqual(sum(entry['known'] for entry in again), 1)

    def test_exchange(self):
        """What of a step is exchange that nothing hides, of each rank."""
        def run(*arguments):
            return json.loads(self.run_bench(
                'run', '--device', 'cpu', '--gpus', '2', '--json',
                *arguments).stdout)
        for arguments in ([], ['--sharding', 'zero_2'],
                          ['--sharding', 'fsdp_3']):
            said = run(*arguments, '--profile', '--micro-batch', '2')
            exposed = said['exchange']['exposed_s']
            self.assertGreater(exposed, 0)
            self.assertAlmostEqual(said['exchange']['share'],
                                   exposed / said['step']['mean_s'])
            passes = said['accumulation']
            bound = min(
                max(passes - 1, 1) * rank['waits']['pass_s']
                + rank['waits']['last_pass_s'] + rank['waits']['update_s']
                for rank in said['ranks'])
            self.assertLessEqual(exposed, bound * passes * 1.001)
            operators = {row['operator'] for row in said['profile']['rows']}
            self.assertIn('all_reduce', operators)
            self.assertEqual('fetch' in operators, 'fsdp_3' in arguments)
        self.assertNotIn('exchange', run('--offload', 'zero_2'))

    def test_scaling(self):
        """What measured links cost models, and predictions with them."""
        # What NCCL is told to do is in the file, and may be.
        environment = {**os.environ, 'NCCL_NVLS_ENABLE': '0'}

        def bench(*arguments, status=0):
            done = subprocess.run([BENCH, *arguments], capture_output=True,
                                  timeout=300, text=True, env=environment)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stdout
        text = bench('links', '--device', 'cpu', '--gpus', '2', '--gpu',
                     'rtx4090', '--model', 'pythia-160m', '--json')
        self.assertEqual(json.loads(text)['nccl'], {'NCCL_NVLS_ENABLE': '0'})
        said, = json.loads(text)['scaling']
        self.assertEqual(said['model'], 'pythia-160m')
        for name in ('data_parallel', 'best', 'nvlink'):
            self.assertGreater(said[name], 0.2)
            self.assertLess(said[name], 1.2)
        self.assertLessEqual(said['data_parallel'], said['best'])
        path = self.path / 'links.json'
        question = ('predict', '--model', 'pythia-160m', '--gpu', 'rtx4090',
                    '--gpus', '2', '--level', 'engine', '--sharding', 'none',
                    '--json', '--links', str(path))
        path.write_text(text)
        fast = json.loads(bench(*question))
        slow = json.loads(text)
        for rows in slow['collectives'].values():
            for row in rows:
                row['seconds'] *= 50
        path.write_text(json.dumps(slow))
        slow = json.loads(bench(*question))
        self.assertEqual(slow['link'], 'measured')
        self.assertGreater(slow['exchange_s'], fast['exchange_s'])
        self.assertGreater(slow['exchange_total_s'],
                           20 * fast['exchange_total_s'])
        path.write_text('{}')
        bench(*question, status=1)

    def test_links(self):
        def links(*arguments):
            done = subprocess.run([BENCH, 'links', '--json', *arguments],
                                  capture_output=True, timeout=300, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)
        said = links('--device', 'cpu', '--gpus', '3')
        self.assertEqual(len(said['devices']), 3)
        self.assertEqual(said['transport'], 'host')
        self.assertEqual(len(said['pairs']), 3)
        for pair in said['pairs']:
            self.assertFalse(pair['peers'])
            self.assertGreater(pair['gbs'], 0)
            self.assertGreater(pair['latency_s'], 0)
        for name, factor in (('all_reduce', 4 / 3), ('reduce_scatter', 2 / 3),
                             ('all_gather', 2 / 3)):
            for row in said['collectives'][name]:
                self.assertEqual(row['bytes'] % 12, 0)
                self.assertAlmostEqual(
                    row['bus_gbs'], row['bytes'] * factor / row['seconds']
                    / 1e9, delta=1e-6 * row['bus_gbs'])
        self.predicted(said)
        self.assertNotIn('pairs', links('--device', 'cpu', '--gpus', '1'))
        text = subprocess.run([BENCH, 'links', '--device', 'cpu,cpu'],
                              capture_output=True, timeout=300, text=True)
        self.assertIn('All 2, through the memory of the host', text.stdout)

    def predicted(self, links):
        """All that links say is taken, as it is on other machines, too; what
        nothing was measured of is said to be extrapolated."""
        path = self.path / 'links.json'

        def predict(said, *arguments, status=0):
            path.write_text(json.dumps(said))
            done = subprocess.run(
                [BENCH, 'predict', '--model', 'pythia-160m', '--gpu',
                 'rtx4090', '--level', 'engine', '--sharding', 'none',
                 '--json', '--links', str(path), *arguments],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            if status == 0:
                last = json.loads(done.stdout.splitlines()[-1])
                self.assertEqual(last['link'], 'measured')
            return done.stderr
        # CPUs have one way, and their links no trial of two.
        everything = links | dict(
            no_peer=True, nccl={'NCCL_P2P_DISABLE': '1'},
            transport_trial=TRIAL)
        self.assertEqual(self.names_of_links() - set(everything),
                         {'nodes', 'gpus', 'between'})
        self.assertEqual(predict(everything, '--gpus', '3'), '')
        two = everything | dict(gpus=4, nodes=2, between=[dict(
            nodes=[0, 1], gbs=1.0, latency_s=1e-4)])
        self.assertEqual(predict(two, '--nodes', '2', '--gpus', '2'), '')
        # Of others than were measured.
        self.assertIn('has links of 3 GPUs; what 8 exchange is extrapolated',
                      predict(links, '--gpus', '8'))
        self.assertEqual(predict(links, '--gpus', '1,3'), '')
        more = predict(two, '--nodes', '2', '--gpus', '2,16').splitlines()
        self.assertEqual(len(more), 1)
        self.assertIn('has links of 2 machines of 2; what 2 of 16 exchange is '
                      'extrapolated', more[0])
        for nodes in (3, 8):
            self.assertIn(
                'nodes: cannot have equally many of 4 devices', predict(
                    two | dict(nodes=nodes), '--nodes', str(nodes), status=1))

    @staticmethod
    def names_of_links():
        """Of the fields of links, as the manual has them."""
        section = re.search(r'\n\.Ss links\n(.*?)\n\.Ss ', MANUAL.read_text(),
                            re.DOTALL).group(1)
        return {name.strip() for line in re.findall(r'\n\.It Va (.*)', section)
                for name in line.split(',')}

    def test_wrong(self):
        for arguments, words, status in (
                (['--gpus', '0'], '--gpus', 2),
                (['--gpus', '17'], '--gpus is a number from 1 to', 2),
                (['--gpus', '2', '--sharding', 'zero_4'], '--sharding is', 2),
                (['--sharding', 'zero_1'], 'needs several GPUs', 2),
                (['--gpus', '2', '--sharding', 'zero_1', '--offload',
                  'zero_2'], 'two variants', 2),
                (['--gpus', '3', '--device', 'cpu,cpu'], 'device names 2', 2),
                (['--gpus', '2', '--device', 'cpu,cuda:99'], 'rank 1', 4),
                (['--gpus', '2', '--device', 'cuda:0,cuda:0'], 'twice', 2),
                (['--gpus', '8', '--micro-batch', '2'], 'more than the', 1)):
            with self.subTest(arguments=arguments):
                if '--device' not in arguments:
                    arguments = ['--device', 'cpu', *arguments]
                done = self.run_bench('run', *arguments, status=status)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)
        missing = self.run_bench('train', '--device', 'cpu', '--gpus', '2',
                                 '--tokens', '/nowhere', '--micro-batch', '2',
                                 status=1)
        self.assertIn('/nowhere', missing.stderr)

    def test_ends(self):
        """A wish to stop is obeyed by all, and nothing is left behind."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            process = subprocess.Popen(
                self.command('train', '--device', 'cpu', '--gpus', '3',
                             '--micro-batch', '2', '--tokens',
                             str(self.path / 'tokens'), '--steps', '1000000'),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(3):
                self.assertIn('step', process.stdout.readline())
            below = children(process.pid)
            process.send_signal(number)
            begin = time.monotonic()
            process.communicate(timeout=20)
            self.assertLess(time.monotonic() - begin, 10)
            if number == signal.SIGINT:
                self.assertEqual(process.returncode, 130)
            else:
                self.assertNotEqual(process.returncode, 0)
            self.assertEqual(left_of(below, begin + 10), [])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
