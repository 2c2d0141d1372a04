# SPDX-License-Identifier: Apache-2.0
"""qm-bench search and results, on the CPU.

usage: test_search.py QM_BENCH MANUAL
"""

import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from common import RECIPE, children, run_to_end

BENCH, MANUAL = sys.argv[1], pathlib.Path(sys.argv[2])

CONFIG = dict(model_type='gpt_neox', vocab_size=64, hidden_size=16,
              num_hidden_layers=2, num_attention_heads=2,
              intermediate_size=32, hidden_act='gelu', hidden_dropout=0.1,
              max_position_embeddings=64)
# Measuring these takes about a second, with sanitizers too.
WIDTH = int(os.environ.get('QM_TEST_WIDTH', 256))
SLOW = dict(CONFIG, hidden_size=WIDTH, num_hidden_layers=2,
            intermediate_size=4 * WIDTH)
SLOW_RECIPE = dict(RECIPE, sequence_length=64)

# How often a search is killed at a moment that nobody chose.
KILLS = int(os.environ.get('QM_TEST_KILLS', 50))

# What is another number in every run.
TIMES = {'time', 'pass', 'update', 'step', 'days', 'model_tflops', 'phases_s',
         'allocated_bytes', 'device'}
WAYS = [('free-lunch', False, 'none'), ('naive', False, 'none'),
        ('free-lunch', True, 'none')]


def lines_of(path):
    return [json.loads(line)
            for line in pathlib.Path(path).read_text().splitlines()]


def without_times(path):
    """The lines of a results file, in their order."""
    return [{name: value for name, value in line.items() if name not in TIMES}
            for line in lines_of(path)]


class Search(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.results = self.path('r.jsonl')

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        with open(self.path(name), 'w') as file:
            file.write(value if isinstance(value, str) else json.dumps(value))
        return self.path(name)

    def command(self, *more, config=CONFIG, recipe=RECIPE, results=None):
        return [BENCH, 'search', '--config',
                self.write('config.json', config), '--recipe',
                self.write('recipe.json', recipe), '--device', 'cpu',
                '--results', results or self.results, *map(str, more)]

    def run_command(self, command, **options):
        return run_to_end(command, **options)

    def search(self, *more, status=0, **options):
        result = self.run_command(self.command(*more, **options))
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def listed(self, *arguments, status=0):
        result = self.run_command([BENCH, 'results', *map(str, arguments)])
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def start(self, *more, recipe=SLOW_RECIPE):
        """A search that has begun to measure, and its worker."""
        process = subprocess.Popen(
            self.command(*more, config=SLOW, recipe=recipe),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.assertIn('left', line)
        worker, = children(process.pid)
        return process, worker

    def start_small(self, *more):
        """A search of a small model, with nothing read of what it says."""
        process = subprocess.Popen(
            self.command(*more), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def cap(self):
        """Memory in which naive settings do not fit, and others do."""
        def need(settings):
            result = self.run_command([
                BENCH, 'plan', '--config',
                self.write('config.json', CONFIG), '--recipe',
                self.write('recipe.json', RECIPE), '--device', 'cpu',
                '--settings', settings, '--micro-batch', '1', '--json'])
            return json.loads(result.stdout)['memory_bytes']['total']

        self.assertLess(need('free-lunch'), need('naive'))
        return need('naive') - 1

    def documented(self, value):
        """Every name in JSON is in the manual page."""
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text()))
        if isinstance(value, dict):
            self.assertEqual(set(value) - words, set())
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, (dict, list)):
                self.documented(item)

    def test_search(self):
        result = self.search('--json')
        report, = map(json.loads, result.stdout.splitlines())
        self.documented(report)
        configurations = report['configurations']
        largest = [line for line in configurations if not line['half']]
        self.assertEqual(len(largest), 13)
        self.assertEqual(
            [(line['settings'], line['checkpointing'], line['sharding'])
             for line in largest[:3]], WAYS)
        self.assertEqual(
            {(line['checkpointing'], line['sharding'])
             for line in largest if line['settings'] == 'free-lunch'},
            {(checkpointing, sharding) for checkpointing in (False, True)
             for sharding in ('none', 'zero_1', 'zero_2', 'zero_3', 'fsdp_2',
                              'fsdp_3')})
        measured = [line for line in configurations
                    if line['status'] == 'measured']
        self.assertEqual(report['best']['days'],
                         min(line['days'] for line in measured))
        plain = min(line['days'] for line in measured
                    if line['settings'] == 'free-lunch'
                    and not line['checkpointing']
                    and line['sharding'] == 'none')
        gain = report['gain']
        self.assertAlmostEqual(gain['over_free_lunch'],
                               plain / report['best']['days'])
        saving = gain['memory_saving']
        self.assertGreaterEqual(saving['best'], saving['median'])
        self.assertGreaterEqual(saving['median'], saving['worst'])

        lines = lines_of(self.results)
        self.documented(lines)
        self.assertEqual(len(lines), len(measured))
        for line in lines:
            self.assertEqual(line['schema'], 1)
            self.assertEqual(line['status'], 'measured')
            self.assertRegex(line['time'], r'^\d{4}-\d\d-\d\dT.*Z$')
            self.assertRegex(line['model_key'], r'^[0-9a-f]{16}$')
            self.assertEqual(line['engine'], 'quartermaster')
            self.assertEqual(line['gpus'], 1)
        self.assertEqual({line['micro_batch'] for line in lines}, {4, 8})

        # What is known is not measured again, and shown all the same.
        before = pathlib.Path(self.results).read_bytes()
        text = self.search()
        self.assertNotIn(' of ', text.stderr)
        self.assertIn('times as fast as free-lunch alone', text.stdout)
        self.assertEqual(pathlib.Path(self.results).read_bytes(), before)
        again = json.loads(self.search('--json').stdout)
        self.assertEqual(again['best']['days'], report['best']['days'])
        self.search('--again', 'all', '--methods', 'free-lunch')
        self.assertGreater(len(lines_of(self.results)), len(lines))

    def test_methods(self):
        for methods, ways in (('naive', WAYS[1:2]), ('free-lunch', WAYS[:1])):
            report = json.loads(self.search('--methods', methods,
                                            '--json').stdout)
            self.assertEqual({(line['settings'], line['checkpointing'],
                               line['sharding'])
                              for line in report['configurations']},
                             set(ways))

    def test_other_results(self):
        """Another recipe, or equal bits, is another measurement."""
        self.search('--methods', 'free-lunch')
        self.search('--methods', 'free-lunch', '--deterministic')
        self.search('--methods', 'free-lunch', recipe=dict(RECIPE, steps=101))
        self.assertEqual(len(lines_of(self.results)), 6)
        self.assertEqual(len({line['model_key']
                              for line in lines_of(self.results)}), 2)

    def test_infeasible(self):
        cap = self.cap()
        result = self.search('--memory', cap, '--json')
        naive = [line for line in lines_of(self.results)
                 if line['settings'] == 'naive']
        self.documented(naive)
        line, = naive
        self.assertEqual(line['status'], 'infeasible')
        self.assertEqual(line['memory'], 'device')
        self.assertEqual(line['available_bytes'], cap)
        self.assertEqual(line['memory_limit_bytes'], cap)
        self.assertGreater(line['needs_bytes'], cap)
        self.assertIn('needs', line['reason'])
        self.assertEqual(line['cause'], 'memory')
        shown = [line for line in json.loads(result.stdout)['configurations']
                 if line['status'] == 'infeasible']
        self.assertEqual(shown[0]['needs_bytes'], line['needs_bytes'])
        self.assertIn('short', self.search('--memory', cap).stdout)
        # Of another limit nothing is known.
        before = lines_of(self.results)
        self.search('--memory', cap - 1)
        self.assertEqual(len(lines_of(self.results)) - len(before),
                         sum(line['status'] == 'infeasible'
                             for line in before))

    def test_killed_at_any_moment(self):
        """KILLS times, at random; what is in the file at the end is what a
        search writes that nobody disturbs."""
        chance = random.Random(4)
        options = ('--memory', self.cap(), '--repeat', 3)
        undisturbed = self.path('undisturbed.jsonl')
        begin = time.monotonic()
        self.search(*options, results=undisturbed)
        takes = time.monotonic() - begin
        wanted = without_times(undisturbed)
        self.assertGreater(len(wanted), 3)
        killed = torn = rounds = 0
        while killed < KILLS:
            results = self.path(f'{rounds}.jsonl')
            rounds += 1
            done = False
            while not done:
                process = subprocess.Popen(
                    self.command(*options, results=results),
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    text=True)
                try:
                    _, said = process.communicate(
                        timeout=chance.uniform(0, takes * 0.6)
                        if killed < KILLS else 60)
                    self.assertEqual(process.returncode, 0, said)
                    done = True
                except subprocess.TimeoutExpired:
                    process.kill()
                    _, said = process.communicate()
                    killed += 1
                torn += 'broken off' in said
            self.assertEqual(without_times(results), wanted)
        print(f'{killed} killed, {rounds} files, {torn} broken lines',
              file=sys.stderr)

    def test_worker_goes_with_the_search(self):
        process, worker = self.start()
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 10
        while os.path.exists(f'/proc/{worker}'):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_broken_last_line(self):
        self.search()
        whole = pathlib.Path(self.results).read_bytes()
        wanted = without_times(self.results)
        lines = whole.splitlines(keepends=True)
        last = len(whole) - len(lines[-1])
        for cut in (last + 1, last + 100, len(whole) - 2):
            pathlib.Path(self.results).write_bytes(whole[:cut])
            self.assertIn('broken off', self.listed(self.results).stderr)
            result = self.search()
            self.assertIn('broken off', result.stderr)
            self.assertIn('1 of 1', result.stderr)
            self.assertEqual(without_times(self.results), wanted)
        # A line that is whole counts, with its end or without.
        pathlib.Path(self.results).write_bytes(whole[:-1])
        self.assertNotIn('broken off', self.search().stderr)
        self.assertEqual(pathlib.Path(self.results).read_bytes(), whole[:-1])
        self.search('--again', 'all')
        self.assertEqual(len(lines_of(self.results)), 2 * len(lines))

    @staticmethod
    def stop(process):
        """Stops it, and waits until it is: it may run on for a moment."""
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid,
                  os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def stopped_amid(self, path, most, options):
        """A search that was stopped after its first result and before its
        last; on a busy machine one may be done before anybody looks."""
        for _ in range(20):
            process = self.start_small(*options)
            while process.poll() is None:
                if path.exists() and b'\n' in path.read_bytes():
                    break
                time.sleep(0.001)
            if process.poll() is None:
                self.stop(process)
                if path.read_bytes().count(b'\n') < most:
                    return process
                os.kill(process.pid, signal.SIGCONT)
            process.communicate(timeout=60)
            path.unlink()
        return self.fail('each search was done before it could be stopped')

    def test_results_file_lost(self):
        """Whatever becomes of the file while a search runs, at the end all
        results are in it, and what happened is said."""
        path = pathlib.Path(self.results)
        options = ('--memory', self.cap(), '--repeat', 8)
        self.search(*options)
        wanted = without_times(path)
        self.assertGreater(len(wanted), 3)

        def key(line):
            return json.dumps(line, sort_keys=True)

        for word, harm in (
                ('deleted', path.unlink),
                ('replaced', lambda: os.replace(
                    self.write('other', ''), path)),
                ('cut', lambda: os.truncate(path, 0)),
                ('cut', lambda: os.truncate(path, 30))):
            path.unlink()
            process = self.stopped_amid(path, len(wanted), options)
            harm()
            os.kill(process.pid, signal.SIGCONT)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, said)
            self.assertIn(f'was {word} while this search ran', said)
            self.assertEqual(sorted(map(key, without_times(path))),
                             sorted(map(key, wanted)))

    def test_results_file_taken(self):
        """A file of another kind in its place is not overwritten; what was
        found is beside it."""
        path = pathlib.Path(self.results)
        process = self.start_small('--repeat', 8)
        while not path.exists() or b'\n' not in path.read_bytes():
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        self.stop(process)
        os.replace(self.write('other', 'my only copy of a note\n'), path)
        os.kill(process.pid, signal.SIGCONT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, said)
        self.assertEqual(path.read_text(), 'my only copy of a note\n')
        kept = re.search(r'beside it, in (\S+)', said)[1]
        self.assertGreater(len(lines_of(self.path(kept))), 0)

    def test_no_results_file(self):
        """Nothing is taken from a file that is another's, nor made where
        nothing is measured."""
        note = pathlib.Path(self.results)
        for text in ('my only copy of a note', '[1,2,3]', 'a\nb\n'):
            note.write_text(text)
            for words in (['--dry-run'], []):
                result = subprocess.run(self.command(*words), text=True,
                                        capture_output=True, check=False)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(note.read_text(), text)
        note.unlink()
        self.search('--dry-run')
        self.assertFalse(note.exists())
        torn = '{"schema": 1, "status": "mea'
        note.write_text(torn)
        self.search('--dry-run')
        self.assertEqual(note.read_text(), torn)

    def test_host_memory(self):
        """What does not fit into the host's memory is not tried."""
        self.search('--methods', 'all', '--host-memory', '1MiB')
        ways = {line['sharding']: line['status']
                for line in lines_of(self.results) if line['offloading']}
        self.assertEqual(len(ways), 5)
        self.assertEqual(set(ways.values()), {'infeasible'})
        self.assertEqual({line['memory'] for line in lines_of(self.results)
                          if line['status'] == 'infeasible'}, {'host'})

    def test_hostile_lines(self):
        self.search()
        text = pathlib.Path(self.results).read_text()
        first, rest = text.split('\n', 1)
        for status, broken, message in (
                (1, '{', ''), (1, '[]', 'object'),
                (5, first.replace('"schema":1', '"schema":2'), 'schema'),
                (1, first.replace('"status":"measured"', '"status":"good"'),
                 "'good'"),
                (1, '[' * 100000, ''), (1, '\x00', 'control character'),
                (1, '{"a": "' + 'x' * (1 << 22) + '"}', 'longer')):
            pathlib.Path(self.results).write_text(broken + '\n' + rest)
            before = pathlib.Path(self.results).read_bytes()
            self.assertIn(message, self.search(status=status).stderr)
            result = self.listed(self.results, status=status)
            self.assertIn(message, result.stderr)
            self.assertIn('r.jsonl:1:', result.stderr)
            self.assertEqual(result.stdout, '')
            self.assertEqual(pathlib.Path(self.results).read_bytes(), before)

    def test_full_disk(self):
        self.search(results=self.path('whole.jsonl'))
        wanted = without_times(self.path('whole.jsonl'))
        length = os.path.getsize(self.path('whole.jsonl'))

        def little():
            resource.setrlimit(resource.RLIMIT_FSIZE,
                               (length // 2, resource.RLIM_INFINITY))

        result = self.run_command(self.command(), preexec_fn=little)
        self.assertEqual(result.returncode, 1)
        self.assertIn('r.jsonl: cannot be written', result.stderr)
        kept = without_times(self.results)
        self.assertTrue(0 < len(kept) < len(wanted))
        self.assertEqual(kept, wanted[:len(kept)])
        self.search()
        self.assertEqual(without_times(self.results), wanted)

    def test_two_at_once(self):
        with open(self.results, 'w') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            waiting = subprocess.Popen(self.command(),
                                       stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.assertIn('another search is writing',
                          waiting.stderr.readline())
            self.assertIn('another program', self.listed(
                '--merge', self.results, self.results, status=1).stderr)
        waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0)
        self.assertGreater(len(lines_of(self.results)), 3)
        with open(self.results) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            waiting = subprocess.Popen(self.command(),
                                       stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            waiting.communicate(timeout=60)
            self.assertEqual(waiting.returncode, 130)

    def test_interrupt(self):
        process, worker = self.start('--methods', 'all')
        while not (os.path.exists(self.results)
                   and os.path.getsize(self.results)):
            time.sleep(0.01)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(f'/proc/{worker}'))
        self.assertTrue(err.endswith('qm-bench: interrupted\n'), err)
        self.assertIn('left', err)
        self.assertIn('best: ', out)
        self.assertGreater(len(lines_of(self.results)), 0)

    def test_export(self):
        """The best ends with the command that exports its settings."""
        out = self.search('--methods', 'free-lunch').stdout
        command, = re.findall('(?m)^the same in PyTorch, which may need more '
                              'memory: qm-bench (.*)$', out)
        result = self.run_command([BENCH, *shlex.split(command), '--json'])
        self.assertEqual(result.returncode, 0, result.stderr)
        got = json.loads(result.stdout)['arguments']
        best = min((line for line in lines_of(self.results)
                    if line['status'] == 'measured'),
                   key=lambda line: line['days'])
        self.assertEqual((got['per_device_train_batch_size'],
                          got['gradient_accumulation_steps']),
                         (best['micro_batch'], best['accumulation']))

    def test_time_limit(self):
        result = self.search('--time-limit', '0.0001s')
        self.assertIn('are left', result.stderr)
        self.assertIn('nothing was measured', result.stdout)
        self.assertEqual(lines_of(self.results), [])
        # What takes longer than it should is stopped, and no failure.
        process, worker = self.start('--time-limit', '3s', recipe=RECIPE)
        os.kill(worker, signal.SIGSTOP)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn('left', err)
        self.assertNotIn('failed', err)
        self.search('--time-limit', '1h')
        self.assertGreater(len(lines_of(self.results)), 3)

    def test_worker_dies(self):
        process, worker = self.start('--methods', 'free-lunch')
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn('failed: the process that measured was ended by signal 9',
                      err)
        lines = lines_of(self.results)
        self.documented(lines)
        self.assertEqual([(line['status'], line['micro_batch'])
                          for line in lines], [('failed', 8), ('measured', 4)])
        self.assertIn('signal 9', lines[0]['reason'])
        self.assertEqual((lines[0]['cause'], lines[0]['signal']),
                         ('signal', 9))
        told = self.events('--methods', 'free-lunch', '--dry-run',
                           config=SLOW, recipe=SLOW_RECIPE)
        known, = [line for line in told if line.get('status') == 'failed']
        self.assertEqual((known['cause'], known['signal']), ('signal', 9))
        slow = dict(config=SLOW, recipe=SLOW_RECIPE)
        self.search('--methods', 'free-lunch', **slow)
        self.assertEqual(len(lines_of(self.results)), 2)
        self.search('--methods', 'free-lunch', '--again', 'failed', **slow)
        self.assertEqual([(line['status'], line['micro_batch'])
                          for line in lines_of(self.results)][2:],
                         [('measured', 8)])
        listed = [json.loads(line) for line in self.listed(
            '--json', self.results).stdout.splitlines()]
        self.assertEqual([(line['status'], line['micro_batch'])
                          for line in listed],
                         [('measured', 8), ('measured', 4)])

    def test_worker_hangs(self):
        process, worker = self.start('--methods', 'naive', '--patience', 1)
        os.kill(worker, signal.SIGSTOP)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn('no progress', err)
        self.assertEqual(lines_of(self.results)[0]['status'], 'failed')

    def test_default_file(self):
        environment = dict(os.environ, XDG_DATA_HOME=self.path('data'))
        command = self.command('--methods', 'free-lunch')
        at = command.index('--results')
        del command[at:at + 2]
        result = self.run_command(command, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        host = re.sub('[^A-Za-z0-9_-]', '-', socket.gethostname().split('.')[0])
        results = self.path(
            f'data/quartermaster/measurements/{host or "this-host"}.jsonl')
        self.assertEqual(len(lines_of(results)), 2)
        listed = self.run_command([BENCH, 'results'], env=environment)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertEqual(listed.stdout.count('free-lunch'), 2)

    def test_machine(self):
        """Results say of which machine they are, so that its id cannot be had
        back; what does not say it can be told, and what is another machine's
        is measured here."""
        identity = self.path('machine-id')
        raw = '0123456789abcdef0123456789abcdef'
        pathlib.Path(identity).write_text(raw + '\n')
        digest = hashlib.sha256(b'quartermaster machine ' + raw.encode())
        machine = {'id': digest.hexdigest()[:32], 'gpus': []}
        environment = dict(os.environ, XDG_DATA_HOME=self.path('data'),
                           QUARTERMASTER_MACHINE_ID=identity)
        command = self.command('--methods', 'naive')
        at = command.index('--results')
        del command[at:at + 2]

        def run(command, status=0):
            result = self.run_command(command, env=environment)
            self.assertEqual(result.returncode, status, result.stderr)
            return result

        run(command)
        results, = pathlib.Path(self.path('data')).glob('**/*.jsonl')
        line, = lines_of(results)
        self.assertEqual(line['machine'], machine)
        self.assertNotIn(raw, results.read_text())
        run(command)
        self.assertEqual(len(lines_of(results)), 1)

        del line['machine']
        results.write_text(json.dumps(line) + '\n')
        run(command)
        self.assertEqual(len(lines_of(results)), 1)
        said = run([BENCH, 'results', '--adopt'])
        self.assertIn('1 results are of this machine now', said.stderr)
        self.assertEqual(lines_of(results)[0]['machine'], machine)

        line['machine'] = {'id': 'ab' * 16}
        results.write_text(json.dumps(line) + '\n')
        run([BENCH, 'results', '--adopt'])
        self.assertEqual(lines_of(results)[0]['machine'], line['machine'])
        run(command)
        self.assertEqual([one['machine'] for one in lines_of(results)],
                         [line['machine'], machine])

        environment['QUARTERMASTER_MACHINE_ID'] = self.path('none')
        del line['machine']
        results.write_text(json.dumps(line) + '\n')
        said = run([BENCH, 'results', '--adopt'], status=5)
        self.assertIn('/etc/machine-id', said.stderr)

    def events(self, *more, status=0, **options):
        result = self.search('--events', *more, status=status, **options)
        lines = list(map(json.loads, result.stdout.splitlines()))
        self.documented(lines)
        return [line for line in lines if line['event'] != 'alive']

    def test_dry_run(self):
        lines = self.events('--dry-run')
        self.assertEqual([line['event'] for line in lines],
                         ['begin'] + ['configuration'] * (len(lines) - 3)
                         + ['listed', 'end'])
        configurations = lines[1:-2]
        self.assertEqual([line['number'] for line in configurations],
                         list(range(len(configurations))))
        self.assertEqual({line['status'] for line in configurations},
                         {'waiting'})
        self.assertTrue(all(line['cost_s'] > 0 and line['fits']
                            for line in configurations))
        self.assertEqual(lines[-1]['left'], len(configurations))
        self.assertAlmostEqual(
            lines[-1]['left_s'],
            sum(line['cost_s'] for line in configurations), 3)
        self.assertFalse(os.path.exists(self.results))

    def test_events(self):
        lines = self.events('--methods', 'free-lunch')
        self.assertEqual(lines[0]['device']['id'], 'cpu')
        self.assertEqual(lines[0]['results'], self.results)
        states = [[line['status'] for line in lines
                   if line['event'] == 'configuration'
                   and line['number'] == number] for number in range(2)]
        self.assertEqual(states, [['waiting', 'running', 'measured']] * 2)
        found = {line['number']: line for line in lines
                 if line['event'] == 'configuration'}
        for number, result in enumerate(lines_of(self.results)):
            self.assertEqual(found[number]['days'], result['days'])
            self.assertEqual(found[number]['micro_batch'],
                             result['micro_batch'])
        progress = [line for line in lines if line['event'] == 'progress']
        self.assertTrue(all(0 <= line['done'] <= 1 and line['left_s'] >= 0
                            for line in progress))
        self.assertEqual((lines[-1]['event'], lines[-1]['left']), ('end', 0))
        again = self.events('--methods', 'free-lunch')
        self.assertEqual([line['known'] for line in again
                          if line['event'] == 'configuration'], [True, True])

    def test_events_of_what_does_not_fit(self):
        lines = self.events('--memory', self.cap())
        naive = [line for line in lines if line['event'] == 'configuration'
                 and line['settings'] == 'naive']
        self.assertEqual([line['status'] for line in naive],
                         ['waiting', 'infeasible'])
        self.assertFalse(naive[0]['fits'])
        self.assertIn('needs', naive[0]['reason'])
        self.assertIn('needs', naive[1]['reason'])
        for line in naive:
            self.assertEqual((line['cause'], line['memory']),
                             ('memory', 'device'))
            self.assertGreater(line['needs_bytes'], line['available_bytes'])

    def test_busy_dry_run(self):
        with open(self.results, 'w') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            told = self.events('--dry-run', status=1)
            result = self.search('--dry-run', '--events', status=1)
        self.assertEqual([(line['event'], line['cause'], line['file'])
                          for line in told], [('error', 'busy', self.results)])
        self.assertIn('another search', result.stderr)

    def test_last(self):
        """SIGUSR1 lets the measurement that runs be finished."""
        process = subprocess.Popen(
            self.command('--events', config=SLOW, recipe=SLOW_RECIPE),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if json.loads(line)['event'] == 'progress':
                break
        process.send_signal(signal.SIGUSR1)
        rest, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        end = json.loads(rest.splitlines()[-1])
        self.assertEqual(end['event'], 'end')
        self.assertGreater(end['left'], 0)
        self.assertEqual(len(lines_of(self.results)), 1)

    def test_several_models(self):
        command = [BENCH, 'search', '--model', 'vit-large,pythia-160m',
                   '--device', 'cpu', '--events', '--dry-run', '--methods',
                   'free-lunch', '--results', self.results]
        result = self.run_command(command)
        self.assertEqual(result.returncode, 0, result.stderr)
        models = {json.loads(line).get('model')
                  for line in result.stdout.splitlines()}
        self.assertEqual(models - {None}, {'vit-large', 'pythia-160m'})
        for wrong in ('vit-large,vit-large', 'vit-large,nothing',
                      'vit-large,,pythia-160m'):
            command[3] = wrong
            self.assertEqual(self.run_command(command).returncode, 2)

    def test_numbers_of_devices(self):
        """Each once, whatever is said twice; only several exchange."""
        result = self.search('--gpus', '1,2,2,1', '--methods', 'naive',
                             '--no-peer', '--json')
        self.assertEqual([json.loads(line)['gpus'] for line in
                          result.stdout.splitlines()], [1, 2])
        self.assertEqual({(line['gpus'], line.get('no_peer')) for line in
                          lines_of(self.results)}, {(1, None), (2, True)})

    def test_links_of_others(self):
        """Of what is not predicted, links change nothing, and that is said."""
        links = self.path('links.json')
        rows = [dict(bytes=4096, seconds=1)]
        pathlib.Path(links).write_text(json.dumps(dict(
            devices=[{}, {}, {}], collectives=dict.fromkeys(
                ('all_reduce', 'reduce_scatter', 'all_gather'), rows))))
        result = self.search('--gpus', '1,2', '--methods', 'naive', '--links',
                             str(links))
        for why in ('one device exchanges nothing', 'nothing is predicted of'):
            self.assertEqual(result.stderr.count('is not used: ' + why), 1)
        pathlib.Path(links).write_text('{}')
        self.search('--methods', 'naive', '--links', str(links), status=1)

    def test_refusals(self):
        for status, message, more in (
                (2, '--methods', ('--methods', 'most')),
                (2, '--again', ('--again', 'some')),
                (2, 'no time', ('--time-limit', 'soon')),
                (2, 'no size', ('--memory', '1 furlong')),
                (2, 'more than once', ('--device', 'cpu'))):
            result = self.search(*more, status=status)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, '')
        for status, message, results in (
                (2, '--results has to be a file', '-'),
                (1, 'regular file', '/dev/full'),
                (1, 'cannot be opened', self.path('absent/r.jsonl'))):
            result = self.search(results=results, status=status)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, '')
        command = self.command()
        command[command.index('cpu')] = 'tpu'
        self.assertEqual(self.run_command(command).returncode, 4)
        result = self.run_command([BENCH, 'search', '--device', 'cpu',
                                   '--results', self.results])
        self.assertEqual(result.returncode, 2)
        self.assertIn('--model', result.stderr)
        self.assertIn('cannot be opened',
                      self.listed(self.path('absent'), status=1).stderr)
        self.search('--methods', 'naive')
        self.assertIn("no results of 'x'", self.listed(
            self.results, '--model', 'x', status=1).stderr)

    def test_results(self):
        self.search()
        lines = lines_of(self.results)
        best = json.loads(self.listed(self.results, '--best',
                                      '--json').stdout)
        self.assertEqual(best['days'], min(line['days'] for line in lines))
        model = self.path('config.json')
        self.assertEqual(len(self.listed(
            self.results, '--model', model, '--json').stdout.splitlines()),
            len(lines))
        self.assertIn(model, self.listed(self.results).stdout)

    def test_results_of_places(self):
        """Two devices of one machine and one of each of two are two places,
        and so are those that exchanged as they do and those that did not."""
        self.search('--methods', 'free-lunch')
        line = dict(lines_of(self.results)[0], gpus=2)
        line['device'] = dict(line['device'], name='NVIDIA H200',
                              architecture=90)
        places = [dict(line, days=day, **more) for day, more in enumerate((
            dict(transport='nccl'), dict(nodes=2, transport='nccl'),
            dict(nodes=2, transport='sockets'), dict(transport='host'),
            dict(transport='nccl', nccl=dict(NCCL_SHM_DISABLE='1')),
            dict(gpus=4, nodes=2, transport='nccl')), 1)]
        # Each twice, with what orders them otherwise; the first is the best.
        path = self.write('places.jsonl', ''.join(
            json.dumps(one) + '\n' for place in places for one in (
                place, dict(place, settings='naive', days=place['days'] + 10))))
        heads = [text.splitlines()[0].split(' on ')[1].split(', driver')[0]
                 .split(', quartermaster')[0]
                 for text in self.listed(path).stdout.split('\n\n')]
        self.assertEqual(heads, [
            '2 x NVIDIA H200', '2 x NVIDIA H200, held back',
            '2 x NVIDIA H200, through the memory of the host',
            '2 machines of 1 x NVIDIA H200',
            '2 machines of 1 x NVIDIA H200, through sockets',
            '2 machines of 2 x NVIDIA H200'])
        best = [json.loads(one) for one in self.listed(
            path, '--best', '--json').stdout.splitlines()]
        self.assertEqual(sorted(one['days'] for one in best), [*range(1, 7)])

    def test_merge(self):
        self.search('--methods', 'free-lunch')
        line = lines_of(self.results)[0]
        later = dict(line, time='2999-01-01T00:00:00Z', days=1.0)
        other = dict(line, device=dict(line['device'], name='Another'))
        failed = {**line, 'status': 'failed', 'reason': 'it fell',
                  'time': '2999-01-02T00:00:00Z'}
        more = self.write('more.jsonl', ''.join(
            json.dumps(one) + '\n' for one in (later, other, failed)))
        out = self.path('out.jsonl')
        self.listed(self.results, more, '--merge', out)
        merged = lines_of(out)
        self.assertEqual(len(merged), 3)
        self.assertEqual({one['days'] for one in merged
                          if one['micro_batch'] == line['micro_batch']},
                         {1.0, line['days']})
        self.assertNotIn(failed, merged)
        # In whatever order, and once more.
        before = pathlib.Path(out).read_bytes()
        self.listed(more, self.results, '--merge', out)
        self.assertEqual(pathlib.Path(out).read_bytes(), before)
        self.listed(out, '--merge', out)
        self.assertEqual(pathlib.Path(out).read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ['config.json', 'more.jsonl', 'out.jsonl', 'r.jsonl',
                          'recipe.json'])
        # A file that is wrong is named, and nothing written.
        broken = self.write('broken.jsonl', json.dumps(line) + '\n{}\n')
        result = self.listed(self.results, broken, '--merge', out, status=1)
        self.assertIn('broken.jsonl:2:', result.stderr)
        self.assertEqual(pathlib.Path(out).read_bytes(), before)
        self.listed(out, '--merge', self.path('absent/x'), status=1)

    def test_all_models(self):
        """Nothing fits, so nothing has to be measured."""
        result = self.run_command([
            BENCH, 'search', '--model', 'all', '--device', 'cpu', '--memory',
            '1MiB', '--results', self.results, '--json'])
        self.assertEqual(result.returncode, 0, result.stderr)
        models = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(models), 28)
        for model in models:
            self.assertIsNone(model['best'])
            self.assertEqual(len(model['configurations']), 13)
        self.assertTrue(all(line['status'] == 'infeasible'
                            for line in lines_of(self.results)))


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
