# SPDX-License-Identifier: Apache-2.0
"""Holds a search against its time, and its short measurements against long ones.

For each model: a search of all methods is done within its time; a second one
measures nothing and changes nothing; and `run`, which warms the device up from
idle and times three passes, finds the same steps within --tolerance percent for
the fastest result, the slowest one and some between.  Nothing else may use the
GPU meanwhile.
"""

import pathlib
import tempfile
import time

import common

# Seconds that a search of all methods may take on an H200.
SECONDS = {'pythia-160m': 60, 'pythia-1b': 180, 'all': 1500}


def search(options, model, results):
    begin = time.monotonic()
    status, lines, message = common.bench(
        options.bench, 'search', '--model', model, '--methods',
        options.methods, '--device', options.device, '--results', results,
        '--json', timeout=3600)
    if status != 0:
        print(f'{model:14} FAILED search: {status} {message}', flush=True)
    return status, lines, time.monotonic() - begin


def spread(results, count):
    """Of results by their days the first, the last and some between."""
    results = sorted(results, key=lambda line: line['days'])
    count = min(count, len(results))
    return [results[round(i * (len(results) - 1) / max(count - 1, 1))]
            for i in range(count)]


def check_result(options, model, line):
    words = ['--settings', line['settings'], '--micro-batch',
             line['micro_batch']]
    if line['checkpointing']:
        words.append('--checkpoint')
    if line['offloading']:
        words += ['--offload', line['sharding']]
    name = ' '.join(map(str, words))
    status, again, message = common.bench(
        options.bench, 'run', '--model', model, '--device', options.device,
        *words, '--json')
    if status != 0:
        print(f'{model:14} FAILED {name}: {status} {message}', flush=True)
        return False
    percent = 100 * (line['step_s'] / again[-1]['step']['mean_s'] - 1)
    good = abs(percent) <= options.tolerance
    print(f'{model:14} {"" if good else "FAILED "}{line["step_s"]:.4f} s in '
          f'the search, {percent:+.2f} %: {name}', flush=True)
    return good


def check(options, model, folder):
    """(failures, checks)"""
    results = pathlib.Path(folder) / f'{model}.jsonl'
    status, reports, seconds = search(options, model, results)
    if status != 0:
        return 1, 1
    measured = [(report['model'], line) for report in reports
                for line in report['configurations']
                if line['status'] == 'measured']
    failed = sum(line['status'] == 'failed' for report in reports
                 for line in report['configurations'])
    limit = SECONDS.get(model, SECONDS['all'])
    print(f'{model:14} {"" if seconds <= limit else "FAILED "}{seconds:.1f} s '
          f'of {limit}: {len(measured)} measured, {failed} failed', flush=True)
    before = results.read_bytes()
    status, _, _ = search(options, model, results)
    failures = ((seconds > limit) + (failed > 0)
                + (status != 0 or results.read_bytes() != before))
    checks = 3
    for name in dict.fromkeys(name for name, _ in measured):
        for line in spread([line for other, line in measured if other == name],
                           options.count):
            failures += not check_result(options, name, line)
            checks += 1
    return failures, checks


def main():
    parser = common.arguments(__doc__, tolerance=2.0, count=4, methods='all')
    parser.add_argument('models', nargs='*', default=['pythia-160m'],
                        help='of the catalog, or all')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sums = [check(options, model, folder) for model in options.models]
    common.conclude(*map(sum, zip(*sums)))


main()
