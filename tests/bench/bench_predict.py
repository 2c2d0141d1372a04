# SPDX-License-Identifier: Apache-2.0
"""How long `predict` takes for all GPUs of the catalog in four numbers: of each
model of the catalog the least processor time of five calls, which is to be
below LIMIT seconds.

usage: bench_predict.py QM_BENCH
"""

import os
import pathlib
import subprocess
import sys

MODELS = sorted(path.stem for path in (
    pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR']) / 'models'
).glob('*.json'))
REPEATED = 5
LIMIT = 0.3


def seconds(*arguments):
    before = os.times()
    subprocess.run([sys.argv[1], 'predict', '--gpu', 'all', '--gpus', '1,2,4,8',
                    '--json', *arguments], check=True,
                   stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user + after.children_system
            - before.children_user - before.children_system)


total = 0
slow = []
for model in MODELS:
    least = min(seconds('--model', model) for _ in range(REPEATED))
    total += least
    print(f'{model:24} {least:6.2f} s')
    if least >= LIMIT:
        slow.append(model)
print(f'{"all":24} {total:6.2f} s')
if slow:
    sys.exit(f'not below {LIMIT} s: {", ".join(slow)}')
