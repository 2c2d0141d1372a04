# SPDX-License-Identifier: Apache-2.0
"""Holds the loss of two runs with --deterministic against each other, to the bit.

For the models named, at a batch of four micro-batches and with dropout, with
the kernels for this GPU and with those for older ones: three whole steps from
the same seed give the same loss, and another seed gives another.  What two runs
without the option give is printed for comparison.
"""

import json
import pathlib
import tempfile

import common


def losses(model, folder, architecture, options):
    """Losses of two runs, of one with another seed, of two that may differ."""
    config, recipe = common.catalog(model)
    recipe.update(batch_size=4 * options.micro_batch, dropout=0.1)
    if options.layers > 0:
        config['num_hidden_layers'] = options.layers
    if options.length > 0 and 'sequence_length' in recipe:
        recipe['sequence_length'] = options.length
    (folder / 'config.json').write_text(json.dumps(config))
    (folder / 'recipe.json').write_text(json.dumps(recipe))
    for more in (('--deterministic',), ('--deterministic',),
                 ('--deterministic', '--seed', 1), (), ()):
        words = ('run', '--config', folder / 'config.json', '--recipe',
                 folder / 'recipe.json', '--micro-batch', options.micro_batch,
                 '--validate', 3, '--device', options.device, '--json', *more)
        if architecture > 0:
            words += ('--architecture', architecture)
        status, lines, message = common.bench(options.bench, *words)
        yield lines[-1]['loss_hex'] if status == 0 else f'{status} {message}'


def check(model, architecture, options):
    """Whether both hold."""
    with tempfile.TemporaryDirectory() as folder:
        first, again, other, free, loose = losses(
            model, pathlib.Path(folder), architecture, options)
    good = first.startswith('0x') and first == again and first != other
    print(f'{model:14} {architecture or "its own":>8} '
          f'{"ok    " if good else "FAILED"} {first} {again}, other seed '
          f'{other}; without: {free} {loose}', flush=True)
    return good


def main():
    parser = common.arguments(__doc__.splitlines()[0], micro_batch=4, layers=0,
                              length=0, architectures='0,80',
                              models='pythia-160m,roberta-large,vit-large')
    options = parser.parse_args()
    results = [check(model, int(architecture), options)
               for model in options.models.split(',')
               for architecture in options.architectures.split(',')]
    common.conclude(results.count(False), len(results))


main()
