#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for `qm-bench predict`: a made-up time for some GPUs, whatever is
asked."""

import json
import sys

DAYS = {'h200-141gb-sxm': 353, 'rtx4090': 900, 'a6000': 1200}


def main(arguments):
    asked = dict(zip(arguments[1::2], arguments[2::2]))
    if arguments[0] != 'predict':
        sys.exit(1)
    for gpu, days in DAYS.items():
        for count in (int(number) for number in asked['--gpus'].split(',')):
            print(json.dumps({
                'gpu_id': gpu, 'gpus': count, 'level': asked['--level'],
                'fits': True, 'days': days / count, 'days_low': 0.8 * days / count,
                'days_high': 1.2 * days / count, 'host_bytes': 0,
                'micro_batch': 8, 'checkpointing': False, 'sharding': 'none',
                'offloading': False, 'bound': 'power'}))


if __name__ == '__main__':
    main(sys.argv[1:])
