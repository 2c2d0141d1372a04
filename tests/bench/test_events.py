# SPDX-License-Identifier: Apache-2.0
"""What qm-bench tells while it works, of the commands that work on the device
themselves: that it lives, how far it is, and that it notices when it hangs.

usage: test_events.py QM_BENCH GOLDEN MANUAL
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from common import RECIPE, children, is_alive, left_of

BENCH, GOLDEN, MANUAL = sys.argv[1], *map(pathlib.Path, sys.argv[2:])

CONFIG = dict(model_type='gpt_neox', vocab_size=256, hidden_size=32,
              num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=64, hidden_act='gelu', hidden_dropout=0.1,
              max_position_embeddings=1024)
# One pass takes minutes.
ENDLESS = dict(CONFIG, hidden_size=1024, intermediate_size=4096,
               num_hidden_layers=24)
ENDLESS_RECIPE = dict(RECIPE, sequence_length=1024)


class Listener:
    """A program whose lines are heard with the time at which they came."""

    def __init__(self, test, *arguments):
        self.process = subprocess.Popen(
            [BENCH, *map(str, arguments)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        self.begin = time.monotonic()
        self.times, self.lines, self.errors = [], [], ''
        self.threads = [threading.Thread(target=target)
                        for target in (self.listen, self.listen_to_errors)]
        for thread in self.threads:
            thread.start()

    def listen(self):
        for line in self.process.stdout:
            self.times.append(time.monotonic())
            self.lines.append(json.loads(line))
        self.process.stdout.close()

    def listen_to_errors(self):
        self.errors = self.process.stderr.read()
        self.process.stderr.close()

    def wait_for(self, event, count=1):
        until = time.monotonic() + 60
        while sum(line['event'] == event for line in self.lines) < count:
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError((event, self.lines, self.errors))
            time.sleep(0.05)

    def end(self):
        """The exit status, and seconds until then."""
        begin = time.monotonic()
        status = self.process.wait(timeout=60)
        for thread in self.threads:
            thread.join()
        return status, time.monotonic() - begin


class EventsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            json.dump(value, file)
        return self.path(name)

    def tiny(self, config=None, recipe=None):
        return ('--config', self.write('config.json', config or CONFIG),
                '--recipe', self.write('recipe.json', recipe or RECIPE),
                '--device', 'cpu', '--settings', 'naive')

    def endless(self):
        return (*self.tiny(ENDLESS, ENDLESS_RECIPE), '--micro-batch', 8)

    def told(self, *arguments, status=0):
        """All events but signs of life."""
        result = subprocess.run([BENCH, *map(str, arguments), '--events'],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        lines = list(map(json.loads, result.stdout.splitlines()))
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text('utf-8')))
        for line in lines:
            self.assertLessEqual(set(line), words)
            self.assertIn(line['event'], words)
        return [line for line in lines if line['event'] != 'alive']

    def test_run(self):
        lines = self.told('run', *self.tiny())
        names = [line['event'] for line in lines]
        self.assertEqual([names[0], *names[-2:]], ['begin', 'result', 'end'])
        self.assertEqual(set(names[1:-2]) - {'progress'}, set())
        self.assertEqual(lines[0]['device']['id'], 'cpu')
        self.assertIsNone(lines[0]['results'])
        done = [line['done'] for line in lines[1:-2]]
        self.assertEqual(done, sorted(done))
        plain = subprocess.run([BENCH, 'run', *self.tiny(), '--json'],
                               capture_output=True, text=True, check=True)
        self.assertEqual(set(lines[-2]) - {'event'},
                         set(json.loads(plain.stdout)))
        self.assertGreater(lines[-2]['days'], 0)

    def test_train(self):
        text = self.path('text')
        pathlib.Path(text).write_text('a text to learn ' * 100, 'ascii')
        lines = self.told('train', *self.tiny(), '--text', text, '--steps', 3)
        self.assertEqual([line['event'] for line in lines],
                         ['begin', 'step', 'step', 'step', 'end'])
        self.assertEqual([line['step'] for line in lines[1:-1]], [1, 2, 3])

    def test_check(self):
        lines = self.told(
            'check', '--config', GOLDEN / 'bert.json', '--weights',
            GOLDEN / 'bert.weights.safetensors', '--batch',
            GOLDEN / 'bert.batch.safetensors', '--device', 'cpu', '--out',
            self.path('out.safetensors'))
        self.assertEqual([line['event'] for line in lines],
                         ['begin', 'result', 'end'])
        self.assertGreater(lines[1]['loss'], 0)
        self.assertTrue(os.path.exists(self.path('out.safetensors')))

    def test_errors(self):
        error, = self.told('run', *self.tiny(), '--micro-batch', 9,
                           status=2)[1:]
        self.assertEqual((error['event'], error['status']),
                         ('error', 'invalid'))
        self.assertIn('micro-batch', error['reason'])
        error, = self.told('run', '--model', 'none', status=2)
        self.assertEqual(error['event'], 'error')
        self.assertEqual(self.told('train', *self.tiny(), status=2), [])

    def test_lives_and_stops(self):
        """Within a pass of minutes it says something every second or two, and
        stops when it is asked to."""
        heard = Listener(self, 'run', *self.endless(), '--events')
        heard.wait_for('begin')
        heard.wait_for('alive', 3)
        work, = children(heard.process.pid)
        heard.process.send_signal(signal.SIGINT)
        status, seconds = heard.end()
        self.assertEqual(status, 130, heard.errors)
        self.assertLess(seconds, 5)
        self.assertIn('interrupted', heard.errors)
        self.assertFalse(is_alive(work))
        gaps = [after - before
                for before, after in zip([heard.begin, *heard.times],
                                         heard.times)]
        self.assertLess(max(gaps), 2.5)

    def test_hang(self):
        heard = Listener(self, 'run', *self.endless(), '--events',
                         '--patience', 3)
        heard.wait_for('begin')
        work, = children(heard.process.pid)
        os.kill(work, signal.SIGSTOP)
        status, seconds = heard.end()
        self.assertEqual(status, 4, heard.errors)
        self.assertLess(seconds, 10)
        self.assertIn('no progress for', heard.errors)
        self.assertEqual((heard.lines[-1]['event'], heard.lines[-1]['cause']),
                         ('error', 'silence'))
        self.assertFalse(is_alive(work))

    def test_crash(self):
        heard = Listener(self, 'run', *self.endless(), '--events')
        heard.wait_for('begin')
        work, = children(heard.process.pid)
        os.kill(work, signal.SIGABRT)
        status, _ = heard.end()
        self.assertEqual(status, 4, heard.errors)
        self.assertIn('signal 6', heard.errors)

    def test_nothing_is_left_behind(self):
        heard = Listener(self, 'run', *self.endless(), '--events')
        heard.wait_for('begin')
        work, = children(heard.process.pid)
        heard.process.kill()
        heard.end()
        self.assertEqual(left_of([work], time.monotonic() + 10), [])

    def test_nobody_listens(self):
        process = subprocess.Popen(
            [BENCH, 'run', *map(str, self.endless()), '--events'],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        process.stdout.close()
        process.wait(timeout=20)
        self.assertNotEqual(process.returncode, 0)
        process.stderr.close()


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
