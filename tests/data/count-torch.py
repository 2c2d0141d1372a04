# SPDX-License-Identifier: Apache-2.0
"""Counts parameters and FLOPs of the catalog's models once more, with PyTorch.

Run by hand; needs PyTorch, Transformers and the built program, no GPU and no
memory: models are on the device `meta`.

    python3 tests/data/count-torch.py [--program build/app/quartermaster] [MODEL]...

torch.utils.flop_counter counts products, and the whole of attention where each
token sees a part of the others.  So attention is told apart, by its being
batches of products, and the share of it that qm_flops_forward_sample() counts
is compared with what data/flops.h says: 1, 1/2 of a decoder, w (1 - w/2) with a
window of a share w of the tokens there, and w (2 - w) where they look both ways.

Fails where parameters differ, or FLOPs by more than one in a million.  Of
families with a scan or with experts, which `meta` cannot route, of pairs, which
are compared with a whole batch, and of a student with a teacher, parameters
alone are compared, and of ConvNeXt, in which the counter finds nothing on
`meta`; of MAE, which projects no patch that is hidden, FLOPs are printed.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import torch
from torch.utils.flop_counter import FlopCounterMode

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'tests/gpu'))
import common  # noqa: E402  (of tests/gpu)

ENCODERS = ('bert', 'roberta', 'esm', 'vit', 'dinov2_with_registers', 'dinov2',
            'dinov3_vit', 'dit')
PARAMETERS_ALONE = ('mamba', 'mamba2', 'olmoe', 'clip', 'convnext')
# Parameters that may be in no pass, which the catalog then does not count.
UNUSED = ('mask_token', 'contact_head')


def build(config, recipe):
    """The model on `meta`, with attention as products."""
    sys.path.append(str(ROOT / 'tests/golden'))
    import make
    import transformers.masking_utils as masks
    # It looks at numbers, which `meta` does not have.
    if hasattr(masks, 'find_packed_sequence_indices'):
        masks.find_packed_sequence_indices = lambda positions: None
    plain = make.DitBlock.attend
    config = dict(config)
    # A recipe with a size of its own makes a model of that size.
    if recipe.get('image_size') and 'image_size' in config:
        config['image_size'] = recipe['image_size']
    with torch.device('meta'):
        model = common.build(config)
    make.DitBlock.attend = plain
    if hasattr(model, 'set_attn_implementation'):
        model.set_attn_implementation('eager')
    return model.eval()


def batch_of(config, recipe):
    def some(*shape):
        return torch.zeros(shape, dtype=torch.long, device='meta')

    side = recipe.get('image_size', 0)
    if '_class_name' in config:
        shape = 1, config['in_channels'], side, side
        pixels = torch.zeros(shape, device='meta')
        return dict(pixel_values=pixels, noise=pixels, labels=some(1),
                    timesteps=some(1))
    if not side:
        ids = some(1, recipe['sequence_length'])
        return dict(input_ids=ids, labels=ids)
    return dict(pixel_values=torch.zeros(1, 3, side, side, device='meta'),
                **({} if config['model_type'] == 'vit_mae'
                   else dict(labels=some(1))))


def shares(config, length):
    """The mean over layers of what counts of attention."""
    family = config.get('model_type', 'dit')
    layers = config.get('num_hidden_layers', config.get('n_layer', 1))
    if family in ENCODERS or family == 'vit_mae':
        return 1.0
    if family == 'modernbert':
        near = min((config['local_attention'] // 2 + 1) / length, 1)
        every = config['global_attn_every_n_layers']
        return sum(1.0 if i % every == 0 else near * (2 - near)
                   for i in range(layers)) / layers
    window = config.get('sliding_window') or length
    share = min(window / length, 1)
    if config.get('use_sliding_window') is False:
        share = 1.0
    return share * (1 - share / 2)


def count(model, batch):
    """(FLOPs of attention, all others), forward."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(**batch)
    by_op = counter.get_flop_counts()['Global']
    attention = sum(flops for op, flops in by_op.items() if 'bmm' in str(op))
    return attention, counter.get_total_flops() - attention


def compare(entry):
    """Prints what both say; returns whether they agree."""
    name = entry['id']
    config, recipe = common.catalog(name)
    family = config.get('model_type', 'dit')
    model = build(config, recipe)
    parameters = sum(
        parameter.numel() for key, parameter in model.named_parameters()
        if parameter.requires_grad)
    idle = sum(parameter.numel() for key, parameter in model.named_parameters()
               if parameter.requires_grad
               and any(word in key for word in UNUSED))
    good = entry['parameters'] in (parameters, parameters - idle)
    text = (f'{name:24} {entry["parameters"]:12d} parameters '
            f'({parameters}, of which {idle} may be idle)')
    if family in PARAMETERS_ALONE or 'head_n_prototypes' in config:
        print(f'{text} {"ok" if good else "FAILED"}', flush=True)
        return good
    attention, others = count(model, batch_of(config, recipe))
    ours = entry['train_flops_per_sample'] / 3
    share = shares(config, recipe.get('sequence_length', 0))
    off = ours / (others + share * attention) - 1
    if family != 'vit_mae':
        good = good and abs(off) < 1e-6
    print(f'{text}, {ours:.6e} FLOPs forward (others {others:.6e}, attention '
          f'{attention:.6e} x {share:.6f}, off by {off:+.1e}) '
          f'{"ok" if good else "FAILED"}', flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--program', default=ROOT / 'build/app/quartermaster')
    parser.add_argument('models', nargs='*')
    options = parser.parse_args()
    told = json.loads(subprocess.run(
        [options.program, 'catalog', 'models', '--json'], check=True,
        capture_output=True, text=True).stdout)['models']
    chosen = [entry for entry in told
              if not options.models or entry['id'] in options.models]
    results = [compare(entry) for entry in chosen]
    common.conclude(results.count(False), len(results))


main()
