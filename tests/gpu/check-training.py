# SPDX-License-Identifier: Apache-2.0
"""Holds the loss curves of qm-bench train against PyTorch's.

Small models of most families learn from the same weights and the same batches:
the sources of this project as bytes, decoders by the next token and encoders by
masked tokens; and made-up images, with labels, without, with texts, as latents
under noise and as crops of which a teacher tells.  One learns by Muon, one with
z-loss, one with an average of its weights, which is compared too.  The learning
rate warms up and falls on a cosine.  PyTorch trains in fp32 and, by autocast, in
16 bits.

Passes: no step of the first ten is off by more than 0.01 % in fp32 or, from
PyTorch's or from that in fp32, 0.1 % else; the mean of the last twenty steps is
within 0.1 % of PyTorch's in fp32, or within 1 % or as near to that in fp32 as
PyTorch's own in TF32, which free-lunch settings make of fp32, and in 16 bits; the
loss has fallen by a fifth at least (--fallen 0.8).
Muon's iteration is in bf16 on a GPU, so that it is held to one in fp32 as 16
bits are.  With a larger learning rate than the default, encoders leave the first
plateau at a step that rounding decides, in PyTorch too, and nothing can be said.
On a CPU: --small 4 --steps 30 --warm-up 5 --fallen 1.0.
"""

import copy
import json
import math
import pathlib
import statistics
import tempfile

import numpy
import torch
from safetensors.torch import load_file, save_file

import common

# Of a GPU; --small 4 makes them as much smaller, for a CPU.
HIDDEN, LENGTH, SIDE, BATCH = 256, 128, 64, 32
SEED = 7
# Of PyTorch's loss; qm-bench begins with 65536.  PyTorch has more gradients in
# fp16, which overflow with that, and a skipped step makes another curve.
SCALE = 4096.0
RECIPE = dict(steps=1000, optimizer='adamw',
              learning_rate=0.0, beta1=0.9, beta2=0.95, epsilon=1e-8,
              weight_decay=0.01, max_grad_norm=1.0)
SETTINGS = ('naive', 'free-lunch')
SITE_MASKS = 0x20000000
SITE_PATCHES = 1  # of patches and of noise: the first that a graph hands out
CLASSES, TOKENS = 16, 12
MASKED = ('bert', 'roberta', 'modernbert', 'esm')
# What a pass makes of its samples together: the whole batch is one.
TOGETHER = ('olmoe', 'clip', 'siglip', 'dinov2')

# What is learned otherwise than AdamW does it, by a model of some family.
OTHERWISE = {
    'llama-muon': dict(optimizer='muon', muon_learning_rate=0.02,
                       muon_momentum=0.95, muon_weight_decay=0.01,
                       muon_scale='jordan'),
    'llama-z-loss': dict(z_loss=1e-3),
    'llama-average': dict(ema_decay=0.95),
    'dinov2-pair': dict(ema_decay=0.99),
}
# Whose average is compared too: a teacher that is not has no curve like this.
AVERAGED = ('llama-average',)


def configs(hidden, length, side):
    """{a name that begins with its family's: a configuration}."""
    inner, patch = 4 * hidden, side // 8
    labels = {str(i): str(i) for i in range(CLASSES)}
    sizes = dict(hidden_size=hidden, num_hidden_layers=4,
                 num_attention_heads=4)
    wide = dict(sizes, intermediate_size=inner)
    bert = dict(wide, vocab_size=257, max_position_embeddings=length + 2,
                hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    llama = dict(wide, vocab_size=257, max_position_embeddings=length,
                 pad_token_id=0, bos_token_id=1, eos_token_id=2,
                 num_key_value_heads=2)
    image = dict(sizes, image_size=side, patch_size=patch, num_channels=3)
    dino = dict(image, id2label=labels)
    tower = dict(wide, num_hidden_layers=2)
    towers = dict(
        vision_config=dict(tower, image_size=side, patch_size=patch),
        text_config=dict(tower, max_position_embeddings=TOKENS,
                         vocab_size=257))
    return {
        'gpt_neox': dict(wide, model_type='gpt_neox', vocab_size=257,
                         max_position_embeddings=length, rotary_pct=0.25,
                         layer_norm_eps=1e-5),
        'bert': dict(bert, model_type='bert', type_vocab_size=2,
                     pad_token_id=0),
        'roberta': dict(bert, model_type='roberta', type_vocab_size=1,
                        pad_token_id=1, layer_norm_eps=1e-5),
        'llama': dict(llama, model_type='llama'),
        'mistral': dict(llama, model_type='mistral',
                        sliding_window=length // 3),
        'qwen3': dict(llama, model_type='qwen3', head_dim=hidden // 4),
        'olmo2': dict(llama, model_type='olmo2'),
        'gemma3_text': dict(llama, model_type='gemma3_text',
                            head_dim=hidden // 4, num_key_value_heads=1,
                            sliding_window=length // 3,
                            sliding_window_pattern=2),
        'starcoder2': dict(llama, model_type='starcoder2',
                           residual_dropout=0.0, embedding_dropout=0.0),
        'gpt2': dict(model_type='gpt2', n_embd=hidden, n_layer=4, n_head=4,
                     vocab_size=257, n_positions=length, resid_pdrop=0,
                     embd_pdrop=0, attn_pdrop=0, bos_token_id=1,
                     eos_token_id=2),
        'olmoe': dict(llama, model_type='olmoe', intermediate_size=hidden,
                      num_experts=8, num_experts_per_tok=2,
                      output_router_logits=True),
        'mamba2': dict(model_type='mamba2', hidden_size=hidden, num_heads=8,
                       head_dim=hidden // 4, n_groups=1, num_hidden_layers=4,
                       vocab_size=257, state_size=32),
        'modernbert': dict(wide, model_type='modernbert', vocab_size=257,
                           pad_token_id=0, bos_token_id=1, eos_token_id=2,
                           cls_token_id=1, sep_token_id=2,
                           local_attention=length // 3),
        'esm': dict(wide, model_type='esm', vocab_size=257, mask_token_id=256,
                    pad_token_id=1, position_embedding_type='rotary',
                    layer_norm_eps=1e-5, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0),
        'vit': dict(wide, model_type='vit', image_size=side, patch_size=patch,
                    num_channels=3, id2label=labels),
        'dinov2_with_registers': dict(dino, model_type='dinov2_with_registers',
                                      num_register_tokens=3),
        # PyTorch would move patches by other random numbers.
        'dinov3_vit': dict(dino, model_type='dinov3_vit',
                           intermediate_size=inner, num_register_tokens=3,
                           pos_embed_rescale=None),
        'vit_mae': dict(wide, model_type='vit_mae', image_size=side,
                        patch_size=patch, num_channels=3,
                        decoder_hidden_size=hidden // 2,
                        decoder_num_hidden_layers=2,
                        decoder_num_attention_heads=4,
                        decoder_intermediate_size=2 * hidden),
        'dit': dict(_class_name='DiTTransformer2DModel', num_layers=4,
                    num_attention_heads=4, attention_head_dim=hidden // 4,
                    sample_size=side // 4, in_channels=4, out_channels=8,
                    patch_size=2, num_embeds_ada_norm=CLASSES,
                    class_dropout_prob=0.0),
        'clip': dict(towers, model_type='clip', projection_dim=hidden // 2,
                     text_config=dict(towers['text_config'],
                                      eos_token_id=256)),
        'siglip': dict(towers, model_type='siglip',
                       text_config=dict(towers['text_config'],
                                        projection_size=hidden)),
        'dinov2-pair': dict(image, model_type='dinov2', use_mask_token=True,
                            head_n_prototypes=hidden, head_hidden_dim=hidden,
                            head_bottleneck_dim=hidden // 4, head_nlayers=3,
                            local_crops_number=2, local_crops_size=side // 2,
                            teacher_temp=0.07, ibot_head_n_prototypes=hidden,
                            ibot_head_bottleneck_dim=hidden // 4,
                            mask_ratio=0.3, koleo_loss_weight=0.1),
    }


def family_of(config):
    return config.get('model_type', 'dit')


def is_of_images(config):
    return 'vocab_size' not in config


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


def text_batches(config, text, options):
    for step in range(options.steps):
        inputs, labels = [], []
        for i in range(options.batch):
            sample = step * options.batch + i
            ids = text[numpy.arange(sample * options.length,
                                    (sample + 1) * options.length)
                       % len(text)].astype(numpy.int64)
            shown, wanted = ids, ids
            if family_of(config) in MASKED:
                shown, wanted = mask(ids, sample, config['vocab_size'],
                                     config['vocab_size'] - 1)
            inputs.append(shown)
            labels.append(wanted)
        yield dict(input_ids=torch.tensor(numpy.stack(inputs)),
                   labels=torch.tensor(numpy.stack(labels)))


def words_of(sample, first, n):
    """`n` words of the blocks of a sample from `first` on."""
    at = numpy.arange(n, dtype=numpy.uint64)
    words = philox(SEED, 0, numpy.uint64(first) + at // numpy.uint64(4),
                   at * 0 + numpy.uint64(sample),
                   at * 0 + numpy.uint64(SITE_PATCHES), at * 0)
    return numpy.choose((at % numpy.uint64(4)).astype(int), words)


def hiding(config, samples):
    """What patches are hidden by, as qm_mask_key() of kernels/random.h."""
    patches = (config['image_size'] // config['patch_size']) ** 2
    return torch.tensor(numpy.stack([words_of(sample, 0, patches)
                                     for sample in samples])
                        .astype(numpy.float64))


def diffusion(config, samples):
    """(times, noise), as kernels/diffusion.h and qm_random_normal() say."""
    shape = config['in_channels'], *[config['sample_size']] * 2
    times, noise = [], []
    for sample in samples:
        times.append(int(words_of(sample, 0, 1)[0]) * 1000 >> 32)
        words = words_of(sample, 1, shape[0] * shape[1] * shape[2])
        unit = ((words >> numpy.uint64(9)).astype(numpy.float64) + 0.5) / 2**23
        radius, angle = numpy.sqrt(-2 * numpy.log(unit[::2])), unit[1::2]
        pairs = [radius * turn(2 * numpy.pi * angle)
                 for turn in (numpy.cos, numpy.sin)]
        noise.append(numpy.stack(pairs, 1).reshape(shape))
    return (torch.tensor(times),
            torch.tensor(numpy.stack(noise).astype(numpy.float32)))


def image_batches(config, path, options):
    images = load_file(path)
    n = len(images.get('labels', images.get('input_ids', ())))
    if 'head_n_prototypes' in config:
        n = len(images['pixel_values']) // 2
    for step in range(options.steps):
        samples = torch.arange(step * options.batch,
                               (step + 1) * options.batch)
        numbers = samples.tolist()
        batch = {name: tensor.unflatten(0, (n, -1))[samples % n].flatten(0, 1)
                 for name, tensor in images.items()}
        if family_of(config) == 'vit_mae':
            del batch['labels']
        if family_of(config) == 'vit_mae' or 'mask_ratio' in config:
            batch['noise'] = hiding(config, numbers)
        if '_class_name' in config:
            batch['timesteps'], batch['noise'] = diffusion(config, numbers)
        yield batch


def make_images(path, config):
    """Sixteen patterns under noise, or sixteen of large areas under little,
    with what else a model wants to know of them."""
    family = family_of(config)
    side = config.get('vision_config', config).get(
        'image_size', config.get('sample_size'))
    channels = config.get('in_channels', 3)
    torch.manual_seed(SEED)
    labels = torch.randint(0, CLASSES, (1000,))
    patterns = torch.randn(CLASSES, channels, side, side)
    noise = torch.randn(1000, channels, side, side)
    if family == 'vit_mae' or 'head_n_prototypes' in config:
        patterns = patterns[:, :, :2, :2].repeat_interleave(side // 2, 2) \
            .repeat_interleave(side // 2, 3)
        patterns, noise = 5 * patterns, 0.3 * noise
    pixels = 0.2 * patterns[labels] + noise
    tensors = dict(labels=labels, pixel_values=pixels)
    if 'vision_config' in config:
        # A text for each pattern, and a word that says nothing.
        texts = torch.randint(2, 256, (CLASSES, TOKENS))[labels]
        texts[:, 0] = torch.randint(2, 256, (1000,))
        texts[:, -1] = 256
        tensors = dict(pixel_values=pixels, input_ids=texts)
    if 'head_n_prototypes' in config:
        size = config['local_crops_size']
        tensors = dict(
            pixel_values=torch.stack((pixels, pixels.flip(3)), 1).flatten(0, 1),
            local_pixel_values=torch.stack(
                (pixels[:, :, :size, :size], pixels[:, :, -size:, -size:]),
                1).flatten(0, 1))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()},
              path)


def rate(step, options):
    warm_up = options.warm_up
    if step < warm_up:
        return options.learning_rate * step / warm_up
    return options.learning_rate * 0.5 * (
        1 + numpy.cos(numpy.pi * (step - warm_up) / (options.steps - warm_up)))


def orthogonalize(exact):
    """PyTorch's Newton-Schulz iteration as it is, in bf16, or in fp32."""
    import torch.optim._muon as module
    if not hasattr(module, 'as_it_is'):
        module.as_it_is = module._zeropower_via_newtonschulz

    def iterate(gradient, factors, steps, epsilon):
        x = gradient.T if len(gradient) > gradient.shape[1] else gradient
        x = x / x.norm().clamp(min=epsilon)
        for _ in range(steps):
            a = x @ x.T
            x = factors[0] * x + (factors[1] * a + factors[2] * a @ a) @ x
        return x.T if len(gradient) > gradient.shape[1] else x

    module._zeropower_via_newtonschulz = iterate if exact else module.as_it_is


def optimizers(model, recipe):
    """[(an optimizer, its rate where that of the recipe is 1)]."""
    hidden = []
    if recipe['optimizer'] == 'muon':
        hidden = [weight for name, weight in model.named_parameters()
                  if '.layers.' in name and weight.dim() == 2]
    others = [weight for weight in model.parameters()
              if weight.requires_grad
              and not any(weight is one for one in hidden)]
    found = [(torch.optim.AdamW(
        others, lr=0.0, betas=(recipe['beta1'], recipe['beta2']),
        eps=recipe['epsilon'], weight_decay=recipe['weight_decay']), 1.0)]
    if hidden:
        found.append((torch.optim.Muon(
            hidden, lr=0.0, weight_decay=recipe['muon_weight_decay'],
            momentum=recipe['muon_momentum'], adjust_lr_fn='original'),
            recipe['muon_learning_rate'] / recipe['learning_rate']))
    return found


def loss_of(model, batch, recipe):
    told = model(**batch)
    if 'z_loss' not in recipe:
        return told.loss
    logits = told.logits[:, :-1].float()
    return told.loss + recipe['z_loss'] * logits.logsumexp(-1).square().mean()


def average(averages, model, decay):
    """What every update makes of an average of all weights."""
    with torch.no_grad():
        for mean, weight in zip(averages, model.parameters()):
            mean.lerp_(weight, 1 - decay)


def build(config):
    """A new model, always the same."""
    torch.manual_seed(SEED)
    model = common.build(config)
    for name, parameter in model.named_parameters():
        # A student's prototypes begin as nothing.
        if name.endswith('last_layer.weight_v'):
            torch.nn.init.normal_(parameter, 0.0, 0.02)
    return model


def torch_curve(config, batches, recipe, options, exact=False):
    """(losses, the average of weights if there is one, by name)."""
    device, precision = options.torch_device, recipe['precision']
    kind = dict(fp16=torch.float16, bf16=torch.bfloat16).get(precision)
    model = build(config).to(device)
    model.train()
    if recipe['optimizer'] == 'muon':
        orthogonalize(exact)
    used = optimizers(model, recipe)
    mean = copy.deepcopy(model) if 'ema_decay' in recipe else None
    if 'head_n_prototypes' in config:
        model.told_by = [mean]
    scaler = torch.amp.GradScaler(device.split(':')[0], init_scale=SCALE,
                                  enabled=precision == 'fp16')
    losses = []
    for step, batch in enumerate(batches):
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        with torch.autocast(device.split(':')[0], dtype=kind,
                            enabled=kind is not None):
            loss = loss_of(model, batch, recipe)
        scaler.scale(loss).backward()
        for optimizer, factor in used:
            optimizer.param_groups[0]['lr'] = factor * rate(step, options)
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(),
                                       recipe['max_grad_norm'])
        for optimizer, _ in used:
            scaler.step(optimizer)
            optimizer.zero_grad()
        scaler.update()
        if mean is not None:
            average(mean.parameters(), model, recipe['ema_decay'])
        losses.append(loss.detach())
    if scaler.is_enabled() and scaler.get_scale() < SCALE:
        print('PyTorch skipped steps: its loss scale went down to '
              f'{scaler.get_scale()}', flush=True)
    return [loss.item() for loss in losses], common.stored(
        dict(mean.named_parameters())) if mean is not None else {}


def our_curve(options, folder, name, data, recipe, settings):
    """(losses, the average of weights or all weights at the end, by name)."""
    config = json.loads((folder / f'{name}.json').read_text())
    path = folder / f'{name}.recipe.json'
    out = folder / f'{name}.out.safetensors'
    path.write_text(json.dumps(recipe))
    together = family_of(config) in TOGETHER
    status, lines, message = common.bench(
        options.bench, 'train', '--config', folder / f'{name}.json',
        '--recipe', path, '--weights', folder / f'{name}.safetensors',
        '--images' if is_of_images(config) else '--text', data, '--steps',
        options.steps, '--micro-batch',
        options.batch // (1 if together else 2), '--schedule', 'cosine',
        '--warm-up', options.warm_up, '--learning-rate',
        options.learning_rate, '--seed', SEED, '--device', options.device,
        '--settings', settings, '--out', out, '--force', '--json',
        *(['--averaged'] if 'ema_decay' in recipe else []))
    if status != 0:
        print(f'{name} {recipe["precision"]} {settings}: {message}',
              flush=True)
        return [], {}
    lines = [line for line in lines if 'loss' in line]
    skipped = sum(line['skipped'] for line in lines)
    if skipped > 0:
        print(f'{name} {recipe["precision"]} {settings}: {skipped} steps '
              'skipped, gradients were not finite', flush=True)
    return [line['loss'] for line in lines], load_file(out)


def end(curve):
    return statistics.mean(curve[-20:])


def compare(name, ours, theirs, exact, fallen):
    """Prints how far a curve is from PyTorch's; returns whether it is near that
    or, at its end, the one in fp32, `exact`, and down to that share of what it
    was."""
    if len(ours) != len(theirs):
        print(f'{name:32} FAILED after {len(ours)} steps', flush=True)
        return False
    off = [abs(a / b - 1) for a, b in zip(ours, theirs)]
    early = min(max(abs(a / b - 1) for a, b in zip(ours[:10], curve))
                for curve in (theirs, exact))
    parted = next((i + 1 for i, x in enumerate(off) if x > 0.01), None)
    last, wanted = end(ours), end(theirs)
    same = theirs is exact
    good = (early <= (1e-4 if same else 1e-3)
            and abs(last / end(exact) - 1)
            <= (0.001 if same else max(0.01, abs(wanted / end(exact) - 1)))
            and last < fallen * ours[0])
    print(f'{name:32} {"ok    " if good else "FAILED"} '
          f'first {ours[0]:.5f} ({theirs[0]:.5f}), '
          f'first ten off by {early:.1e} at most, 1 % off from step '
          f'{parted or "-"}; last twenty {last:.4f} ({wanted:.4f}, '
          f'{100 * (last / wanted - 1):+.2f} %)', flush=True)
    return good


def distance(one, other):
    return math.sqrt(sum(
        (tensor.float().cpu() - other[name].float().cpu().reshape(tensor.shape))
        .square().sum().item() for name, tensor in one.items()))


def compare_averages(name, ours, theirs, exact, start):
    """The same of averages of weights, by how far they went from the start."""
    went = distance(exact, start)
    off, own = distance(exact, ours) / went, distance(exact, theirs) / went
    good = off <= max(0.01, 1.3 * own)
    print(f'{name:32} {"ok    " if good else "FAILED"} the average of weights '
          f'is off by {off:.1e} of the way that it went ({own:.1e})',
          flush=True)
    return good


def begin(name, config, options, folder):
    """Writes a new model and what it learns from; returns its weights and the
    file that it learns from."""
    model = build(config)
    start = common.stored({key: tensor.detach().clone()
                           for key, tensor in model.named_parameters()})
    save_file({key: tensor.contiguous() for key, tensor in start.items()},
              folder / f'{name}.safetensors')
    (folder / f'{name}.json').write_text(json.dumps(config))
    data = folder / 'text'
    if is_of_images(config):
        data = folder / f'{name}.images.safetensors'
        make_images(data, config)
        return start, data, list(image_batches(config, data, options))
    text = numpy.frombuffer(data.read_bytes(), dtype=numpy.uint8)
    return start, data, list(text_batches(config, text, options))


def peer(name, config, batches, recipe, options, settings, exact):
    """PyTorch's curve with the roundings that ours has: of free-lunch settings in
    fp32 those of TF32; of Muon, whose iteration is in bf16, its own in any case."""
    tf32 = recipe['precision'] == 'fp32' and settings == 'free-lunch'
    if recipe['precision'] == 'fp32' and not tf32 \
            and recipe['optimizer'] != 'muon':
        return exact
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    curve = torch_curve(config, batches, recipe, options)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    print(f'{name}: PyTorch ends '
          f'{100 * (end(curve[0]) / end(exact[0]) - 1):+.2f} % from its fp32',
          flush=True)
    return curve


def check(name, config, options, folder):
    start, data, batches = begin(name, config, options, folder)
    recipe = dict(RECIPE, batch_size=options.batch,
                  learning_rate=options.learning_rate, precision='fp32',
                  **OTHERWISE.get(name, {}))
    recipe.update(dict(image_size=batches[0]['pixel_values'].shape[-1])
                  if is_of_images(config)
                  else dict(sequence_length=options.length))
    exact = torch_curve(config, batches, recipe, options, exact=True)
    failures = 0
    for precision in options.precisions.split(','):
        recipe['precision'] = precision
        last = []
        for settings in SETTINGS:
            head = f'{name} {precision} {settings}'
            theirs = peer(head, config, batches, recipe, options, settings,
                          exact) if not last or precision == 'fp32' else theirs
            ours = our_curve(options, folder, name, data, recipe, settings)
            failures += not compare(head, ours[0], theirs[0], exact[0],
                                    options.fallen)
            if name in AVERAGED and ours[1]:
                failures += not compare_averages(head, ours[1], theirs[1],
                                                 exact[1], start)
            last += [end(ours[0])] if ours[0] else []
        if len(last) == 2:
            print(f'{name} {precision}: free-lunch ends '
                  f'{100 * (last[1] / last[0] - 1):+.2f} % from naive',
                  flush=True)
    return failures


def main():
    parser = common.arguments(__doc__.splitlines()[0], steps=200, only='',
                              learning_rate=3e-4, warm_up=20, small=1, fallen=0.8,
                              precisions='fp32,fp16,bf16',
                              torch_device='cuda:0')
    options = parser.parse_args()
    options.batch = BATCH // options.small
    options.length = LENGTH // options.small
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    known = configs(HIDDEN // options.small, options.length,
                    SIDE // min(options.small, 2))
    known.update({name: known[name.split('-')[0]] for name in OTHERWISE
                  if name not in known})
    names = [name for name in known
             if any(part in name for part in options.only.split(','))]
    failures = checks = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / 'text').write_bytes(b''.join(
            path.read_bytes()
            for path in sorted(common.ROOT.glob('engine/*.[ch]'))))
        for name in names:
            failures += check(name, known[name], options, folder)
            checks += (len(SETTINGS) * len(options.precisions.split(','))
                       * (2 if name in AVERAGED else 1))
    common.conclude(failures, checks)


main()
