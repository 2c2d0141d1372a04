# SPDX-License-Identifier: Apache-2.0
"""qm-bench framework, with an interpreter that only plays the adapter, and the
parts of the adapter that need no PyTorch.

usage: test_framework.py QM_BENCH ADAPTER MANUAL
"""

import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import weakref

BENCH, ADAPTER, MANUAL = sys.argv[1], *map(pathlib.Path, sys.argv[2:])

CONFIG = dict(model_type='gpt_neox', vocab_size=256, hidden_size=32,
              num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=64, max_position_embeddings=32)
RECIPE = dict(batch_size=8, steps=100, sequence_length=16, precision='fp32',
              optimizer='adamw', learning_rate=3e-3, beta1=0.9, beta2=0.95,
              epsilon=1e-8, weight_decay=0.01, max_grad_norm=1.0, dropout=0.25)

# What plays the adapter: a program of these lines after the question was read.
PLAYER = '''#!{python}
import json, os, signal, subprocess, sys, time
question = json.loads(sys.stdin.readline())
device = dict(id='cpu', name='Test CPU', driver='', processors=2,
              architecture=0, memory_bytes=1 << 34)
result = dict(
    status='measured', micro_batch=question['micro_batch'] or 4,
    pass_s=[0.25, 0.5, 0.75], update_s=[0.125, 0.125, 0.125], used_bytes=None,
    attention='sdpa', notes=['the optimizer is fused'], device=device,
    framework=dict(torch='2.11.0', transformers='5.17.0', cuda='',
                   python='3.11.2'),
    phases_s=dict(load=1, search=1, measure=1, total=3))
def say(**fields):
    print(json.dumps(fields), flush=True)
say(progress=0.5, note='half of it')
{lines}
'''


class Framework(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        with open(self.path(name), 'w') as file:
            file.write(value if isinstance(value, str) else json.dumps(value))
        return self.path(name)

    def player(self, lines):
        path = self.write('python', PLAYER.format(python=sys.executable,
                                                  lines=lines))
        os.chmod(path, 0o755)
        return path

    def command(self, python, *arguments):
        model = arguments if '--model' in arguments else (
            '--config', self.write('config.json', CONFIG), '--recipe',
            self.write('recipe.json', RECIPE), *arguments)
        return [BENCH, 'framework', '--python', python, *map(str, model)]

    def run_with(self, lines, *arguments, **options):
        python = self.player(lines) if lines is not None else sys.executable
        return subprocess.run(
            self.command(python, '--device', 'cpu', *arguments),
            capture_output=True, text=True, timeout=60, **options)

    def get(self, lines, *arguments):
        result = self.run_with(lines, '--json', *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count('\n'), 1)
        return json.loads(result.stdout)

    def fails(self, status, text, lines, *arguments, **options):
        result = self.run_with(lines, *arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, '')
        return result.stderr

    def documented(self, value):
        words = set(re.findall(r'[a-z0-9_]+', MANUAL.read_text()))
        if isinstance(value, dict):
            self.assertLessEqual(set(value), words)
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, (dict, list)):
                self.documented(item)

    def test_result(self):
        got = self.get('say(result=result)')
        self.documented(got)
        self.assertEqual(got['engine'], 'pytorch')
        self.assertEqual(got['framework']['torch'], '2.11.0')
        self.assertEqual(got['pass'], dict(mean_s=0.5, min_s=0.25, max_s=0.75))
        self.assertEqual(got['accumulation'], 2)
        self.assertEqual(got['step']['mean_s'], 2 * 0.5 + 0.125)
        self.assertAlmostEqual(got['days'], 1.125 * 100 / 86400)
        self.assertEqual(got['settings'], 'free-lunch')
        self.assertEqual(got['notes'], ['the optimizer is fused'])
        self.assertRegex(got['model_key'], '^[0-9a-f]{16}$')
        text = self.run_with('say(result=result)').stdout
        self.assertIn('PyTorch 2.11.0, Transformers 5.17.0', text)
        self.assertIn('100 steps take', text)

    def test_pairs(self):
        """On one GPU they are told from the same ones as here."""
        tower = dict(hidden_size=32, intermediate_size=64,
                     num_hidden_layers=2, num_attention_heads=4)
        self.write('config.json', dict(
            model_type='clip', projection_dim=32,
            text_config=dict(model_type='clip_text_model', vocab_size=100,
                             eos_token_id=2, max_position_embeddings=16,
                             **tower),
            vision_config=dict(model_type='clip_vision_model', image_size=32,
                               patch_size=8, num_channels=3, **tower)))
        recipe = dict(RECIPE, image_size=32)
        del recipe['sequence_length'], recipe['dropout']
        files = ['--config', self.path('config.json'), '--recipe',
                 self.write('recipe.json', recipe)]
        python = self.player('result["notes"] = [question["config"]'
                             '["model_type"]]\n'
                             'say(result=result)')

        def ask(*words):
            return subprocess.run(
                [BENCH, 'framework', '--python', python, *files, '--device',
                 'cpu', '--json', *words], capture_output=True, text=True)

        one = ask()
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertEqual(json.loads(one.stdout)['notes'], ['clip'])
        several = ask('--gpus', '2')
        self.assertEqual(several.returncode, 5, several.stderr)
        self.assertIn('on one GPU alone', several.stderr)

    def test_several(self):
        """A step of several GPUs has as many samples as one of one."""
        got = self.get('result["micro_batch"] = 2\nsay(result=result)',
                       '--gpus', 2, '--sharding', 'fsdp_3')
        self.documented(got)
        self.assertEqual((got['gpus'], got['accumulation']), (2, 2))
        self.assertEqual((got['sharding'], got['offloading']),
                         ('fsdp_3', False))
        self.assertEqual(got['step']['mean_s'], 2 * 0.5 + 0.125)
        self.assertNotIn('sums', got)
        got = self.get('result["sums"] = "fp32"\nsay(result=result)',
                       '--gpus', 2)
        self.documented(got)
        self.assertEqual(got['sums'], 'fp32')
        text = self.run_with('say(result=result)', '--gpus', 2).stdout
        self.assertIn('on 2 x Test CPU', text)
        # More than a half of the batch does not fit two of them.
        self.fails(1, 'micro_batch', 'result["micro_batch"] = 8\n'
                   'say(result=result)', '--gpus', 2)
        self.fails(2, 'a number up to 4, the samples of a step on each GPU',
                   '', '--gpus', 2, '--micro-batch', 8)
        self.fails(2, 'a step has 8 samples', '', '--gpus', 9)
        self.fails(2, 'needs several GPUs', '', '--sharding', 'zero_1')
        named = subprocess.run(
            self.command(self.player('say(result=result)'), '--device',
                         'cuda:1,cuda:0', '--gpus', 2), capture_output=True,
            text=True, timeout=60)
        self.assertIn('is not the device that was asked for', named.stderr)

    def test_sums(self):
        """In which type gradients are summed is one that its results file can
        have, and be read again."""
        path = self.path('sums.jsonl')
        for precision, other in (('fp32', 'bf16'), ('bf16', 'fp16'),
                                 ('fp16', 'bf16')):
            with self.subTest(precision), \
                    unittest.mock.patch.dict(RECIPE, precision=precision):
                options = '--gpus', 2, '--results', path
                error = self.fails(
                    1, 'sums', f'result["sums"] = "{other}"\n'
                    'say(result=result)', *options)
                self.assertIn('neither fp32 nor the precision', error)
                for sums in 'fp32', precision:
                    got = self.get(f'result["sums"] = "{sums}"\n'
                                   'say(result=result)', *options)
                    self.assertEqual(got['sums'], sums)

    def test_optimizers(self):
        """Those that PyTorch does not have, or not so."""
        muon = dict(RECIPE, optimizer='muon', muon_learning_rate=0.02,
                    muon_momentum=0.95, muon_weight_decay=0.0,
                    muon_scale='jordan')
        model = '--config', self.write('other.json', CONFIG), '--recipe'

        def run(recipe, *arguments):
            return subprocess.run(
                [BENCH, 'framework', '--python',
                 self.player('say(result=result)'), '--device', 'cpu', *model,
                 self.write('other-recipe.json', recipe), *arguments],
                capture_output=True, text=True, timeout=60)

        lamb = run(dict(RECIPE, optimizer='lamb'))
        self.assertEqual((lamb.returncode, lamb.stdout), (5, ''))
        self.assertIn('PyTorch has no lamb', lamb.stderr)
        self.assertEqual(run(muon, '--gpus', '2').returncode, 0)
        divided = run(muon, '--gpus', '2', '--sharding', 'zero_1')
        self.assertEqual((divided.returncode, divided.stdout), (5, ''))
        self.assertIn('whole matrices, which zero_1 divides', divided.stderr)

    def test_events(self):
        """It lives while Python works, and tells what it hears."""
        lines = list(map(json.loads, self.run_with(
            'time.sleep(2.6); say(result=result)', '--events').stdout.splitlines()))
        for line in lines:
            self.documented(line)
        names = [line['event'] for line in lines]
        self.assertEqual([names[0], *names[-2:]], ['begin', 'result', 'end'])
        self.assertGreaterEqual(names.count('alive'), 2)
        self.assertIsNone(lines[0]['device'])
        progress, = [line for line in lines if line['event'] == 'progress']
        self.assertEqual((progress['done'], progress['note']),
                         (0.5, 'half of it'))
        self.assertEqual(set(lines[-2]) - {'event'},
                         set(self.get('say(result=result)')))

    def compare(self, sent, entry):
        for name, value in sent.items():
            if isinstance(value, dict):
                self.compare(value, entry[name])
            elif 'dropout' not in name:
                self.assertEqual(entry.get(name, value), value, name)

    def test_question(self):
        saved = self.path('question')
        lines = (f'json.dump(question, open({saved!r}, "w"))\n'
                 'say(result=result)')

        def question(*arguments):
            self.get(lines, *arguments)
            with open(saved) as file:
                return json.load(file)

        got = question('--settings', 'compile+tf32', '--checkpoint', '--seed',
                       3, '--micro-batch', 2)
        self.assertEqual(got['settings'],
                         dict(compile=True, kernels=False, tf32=True))
        self.assertFalse(got['lenient'])
        self.assertTrue(got['checkpoint'])
        self.assertEqual((got['seed'], got['micro_batch']), (3, 2))
        self.assertEqual((got['gpus'], got['devices'], got['sharding'],
                          got['offload']), (1, ['cpu'], 'none', False))
        for name, value in CONFIG.items():
            self.assertEqual(got['config'][name], value, name)
        self.assertEqual(got['config']['hidden_dropout'], RECIPE['dropout'])
        for name, value in RECIPE.items():
            self.assertEqual(got['recipe'].get(name, value), value)
        self.assertIsNone(got['deepspeed'])
        got = question('--offload', 'zero_3')
        self.assertTrue(got['lenient'])
        self.assertEqual(got['deepspeed']['zero_optimization']['stage'], 3)
        self.assertEqual(got['micro_batch'], 0)
        self.assertTrue(got['offload'])
        got = question('--gpus', 2, '--sharding', 'zero_2')
        self.assertEqual((got['gpus'], got['devices'], got['sharding'],
                          got['offload']), (2, ['cpu'] * 2, 'zero_2', False))
        zero = got['deepspeed']['zero_optimization']
        self.assertEqual(zero['stage'], 2)
        self.assertNotIn('offload_optimizer', zero)
        # What is sent is what the catalog has.
        models = ADAPTER.parents[1] / 'models'
        for path in models.glob('*.json'):
            entry = json.loads(path.read_text())
            if entry['recipe']['optimizer'] == 'lamb':
                continue
            if 'head_n_prototypes' in entry['config']:
                self.fails(5, 'have no teacher', 'say(result=result)',
                           '--model', path.stem)
                continue
            if '_class_name' in entry['config']:
                self.fails(5, 'has no dit model', 'say(result=result)',
                           '--model', path.stem)
                continue
            got = question('--model', path.stem)
            self.compare(got['config'], entry['config'])
            self.assertEqual(got['recipe']['steps'], entry['recipe']['steps'])

    def test_results_file(self):
        path = self.path('results.jsonl')
        shown = [self.get('say(result=result)', '--results', path),
                 self.get('say(result=result)', '--results', path,
                          '--settings', 'naive')]
        with open(path) as file:
            self.assertEqual([json.loads(line) for line in file], shown)
        exported = subprocess.run(
            [BENCH, 'export', '--result', path, '--line', '2', '--config',
             self.path('config.json'), '--recipe', self.path('recipe.json')],
            capture_output=True, text=True)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        self.assertFalse(json.loads(exported.stdout)['torch_compile'])
        # Before anything is measured.
        started = self.path('started')
        pathlib.Path(path).write_text('no result\n')
        self.fails(1, ':1:', f'open({started!r}, "w")', '--results', path)
        self.assertFalse(os.path.exists(started))
        self.fails(1, 'cannot be opened', 'say(result=result)', '--results',
                   self.path('absent/results.jsonl'))

    def test_out_of_memory_is_a_result(self):
        path = self.path('results.jsonl')
        lines = '''for name in ('pass_s', 'update_s', 'used_bytes'):
    del result[name]
result.update(status='infeasible', micro_batch=1, memory='device',
              needs_bytes=30 << 30, available_bytes=24 << 30)
say(result=result)'''
        result = self.run_with(lines, '--json', '--results', path)
        self.assertEqual(result.returncode, 3)
        self.assertIn('ran out of the device', result.stderr)
        got = json.loads(result.stdout)
        self.documented(got)
        self.assertEqual(got['status'], 'infeasible')
        self.assertEqual(got['needs_bytes'], 30 << 30)
        self.assertNotIn('days', got)
        with open(path) as file:
            self.assertEqual(json.loads(file.read()), got)

    def test_errors_of_the_adapter(self):
        for kind, status in (('missing', 1), ('unsupported', 5), ('device', 4),
                             ('failed', 1)):
            text = self.fails(status, 'so it is',
                              f'say(error=dict(kind="{kind}", '
                              'message="so it is"))')
            self.assertEqual('not supported: ' in text, kind == 'unsupported')

    def test_garbage(self):
        for lines in ('print("hello", flush=True)', 'say(progress=2)',
                      'say(progress="1")', 'say()', 'print([1], flush=True)',
                      'print("{\\"progress\\": 1e999}", flush=True)',
                      'say(progress=0, note="x" * 1000)',
                      'say(progress=0, note="\\x1b[2J")', 'say(result=3)',
                      'say(error=dict(kind="odd", message="x"))',
                      'say(error=dict(kind="device", message="a\\nb"))',
                      'os.write(1, b"\\xff\\n")', 'os.write(1, b"a\\0b\\n")',
                      'print("[" * 60000, flush=True)'):
            error = self.fails(1, 'python: ', lines + '\nsay(result=result)')
            self.assertNotIn('\x1b', error)

    def test_every_field_is_checked(self):
        for change in ('status="done"', 'micro_batch=3', 'micro_batch=16',
                       'micro_batch=-1', 'micro_batch=1e300', 'pass_s=[1, 2]',
                       'pass_s=[1, 2, 0]', 'pass_s=[1, 2, -1]',
                       'pass_s=[1, 2, True]', 'pass_s="123"',
                       'update_s=[1e-3, 1e-3, 1e30]', 'update_s=None',
                       'used_bytes=-5', 'used_bytes=1.5', 'notes=[3]',
                       'notes=["a\\tb"]', 'notes=["x" * 400]',
                       'attention="x" * 100', 'sums="fp8"', 'sums=16',
                       'device=None',
                       'device={**device, "id": "cuda:0"}',
                       'device={**device, "name": ""}',
                       'device={**device, "name": "x" * 500}',
                       'device={**device, "memory_bytes": -1}',
                       'framework={}', 'framework=dict(torch="")',
                       'framework=dict(torch="2\\n", transformers="5")',
                       'phases_s={}'):
            lines = f'result.update({change})\nsay(result=result)'
            self.fails(1, 'gave an answer that is none', lines)
        self.fails(1, 'micro_batch', 'result["micro_batch"] = 4\n'
                   'say(result=result)', '--micro-batch', 2)
        self.fails(1, 'needs_bytes', 'result["status"] = "infeasible"\n'
                   'result["memory"] = "host"\nsay(result=result)')

    def test_endless_line(self):
        self.fails(1, 'a line of more than 64 KiB',
                   'while True: os.write(1, b"x" * 1000)')

    def test_crash(self):
        text = self.fails(1, 'ended with status 7 without a result',
                          'print("last words\\x1b[2J", file=sys.stderr)\n'
                          'os._exit(7)')
        self.assertIn('| last words\\x1b[2J', text)
        self.fails(1, 'was ended by signal 11',
                   'os.kill(os.getpid(), signal.SIGSEGV)')
        self.fails(1, 'ended with status 0 without a result', 'pass')

    def test_many_last_words(self):
        text = self.fails(1, 'status 1', 'sys.stderr.write("word\\n" * 100000 '
                          '+ "the end")\nsys.exit(1)')
        self.assertIn('| the end\n', text)
        self.assertLess(len(text), 10000)

    def test_hang(self):
        begin = time.monotonic()
        self.fails(1, 'said nothing for 1 s', 'time.sleep(100)', '--patience',
                   1)
        # One that does not listen, and has closed its output.
        self.fails(1, 'was ended by signal 9', 'os.close(1)\n'
                   'signal.signal(signal.SIGTERM, signal.SIG_IGN)\n'
                   'time.sleep(100)')
        self.assertLess(time.monotonic() - begin, 20)

    def test_what_it_started_ends(self):
        started = self.path('started')
        lines = f'''child = subprocess.Popen(['sleep', '300'])
print(child.pid, file=open({started!r}, 'w'))
say(result=result)
'''
        begin = time.monotonic()
        self.get(lines)
        with open(started) as file:
            self.gone(int(file.read()))
        # It has the pipe still.
        self.fails(1, 'without a result', lines.replace(
            'say(result=result)', 'os._exit(1)'))
        self.assertLess(time.monotonic() - begin, 30)

    def gone(self, pid):
        for _ in range(100):
            try:
                with open(f'/proc/{pid}/stat') as file:
                    if file.read().rsplit(')', 1)[1].split()[0] == 'Z':
                        return
            except OSError:
                return
            time.sleep(0.05)
        self.fail(f'{pid} is still there')

    def test_interrupt(self):
        for ignored in ('', 'signal.signal(signal.SIGINT, signal.SIG_IGN)\n'):
            started = self.path('started')
            process = subprocess.Popen(self.command(self.player(
                f'{ignored}print(os.getpid(), file=open({started!r}, "w"), '
                'flush=True)\nsay(progress=0.6)\ntime.sleep(300)'),
                '--device', 'cpu'), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
            while '60 %' not in process.stderr.readline():
                pass
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            self.assertLess(time.monotonic() - begin, 5)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(out, '')
            self.assertTrue(err.endswith('qm-bench: interrupted\n'), err)
            with open(started) as file:
                self.gone(int(file.read()))

    def test_not_started(self):
        def start(python):
            return subprocess.run(self.command(python), capture_output=True,
                                  text=True, timeout=60)

        for python in (self.path('absent'), 'no-python-of-this-name',
                       self.folder.name):
            result = start(python)
            self.assertEqual(result.returncode, 1)
            self.assertIn('cannot be started', result.stderr)
        self.assertIn('without a result', start('/bin/false').stderr)

    def test_refusals(self):
        self.fails(2, '--micro-batch is auto', '', '--micro-batch', 9)
        self.fails(2, '--device is given more than once', '', '--device',
                   'tpu')
        other = subprocess.run(
            self.command(self.player(''), '--device', 'tpu'), timeout=60,
            capture_output=True, text=True)
        self.assertEqual(other.returncode, 2)
        self.assertIn('--device is cpu', other.stderr)
        self.fails(2, '--settings', '', '--settings', 'fast')
        self.fails(2, 'exactly one', '', '--model', 'pythia-160m', '--config',
                   'x')
        self.fails(2, 'takes no --profile', '', '--profile')

    def packages(self, **sources):
        """Folder of packages that stand in for installed ones."""
        for name, source in sources.items():
            os.makedirs(self.path(f'packages/{name}'), exist_ok=True)
            self.write(f'packages/{name}/__init__.py', source)
        return {**os.environ, 'PYTHONPATH': self.path('packages')}

    def test_packages_of_the_real_adapter(self):
        broken = self.packages(torch='raise ImportError("no libtorch here")')
        self.fails(1, 'no libtorch here', None, env=broken)
        absent = self.packages(torch='__version__ = "2.4.0"\nprint("hello")',
                               transformers='import absent_tokenizers')
        self.fails(1, "No module named 'absent_tokenizers'", None, env=absent)
        old = self.packages(torch='__version__ = "1.13.1"',
                            transformers='__version__ = "5.0.0"')
        self.fails(5, 'PyTorch 1.13.1 is older than 2.1', None, env=old)
        old = self.packages(torch='__version__ = "2.4.0"',
                            transformers='__version__ = "4.30.2"')
        self.fails(5, 'Transformers 4.30.2 is older than 4.40', None, env=old)
        odd = self.packages(torch='raise RuntimeError("odd\\nvery")')
        text = self.fails(1, 'RuntimeError: odd', None, env=odd)
        self.assertIn('| RuntimeError: odd', text)


    def torchrun(self, torch):
        """Packages in which torchrun starts two processes, one after the
        other, and waits for them."""
        self.packages(torch=torch)
        os.makedirs(self.path('packages/torch/distributed'))
        self.write('packages/torch/distributed/__init__.py', '')
        self.write('packages/torch/distributed/run.py', f'''
import os, subprocess, sys
assert sys.argv[1:6] == ['--standalone', '--max-restarts', '0',
                         '--nproc-per-node', '2'], sys.argv
ranks = [subprocess.Popen(
    [sys.executable, *sys.argv[6:]], start_new_session=True,
    env=dict(os.environ, RANK=str(n))) for n in range(2)]
with open({self.path('pids')!r}, 'w') as file:
    file.write(' '.join(str(rank.pid) for rank in ranks))
sys.exit(max(rank.wait() for rank in ranks))
''')
        return {**os.environ, 'PYTHONPATH': self.path('packages')}

    def all_gone(self):
        with open(self.path('pids')) as file:
            for pid in map(int, file.read().split()):
                self.gone(pid)

    def test_ranks_of_the_real_adapter(self):
        """Whichever rank fails, it is named, and the others end."""
        wait = ('import os, time\n'
                'if os.environ.get("RANK") == "{}":\n'
                '    raise {}\n'
                'if "RANK" in os.environ:\n    time.sleep(300)\n')
        for rank, error, status, text in (
                (1, 'ImportError("no libtorch here")', 1,
                 'rank 1: no libtorch here'),
                (1, 'RuntimeError("odd")', 1, 'rank 1: RuntimeError: odd'),
                (0, 'RuntimeError("odd")', 1, 'RuntimeError: odd'),
                (1, 'SystemExit(7)', 1, 'said nothing for 2 s')):
            env = self.torchrun(wait.format(rank, error))
            begin = time.monotonic()
            self.fails(status, text, None, '--gpus', 2, '--patience', 2,
                       env=env)
            self.assertLess(time.monotonic() - begin, 10)
            self.all_gone()
            shutil.rmtree(self.path('packages'))

    def test_ranks_end_with_their_parent(self):
        env = self.torchrun('import os, time\nif "RANK" in os.environ:\n'
                            '    time.sleep(300)\n')
        process = subprocess.Popen(
            self.command(sys.executable, '--device', 'cpu', '--gpus', 2),
            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(200):
            if os.path.exists(self.path('pids')):
                break
            time.sleep(0.05)
        time.sleep(0.5)
        process.kill()
        process.communicate()
        self.all_gone()


class Adapter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(ADAPTER.parent))
        spec = importlib.util.spec_from_file_location('adapter', ADAPTER)
        cls.adapter = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.adapter)

    def test_largest(self):
        for most in range(0, 70):
            tried = []

            def fits(n):
                tried.append(n)
                return n <= most

            found = self.adapter.largest(fits, 64)
            self.assertEqual(found, 0 if most == 0 else
                             min(64, 1 << most.bit_length() - 1))
            self.assertLessEqual(len(tried), 8)
        self.assertEqual(self.adapter.largest(lambda n: True, 100), 64)

    def test_out_of_memory(self):
        class OutOfMemoryError(RuntimeError):
            pass

        is_it = self.adapter.is_out_of_memory
        self.assertTrue(is_it(OutOfMemoryError('CUDA')))
        self.assertTrue(is_it(MemoryError()))
        self.assertTrue(is_it(RuntimeError(
            "DefaultCPUAllocator: can't allocate memory: you tried to "
            'allocate 128 bytes.')))
        self.assertFalse(is_it(ValueError('shape')))

    def test_requested_bytes(self):
        requested = self.adapter.requested_bytes
        self.assertEqual(requested(
            'CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has'),
            3 << 29)
        self.assertEqual(requested('Tried to allocate 20.00 MiB (GPU 0;'),
                         20 << 20)
        self.assertEqual(requested('you tried to allocate 4096 bytes.'), 4096)
        self.assertEqual(requested('CUDA out of memory.'), 0)

    def test_release(self):
        self.assertEqual(self.adapter.release('2.11.0+cu130'), (2, 11))
        self.assertEqual(self.adapter.release('5.18.0.dev0'), (5, 18))
        self.assertGreater(self.adapter.release('2.10'), (2, 9))

    def test_types(self):
        for kind, word in (('torch.float32', 'fp32'), ('torch.float16', 'fp16'),
                           ('torch.bfloat16', 'bf16'), ('torch.int8', ''),
                           (None, '')):
            self.assertEqual(self.adapter.word_of_type(kind), word)

    def test_deepspeed_config(self):
        template = dict(train_micro_batch_size_per_gpu=1, fp16={},
                        gradient_accumulation_steps=1)
        got = self.adapter.deepspeed_config(template, 4, 256)
        self.assertEqual(got['train_micro_batch_size_per_gpu'], 4)
        self.assertEqual(got['gradient_accumulation_steps'], 256)
        self.assertEqual(template['gradient_accumulation_steps'], 1)

    def meter(self, most, asked=0, batch_size=64, overflows=0, world=None):
        """A meter of steps that have memory for `most` samples."""
        class Step:
            def __init__(self, task, micro_batch, compiled):
                self.passes, self.updates = [], 0
                self.overflows = overflows
                steps.append(self)

            def forward_backward(self, batch, last):
                if batch > most:
                    raise MemoryError
                self.passes.append(last)

            def update(self):
                self.updates += 1

            def overflowed(self):
                return self.updates <= self.overflows

            def close(self):
                pass

        steps = []
        task = types.SimpleNamespace(
            device=types.SimpleNamespace(type='cpu'),
            recipe=dict(batch_size=batch_size), settings=dict(compile=False),
            request=dict(micro_batch=asked), sharding='none', offload=False,
            world=world or types.SimpleNamespace(
                size=1, largest=lambda value: value, any=lambda value: value),
            batch=lambda n: n, accumulation=lambda n: -(-batch_size // n))
        self.adapter.kind_of_step, kind = (lambda *_: Step,
                                           self.adapter.kind_of_step)
        try:
            answers = types.SimpleNamespace(progress=lambda *_: None)
            meter = self.adapter.Meter(task, answers)
        finally:
            self.adapter.kind_of_step = kind
        return meter, steps

    def test_search_and_measure(self):
        meter, _ = self.meter(most=20)
        meter.host_needs = lambda: 0
        self.assertEqual(meter.search(), 16)
        self.assertIsNotNone(meter.shortage)
        meter, steps = self.meter(most=20)
        # As after compilation, which may need more memory.
        n, passes, updates = meter.measure(64)
        self.assertEqual(n, 16)
        self.assertEqual((len(passes), len(updates)), (3, 3))
        self.assertTrue(all(value > 0 for value in passes + updates))
        # Two passes before each update, the second the last of a step.
        self.assertEqual(steps[-1].passes, [False, True] * 5)
        self.assertEqual(steps[-1].updates, 5)
        meter, steps = self.meter(most=64)
        meter.measure(64)
        self.assertEqual(steps[-1].passes, [True] * 5)
        meter, _ = self.meter(most=20, asked=32)
        with self.assertRaises(self.adapter.TooLarge):
            meter.measure(32)
        meter, _ = self.meter(most=0)
        self.assertEqual(meter.search(), 0)

    def test_ranks_agree(self):
        """The slowest rank counts, and what one has no memory for fits none."""
        slower = types.SimpleNamespace(
            size=2, largest=lambda value: value + 1, any=lambda value: value)
        meter, steps = self.meter(most=64, world=slower)
        meter.host_needs = lambda: 0
        self.assertEqual(meter.search(), 32)
        passes, updates = meter.measure(16)[1:]
        self.assertTrue(all(1 < value < 3 for value in passes + updates))
        smaller = types.SimpleNamespace(
            size=2, largest=lambda value: value, any=lambda value: True)
        meter, _ = self.meter(most=64, world=smaller)
        meter.host_needs = lambda: 0
        self.assertEqual(meter.search(), 0)
        self.assertIsNotNone(meter.shortage)

    def test_a_host_without_room(self):
        meter, _ = self.meter(most=20)
        meter.host_needs = lambda: 1 << 60
        self.assertEqual(meter.search(), 0)
        self.assertEqual(meter.shortage.needs, 1 << 60)
        self.assertLess(meter.shortage.available, 1 << 60)

    def test_messages_are_lines(self):
        line = self.adapter.one_line
        self.assertEqual(line('\n\nIMPORTANT: \x1b[31mread\tthis\n'),
                         'IMPORTANT: [31mread this')
        self.assertEqual(len(line('é' * 400).encode()), 500)
        self.assertEqual(line('\udc80'), '')

    def test_updates_that_are_left_out_do_not_count(self):
        meter, steps = self.meter(most=64, overflows=7)
        meter.host_needs = lambda: 0
        self.assertEqual(meter.search(), 64)
        self.assertEqual(steps[-1].updates, 8)
        passes, updates = meter.measure(64)[1:]
        self.assertEqual((len(passes), len(updates)), (3, 3))
        self.assertEqual(steps[-1].updates, 7 + 5)
        for method, argument in (('search', ()), ('measure', (64,))):
            meter, _ = self.meter(most=64, overflows=1000)
            with self.assertRaisesRegex(self.adapter.Refusal, 'not finite'):
                getattr(meter, method)(*argument)

    def test_what_did_not_fit_is_let_go(self):
        class Activations:
            pass

        for method, argument in (('search', ()), ('measure', (16,))):
            meter, _ = self.meter(most=2)
            meter.host_needs = lambda: 0
            there = []

            def forward_backward(step, batch, last):
                values = Activations()
                there.append(weakref.ref(values))
                if batch > 2:
                    raise MemoryError

            meter.kind.forward_backward = forward_backward
            getattr(meter, method)(*argument)
            self.assertIsNotNone(meter.shortage)
            self.assertEqual({ref() for ref in there}, {None}, method)

    def test_ends_with_its_parent(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f'{folder}/torch')
            with open(f'{folder}/torch/__init__.py', 'w') as file:
                file.write('import time\ntime.sleep(300)\n')
            process = subprocess.Popen(
                [sys.executable, ADAPTER], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True,
                env={**os.environ, 'PYTHONPATH': folder})
            process.stdin.write('{"settings": {"kernels": true}, "gpus": 1}\n')
            process.stdin.flush()
            self.assertIn('loading', process.stdout.readline())
            self.assertIsNone(process.poll())
            process.stdin.close()
            self.assertEqual(process.wait(timeout=30), 1)
            process.stdout.close()

    def test_answers(self):
        reader, writer = os.pipe()
        answers = self.adapter.Answers(writer)
        answers.progress(1 / 3, 'a\nnote')
        with self.assertRaises(ValueError):
            answers.send(result=float('nan'))
        answers.file.close()
        with io.open(reader, encoding='utf-8') as file:
            self.assertEqual(json.loads(file.read()),
                             dict(progress=0.333, note='a\nnote'))


unittest.main(argv=sys.argv[:1])
