# SPDX-License-Identifier: Apache-2.0
"""Holds the extrapolated time of a step against that of real whole steps.

For the models of the catalog: `qm-bench run --validate 1` with a recipe whose
batch is so many micro-batches (--passes; 0: the recipe's own, minutes a model).
Passes where both are within 2 %.
"""

import json
import pathlib
import tempfile

import common


def check(model, folder, options):
    """Whether the model's times agree."""
    config, recipe = common.catalog(model)
    size = common.MODELS[model][0]
    if options.passes > 0:
        recipe['batch_size'] = size * options.passes
    (folder / 'config.json').write_text(json.dumps(config))
    (folder / 'recipe.json').write_text(json.dumps(recipe))
    status, lines, message = common.bench(
        options.bench, 'run', '--config', folder / 'config.json', '--recipe',
        folder / 'recipe.json', '--micro-batch', size, '--validate', 1,
        '--repeat', options.repeat, '--settings', options.settings, '--device',
        options.device, '--json', timeout=options.limit)
    if status != 0:
        print(f'{model:14} FAILED {status} {message}', flush=True)
        return False
    guess = lines[-1]['step']['mean_s']
    real = lines[-1]['validated_step']['mean_s']
    good = abs(real / guess - 1) <= 0.02
    print(f'{model:14} {"ok    " if good else "FAILED"} '
          f'{lines[-1]["accumulation"]:4} passes of {size:3}: extrapolated '
          f'{guess:8.4f} s, real {real:8.4f} s '
          f'({100 * (real / guess - 1):+.2f} %)', flush=True)
    return good


def main():
    parser = common.arguments(__doc__.splitlines()[0], passes=16, repeat=2,
                              settings='free-lunch', limit=600,
                              models=','.join(common.MODELS))
    options = parser.parse_args()
    models = options.models.split(',')
    with tempfile.TemporaryDirectory() as folder:
        failures = sum(not check(model, pathlib.Path(folder), options)
                       for model in models)
    common.conclude(failures, len(models))


main()
