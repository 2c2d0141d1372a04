#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of this machine as somebody uses it who cannot see it: real
benchmarks of tiny models on the processor, and qm-bench misbehaving.

test-machine.py PROGRAM QM_BENCH STAND_IN GPUS RESULTS, on a display and a
session bus of its own; STAND_IN misbehaves, GPUS stands in for qm-bench on a
machine of four, and RESULTS is the shipped file of an H200.
"""

import csv
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import unittest

import driver

PROGRAM = QM_BENCH = STAND_IN = GPUS = MEASURED = None

MACHINE_ID = '0123456789abcdef0123456789abcdef'
MACHINE = {'id': hashlib.sha256(b'quartermaster machine '
                                + MACHINE_ID.encode()).hexdigest()[:32],
           'gpus': []}

CONFIG = dict(model_type='gpt_neox', vocab_size=256, hidden_size=32,
              num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=64, hidden_act='gelu', hidden_dropout=0.1,
              max_position_embeddings=512)
RECIPE = dict(batch_size=8, steps=100, sequence_length=16, precision='fp32',
              optimizer='adamw', learning_rate=3e-3, beta1=0.9, beta2=0.95,
              epsilon=1e-8, weight_decay=0.01, max_grad_norm=1.0)
# Measuring one way to train it takes a second.
SLOW = dict(CONFIG, hidden_size=128, intermediate_size=512)
SLOW_RECIPE = dict(RECIPE, sequence_length=128)

# Answers as qm-bench does, but misbehaves as soon as it is to measure.
WRAPPER = """#!/bin/sh
case "$*" in
  *--dry-run*|devices*|predict*) exec {bench} "$@";;
  *) exec {stand_in} {how};;
esac
"""


def children(pid):
    """Processes below that one, but for those that have ended."""
    parents = {}
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / 'stat').read_text().rsplit(')', 1)[1].split()
            except OSError:
                continue
            if stat[0] != 'Z':
                parents[int(entry.name)] = int(stat[1])
    found = {pid}
    while True:
        more = {child for child, parent in parents.items()
                if parent in found} - found
        if not more:
            return found - {pid}
        found |= more


def is_alive(pid):
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return False
    return stat.rsplit(')', 1)[1].split()[0] != 'Z'


def saved_rows(path):
    """The lines of a table in a file."""
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


class MachineTest(unittest.TestCase):

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix='qm-test-')
        self.data = os.path.join(self.home, 'data', 'quartermaster')
        self.program = None
        self.add_model('tiny', 'Tiny', CONFIG, RECIPE)
        self.keep('free-lunch')
        self.add_model('slow', 'Slow', SLOW, SLOW_RECIPE)

    def tearDown(self):
        if self._outcome.result.failures or self._outcome.result.errors:
            try:
                print('\n'.join(self.program.root.dump()), file=sys.stderr)
            except Exception as error:  # the window is gone
                print(error, file=sys.stderr)
            print(self.log(), file=sys.stderr)
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def log(self):
        path = os.path.join(self.home, 'log')
        with open(path, encoding='utf-8', errors='replace') as log:
            return log.read()

    def add_model(self, name, title, config, recipe):
        folder = os.path.join(self.data, 'models')
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + '.json'), 'w',
                  encoding='utf-8') as file:
            json.dump(dict(id=name, name=title, source='a test',
                           config=config, recipe=recipe), file)

    def keep(self, methods, gpus=''):
        """What was chosen last, as the window finds it."""
        folder = os.path.join(self.home, 'config', 'glib-2.0', 'settings')
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'keyfile'), 'w',
                  encoding='ascii') as file:
            file.write('[org/quartermaster/Quartermaster]\n'
                       f"bench-models=@as []\nbench-methods='{methods}'\n"
                       f"bench-gpus='{gpus}'\n")

    def start(self, **environment):
        environment.setdefault('QUARTERMASTER_BENCH', QM_BENCH)
        # No GPU of the machine that the tests run on.
        environment['CUDA_VISIBLE_DEVICES'] = ''
        self.program = driver.Program(PROGRAM, home=self.home,
                                      environment=environment)
        self.root = self.program.root
        driver.wait_for(self.focus, 'the keyboard in the window')
        driver.press_keys('alt+3')
        self.root.find('push button', 'Benchmark')
        self.root.find('check box', 'Tiny')

    def stop(self):
        if self.program is None:
            return
        self.program.close()
        complaints = driver.complaints(self.log())
        self.program = None
        self.assertEqual(complaints, [])

    def misbehave(self, how):
        path = os.path.join(self.home, 'bench')
        with open(path, 'w', encoding='ascii') as file:
            file.write(WRAPPER.format(bench=QM_BENCH, stand_in=STAND_IN,
                                      how=how))
        os.chmod(path, 0o755)
        self.start(QUARTERMASTER_BENCH=path)

    def focus(self):
        driver.press_keys('Tab')
        return self.root.focused()

    def choose(self, *models):
        for model in models:
            check = self.root.find('check box', model)
            if not check.checked:
                self.root.tab_to('check box', model)
                driver.press_keys('space')
                driver.wait_for(lambda: check.checked, f'{model} chosen')
        driver.wait_for(lambda: self.button('Benchmark').has_sensitive(),
                        'a benchmark that can be started')

    def button(self, name):
        node = self.root.find('push button', name)
        node.has_sensitive = lambda: node.has(
            driver.Atspi.StateType.SENSITIVE)
        return node

    def headline(self, text, patience=driver.PATIENCE):
        self.root.find(None, text, patience=patience)

    def rows(self):
        return self.root.names('table row', contains=': ',
                               inside=('tree table', 'Configurations'))

    def expect_rows(self, contains, least=1, patience=60):
        def look():
            rows = self.rows()
            found = [name for name in rows if contains in name]
            return rows if len(found) >= least else None
        return driver.wait_for(look, f'{least} rows with “{contains}”',
                               patience)

    def results(self):
        return [json.loads(line)
                for path in pathlib.Path(self.data).glob('**/*.jsonl')
                for line in path.read_text().splitlines()]

    def expect_no_children(self):
        driver.wait_for(lambda: not children(self.program.process.pid),
                        'that no child is left')

    def begin_slow(self):
        """A benchmark of several configurations, one of which is done."""
        self.choose('Slow')
        driver.press_keys('ctrl+Return')
        self.headline('Measuring')
        self.expect_rows('Measured', 1, patience=180)


class RealTest(MachineTest):

    def test_what_is_here(self):
        self.start()
        self.root.find('label', 'No GPU can be used')
        self.root.find('label', contains='Small models train on the processor')
        # Predicted before anything runs, and too large a model is told.
        self.root.find('label', contains='Fits')
        self.assertEqual(self.results(), [])

    def test_benchmark(self):
        self.start()
        self.choose('Tiny')
        self.root.find('label', contains='predicted to take about')
        self.button('Benchmark').press()
        self.headline('The benchmark is done', 60)
        rows = self.expect_rows('Measured', 2)
        self.assertTrue(all('Tiny, Free lunch' in row for row in rows), rows)
        self.assertEqual({line['status'] for line in self.results()},
                         {'measured'})
        self.expect_no_children()
        self.save_table()

    def save_table(self):
        path = os.path.join(self.home, 'table.csv')
        driver.press_keys('ctrl+s')
        chooser = self.root.find('filler', 'Save Table')
        driver.wait_for(chooser.focused, 'the keyboard in the file chooser')
        driver.press_keys('ctrl+a')
        driver.type_text(path)
        driver.press_keys('Return')
        table = driver.wait_for(
            lambda: os.path.exists(path) and saved_rows(path) or None,
            'the table in a file')
        measured = {line['micro_batch']: line for line in self.results()}
        self.assertEqual({row['provenance'] for row in table}, {'measured'},
                         self.rows())
        for row in table:
            self.assertAlmostEqual(
                float(row['days']) / measured[int(row['micro_batch'])]['days'],
                1, places=6)

    def test_pause_and_continue(self):
        self.keep('all')
        self.start()
        self.begin_slow()
        driver.press_keys('ctrl+shift+p')
        self.headline('Paused')
        self.expect_no_children()
        known = len(self.results())
        self.assertGreaterEqual(known, 1)
        self.button('Continue').press()
        self.headline('Measuring')
        driver.wait_for(lambda: len(self.results()) > known, 'more results',
                        60)
        driver.press_keys('ctrl+shift+x')
        self.expect_no_children()
        self.root.find('push button', 'Benchmark')

    def test_close_while_running(self):
        self.keep('all')
        self.start()
        self.begin_slow()
        pid = self.program.process.pid
        below = children(pid)
        self.assertTrue(below)
        driver.press_keys('ctrl+w')
        self.root.find('push button', contains='Go Back').press()
        # GTK 4.8 complains where a window that goes away is looked at.
        time.sleep(1)
        self.headline('Measuring')
        self.assertIsNone(self.program.process.poll())
        driver.press_keys('ctrl+w')
        self.root.find('push button', contains='Stop and Close').press()
        self.program.wait()
        self.assertFalse([child for child in below if is_alive(child)])

    def test_signal_while_running(self):
        self.keep('all')
        self.start()
        self.begin_slow()
        below = children(self.program.process.pid)
        self.program.process.send_signal(signal.SIGTERM)
        self.program.wait()
        self.assertFalse([child for child in below if is_alive(child)])

    def test_crash_and_continue(self):
        self.keep('all')
        self.start()
        self.begin_slow()
        below = children(self.program.process.pid)
        self.program.process.kill()
        self.program.wait()
        driver.wait_for(lambda: not any(map(is_alive, below)),
                        'that no child is left')
        known = len(self.results())
        self.start()
        self.headline('Paused')
        driver.press_keys('ctrl+shift+p')
        self.headline('Measuring')
        driver.wait_for(lambda: len(self.results()) > known, 'more results',
                        60)
        # Nothing is measured twice.
        keys = [(line['settings'], line['checkpointing'], line['sharding'],
                 line['micro_batch']) for line in self.results()]
        self.assertEqual(len(keys), len(set(keys)))

    def test_import(self):
        self.start()
        path = os.path.join(self.home, 'other.jsonl')
        with open(path, 'w', encoding='ascii') as file:
            file.write('{"schema": 7}\n')
        self.choose_results(path)
        # What is wrong with it is told for a moment only.
        time.sleep(2)
        self.assertEqual(self.results(), [])
        shutil.copyfile(MEASURED, path)
        self.choose_results(path)
        driver.wait_for(lambda: len(self.results()) > 10, 'the results')

    def choose_results(self, path):
        self.root.find('push button', 'Import results files').press()
        driver.choose_file(self.root, 'Import Results', path)

    def own_results(self, machine=None):
        """The shipped results in the file of this host, as if this machine had
        measured them where they say so; its id is where it is returned."""
        folder = os.path.join(self.data, 'measurements')
        os.makedirs(folder)
        host = os.uname().nodename.split('.')[0]
        self.own = os.path.join(folder, host + '.jsonl')
        path = os.path.join(self.home, 'id')
        with open(path, 'w', encoding='ascii') as file:
            file.write(MACHINE_ID + '\n')
        with open(MEASURED, encoding='utf-8') as source, \
                open(self.own, 'w', encoding='utf-8') as file:
            for line in source:
                result = json.loads(line)
                result.pop('machine', None)
                if machine is not None:
                    result['machine'] = machine
                file.write(json.dumps(result) + '\n')
        return path

    def test_where_is_asked(self):
        """Results that do not say it are no results of this machine before
        somebody says that they are."""
        identity = self.own_results()
        self.start(QUARTERMASTER_MACHINE_ID=identity)

        def machines():
            with open(self.own, encoding='utf-8') as file:
                return [json.loads(line).get('machine') for line in file]

        self.root.press_until('On This Machine',
                              lambda: machines()[0] == MACHINE, 'the answer')
        self.assertEqual([one for one in machines() if one != MACHINE], [])
        driver.wait_for(lambda: not self.root.all('push button',
                                                  'On This Machine'),
                        'no question any more')

    def test_nothing_is_promised_for_a_processor(self):
        """The plots compare GPUs of the catalog: no button leads there, and no
        days are waited for that are never predicted."""
        self.start()
        for words in ('of which this device is none',
                      'predicted for GPUs of the catalog alone'):
            driver.wait_for(
                lambda: self.root.names('label', contains=words), words)
        # GTK 4.18 tells that it is hidden after it told of those labels.
        driver.wait_for(
            lambda: not self.root.names('push button',
                                        contains='Show in the Plots'),
            'no button to the plots')

    def test_show_in_plots(self):
        # As if the H200 of the shipped results were in this machine.
        identity = self.own_results(MACHINE)
        self.start(QUARTERMASTER_MACHINE_ID=identity,
                   QUARTERMASTER_DATA_DIR=os.path.dirname(
                       os.path.dirname(MEASURED)))
        driver.press_keys('ctrl+g')
        self.root.find('panel', 'Recommendation')
        driver.wait_for(
            lambda: [row for row in self.root.all('table row')
                     if 'his machine' in row.name
                     and row.has(driver.Atspi.StateType.SELECTED)],
            'this machine selected in the table')


class SeveralTest(MachineTest):
    """A machine of four GPUs, which are the processor."""

    def start_four(self, **environment):
        self.start(QUARTERMASTER_BENCH=GPUS, QM_REAL_BENCH=QM_BENCH,
                   **environment)

    def test_counts(self):
        """Each number that there is, in one table, and in one file."""
        self.start_four()
        self.choose('Tiny')
        self.root.find('label', contains='1, 2 and 4, one')
        self.button('Benchmark').press()
        self.headline('The benchmark is done', 120)
        # A busy machine may be slow enough for a way to be cut.
        def done():
            rows = self.rows()
            found = [name for name in rows
                     if 'Measured' in name or 'Not run' in name]
            return rows if len(found) >= 6 else None
        rows = driver.wait_for(done, '6 rows that are done', 60)
        for words in ('Tiny, Free lunch', 'Tiny, 2 GPUs, Free lunch',
                      'Tiny, 4 GPUs, Free lunch'):
            self.assertTrue([row for row in rows if words in row], rows)
        self.assertEqual({line['gpus'] for line in self.results()}, {1, 2, 4})
        self.expect_no_children()

    def test_all_ways(self):
        """What is shared is not called offloaded."""
        self.keep('all', gpus='2')
        self.start_four()
        self.choose('Tiny')
        self.root.find('label', contains='GPUs together')
        self.button('Benchmark').press()
        self.headline('The benchmark is done', 120)
        rows = self.expect_rows('2 GPUs', 23)
        for words in ('Free lunch, ZeRO 1:', 'Free lunch, FSDP 3:',
                      'checkpointing, ZeRO 3:',
                      'checkpointing, ZeRO 3 offloading:'):
            self.assertTrue([row for row in rows if words in row],
                            (words, rows))
        self.assertEqual({line['gpus'] for line in self.results()}, {2})

    def test_links(self):
        self.start_four(QM_LINKS='slow')
        self.choose('Tiny')
        self.root.find('label', contains='Not measured')
        self.button('Measure').press()
        # Nothing else is measured beside it.
        driver.wait_for(lambda: not self.button('Benchmark').has_sensitive(),
                        'a benchmark that has to wait')
        self.root.find('label', contains='All 4, through NCCL')
        self.root.find('label', contains='Each sends 18.2 GB/s while 256 MiB')
        self.root.find(None, contains='cuda:0 and cuda:1: 52.5 GB/s each way')
        self.root.find('label', contains='3.24 times as fast on 4')
        self.root.find('label', contains='3.84 if they had NVLink')
        driver.wait_for(lambda: self.button('Benchmark').has_sensitive(),
                        'a benchmark that can be started again')

    def test_links_that_fail(self):
        self.start_four(QM_LINKS='fail')
        self.root.tab_to('push button', 'Measure')
        driver.press_keys('space')
        self.root.find('label', contains='device failed')
        self.button('Measure')
        self.stop()
        self.start_four(QM_LINKS='odd')
        self.button('Measure').press()
        self.root.find('label', contains='Measured just now')
        self.stop()
        self.start_four(QM_LINKS='hang')
        self.button('Measure').press()
        self.root.find('label', contains='Measuring, for')
        below = children(self.program.process.pid)
        self.stop()
        driver.wait_for(lambda: not any(map(is_alive, below)),
                        'that no child is left')


class BadBenchTest(MachineTest):
    """Each way to misbehave costs the run only."""

    def fails(self, how, sentence, log=None):
        self.misbehave(how)
        self.choose('Tiny')
        driver.press_keys('ctrl+Return')
        self.headline('The benchmark stopped', 60)
        self.root.find('label', contains=sentence)
        if log is not None:
            self.root.find(None, 'Last lines of the log').press()
            self.root.find('label', contains=log)
        self.expect_no_children()
        # The window is as usable as before.
        driver.press_keys('alt+1')
        self.root.find('panel', 'Recommendation')
        driver.press_keys('alt+3')
        self.button('Continue')

    def test_crash(self):
        self.fails('signal 11', 'crashed', 'last words')

    def test_killed(self):
        self.fails('signal 9', 'killed', 'last words')

    def test_out_of_memory(self):
        self.fails('exit 3', 'out of memory', 'reason')

    def test_lost_device(self):
        self.fails('exit 4', 'device failed')

    def test_garbage(self):
        self.fails('garbage', 'cannot be understood')

    def test_endless_line(self):
        self.fails('endless-line', 'too long')

    def test_deaf(self):
        """A child that heeds no signal is killed."""
        self.misbehave('deaf')
        self.choose('Tiny')
        driver.press_keys('ctrl+Return')
        self.headline('Measuring')
        driver.press_keys('ctrl+shift+p')
        self.headline('Paused', 30)
        self.expect_no_children()

    def test_missing(self):
        self.start(QUARTERMASTER_BENCH='/nowhere/qm-bench')
        self.root.find('label', contains='does not start')
        driver.press_keys('alt+1')
        self.root.find('panel', 'Recommendation')


if __name__ == '__main__':
    PROGRAM, QM_BENCH, STAND_IN, GPUS, MEASURED = map(os.path.abspath,
                                                      sys.argv[1:6])
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
