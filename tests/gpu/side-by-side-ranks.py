# SPDX-License-Identifier: Apache-2.0
"""Times a whole training step of qm-bench and of compiled PyTorch side by side
on several GPUs: `qm-bench run --gpus` and `qm-bench framework --gpus` at the
same way of sharding and micro-batch, one after the other on the same machine,
and ours on one GPU, which tells how much of as many times as fast is reached.

Prints a table in Markdown and fails where a bar is missed.  What was measured
in PyTorch is added to --results.
"""

import json
import time

import common

# Way of sharding, micro-batch, our time over PyTorch's, and our speed over as
# many times that of one GPU, at the same micro-batch.
CASES = {
    'pythia-1b': ('none', 32, 0.72, 0.985),
    'pythia-6.9b': ('fsdp_3', 4, 0.76, 0.95),
    'pythia-160m': ('none', 64, 0.62, 0),
    'convnext-xlarge': ('none', 128, 0.40, 0.985),
    'roberta-large': ('none', 64, 0.65, 0.985),
    'pythia-2.8b': ('none', 8, 0.72, 0.985),
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


def measure(model, options):
    way, size, bar, least = CASES[model]
    words = ('--micro-batch', size)
    several = (*words, '--gpus', options.gpus,
               *(('--sharding', way) if way != 'none' else ()))
    ours, said = step(options, 'run', model, *several)
    if ours is None:
        return False, f'| {model} | failed: {said} |'
    peer, note = (None, 'not asked for') if options.alone else step(
        options, 'framework', model, '--python', options.python, *several,
        *(('--results', options.results) if options.results else ()))
    one, _ = step(options, 'run', model, *words)
    if one is None:  # of one GPU what fits
        one, _ = step(options, 'run', model, *words, '--checkpoint')
    reached = one / options.gpus / ours if one else None
    ratio = ours / peer if peer else None
    off = [rank['memory_use']['difference_percent'] or 0
           for rank in said['ranks']]
    good = ((options.alone or (ratio is not None and ratio <= bar))
            and (least == 0 or reached is None or reached >= least)
            and max(map(abs, off)) <= 1)
    show = lambda value, form: 'none' if value is None else format(value, form)
    if peer is None and not options.alone:
        print(note, flush=True)
    return good, (
        f'| {model} | {way}, {size} | {ours * 1e3:.1f} | '
        f'{show(peer and peer * 1e3, ".1f")} | {show(ratio, ".3f")} | {bar} | '
        f'{said["days"]:.2f} | {show(reached, ".3f")} | {least or ""} | '
        f'{100 * said["exchange"]["share"]:.1f} % | '
        f'{max(off, key=abs):+.2f} % |')


def main():
    parser = common.arguments(
        __doc__.splitlines()[0], gpus=2, models=','.join(CASES), limit=240,
        python='python3', results='', log='/dev/null', alone=0)
    options = parser.parse_args()
    print('| model | way, micro-batch | ours, ms a step | PyTorch | ours / '
          'PyTorch | aim | days | of linear | aim | exchange not hidden | '
          'memory off |\n' + '| --- ' * 11 + '|', flush=True)
    results = []
    for model in options.models.split(','):
        good, text = measure(model, options)
        print(text, flush=True)
        results.append(good)
    common.conclude(results.count(False), len(results))


main()
