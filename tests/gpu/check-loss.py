# SPDX-License-Identifier: Apache-2.0
"""What logits in pieces cost, and what they save, in a model of many words.

A model of the catalog with another vocabulary trains with all of its logits in
memory and with some rows of them at a time, in turns on the same GPU, at the
largest micro-batch up to the named one at which whole logits fit.  The fastest
pass of pieces may take 3 % longer than the fastest of whole logits, the losses of
a step have to agree, and the memory in use has to be less by what the plan says.
Nothing else may use the GPU meanwhile.
"""

import json
import pathlib
import tempfile

import common

WHOLE = 10**9


def write(folder, options, vocabulary, size):
    config, recipe = common.catalog(options.model)
    config.update(vocab_size=vocabulary, max_position_embeddings=options.length)
    if options.layers > 0:
        config.update(num_hidden_layers=options.layers)
    # Two passes in a step, so that gradients are added to.
    recipe.update(sequence_length=options.length, batch_size=2 * size)
    for name, value in (('config', config), ('recipe', recipe)):
        (folder / f'{name}.json').write_text(json.dumps(value))
    return ('--config', folder / 'config.json', '--recipe',
            folder / 'recipe.json', '--settings', options.settings)


def largest(folder, options, vocabulary, memory, rows):
    """The largest micro-batch, a power of two, that fits."""
    words = write(folder, options, vocabulary, 512)
    status, lines, message = common.bench(
        options.bench, 'plan', *words, '--memory', memory, '--architecture',
        options.architecture, '--loss-rows', rows, '--json')
    if status != 0:
        print(f'  plan: {status} {message}', flush=True)
        return 0
    return lines[-1]['micro_batch']


def run(words, size, rows, options, *more):
    """One measurement, or None after saying what is wrong."""
    if options.device != 'cpu':
        more = ('--architecture', options.architecture, *more)
    status, lines, message = common.bench(
        options.bench, 'run', *words, '--micro-batch', size, '--loss-rows', rows,
        '--repeat', options.repeat, '--validate', 1, '--device', options.device,
        '--json', *more)
    if status != 0:
        print(f'  FAILED {name(rows)}: {status} {message}', flush=True)
        return None
    return lines[-1]


def name(rows):
    return 'whole' if rows == WHOLE else f'{rows} rows'


def print_head(result, vocabulary):
    """Where the time of the head goes, operator by operator."""
    words = {str(vocabulary), str((vocabulary + 63) // 64 * 64)}
    for row in result['profile']['rows']:
        if row['part'] == 'pass' and any(word in row['shape'] for word in words):
            rate = (f'{row["tflops"]:.0f} TFLOP/s' if 'tflops' in row
                    else f'{row["gbs"]:.0f} GB/s')
            print(f'    {row["operator"]:20} {row["count"]:3} x '
                  f'{1e3 * row["seconds"] / row["count"]:8.3f} ms, {rate:>12}  '
                  f'{row["shape"]}', flush=True)


def agree(a, b):
    return abs(a - b) <= 1e-3 * abs(a)


def check(folder, options, vocabulary, memory):
    """Returns how many checks failed, and how many there were."""
    ways = [WHOLE] + [int(rows) for rows in options.rows.split(',')]
    print(f'{vocabulary} words; the largest micro-batch that fits: ' + ', '.join(
        f'{largest(folder, options, vocabulary, memory, rows)} {name(rows)}'
        for rows in ways), flush=True)
    size = min(options.size,
               largest(folder, options, vocabulary, memory, WHOLE))
    if size == 0:
        return 1, 1
    words = write(folder, options, vocabulary, size)
    results = {rows: [] for rows in ways}
    for _ in range(options.turns):
        for rows in ways:
            results[rows].append(run(words, size, rows, options))
    if any(result is None for some in results.values() for result in some):
        return 1, 1
    fastest = {rows: min(result['pass']['mean_s'] for result in some)
               for rows, some in results.items()}
    whole, failures, checks = results[WHOLE][0], 0, 0
    for rows in ways:
        one = results[rows][0]
        use, ratio = one['memory_use'], fastest[rows] / fastest[WHOLE]
        cut = rows < size * options.length
        saved = (whole['memory_bytes']['total'] - one['memory_bytes']['total'])
        really = ((whole['memory_use']['used_bytes'] or 0)
                  - (use['used_bytes'] or 0))
        good = [ratio <= options.bar, agree(whole['loss'], one['loss']),
                one.get('loss_rows', WHOLE) <= rows]
        if cut and use['used_bytes'] is not None:
            good.append(abs(really - saved) <= 0.02 * saved)
        failures += good.count(False) if rows != WHOLE else 0
        checks += len(good) if rows != WHOLE else 0
        print(f'  {"ok    " if all(good) else "FAILED"} micro-batch {size} x '
              f'{options.length}, {name(rows):10} pass '
              + ' '.join(f'{1e3 * result["pass"]["mean_s"]:.2f}'
                         for result in results[rows])
              + f' ms, {ratio:.4f} of whole; planned '
              f'{one["memory_bytes"]["total"] / 2**30:.3f} GiB, used '
              f'{(use["used_bytes"] or 0) / 2**30:.3f}; loss {one["loss"]:.6f}',
              flush=True)
    for rows in ways if options.profile else []:
        result = run(words, size, rows, options, '--profile')
        if result is not None:
            print(f'  operators of the head, {name(rows)}', flush=True)
            print_head(result, vocabulary)
    return failures, checks


def main():
    parser = common.arguments(__doc__.splitlines()[0], architecture=90,
                              model='pythia-1b', vocabularies='128256,262144',
                              length=4096, size=8, rows='4096,8192',
                              turns=2, repeat=3, bar=1.03, profile=1, layers=0,
                              settings='free-lunch')
    options = parser.parse_args()
    _, lines, _ = common.bench(options.bench, 'devices', '--json')
    device = next(line for line in lines if line['id'] == options.device)
    print(json.dumps(device), flush=True)
    failures = checks = 0
    with tempfile.TemporaryDirectory() as folder:
        for vocabulary in options.vocabularies.split(','):
            failed, tried = check(pathlib.Path(folder), options,
                                  int(vocabulary), device['free_bytes'])
            failures += failed
            checks += tried
    common.conclude(failures, checks)


main()
