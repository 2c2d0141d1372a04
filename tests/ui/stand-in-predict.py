#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for `qm-bench predict`: a made-up time for some GPUs, whatever is
asked, but for one model a failure; and for `qm-bench search --dry-run` on a
H200."""

import json
import sys

DAYS = {'h200-141gb-sxm': 353, 'rtx4090': 900, 'a6000': 1200}

FAILS = 'mamba-2.8b'

# Settings, checkpointing, sharding of what a search has in view.
WAYS = (('free-lunch', False, 'none'), ('naive', False, 'none'),
        ('free-lunch', True, 'none'), ('free-lunch', False, 'zero_1'))


def say(**line):
    print(json.dumps(line), flush=True)


def predict(asked):
    if asked.get('--model') == FAILS:
        sys.exit('qm-bench: there is no calibration')
    for gpu, days in DAYS.items():
        for count in (int(number) for number in asked['--gpus'].split(',')):
            say(gpu_id=gpu, gpus=count, level=asked['--level'], fits=True,
                days=days / count, days_low=0.8 * days / count,
                days_high=1.2 * days / count, host_bytes=0, micro_batch=8,
                checkpointing=False, sharding='none', offloading=False,
                bound='power')


def search(asked):
    ways = [(model, way) for model in asked['--model'].split(',')
            for way in WAYS]
    say(event='begin', device={'id': 'cuda:0', 'name': 'H200'},
        gpu='h200-141gb-sxm', results='/dev/null', version='0')
    for number, (model, way) in enumerate(ways):
        say(event='configuration', number=number, model=model,
            status='waiting', settings=way[0], checkpointing=way[1],
            sharding=way[2], offloading=way[2] != 'none', precision='bf16',
            micro_batch=8, accumulation=128, half=False, known=False,
            fits=True, cost_s=10.0, total_bytes=1 << 30, host_bytes=0)
    left = {'left': len(ways), 'left_s': 10.0 * len(ways)}
    say(event='listed', **left)
    say(event='end', **left)


def main(arguments):
    values = dict(zip(arguments, arguments[1:]))
    if arguments[0] == 'predict':
        predict(values)
    elif arguments[0] == 'search' and '--dry-run' in arguments:
        search(values)
    else:
        sys.exit(1)


if __name__ == '__main__':
    main(sys.argv[1:])
