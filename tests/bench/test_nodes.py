#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qm-bench as several processes, which meet over loopback as machines do.

usage: test_nodes.py QM_BENCH
"""

import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from common import RECIPE, TINY, children, left_of

BENCH = os.path.abspath(sys.argv[1])
DEEP = TINY | dict(num_hidden_layers=3)
KILLS = 20 if os.environ.get('QM_TEST_FULL') == '1' else 3
# Of a launcher that runs this test, nothing.
CLEAN = {name: value for name, value in os.environ.items()
         if not re.match('SLURM_|PMIX?_|OMPI_|NCCL_|QUARTERMASTER_[RS]', name)}


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


class Link:
    """A wire to a process that listens at a place, which can be cut."""

    def __init__(self, place):
        host, port = place.split(':')
        self.target = host, int(port)
        self.server = socket.create_server(('127.0.0.1', 0))
        self.place = f'127.0.0.1:{self.server.getsockname()[1]}'
        self.ends = []
        self.silent = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                here, _ = self.server.accept()
            except OSError:
                return
            there = None
            while there is None:
                try:
                    there = socket.create_connection(self.target)
                except OSError:
                    time.sleep(0.05)
            self.ends += here, there
            for pair in ((here, there), (there, here)):
                threading.Thread(target=self.carry, args=pair,
                                 daemon=True).start()

    def carry(self, source, sink):
        try:
            while data := source.recv(65536):
                if not self.silent:
                    sink.sendall(data)
        except OSError:
            pass

    def cut(self, silently):
        if silently:
            self.silent = True
            return
        for end in self.ends:
            end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.server.close()
        for end in self.ends:
            end.close()


class NodesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.results = self.path / 'results.jsonl'
        draw = random.Random(7)
        self.write_model(DEEP)
        (self.path / 'recipe.json').write_text(json.dumps(
            RECIPE | dict(batch_size=12)))
        (self.path / 'tokens').write_bytes(b''.join(
            struct.pack('<H', draw.randrange(256)) for _ in range(4000)))
        self.place = f'127.0.0.1:{free_port()}'
        self.processes = []
        self.addCleanup(self.end)

    def write_model(self, model, name='config.json'):
        (self.path / name).write_text(json.dumps(model))

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def start(self, verb, *arguments, config='config.json', environment=None):
        command = [BENCH, verb, '--device', 'cpu', *arguments]
        if verb != 'links':
            command += ['--config', str(self.path / config),
                        '--recipe', str(self.path / 'recipe.json')]
        process = subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=CLEAN | (environment or {}))
        self.processes.append(process)
        return process

    def node(self, verb, number, *arguments, nodes=2, **keywords):
        return self.start(verb, '--nodes', str(nodes), '--node', str(number),
                          '--rendezvous', self.place, *arguments, **keywords)

    def finish(self, process, status=0, seconds=300):
        out, error = process.communicate(timeout=seconds)
        self.assertEqual(process.returncode, status, error)
        return out, error

    def together(self, verb, *arguments, nodes=2, first=()):
        """All of them; what the first says."""
        processes = [self.node(verb, i, *arguments, *(first if i == 0 else ()),
                               nodes=nodes) for i in range(nodes)]
        answers = [self.finish(process) for process in processes]
        for out, error in answers[1:]:
            self.assertEqual(out, '')
            self.assertEqual(error, '')
        return answers[0][0]

    def refused(self, process, *words, status=None):
        """It ends with one sentence."""
        _, error = process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        if status is not None:
            self.assertEqual(process.returncode, status, error)
        said = [line for line in error.splitlines()
                if not line.strip().endswith(('%', 'left'))]
        self.assertEqual(len(said), 1, error)
        for word in words:
            self.assertIn(word, said[0])

    def test_run(self):
        for gpus in (1, 2):
            said = json.loads(self.together(
                'run', '--gpus', str(gpus), '--micro-batch', '2', '--json',
                '--sharding', 'zero_2'))
            self.assertEqual(said['gpus'], 2 * gpus)
            self.assertEqual(said['nodes'], 2)
            self.assertEqual(said['accumulation'], {1: 3, 2: 2}[gpus])
            self.assertEqual(said['transport'], 'sockets')
            # All that there are, each with its machine.
            self.assertEqual([rank['node'] for rank in said['ranks']],
                             [0] * gpus + [1] * gpus)
            for rank in said['ranks']:
                self.assertEqual(rank['device']['id'], 'cpu')
                self.assertEqual(set(rank['machine']), {'id', 'gpus'})
                self.assertIn('predicted_bytes', rank['memory_use'])
            self.assertGreater(said['step']['mean_s'], 0)
            self.assertNotIn('nccl', said)
        for gpus in (1, 2):
            text = self.together('run', '--micro-batch', '2', '--gpus',
                                 str(gpus))
            self.assertIn(f'2 machines of {gpus}, through sockets', text)

    def test_numbers(self):
        """What one process learns."""
        def train(*arguments, nodes):
            arguments = (*arguments, '--tokens', str(self.path / 'tokens'),
                         '--steps', '3', '--micro-batch', '2', '--json')
            if nodes == 1:
                out, _ = self.finish(self.start('train', *arguments))
            else:
                out = self.together('train', *arguments, nodes=nodes)
            return [json.loads(line)['loss'] for line in out.splitlines()]
        for nodes, gpus in ((2, 1), (3, 1), (3, 2)):
            for way in ('none', 'fsdp_3'):
                with self.subTest(nodes=nodes, gpus=gpus, way=way):
                    if nodes * gpus * 2 > 12:
                        continue
                    one = train('--gpus', str(nodes * gpus), '--sharding', way,
                                nodes=1)
                    self.assertEqual(len(one), 3)
                    self.assertEqual(
                        one, train('--gpus', str(gpus), '--sharding', way,
                                   nodes=nodes))

    def search(self, gpus='1', **keywords):
        return [self.node('search', i, '--gpus', gpus, '--methods',
                          'free-lunch', '--wait', '5',
                          *(('--results', str(self.results)) if i == 0 else ()),
                          **keywords) for i in range(2)]

    def read(self):
        return [json.loads(line) for line in
                self.results.read_text().splitlines()]

    def test_search(self):
        first, second = self.search('1,2')
        text, _ = self.finish(first)
        for gpus in (1, 2):
            self.assertIn(f' on 2 machines of {gpus} x ', text)
        self.assertEqual(self.finish(second), ('', ''))
        lines = self.read()
        self.assertEqual({line['gpus'] for line in lines}, {2, 4})
        for line in lines:
            self.assertEqual(line['nodes'], 2)
            # A busy machine may be slow enough for one to be cut.
            self.assertIn(line['status'], ('measured', 'cut'))
        for gpus in (2, 4):
            self.assertIn('measured', {line['status'] for line in lines
                                       if line['gpus'] == gpus})
        # They are known, and nothing is measured twice.
        for process in self.search('1,2'):
            self.finish(process)
        self.assertEqual(self.read(), lines)
        # As many in one machine are something else.
        self.finish(self.start('search', '--gpus', '2', '--methods',
                               'free-lunch', '--results', str(self.results)))
        self.assertEqual({line.get('nodes') for line in
                          self.read()[len(lines):]}, {None})

    def test_links(self):
        for gpus in (1, 2):
            said = json.loads(self.together(
                'links', '--gpus', str(gpus), '--json', '--model',
                'pythia-160m', '--gpu', 'rtx4090'))
            self.assertEqual(said['gpus'], 2 * gpus)
            self.assertEqual(said['nodes'], 2)
            self.assertEqual(len(said['pairs']), gpus - 1)
            for rows in said['collectives'].values():
                for row in rows:
                    self.assertEqual(row['bytes'] % (8 * gpus), 0)
                    self.assertGreater(row['bus_gbs'], 0)
            one, = said['between']
            self.assertEqual(one['nodes'], [0, 1])
            self.assertGreater(one['gbs'], 0)
            self.assertGreater(one['latency_s'], 0)
            # Of all, by what exchanges between all took.
            scaling, = said['scaling']
            self.assertEqual(scaling['model'], 'pythia-160m')
            self.assertAlmostEqual(
                scaling['data_parallel'], scaling['days_one'] / 2 / gpus
                / scaling['days_data_parallel'], 6)
            self.check_predicted(said, gpus)

    def check_predicted(self, links, gpus):
        """Links of two machines are those of two, and of nothing else."""
        path = self.path / 'links.json'
        path.write_text(json.dumps(links))

        def predict(*arguments, status=0):
            done = subprocess.run(
                [BENCH, 'predict', '--model', 'pythia-160m', '--gpu',
                 'rtx4090', '--gpus', str(gpus), '--level', 'engine',
                 '--sharding', 'none', '--links', str(path), *arguments],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stdout if status == 0 else done.stderr

        said = json.loads(predict('--nodes', '2', '--json'))
        self.assertEqual((said['gpus'], said['nodes'], said['between'],
                          said['link']),
                         (2 * gpus, 2, 'measured', 'measured'))
        self.assertAlmostEqual(
            said['days'], links['scaling'][0]['days_data_parallel'],
            delta=0.1 * said['days'])
        self.assertIn(f'on 2 machines of {gpus} x ', predict('--nodes', '2'))
        for more in ((), ('--nodes', '3')):
            self.assertIn(f'links of 2 machines of {gpus}',
                          predict(*more, status=2))
        path.write_text(json.dumps({key: value for key, value in links.items()
                                    if key != 'nodes'}))
        self.assertIn('links of one machine, and --nodes says 2',
                      predict('--nodes', '2', status=2))

    def test_links_text(self):
        text = self.together('links', '--gpus', '2', '--gpu', 'rtx4090',
                             '--model', 'pythia-160m')
        self.assertIn('All of 2 machines of 2, through sockets', text)
        self.assertRegex(text, r'\n  machine 1 +[0-9.]+ +[0-9.]+\n')
        self.assertIn('as a share of 4 times one GPU', text)
        # Each with the first, one after the other.
        said = json.loads(self.together('links', '--gpus', '1', '--json',
                                        nodes=3))
        self.assertEqual([one['nodes'] for one in said['between']],
                         [[0, 1], [0, 2]])
        self.assertEqual(said['gpus'], 3)

    def test_search_links(self):
        path = self.path / 'one.json'
        path.write_text(json.dumps(dict(
            devices=[{}, {}], collectives={
                name: [dict(bytes=4096, seconds=1)] for name in
                ('all_reduce', 'reduce_scatter', 'all_gather')})))
        processes = [self.node('search', i, '--methods', 'free-lunch',
                               '--links', str(path), '--results',
                               str(self.results)) for i in range(2)]
        _, error = self.finish(processes[0], status=2)
        self.assertIn('links of one machine', error)

    def test_slurm(self):
        """What srun and others say of a process is enough."""
        step = dict(SLURM_STEP_NUM_TASKS='2', SLURM_JOB_ID=str(free_port()),
                    SLURM_STEP_ID='0', SLURM_STEP_NODELIST='localhost')
        for nodes in ('localhost', '127.0.0.[1-2]', 'nowhere-[07-09,11]'):
            processes = [self.start(
                'run', '--micro-batch', '2', '--json', environment=step | dict(
                    SLURM_PROCID=str(i), SLURM_STEP_NODELIST=nodes,
                    SLURM_LAUNCH_NODE_IPADDR='127.0.0.1',
                    NCCL_DEBUG='a\033b', NCCL_VERSION='2.28')) for i in range(2)]
            said = json.loads(self.finish(processes[0])[0])
            self.assertEqual(said['nodes'], 2)
            self.assertEqual(said['nccl'], {'NCCL_DEBUG': 'a\\x1bb'})
            self.assertEqual(self.finish(processes[1]), ('', ''))
        # PMIx does not say how many there are.
        pmix = dict(PMIX_RANK='0', PMIX_NAMESPACE='job')
        self.refused(self.start('run', environment=pmix), '--nodes', status=2)
        processes = [self.start(
            'run', '--micro-batch', '2', '--nodes', '2', '--rendezvous',
            self.place, environment=pmix | dict(PMIX_RANK=str(i)))
            for i in range(2)]
        for process in processes:
            self.finish(process)
        # One process is one machine, and a batch script is no step.
        for alone in (step | dict(SLURM_STEP_NUM_TASKS='1', SLURM_PROCID='0'),
                      dict(SLURM_NTASKS='2', SLURM_PROCID='0')):
            out, _ = self.finish(self.start('run', '--micro-batch', '2',
                                            '--json', environment=alone))
            self.assertNotIn('nodes', json.loads(out))

    def test_usage(self):
        for arguments, environment, words in (
                (['--node', '1'], {}, 'need --nodes'),
                (['--nodes', '1', '--node', '5'], {}, 'can only be 0'),
                (['--no-peer'], {}, '--no-peer is of several'),
                (['--rendezvous', 'a:1'], {}, 'need --nodes'),
                (['--nodes', '2'], {}, '--node has to say'),
                (['--nodes', '2', '--node', '2'], {}, 'from 0 to 1'),
                (['--nodes', '2', '--node', '0'], {}, '--rendezvous'),
                (['--nodes', '2000', '--node', '0'], {}, '--node'),
                (['--nodes', '3'], dict(SLURM_STEP_NUM_TASKS='2',
                                        SLURM_PROCID='0'), 'started 2'),
                ([], dict(SLURM_STEP_NUM_TASKS='x'), 'is no number'),
                ([], dict(SLURM_STEP_NUM_TASKS='2', SLURM_PROCID='0',
                          SLURM_JOB_ID='1', SLURM_JOB_NODELIST='a$(b)'),
                 '--rendezvous'),
                ([], dict(SLURM_STEP_NUM_TASKS='2', SLURM_PROCID='9'),
                 '--node')):
            with self.subTest(arguments=arguments, environment=environment):
                self.refused(self.start('run', *arguments,
                                        environment=environment),
                             words, status=2)
        # The one of one machine.
        self.finish(self.start('run', '--nodes', '1', '--node', '0',
                               '--micro-batch', '2'))
        for verb, more in (
                ('train', ['--tokens', str(self.path / 'tokens')]),
                ('links', ['--gpus', '1']), ('search', ['--gpus', '1,1'])):
            self.refused(self.start(verb, '--no-peer', *more),
                         '--no-peer is of several', status=2)
        for place in ('here', ':1', 'a:', '127.0.0.1:0', '127.0.0.1:99999'):
            self.refused(self.start('run', '--nodes', '2', '--node', '0',
                                    '--rendezvous', place), 'HOST:PORT')

    def test_nobody(self):
        begin = time.monotonic()
        first = self.node('run', 0, '--wait', '1')
        self.refused(first, 'rank 1 did not come within 1 s', status=4)
        second = self.node('run', 1, '--wait', '1')
        self.refused(second, 'rank 0 did not come', status=4)
        for verb in ('train', 'links', 'search'):
            for number in (0, 1):
                more = {'train': ['--tokens', str(self.path / 'tokens')],
                        'search': ['--results', str(self.results)]}
                self.refused(self.node(verb, number, '--wait', '1',
                                       *more.get(verb, [])),
                             'did not come', status=4)
        alone = self.node('run', 0, '--wait', '1', '--events')
        out, _ = self.finish(alone, status=4)
        self.assertEqual(json.loads(out.splitlines()[-1])['status'], 'gone')
        # Where nobody can be met, that is another mistake.
        with socket.create_server(('127.0.0.1', 0)) as taken:
            place = f'127.0.0.1:{taken.getsockname()[1]}'
            self.refused(self.start('run', '--nodes', '2', '--node', '0',
                                    '--rendezvous', place, '--wait', '1'),
                         'cannot listen there', status=1)
        self.assertLess(time.monotonic() - begin, 30)

    def test_gone_search(self):
        """Whichever is gone, the other ends with the same status."""
        for victim in (0, 1):
            processes = [self.node(
                'search', i, '--methods', 'all', '--wait', '20', '--results',
                str(self.results)) for i in range(2)]
            deadline = time.monotonic() + 60
            while not self.results.exists() or not self.results.read_text():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            victims = [*children(processes[victim].pid),
                       processes[victim].pid]
            for pid in victims:
                os.kill(pid, signal.SIGKILL)
            processes[1 - victim].communicate(timeout=60)
            self.assertEqual(processes[1 - victim].returncode, 4)
            self.results.unlink()

    def test_strangers(self):
        first = self.node('run', 0, '--wait', '2',
                          environment=dict(QUARTERMASTER_SECRET='a'))
        other = self.node('run', 1, '--wait', '20',
                          environment=dict(QUARTERMASTER_SECRET='b'))
        self.refused(other, 'rank 0 has another secret')
        self.refused(first, 'rank 1 did not come', 'another secret')
        # They do not hold up who knows it.
        first = self.node('run', 0, '--micro-batch', '2')
        other = self.node('run', 1, '--micro-batch', '2',
                          environment=dict(QUARTERMASTER_SECRET='b'))
        self.refused(other, 'another secret')
        self.finish(self.node('run', 1, '--micro-batch', '2'))
        self.finish(first)

    def test_misfits(self):
        self.write_model(TINY, 'other.json')
        first = self.node('run', 0, '--micro-batch', '2')
        self.refused(self.node('run', 1, '--micro-batch', '2',
                               config='other.json'), 'another command, model')
        self.refused(first, 'rank 1', 'another command, model')
        # One of three machines comes twice.
        first = self.node('run', 0, nodes=3)
        twins = [self.node('run', 1, nodes=3) for _ in range(2)]
        for process in (first, *twins):
            self.refused(process, 'two processes have come with rank 1')
        # And the first does.
        first = self.node('run', 0, '--micro-batch', '2')
        time.sleep(0.5)
        self.refused(self.node('run', 0), 'rank 0 cannot listen there')
        # Who comes late finds nobody.
        self.finish(self.node('run', 1, '--micro-batch', '2'))
        self.finish(first)
        self.refused(self.node('run', 1, '--wait', '1'), 'did not come')
        # Another number of devices.
        first = self.node('run', 0, '--gpus', '2')
        self.refused(self.node('run', 1), 'knows 2 ranks')
        self.refused(first, 'knows 2 ranks')

    def test_version(self):
        first = self.node('run', 0, '--micro-batch', '2')
        host, port = self.place.split(':')
        for _ in range(100):
            try:
                other = socket.create_connection((host, int(port)), timeout=10)
                break
            except OSError:
                time.sleep(0.05)
        # What one of an earlier protocol says.
        other.sendall(struct.pack('=8sIIII4I', b'qm-world', 1, 1, 16, 0,
                                  2, 1, 1, 9))
        self.assertIn(b'another version', other.recv(600))
        other.close()
        self.refused(first, 'another version')

    def train(self, other=None):
        """Two that train; the second finds the first at the other place."""
        processes = []
        for place in (self.place, other or self.place):
            self.place, own = place, self.place
            processes.append(self.node(
                'train', len(processes), '--tokens', str(self.path / 'tokens'),
                '--micro-batch', '2', '--steps', '10000000'))
            self.place = own
        for _ in range(3):
            self.assertIn('step', processes[0].stdout.readline())
        return processes

    def test_faults(self):
        """One is gone, or hangs: the other says so and ends."""
        for number, words in ((signal.SIGKILL, 'is gone'),
                              (signal.SIGSTOP, 'says nothing')):
            for victim in (0, 1):
                if number == signal.SIGSTOP and victim == 0 and KILLS < 20:
                    continue  # which takes its time
                processes = self.train()
                processes[victim].send_signal(number)
                begin = time.monotonic()
                self.refused(processes[1 - victim],
                             f'the process of rank {victim} {words}', status=4)
                self.assertLess(time.monotonic() - begin, 10)
                # It was stopped, and learns that it is alone.
                processes[victim].send_signal(signal.SIGCONT)
                processes[victim].communicate(timeout=10)
                self.assertNotEqual(processes[victim].returncode, 0)
        processes = self.train()
        processes[1].send_signal(signal.SIGINT)
        for process in processes:
            process.communicate(timeout=10)
            self.assertNotEqual(process.returncode, 0)

    def test_lost_link(self):
        """The network between them goes, with a word or without."""
        for silently in (False, True):
            with Link(self.place) as link:
                processes = self.train(link.place)
                begin = time.monotonic()
                link.cut(silently)
                for rank, process in enumerate(processes):
                    self.refused(process, f'the process of rank {1 - rank}',
                                 'says nothing' if silently else 'is gone',
                                 status=4)
                self.assertLess(time.monotonic() - begin, 10)

    def strike(self, processes, turn, number):
        """Ends one of the processes or of those below, which it returns."""
        while True:
            below = [pid for process in processes
                     for pid in children(process.pid)]
            victims = [processes[0].pid, processes[1].pid, *below]
            try:
                os.kill(victims[turn % len(victims)], number)
                return below
            except ProcessLookupError:
                pass  # It came to its own end: one of those that are there now.

    def test_kills(self):
        """Whatever ends when, nothing is left, and the same command goes on."""
        draw = random.Random(11)
        for i in range(KILLS):
            processes = self.search('2')
            time.sleep(draw.random() * 1.5)
            below = self.strike(processes, i, draw.choice(
                (signal.SIGKILL, signal.SIGTERM)))
            begin = time.monotonic()
            for process in processes:
                process.communicate(timeout=20)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual(left_of(below, begin + 10), [])
            if self.results.exists():
                self.read()
        for process in self.search('2'):
            self.finish(process)
        self.assertGreater(len(self.read()), 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
