# SPDX-License-Identifier: Apache-2.0
"""qm-bench predict: of two GPUs of which one has more lanes, memory or bandwidth
and is else the same, that one's fastest way is never said to take longer.

usage: test_more.py QM_BENCH

With QM_TEST_FULL set all models, all GPUs and all levels are asked for.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = sys.argv[1]
DATA = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
FULL = 'QM_TEST_FULL' in os.environ
# Places at which half of the lanes were once said to be faster, and a GPU for
# each way to exchange, to offload, and of little and of much memory.
MODELS = (('mae-large', 'tuned'), ('starcoder2-3b', 'engine'))
SOME = ('rtx3090', 'h200-141gb-nvl', 'h100-94gb-nvl', 'a100-80gb-sxm',
        'rtx4090', 'l4')
LESS = {'lanes': {'pcie_lanes': 2}, 'memory': {'memory_gib': 1.5},
        'bandwidth': {'memory_bandwidth_gbs': 1.25},
        'link': {'nvlink_gbs': 2}, 'all': {'pcie_lanes': 4, 'memory_gib': 1.1,
                                          'nvlink_gbs': 3,
                                          'memory_bandwidth_gbs': 1.1}}


def with_less(gpu, name, divisors):
    """The GPU under another id, so that nothing that was measured of it counts,
    with less of what is divided; None where it has none of that."""
    less = dict(gpu, id=gpu['id'] + '-' + name, name=f'{gpu["name"]} {name}',
                measured_bandwidth_gbs='')
    before = dict(less)
    for column, divisor in divisors.items():
        if gpu[column] not in ('', 'none'):
            less[column] = '%.9g' % (float(gpu[column]) / divisor)
    return less if not divisors or less != before else None


class More(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        for path in DATA.iterdir():
            if path.name != 'gpus.csv':
                (root / path.name).symlink_to(path)
        with open(DATA / 'gpus.csv', newline='', encoding='utf-8') as file:
            gpus = list(csv.DictReader(file))
        cls.ids = [gpu['id'] for gpu in gpus if FULL or gpu['id'] in SOME]
        made = []
        for gpu in gpus:
            if gpu['id'] in cls.ids:
                made += [with_less(gpu, 'same', {})]
                made += [less for less in (with_less(gpu, *one)
                                           for one in LESS.items()) if less]
        cls.made = [gpu['id'] for gpu in made]
        with open(root / 'gpus.csv', 'w', newline='', encoding='utf-8') as file:
            writer = csv.DictWriter(file, list(gpus[0]), lineterminator='\n')
            writer.writeheader()
            writer.writerows(gpus + made)

    def places(self, model, level, numbers):
        done = subprocess.run(
            [BENCH, 'predict', '--model', model, '--level', level, '--gpu',
             ','.join(self.made), '--gpus', numbers, '--json'],
            capture_output=True, text=True, timeout=600, check=False,
            env={**os.environ, 'QUARTERMASTER_DATA_DIR': self.folder.name})
        self.assertEqual(done.returncode, 0, done.stderr)
        return {(line['gpu_id'], line['gpus']): line
                for line in map(json.loads, done.stdout.splitlines())}

    def compare(self, model, level, numbers):
        places = self.places(model, level, numbers)
        compared = dict.fromkeys([*LESS, 'half'], 0)
        for (name, n), place in places.items():
            half = place.get('half_lanes')
            if half:
                compared['half'] += 1
                self.assertGreaterEqual(half['days'], place['days'],
                                        (model, level, name, n))
        for gpu in self.ids:
            for name in LESS:
                for n in map(int, numbers.split(',')):
                    more, less = (places.get((f'{gpu}-{one}', n), {})
                                  for one in ('same', name))
                    if 'days' not in less:
                        continue
                    compared[name] += 1
                    # What fits into less fits into more.
                    self.assertIn('days', more, (model, level, gpu, name, n))
                    self.assertLessEqual(
                        more['days'], less['days'] * (1 + 1e-9),
                        (model, level, gpu, name, n))
        return compared

    def test_more_is_never_slower(self):
        asked = MODELS if not FULL else [
            (path.stem, level) for path in sorted((DATA / 'models').iterdir())
            for level in ('tuned', 'eager', 'engine', 'naive')]
        counted = dict.fromkeys([*LESS, 'half'], 0)
        for model, level in asked:
            for name, n in self.compare(model, level, '1,2,4,8').items():
                counted[name] += n
        for name, n in counted.items():
            self.assertGreater(n, 5, name)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
