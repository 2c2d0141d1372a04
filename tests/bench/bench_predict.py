# SPDX-License-Identifier: Apache-2.0
"""How long `predict` takes for all GPUs of the catalog in four numbers: of each
model the least processor time of five calls.

usage: bench_predict.py QM_BENCH
"""

import os
import subprocess
import sys

from common import MODELS

REPEATED = 5


def seconds(*arguments):
    before = os.times()
    subprocess.run([sys.argv[1], 'predict', '--gpu', 'all', '--gpus', '1,2,4,8',
                    '--json', *arguments], check=True,
                   stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user + after.children_system
            - before.children_user - before.children_system)


total = 0
for model in MODELS:
    least = min(seconds('--model', model) for _ in range(REPEATED))
    total += least
    print(f'{model:16} {least:6.2f} s')
print(f'{"all":16} {total:6.2f} s')
