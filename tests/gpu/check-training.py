# SPDX-License-Identifier: Apache-2.0
"""Holds the loss curves of qm-bench train against PyTorch's.

Small models of every family learn from the same weights and the same batches:
the sources of this project as bytes, decoders by the next token and encoders by
masked tokens; and made-up images.  The learning rate warms up and falls on a
cosine.  PyTorch trains in fp32 and, by autocast, in 16 bits.

Passes: no step of the first ten is off by more than 0.01 % in fp32 or 0.1 %
else; the mean of the last twenty steps is within 1 % of PyTorch's in fp32, or
as near to it as PyTorch's own in 16 bits; the loss has fallen by a fifth at
least.  With a larger learning rate than the default,
encoders leave the first plateau at a step that rounding decides, in PyTorch
too, and nothing can be said.
"""

import json
import pathlib
import statistics
import tempfile

import numpy
import torch
from safetensors.torch import load_file, save_file

import common

SIZES = dict(hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
             intermediate_size=1024)
BERT = dict(SIZES, vocab_size=257, max_position_embeddings=130,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
DINO = dict(hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
            image_size=64, patch_size=8, num_channels=3,
            id2label={str(i): str(i) for i in range(16)})
CONFIGS = {
    'gpt_neox': dict(SIZES, model_type='gpt_neox', vocab_size=257,
                     max_position_embeddings=128, rotary_pct=0.25,
                     layer_norm_eps=1e-5),
    'bert': dict(BERT, model_type='bert', type_vocab_size=2, pad_token_id=0),
    'roberta': dict(BERT, model_type='roberta', type_vocab_size=1,
                    pad_token_id=1, layer_norm_eps=1e-5),
    'vit': dict(SIZES, model_type='vit', image_size=64, patch_size=8,
                num_channels=3, id2label={str(i): str(i) for i in range(16)}),
    'dinov2_with_registers': dict(DINO, model_type='dinov2_with_registers',
                                  num_register_tokens=3),
    # PyTorch would move patches by other random numbers.
    'dinov3_vit': dict(DINO, model_type='dinov3_vit', intermediate_size=1024,
                       num_register_tokens=3, pos_embed_rescale=None),
    'vit_mae': dict(SIZES, model_type='vit_mae', image_size=64, patch_size=8,
                    num_channels=3, decoder_hidden_size=128,
                    decoder_num_hidden_layers=2, decoder_num_attention_heads=4,
                    decoder_intermediate_size=512),
}
# What learns from images.
OF_IMAGES = ('vit', 'dinov2_with_registers', 'dinov3_vit', 'vit_mae')
LENGTH, BATCH, SEED = 128, 32, 7
# Of PyTorch's loss; qm-bench begins with 65536.  PyTorch has more gradients in
# fp16, which overflow with that, and a skipped step makes another curve.
SCALE = 4096.0
RECIPE = dict(batch_size=BATCH, steps=1000, optimizer='adamw',
              learning_rate=0.0, beta1=0.9, beta2=0.95, epsilon=1e-8,
              weight_decay=0.01, max_grad_norm=1.0)
SETTINGS = ('naive', 'free-lunch')
SITE_MASKS = 0x20000000
SITE_PATCHES = 1  # of MAE's patches: the first that its graph hands out


def philox(key0, key1, c0, c1, c2, c3):
    """Philox 4x32-7, on arrays: four words of each counter."""
    words = [numpy.asarray(c, dtype=numpy.uint64) for c in (c0, c1, c2, c3)]
    low = numpy.uint64(0xffffffff)
    half = numpy.uint64(32)
    for _ in range(7):
        product0 = words[0] * numpy.uint64(0xD2511F53)
        product1 = words[2] * numpy.uint64(0xCD9E8D57)
        words = [(product1 >> half) ^ words[1] ^ numpy.uint64(key0),
                 product1 & low,
                 (product0 >> half) ^ words[3] ^ numpy.uint64(key1),
                 product0 & low]
        key0 = (key0 + 0x9E3779B9) & 0xffffffff
        key1 = (key1 + 0xBB67AE85) & 0xffffffff
    return words


def mask(ids, sample, vocab, mask_token):
    """(what the model sees, labels) of a sample, as engine/samples.h says."""
    length = len(ids)
    position = numpy.arange(length, dtype=numpy.uint64)
    words = philox(SEED, 0, position, position * 0 + numpy.uint64(sample),
                   position * 0 + numpy.uint64(SITE_MASKS), position * 0)
    chosen = numpy.lexsort((position, words[0]))[
        :max(1, int(0.15 * length + 0.5))]
    kinds = words[1][chosen] * numpy.uint64(10) >> numpy.uint64(32)
    others = words[2][chosen] * numpy.uint64(vocab) >> numpy.uint64(32)
    seen, labels = ids.copy(), numpy.full(length, -100)
    labels[chosen] = ids[chosen]
    seen[chosen] = numpy.where(kinds < 8, mask_token,
                               numpy.where(kinds == 8, others, ids[chosen]))
    return seen, labels


def text_batches(config, text, steps):
    for step in range(steps):
        inputs, labels = [], []
        for i in range(BATCH):
            sample = step * BATCH + i
            ids = text[numpy.arange(sample * LENGTH, (sample + 1) * LENGTH)
                       % len(text)].astype(numpy.int64)
            shown, wanted = ids, ids
            if config['model_type'] != 'gpt_neox':
                shown, wanted = mask(ids, sample, config['vocab_size'],
                                     config['vocab_size'] - 1)
            inputs.append(shown)
            labels.append(wanted)
        yield dict(input_ids=torch.tensor(numpy.stack(inputs)),
                   labels=torch.tensor(numpy.stack(labels)))


def noise(config, samples):
    """What patches are hidden by, as qm_mask_key() of kernels/random.h."""
    patches = (config['image_size'] // config['patch_size']) ** 2
    patch = numpy.arange(patches, dtype=numpy.uint64)
    rows = []
    for sample in samples:
        words = philox(SEED, 0, patch // numpy.uint64(4),
                       patch * 0 + numpy.uint64(sample),
                       patch * 0 + numpy.uint64(SITE_PATCHES), patch * 0)
        rows.append(numpy.choose((patch % numpy.uint64(4)).astype(int), words))
    return torch.tensor(numpy.stack(rows).astype(numpy.float64))


def image_batches(config, path, steps):
    images = load_file(path)
    n = len(images['labels'])
    for step in range(steps):
        samples = torch.arange(step * BATCH, (step + 1) * BATCH)
        batch = {name: tensor[samples % n] for name, tensor in images.items()}
        if config['model_type'] == 'vit_mae':
            del batch['labels']
            batch['noise'] = noise(config, samples.tolist())
        yield batch


def make_images(path, coarse=False):
    """Sixteen patterns under noise, or sixteen of large areas under little."""
    torch.manual_seed(SEED)
    labels = torch.randint(0, 16, (1000,))
    patterns = torch.randn(16, 3, 64, 64)
    noise = torch.randn(1000, 3, 64, 64)
    if coarse:
        patterns = patterns[:, :, :2, :2].repeat_interleave(32, 2) \
            .repeat_interleave(32, 3)
        patterns, noise = 5 * patterns, 0.3 * noise
    save_file(dict(labels=labels, pixel_values=0.2 * patterns[labels] + noise),
              path)


def rate(step, options):
    warm_up = options.warm_up
    if step < warm_up:
        return options.learning_rate * step / warm_up
    return options.learning_rate * 0.5 * (
        1 + numpy.cos(numpy.pi * (step - warm_up) / (options.steps - warm_up)))


def torch_curve(config, weights, batches, precision, options):
    device = options.torch_device
    kind = dict(fp16=torch.float16, bf16=torch.bfloat16).get(precision)
    model = common.build(config).to(device)
    model.load_state_dict(load_file(weights), strict=False)
    model.train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=0.0,
        betas=(RECIPE['beta1'], RECIPE['beta2']), eps=RECIPE['epsilon'],
        weight_decay=RECIPE['weight_decay'])
    scaler = torch.amp.GradScaler(device.split(':')[0], init_scale=SCALE,
                                  enabled=precision == 'fp16')
    losses = []
    for step, batch in enumerate(batches):
        optimizer.param_groups[0]['lr'] = rate(step, options)
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        with torch.autocast(device.split(':')[0], dtype=kind,
                            enabled=kind is not None):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(),
                                       RECIPE['max_grad_norm'])
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(loss.detach())
    if scaler.is_enabled() and scaler.get_scale() < SCALE:
        print('PyTorch skipped steps: its loss scale went down to '
              f'{scaler.get_scale()}', flush=True)
    return [loss.item() for loss in losses]


def our_curve(options, folder, family, data, precision, settings):
    recipe = dict(RECIPE, precision=precision)
    recipe.update(dict(image_size=64) if family in OF_IMAGES
                  else dict(sequence_length=LENGTH))
    path = folder / f'{family}.{precision}.recipe.json'
    path.write_text(json.dumps(recipe))
    status, lines, message = common.bench(
        options.bench, 'train', '--config', folder / f'{family}.json',
        '--recipe', path, '--weights', folder / f'{family}.safetensors',
        '--images' if family in OF_IMAGES else '--text', data, '--steps',
        options.steps, '--micro-batch', BATCH // 2, '--schedule', 'cosine',
        '--warm-up', options.warm_up, '--learning-rate',
        options.learning_rate, '--seed', SEED, '--device', options.device,
        '--settings', settings, '--json')
    if status != 0:
        raise SystemExit(f'{family} {precision} {settings}: {message}')
    skipped = sum(line['skipped'] for line in lines)
    if skipped > 0:
        print(f'{family} {precision} {settings}: {skipped} steps skipped, '
              'gradients were not finite', flush=True)
    return [line['loss'] for line in lines]


def end(curve):
    return statistics.mean(curve[-20:])


def compare(name, ours, theirs, exact):
    """Prints how far a curve is from PyTorch's; returns whether it is near that
    or, at its end, the one in fp32, `exact`."""
    off = [abs(a / b - 1) for a, b in zip(ours, theirs)]
    early = max(off[:10])
    parted = next((i + 1 for i, x in enumerate(off) if x > 0.01), None)
    last, wanted = end(ours), end(theirs)
    good = (len(ours) == len(theirs)
            and early <= (1e-4 if theirs is exact else 1e-3)
            and abs(last / end(exact) - 1)
            <= max(0.01, abs(wanted / end(exact) - 1))
            and last < 0.8 * ours[0])
    print(f'{name:28} {"ok    " if good else "FAILED"} '
          f'first {ours[0]:.5f} ({theirs[0]:.5f}), '
          f'first ten off by {early:.1e} at most, 1 % off from step '
          f'{parted or "-"}; last twenty {last:.4f} ({wanted:.4f}, '
          f'{100 * (last / wanted - 1):+.2f} %)', flush=True)
    return good


def check(family, options, folder, data):
    config = CONFIGS[family]
    torch.manual_seed(SEED)
    model = common.build(config)
    save_file({name: tensor.detach().contiguous()
               for name, tensor in model.named_parameters()},
              folder / f'{family}.safetensors')
    (folder / f'{family}.json').write_text(json.dumps(config))
    if family in OF_IMAGES:
        batches = list(image_batches(config, data, options.steps))
    else:
        text = numpy.frombuffer(data.read_bytes(), dtype=numpy.uint8)
        batches = list(text_batches(config, text, options.steps))
    failures = 0
    weights = folder / f'{family}.safetensors'
    exact = torch_curve(config, weights, batches, 'fp32', options)
    for precision in options.precisions.split(','):
        theirs = exact
        if precision != 'fp32':
            theirs = torch_curve(config, weights, batches, precision, options)
            print(f'{family} {precision}: PyTorch ends '
                  f'{100 * (end(theirs) / end(exact) - 1):+.2f} % from its '
                  'fp32', flush=True)
        last = {}
        for settings in SETTINGS:
            ours = our_curve(options, folder, family, data, precision,
                             settings)
            failures += not compare(f'{family} {precision} {settings}', ours,
                                    theirs, exact)
            last[settings] = end(ours)
        print(f'{family} {precision}: free-lunch ends '
              f'{100 * (last["free-lunch"] / last["naive"] - 1):+.2f} % from '
              'naive', flush=True)
    return failures


def main():
    parser = common.arguments(__doc__.splitlines()[0], steps=200, only='',
                              learning_rate=3e-4, warm_up=20,
                              precisions='fp32,fp16,bf16',
                              torch_device='cuda:0')
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    families = [family for family in CONFIGS if options.only in family]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text, images = folder / 'text', folder / 'images.safetensors'
        coarse = folder / 'coarse.safetensors'
        text.write_bytes(b''.join(path.read_bytes() for path in sorted(
            common.ROOT.glob('engine/*.[ch]'))))
        make_images(images)
        make_images(coarse, coarse=True)
        for family in families:
            failures += check(family, options, folder,
                              coarse if family == 'vit_mae'
                              else images if family in OF_IMAGES else text)
    common.conclude(failures, len(families) * len(SETTINGS)
                    * len(options.precisions.split(',')))


main()
