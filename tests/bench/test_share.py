# SPDX-License-Identifier: Apache-2.0
"""qm-bench share: what is given away has nothing of who gives it, what others
gave is held against the hardware and predictions, and hostile files are refused.

usage: test_share.py QM_BENCH MEASUREMENTS_FOLDER MANUAL
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BENCH = sys.argv[1]
MEASURED = pathlib.Path(sys.argv[2]) / 'h100-80gb-sxm.jsonl'
WORDS = set(re.findall(r'[a-z0-9_]+', pathlib.Path(sys.argv[3]).read_text()))

HERE = 'c0ffee00c0ffee00c0ffee00c0ffee00'


def share(*arguments):
    return subprocess.run([BENCH, 'share', *map(str, arguments)],
                          capture_output=True, text=True, timeout=120,
                          errors='backslashreplace')


class Share(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, lines):
        path = self.folder / name
        path.write_text('\n'.join(
            line if isinstance(line, str) else json.dumps(line)
            for line in lines) + '\n')
        return path

    def own(self):
        """A results file as a search leaves it, with what nobody else should
        read: the machine, a bus, what the user called a model."""
        lines = [json.loads(line) for line in MEASURED.read_text().splitlines()]
        measured = [line for line in lines if line['status'] == 'measured'
                    and line['model'] == 'pythia-1b'
                    and line['settings'] == 'free-lunch'][:2]
        self.assertEqual(len(measured), 2)
        for line in measured:
            line['machine'] = {'id': HERE, 'gpus': [HERE]}
            line['host'] = 'secret-host'
            line['sums'] = 'fp32'
            line['transport_trial'] = dict(bytes=67108864, nccl_s=0.25,
                                           host_s=0.5, host='secret-host')
        mine = dict(measured[0], model='/home/me/secret-project.json')
        other = dict(measured[1], model_key='0' * 16)
        missing = next(line for line in lines if line['status'] != 'measured')
        return self.write('own.jsonl', [*measured, mine, other, missing])

    def shared(self):
        out = self.folder / 'shared.jsonl'
        result = share('--sign-off', '--out', out, self.own())
        self.assertEqual(result.returncode, 0, result.stderr)
        return out, [json.loads(line) for line in out.read_text().splitlines()]

    def fails(self, status, text, *arguments):
        result = share(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertNotRegex(result.stdout + result.stderr, '[\x00-\x09\x0b-\x1f\x7f]')
        return result

    def test_nothing_of_the_user(self):
        out, (head, *results) = self.shared()
        self.assertEqual(head['results'], len(results))
        self.assertEqual(len(results), 2)
        text = out.read_text()
        for secret in (HERE, 'secret', 'bus', 'machine"', '/home', 'uuid'):
            self.assertNotIn(secret, text)
        for line in results:
            self.assertTrue(line['time'].endswith('T00:00:00Z'))
            self.assertEqual(line['model'], 'pythia-1b')
            self.assertEqual(line['sums'], 'fp32')
            self.assertEqual(line['transport_trial'], dict(
                bytes=67108864, nccl_s=0.25, host_s=0.5))

    def test_only_who_signs(self):
        out = self.folder / 'out.jsonl'
        self.fails(2, 'CC0', '--out', out, self.own())
        self.fails(2, '--out', '--sign-off', self.own())
        self.assertFalse(out.exists())
        out.write_text('a letter\n')
        self.fails(1, 'out.jsonl', '--sign-off', '--out', out, self.own())
        self.assertEqual(out.read_text(), 'a letter\n')
        # What was measured least of all.
        own = self.own()
        before = own.read_text()
        self.fails(1, 'no file of shared results', '--sign-off', '--out', own,
                   own)
        self.assertEqual(own.read_text(), before)
        for _ in range(2):
            again = share('--sign-off', '--out', self.folder / 'again', own)
            self.assertEqual(again.returncode, 0, again.stderr)
        self.fails(1, 'nothing was measured', '--sign-off', '--out',
                   self.folder / 'none', '--model', 'vit-large', self.own())

    def test_audit(self):
        out, _ = self.shared()
        result = share('--audit', '--json', out)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in map(json.loads, result.stdout.splitlines()):
            self.assertFalse(set(line) - WORDS)
            self.assertEqual(line['verdict'], 'plausible')
            self.assertLess(line['days_low'], line['days'])
            self.assertLess(line['mfu'], 1)
        self.fails(2, 'have to be named', '--audit')
        self.fails(2, 'write none', '--audit', '--out', 'x', out)

    def test_audit_of_machines(self):
        """Nothing here says how long several machines take, or GPUs that are
        held back."""
        _, (head, *results) = self.shared()
        head['results'] = 1
        half = json.loads(json.dumps(results[0]))
        half['accumulation'] //= 2
        del half['transport_trial']  # by which the host would be their way
        for part in ('step', 'pass', 'update'):
            half[part] = {key: value / (1 if part == 'pass' else 2)
                          for key, value in half[part].items()}
        half['days'] /= 2
        for more, why, words in (
                (dict(nodes=2), 'it is of 2 machines', '2 machines of 1 x '),
                (dict(transport='host'), 'a slower way than theirs', '2 x '),
                (dict(nccl=dict(NCCL_P2P_DISABLE='1')), 'a slower way', '2 x ')):
            path = self.write('two', [head, dict(half, gpus=2, **more)])
            result = self.fails(1, 'not plausible', '--audit', path)
            self.assertIn(f'on {words}NVIDIA', result.stdout)
            self.assertIn('unknown, ', result.stdout)
            self.assertIn(why, result.stdout)
            said = json.loads(share('--audit', '--json', path).stdout)
            self.assertEqual((said['gpus'], said['nodes'], said['verdict']),
                             (2, more.get('nodes', 1), 'unknown'))
            self.assertFalse(set(said) - WORDS)

    def faster(self, results, factor, parts=('pass', 'update', 'step')):
        """The same in less time."""
        line = json.loads(json.dumps(results[0]))
        for name in parts:
            line[name] = {key: value / factor
                          for key, value in line[name].items()}
        if 'step' in parts:
            line['days'] /= factor
        return line

    def test_what_cannot_be(self):
        _, (head, *results) = self.shared()
        head['results'] = 1
        for line, why in ((self.faster(results, 10), 'of the peak'),
                          (self.faster(results, 2, ['pass']), 'its step'),
                          (dict(results[0], days=1), 'its steps come to'),
                          (dict(results[0], accumulation=7), 'no step of')):
            path = self.write('impossible', [head, line])
            result = self.fails(1, 'not plausible', '--audit', path)
            self.assertIn('impossible', result.stdout)
            self.assertIn(why, result.stdout)
            self.fails(1, 'none was taken', '--take', self.folder, '--force',
                       path)
        path = self.write('fast', [head, self.faster(results, 1.45)])
        result = self.fails(1, 'not plausible', '--audit', path)
        self.assertIn('faster than predicted', result.stdout)
        path = self.write('slow', [head, self.faster(results, 1 / 20)])
        result = self.fails(1, 'not plausible', '--audit', path)
        self.assertIn('much slower', result.stdout)
        self.assertEqual(share('--audit', '--force', path).returncode, 0)

    def test_take(self):
        """One command keeps them, once."""
        out, (_, *results) = self.shared()
        folder = self.folder / 'measurements'
        folder.mkdir()
        for taken in (2, 0):
            result = share('--take', folder, out)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f'{taken} results were taken', result.stderr)
            kept = [json.loads(line) for line
                    in (folder / 'shared.jsonl').read_text().splitlines()]
            self.assertEqual(kept, results)
        listed = subprocess.run([BENCH, 'results', folder / 'shared.jsonl'],
                                capture_output=True, text=True)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.fails(1, '', '--take', self.folder / 'nowhere', out)

    def test_hostile(self):
        _, (head, *results) = self.shared()
        one = dict(head, results=1)
        good = results[0]
        deep = '[' * 100000 + ']' * 100000
        for lines, text in (
                ([], 'no file of shared results'),
                (['\x00\x1b[2J'], 'no file of shared results'),
                ([deep], 'no file of shared results'),
                ([good], 'no file of shared results'),
                ([dict(one, signed_off='yes'), good], 'signed off'),
                ([dict(one, name='me'), good], 'signed off'),
                ([dict(one, results=0)], 'are not 1 to'),
                ([dict(one, results=2 ** 60), good], 'are not 1 to'),
                ([head, good], 'results follow'),
                ([one, good, good], 'results follow'),
                ([one, ''], ''),
                ([one, '{'], ''),
                ([one, deep], ''),
                ([one, '[]'], 'nothing that a shared'),
                ([one, json.dumps(good)[:-1] + ',"days":1}'], 'uplicate'),
                ([one, dict(good, machine={'id': HERE})], '"machine"'),
                ([one, dict(good, note='buy my shop')], '"note"'),
                ([one, dict(good, model='/etc/passwd')], '"model"'),
                ([one, dict(good, model='a\x1b[2Jb')], '"model"'),
                ([one, dict(good, model='\u202egnp')], '"model"'),
                ([one, dict(good, model='m' * 200)], '"model"'),
                ([one, dict(good, model=['pythia-1b'])], '"model"'),
                ([one, dict(good, device=dict(good['device'], bus='0:1'))],
                 '"device"'),
                ([one, dict(good, device='H100')], '"device"'),
                ([one, dict(good, time='2026-11-22T11:19:42Z')], '"time"'),
                ([one, dict(good, status='failed', reason='x')], ''),
                ([one, dict(good, days=-1)], 'days'),
                ([one, dict(good, gpus=0)], 'gpus'),
                ([one, dict(good, micro_batch=2 ** 62)], '')):
            path = self.write('hostile', lines)
            if not lines:
                path.write_text('')
            result = self.fails(1, text, '--take', self.folder, path)
            self.assertEqual(result.stdout, '')
            self.assertFalse((self.folder / 'measurements').exists())
        self.fails(5, 'version 2', '--audit',
                   self.write('newer', [dict(one, version=2), good]))
        (self.folder / 'cut').write_text(
            json.dumps(one) + '\n' + json.dumps(good))
        self.fails(1, 'broken off', '--audit', self.folder / 'cut')
        (self.folder / 'large').write_bytes(b' ' * (1 << 21))
        self.fails(1, 'larger', '--audit', self.folder / 'large')
        self.fails(1, '', '--audit', self.folder)
        self.fails(1, '', '--audit', self.folder / 'missing')
        os.mkfifo(self.folder / 'pipe')
        self.fails(1, '', '--audit', self.folder / 'pipe')


unittest.main(argv=sys.argv[:1])
