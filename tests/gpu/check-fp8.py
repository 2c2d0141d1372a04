# SPDX-License-Identifier: Apache-2.0
"""Holds the loss curves of qm-bench train in FP8 against those in bf16.

Small models learn the sources of this project as bytes, from the same weights and
the same batches, with several seeds in bf16: in FP8 with scales of tensors, from
the numbers themselves and from those of the passes before, and with scales of
rows, where the device has these.

Passes: no two of these curves are the same, no step is left out, the loss has
fallen by a fifth at least, and the mean of the last tenth of the steps is within
2 % (--near 0.02) of bf16's; rows of FP8 differ from bf16 as they differ, which is
printed beside what another seed makes.
"""

import json
import pathlib
import statistics
import tempfile

import common

CONFIGS = {
    'llama': dict(model_type='llama', num_key_value_heads=2,
                  intermediate_size=512, rms_norm_eps=1e-5, hidden_act='silu',
                  tie_word_embeddings=False, max_position_embeddings=512),
    'gpt2': dict(model_type='gpt2', n_positions=512, resid_pdrop=0.0,
                 embd_pdrop=0.0, attn_pdrop=0.0),
    'olmoe': dict(model_type='olmoe', intermediate_size=128, num_experts=16,
                  num_experts_per_tok=2, rms_norm_eps=1e-5, hidden_act='silu',
                  tie_word_embeddings=False, max_position_embeddings=512),
}
WAYS = {
    'tensor, current': dict(),
    'tensor, delayed': dict(fp8_amax='delayed'),
    'tensor, e4m3': dict(fp8_gradients='e4m3'),
    'row, current': dict(fp8_scales='row'),
}


def config_of(name, options):
    sizes = (('n_embd', 'n_layer', 'n_head') if name == 'gpt2' else
             ('hidden_size', 'num_hidden_layers', 'num_attention_heads'))
    return {**CONFIGS[name], 'vocab_size': 256,
            **dict(zip(sizes, (options.hidden, options.layers, 4)))}


def curve(name, recipe, seed, folder, options):
    """The losses, or None and why there are none."""
    (folder / 'config.json').write_text(json.dumps(config_of(name, options)))
    (folder / 'recipe.json').write_text(json.dumps(dict(
        batch_size=options.batch, steps=options.steps,
        sequence_length=options.length, optimizer='adamw',
        learning_rate=options.rate, beta1=0.9, beta2=0.95, epsilon=1e-8,
        weight_decay=0.1, max_grad_norm=1.0, **recipe)))
    status, lines, message = common.bench(
        options.bench, 'train', '--config', folder / 'config.json', '--recipe',
        folder / 'recipe.json', '--micro-batch', options.batch, '--device',
        options.device, '--text', folder / 'text', '--steps', options.steps,
        '--seed', seed, '--schedule', 'cosine', '--warm-up',
        options.steps // 10, '--json', timeout=3600)
    steps = [line for line in lines if 'step' in line]
    if status != 0:
        return None, message
    if any(step['skipped'] for step in steps) or len(steps) != options.steps:
        return None, 'steps were left out'
    return [step['loss'] for step in steps], ''


def last(losses):
    return statistics.mean(losses[-max(len(losses) // 10, 1):])


def check(name, folder, options):
    """How many ways there are, and how many of them are not as they should be."""
    bf16, why = curve(name, dict(precision='bf16'), 0, folder, options)
    if bf16 is None:
        print(f'{name}: bf16: {why}')
        return 1, 1
    other, _ = curve(name, dict(precision='bf16'), 1, folder, options)
    print(f'{name}, {options.steps} steps: bf16 {bf16[0]:.4f} to '
          f'{last(bf16):.4f}, with another seed {last(other):.4f}', flush=True)
    failed = n = 0
    for way, fields in WAYS.items():
        losses, why = curve(name, dict(precision='fp8', **fields), 0, folder,
                            options)
        if losses is None and 'for each row' in why:
            print(f'{name}: fp8, {way}: left out: {why}')
            continue
        n += 1
        if losses is None:
            print(f'{name}: fp8, {way}: FAILED {why}')
            failed += 1
            continue
        apart = last(losses) / last(bf16) - 1
        good = (losses != bf16 and abs(apart) < options.near
                and last(losses) < 0.8 * losses[0])
        failed += not good
        mean = statistics.mean(abs(a / b - 1) for a, b in zip(losses, bf16))
        print(f'{name}: fp8, {way:16} {"ok    " if good else "FAILED"} to '
              f'{last(losses):.4f}, {apart:+.2%} of bf16; a step is {mean:.2%} '
              'off on average', flush=True)
    return failed, n


def main():
    parser = common.arguments(__doc__.splitlines()[0], models='llama,gpt2,olmoe',
                              steps=500, hidden=256, layers=4, length=256,
                              batch=16, rate=1e-3, near=0.02)
    options = parser.parse_args()
    text = b''.join(path.read_bytes() for path in
                    sorted((common.ROOT / 'engine').glob('*.c')))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / 'text').write_bytes(text)
        results = [check(name, folder, options)
                   for name in options.models.split(',')]
    common.conclude(sum(failed for failed, _ in results),
                    sum(n for _, n in results))


main()
