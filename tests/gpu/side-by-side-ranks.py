# SPDX-License-Identifier: Apache-2.0
"""Times a whole training step of qm-bench and of compiled PyTorch side by side
on several GPUs: `qm-bench run --gpus` and `qm-bench framework --gpus` at the
same way of sharding and micro-batch, one after the other on the same machine;
and ours on each of the GPUs alone, all at the same time, whose mean tells how
much of as many times as fast is reached.

Prints a table in Markdown and fails where a bar is missed.  What was measured
in PyTorch is added to --results.
"""

import concurrent.futures
import json
import statistics
import time

import common

# Way of sharding, micro-batch, our time over PyTorch's, and our speed over as
# many times that of one GPU, at the same micro-batch; a bar of 0 is none.
CASES = {
    'pythia-1b': ('none', 32, 0.72, 0.985),
    'pythia-6.9b': ('fsdp_3', 4, 0.76, 0.95),
    'pythia-160m': ('none', 64, 0.62, 0),
    'convnext-xlarge': ('none', 128, 0.40, 0.985),
    'roberta-large': ('none', 64, 0.65, 0.985),
    'pythia-2.8b': ('none', 8, 0.72, 0.985),
}
OF_EIGHT = {
    'pythia-160m': ('none', 64, 0.62, 0),
    'pythia-1b': ('none', 32, 0.72, 0.97),
    'pythia-6.9b': ('fsdp_3', 8, 0.76, 0),
    'pythia-2.8b': ('none', 8, 0.72, 0.97),
    'pythia-410m': ('none', 64, 0, 0.97),
}


def step(options, verb, model, *words):
    """Seconds of a step, and what was said; or None and why."""
    begin = time.monotonic()
    try:
        status, lines, message = common.bench(
            options.bench, verb, '--model', model, *words, '--json',
            timeout=options.limit)
    except Exception as error:  # a time limit
        return None, str(error)
    said = lines[-1] if lines else {}
    if status != 0 or 'step' not in said:
        return None, f'{status} {message[-300:]}'
    with open(options.log, 'a', encoding='utf-8') as file:
        file.write(json.dumps(said | dict(
            verb=verb, took_s=time.monotonic() - begin)) + '\n')
    return said['step']['mean_s'], said


def alone(options, model, *words):
    """Seconds of a step of one GPU: the mean of all, each alone."""
    with concurrent.futures.ThreadPoolExecutor(options.gpus) as pool:
        found = [seconds for seconds, _ in pool.map(
            lambda i: step(options, 'run', model, '--device', f'cuda:{i}',
                           *words), range(options.gpus))]
    return None if None in found else statistics.mean(found)


def measure(model, case, options):
    way, size, bar, least = case
    words = ('--micro-batch', size)
    several = (*words, '--gpus', options.gpus,
               *(('--sharding', way) if way != 'none' else ()))
    ours, said = step(options, 'run', model, *several)
    if ours is None:
        return False, f'| {model} | failed: {said} |'
    asked = bar > 0 and not options.alone
    peer, note = step(
        options, 'framework', model, '--python', options.python, *several,
        *(('--results', options.results) if options.results else ())
    ) if asked else (None, '')
    one = alone(options, model, *words)
    if one is None:  # of one GPU what fits
        one = alone(options, model, *words, '--checkpoint')
    reached = one / options.gpus / ours if one else None
    ratio = ours / peer if peer else None
    off = [rank['memory_use']['difference_percent'] or 0
           for rank in said['ranks']]
    good = ((not asked or (ratio is not None and ratio <= bar))
            and (least == 0 or reached is None or reached >= least)
            and max(map(abs, off)) <= 1)
    show = lambda value, form: 'none' if value is None else format(value, form)
    if peer is None and asked:
        print(note, flush=True)
    return good, (
        f'| {model} | {way}, {size} | {ours * 1e3:.1f} | '
        f'{show(peer and peer * 1e3, ".1f")} | {show(ratio, ".3f")} | '
        f'{bar or ""} | '
        f'{said["days"]:.2f} | {show(reached, ".3f")} | {least or ""} | '
        f'{100 * said["exchange"]["share"]:.1f} % | '
        f'{max(off, key=abs):+.2f} % |')


def main():
    parser = common.arguments(
        __doc__.splitlines()[0], gpus=2, models='', limit=240,
        python='python3', results='', log='/dev/null', alone=0)
    options = parser.parse_args()
    cases = OF_EIGHT if options.gpus == 8 else CASES
    print('| model | way, micro-batch | ours, ms a step | PyTorch | ours / '
          'PyTorch | aim | days | of linear | aim | exchange not hidden | '
          'memory off |\n' + '| --- ' * 11 + '|', flush=True)
    results = []
    for model in options.models.split(',') if options.models else cases:
        good, text = measure(model, cases[model], options)
        print(text, flush=True)
        results.append(good)
    common.conclude(results.count(False), len(results))


main()
