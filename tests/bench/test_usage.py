# SPDX-License-Identifier: Apache-2.0
"""Command lines of qm-bench that are wrong: each is told in a short line, with
exit status 2, and nothing in it reaches a terminal as it is.

usage: test_usage.py QM_BENCH
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from common import RECIPE, TINY

BENCH = sys.argv[1]

# What would clear a screen, turn text around, set a title; C1 in two ways.
NASTY = '\x1b[2J\x9b31m\u202egnp.exe\u2066\x7f\r\n\ufeff'

# Values that an option does not take, by option.
WORDS = {
    '--settings': ['', 'foo', 'naive+compile', 'compile+compile ', NASTY],
    '--offload': ['', 'zero_4', 'ZERO_1', NASTY],
    '--sharding': ['', 'zero_4', 'ZERO_1', 'zero_1', NASTY],
    '--micro-batch': ['', '0', '-1', '1.5', '9', 'many', '1e3', NASTY],
    '--host-memory': ['', '0', '-1GiB', '1 furlong', 'GiB', NASTY],
    '--memory': ['', '0', '-1GiB', '0.5', 'nan', '1e400', NASTY],
    '--architecture': ['', '8', '9.0', 'hopper', '-90', '1e9', NASTY],
    '--gpu': ['', 'warp9', 'rtx', NASTY],
    '--methods': ['', 'some', 'ALL', NASTY],
    '--after': ['', 'fusion', 'None', 'checkpoint', NASTY],
    '--model': ['', 'x', 'pythia', NASTY],
    '--precision': ['', 'fp4', 'FP16', 'int8', NASTY],
    '--schedule': ['', 'steep', NASTY],
    '--learning-rate': ['', '-1', '1e300', 'nan', 'fast', NASTY],
    '--batch-size': ['', '0', '-1', '2.5', '1e300', NASTY],
    '--mask-token': ['', '-1', '256', '1.5', NASTY],
    '--time-limit': ['', '0', '0min', '-1h', '3 parsecs', NASTY],
    '--again': ['', 'some', NASTY],
    '--format': ['', 'yaml', NASTY],
    '--rendezvous': ['', 'here', ':1', NASTY],
}
COUNTS = ('--repeat', '--validate', '--steps', '--warm-up', '--seed',
          '--patience', '--gpus', '--line', '--nodes', '--node', '--wait',
          '--loss-rows')
for option in COUNTS:
    WORDS[option] = ['', '-1', '1.5', 'x', '99999999999', NASTY]

NODES = ['--nodes', '--node', '--wait', '--rendezvous']

# What each command takes of these, and what it needs besides.
COMMANDS = {
    'plan': (['--settings', '--offload', '--sharding', '--gpus',
              '--micro-batch', '--host-memory', '--memory', '--architecture',
              '--gpu', '--methods', '--model', '--loss-rows', '--after'],
             ['--memory', '8GiB']),
    'run': (['--settings', '--offload', '--sharding', '--gpus',
             '--micro-batch', '--host-memory', '--architecture', '--model',
             '--repeat', '--validate', '--seed', '--patience', '--loss-rows',
             *NODES],
            ['--device', 'cpu']),
    'train': (['--settings', '--offload', '--sharding', '--gpus',
               '--micro-batch', '--host-memory', '--architecture', '--model',
               '--schedule', '--learning-rate', '--batch-size', '--mask-token', '--steps', '--warm-up',
               '--seed', '--patience', '--loss-rows', *NODES],
              ['--device', 'cpu', '--text', __file__]),
    'check': (['--settings', '--architecture', '--precision', '--patience',
               '--loss-rows'],
              ['--device', 'cpu']),
    'search': (['--methods', '--gpus', '--architecture', '--memory',
                '--host-memory', '--time-limit', '--again', '--model', '--repeat',
                '--seed', '--patience', *NODES], ['--device', 'cpu']),
    'export': (['--settings', '--offload', '--sharding', '--micro-batch', '--model',
                '--format', '--gpus', '--line'], ['--micro-batch', '1']),
    'framework': (['--settings', '--offload', '--sharding', '--gpus',
                   '--micro-batch', '--model', '--seed', '--patience'], ['--python', '/bin/false']),
}
# These lead to the family that has them.
BERT = dict(model_type='bert', vocab_size=256, hidden_size=32,
            num_hidden_layers=1, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=32)


def unsafe(text):
    """Characters that a terminal would obey, or that hide others."""
    return [c for c in text if c != '\n' and (
        not c.isprintable() and c not in ' ' or c in '\u202e\u2066\ufeff')]


class Usage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.config = self.write('config.json', BERT)
        self.recipe = self.write('recipe.json', RECIPE)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        with open(self.path(name), 'w') as file:
            json.dump(value, file)
        return self.path(name)

    def bench(self, *arguments, status=2):
        result = subprocess.run([BENCH, *map(str, arguments)], timeout=60,
                                stdin=subprocess.DEVNULL, capture_output=True)
        out, err = result.stdout.decode(), result.stderr.decode()
        self.assertEqual(result.returncode, status, (arguments, out, err))
        self.assertEqual(unsafe(out + err), [], (arguments, out, err))
        return out, err

    def refused(self, *arguments):
        out, err = self.bench(*arguments)
        self.assertEqual(out, '', arguments)
        self.assertIn('qm-bench: ', err, arguments)
        self.assertLess(len(err), 1000, arguments)

    def base(self, command, option):
        """A command line that is good but for the option."""
        more = list(COMMANDS[command][1])
        if option in more:
            at = more.index(option)
            del more[at:at + 2]
        if option == '--line':
            return [*more, '--result', self.path('absent')]
        if option == '--gpu':
            return ['--config', self.config, '--recipe', self.recipe]
        if command == 'check':
            absent = self.path('absent')
            return ['--config', self.config, '--weights', absent, '--batch',
                    absent, '--out', self.path('out'), *more]
        if command == 'search':
            more += ['--results', self.path('r.jsonl')]
        if option == '--model':
            return more
        return ['--config', self.config, '--recipe', self.recipe, *more]

    def test_values(self):
        for command, (options, _) in COMMANDS.items():
            for option in options:
                for word in WORDS[option]:
                    with self.subTest(command=command, option=option,
                                      word=word):
                        self.refused(command, *self.base(command, option),
                                     f'{option}={word}')

    def test_every_option_is_tried(self):
        """No option with a value that can be wrong is missing above."""
        files = {'--config', '--recipe', '--device', '--results', '--python',
                 '--merge', '--result', '--links', '--weights', '--batch', '--out',
                 '--text', '--tokens', '--images'}
        for command, (options, _) in COMMANDS.items():
            out, _ = self.bench(command, '--help', status=0)
            takes = {line.split()[0] for line in out.splitlines()
                     if line.startswith('  --')
                     and (line.split() + [''])[1][:1].isupper()
                     or line.startswith(('  --methods', '  --again'))}
            self.assertLessEqual(takes - files - set(options), {'--json'},
                                 command)

    def test_words(self):
        long = 'x' * 50000
        for words in ([], [''], [NASTY], [long], ['walk'], ['--' + long],
                      ['plan', '--' + NASTY], ['plan', '--' + long],
                      ['plan', '--' + long + '=' + long], ['plan', 'word'],
                      ['plan', '--json=1'], ['plan', '--model'],
                      ['plan', '--model', long], ['run', '--repeat', long],
                      ['run', '--repeat', '0'], ['check'], ['train'],
                      ['export'], ['results', '--' + NASTY], ['devices', 'x'],
                      ['run', '--config', self.config],
                      ['run', '--model', 'pythia-1b', '--config', self.config],
                      ['run'], ['plan', '--model', 'pythia-1b'],
                      ['search', '--model', 'pythia-1b,pythia-1b', '--device',
                       'cpu', '--results', self.path('r.jsonl')],
                      ['search', '--model', 'vit-large', '--results', '-'],
                      ['plan', '--methods', 'all', '--checkpoint', '--gpu',
                       'all', '--model', 'vit-large'],
                      ['train', '--model', 'vit-large', '--text', __file__,
                       '--text', __file__, '--images', __file__]):
            with self.subTest(words=[word[:40] for word in words]):
                self.refused(*words)

    def test_help(self):
        def said(*words):
            return subprocess.run([BENCH, *words], capture_output=True,
                                  text=True, check=False)

        self.assertEqual(said('help').stdout, said('--help').stdout)
        for command in COMMANDS:
            shown = said('help', command)
            self.assertEqual(shown.returncode, 0)
            self.assertEqual(shown.stdout, said(command, '--help').stdout)
            self.assertIn(f'Usage: qm-bench {command} ', shown.stdout)
        wrong = said('help', 'foo')
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ''))

    def test_names_are_whole(self):
        """A list of what there is ends with a whole name, or counts the rest."""
        for model, gpu in (('x', 'rtx4090'), ('pythia-1b', 'warp9')):
            _, err = self.bench('predict', '--model', model, '--gpu', gpu)
            self.assertRegex(err, r'(, [a-z0-9.-]+)+ and [0-9]+ more\n$')
        _, err = self.bench('walk')
        out, _ = self.bench('--help', status=0)
        for line in out.splitlines():
            if line.startswith('  ') and line[2].isalpha():
                self.assertIn(line.split()[0], err)

    def test_files_of_strangers(self):
        """Names and contents of files, wherever they are shown."""
        plan = ['--recipe', self.recipe, '--memory', '8GiB']
        _, err = self.bench('plan', '--config', self.path(NASTY), *plan,
                            status=1)
        self.assertIn('\\x1b[2J', err)
        path = self.path('m\x9b\u202e\u2066\ufeff')
        pathlib.Path(path).write_text('{"model_type": "' + 'y' * 5000 + '"}')
        _, err = self.bench('plan', '--config', path, *plan, status=5)
        self.assertIn('\\u202e', err)
        self.assertLess(len(err), 1200)
        _, err = self.bench('plan', '--config', path + '/absent', *plan,
                            status=1)
        self.bench('results', path, status=1)
        self.bench('plan', '--config', self.write('odd', dict(
            BERT, hidden_act='\x9b31m\u202e' + 'z' * 5000)), *plan, status=5)
        self.bench('plan', '--config', self.write('odd', {
            **BERT, '\x9b31m\u202e' + 'z' * 5000: 3}), *plan, status=5)
        _, err = self.bench('plan', '--config', self.write('odd', dict(
            BERT, architectures=['\x9b31m\u202e' + 'z' * 5000])), *plan,
            status=0)
        self.assertIn('BertForMaskedLM', err)
        self.assertLess(len(err), 600)

    def test_results_of_strangers(self):
        """A name with controls of direction may be a model's: it is shown with
        escapes, and JSON that is printed means what was read."""
        name = 'a\x9b\u202eb\U000e0041\x7f'
        path = self.path(name + '.json')
        with open(path, 'w') as file:
            json.dump(dict(TINY, architectures=['GPTNeoXForCausalLM']), file)
        results = self.path('r.jsonl')
        out, err = self.bench('run', '--config', path, '--recipe', self.recipe,
                              '--device', 'cpu', status=1)
        path = self.path('a\x9b\u202eb\U000e0041.json')
        os.rename(self.path(name + '.json'), path)
        out, err = self.bench('run', '--config', path, '--recipe', self.recipe,
                              '--device', 'cpu', status=0)
        self.assertIn('\\u202eb\\ue0041', out)
        out, err = self.bench('search', '--config', path, '--recipe',
                              self.recipe, '--device', 'cpu', '--results',
                              results, '--methods', 'naive', status=0)
        self.assertIn('\\u202e', out)
        self.assertIn('\\u202e', err)
        out, _ = self.bench('results', results, status=0)
        self.assertIn('\\u202e', out)
        out, _ = self.bench('results', results, '--json', status=0)
        self.assertEqual(json.loads(out)['model'], path)
        with open(results) as file:
            self.assertEqual(json.loads(file.read()), json.loads(out))
        result = json.loads(out) | dict(
            device=dict(name='\x9b31m H200' * 9), status='failed',
            reason='\u2066\x9b1m' * 100)
        with open(results, 'w') as file:
            json.dump(result, file)
        self.bench('results', results, status=0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
