# SPDX-License-Identifier: Apache-2.0
"""Holds what qm-bench predicts of the GPU at hand against what it takes.

For some models and micro-batches: pass and update as `run --profile` measures
them and as `predict --level engine` has them, then the operators of a pass side
by side: what kernels do that constants do not know yet.  A prediction that is beyond its
interval fails.  Nothing else may use the GPU meanwhile.
"""

import collections
import sys

import common

# Micro-batches that fill a GPU of 80 GB, and small ones.
RUNS = (('pythia-160m', 32), ('pythia-160m', 4), ('pythia-1b', 16),
        ('pythia-1b', 2), ('roberta-large', 64), ('vit-large', 128),
        ('convnext-xlarge', 64), ('mamba-2.8b', 1))

# Operators of less than that share of a pass are not told.
LEAST = 0.01


def predicted(options, model, size, gpu):
    status, lines, message = common.bench(
        options.bench, 'predict', '--model', model, '--gpu', gpu,
        '--level', 'engine', '--micro-batch', size, '--json')
    if status != 0 or not lines[0].get('fits'):
        sys.exit(f'{model}: {message or lines}')
    return lines[0]


def compare(model, size, options):
    """Prints one run; returns whether its prediction holds."""
    head = f'{model:16} {size:4}'
    status, lines, message = common.bench(
        options.bench, 'run', '--model', model, '--micro-batch', size,
        '--repeat', 1, '--profile', '--device', options.device, '--json')
    if status != 0:
        print(f'{head} FAILED: {status} {message}', flush=True)
        return False
    run = lines[-1]
    gpu = options.gpu or run['gpu']
    if gpu is None:
        print(f'{head} FAILED: the catalog has no {run["device"]["name"]}',
              flush=True)
        return False
    line = predicted(options, model, size, gpu)
    step = run['step']['mean_s']
    within = (line['step_s'] * line['days_low'] / line['days'] <= step
              <= line['step_s'] * line['days_high'] / line['days'])
    print(f"{head} pass {run['pass']['mean_s']:.4f} s, predicted "
          f"{line['pass_s']:.4f} ({line['pass_s'] / run['pass']['mean_s'] - 1:+.1%}); "
          f"update {run['update']['mean_s']:.5f} s, predicted "
          f"{line['update_s']:.5f}; clock {line['clock']:.2f}"
          f"{'' if within else '  BEYOND ITS INTERVAL'}", flush=True)
    took = collections.Counter()
    for row in run['profile']['rows']:
        if row['part'] == 'pass':
            took[row['operator']] += row['seconds']
    share = line['pass_s'] / sum(line['shares'].values())
    for name, seconds in took.most_common():
        if seconds > LEAST * run['profile']['pass_s']:
            told = line['shares'].get(name, 0) * share
            print(f'    {name:26} {1e3 * seconds:9.3f} ms, predicted '
                  f'{1e3 * told:9.3f} ({told / seconds - 1:+.0%})', flush=True)
    return within


def main():
    parser = common.arguments(__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--gpu', default='',
                        help='its id in the catalog, else the one found for it')
    parser.add_argument('--only', default='', help='models that contain this')
    options = parser.parse_args()
    done = [compare(model, size, options) for model, size in RUNS
            if options.only in model]
    common.conclude(done.count(False), len(done))


main()
