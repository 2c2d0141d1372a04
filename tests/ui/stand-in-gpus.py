#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for qm-bench on a machine of four GPUs: QM_REAL_BENCH measures on
the processor, once or several times, and what it says of the processor is said
of GPUs.  What links do is made up; QM_LINKS says how they fail.
"""

import json
import os
import signal
import subprocess
import sys
import time

GPUS = [dict(id=f'cuda:{n}', name='NVIDIA GeForce RTX 4090', driver='580.0',
             memory_bytes=25769803776, free_bytes=25000000000, processors=128,
             capability=89, architecture=89, products='cuBLASLt 13.1.0',
             usable=True, pcie_generation_max=4, pcie_width_max=16)
        for n in range(4)]
RATES = {(0, 1): 52.5, (0, 2): 21.25, (0, 3): 20.75, (1, 2): 20.5,
         (1, 3): 21.0, (2, 3): 51.75}


def links():
    sizes = [1 << 16, 1 << 20, 1 << 28, 1 << 30]
    collective = [dict(bytes=n, seconds=2.4e-5 + n * 1.5 / 18.25e9,
                       bus_gbs=n * 1.5 / 1e9 / (2.4e-5 + n * 1.5 / 18.25e9))
                  for n in sizes]
    return dict(
        devices=GPUS, provenance='measured', transport='nccl',
        pairs=[dict(devices=[f'cuda:{a}', f'cuda:{b}'], peers=rate > 50,
                    gbs=rate, latency_s=9.5e-6)
               for (a, b), rate in RATES.items()],
        collectives=dict.fromkeys(('all_reduce', 'reduce_scatter',
                                   'all_gather'), collective),
        scaling=[dict(model='pythia-160m', gpu_id='rtx-4090',
                      data_parallel=0.74, best=0.81, nvlink=0.96)])


def measure_links():
    how = os.environ.get('QM_LINKS', '')
    if how == 'slow':
        time.sleep(1.5)
    elif how == 'fail':
        print('qm-bench: cuda:2: rank 2 was lost', file=sys.stderr)
        sys.exit(4)
    elif how == 'hang':
        time.sleep(3600)
    elif how == 'odd':
        print(json.dumps(dict(devices=[1, {}, None], pairs=[{}, 3],
                              collectives=[], scaling=[{}, 'x'])))
        return
    print(json.dumps(links()))


def main(words):
    if words[0] == 'devices':
        for gpu in GPUS:
            print(json.dumps(gpu))
        return 0
    if words[0] == 'links':
        measure_links()
        return 0
    words = list(words)
    if '--device' in words:
        words[words.index('--device') + 1] = 'cpu'
    process = subprocess.Popen([os.environ['QM_REAL_BENCH'], *words])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda number, _: process.send_signal(number))
    return process.wait()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
