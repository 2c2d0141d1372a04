# SPDX-License-Identifier: Apache-2.0
"""Holds gradients of qm-bench in FP8 against the same written in PyTorch.

Small random models go through one forward and backward pass by `qm-bench check`
with scales of tensors and of rows; through PyTorch under autocast, with every
linear layer of a block in place of which stands what kernels/scaled.h says of
it, in float8_e4m3fn and float8_e5m2 and products of fp32; and through PyTorch in
bf16 and in fp64, which is the reference for all.

Passes: our error is within 15 % of that of PyTorch's FP8, and more than twice
bf16's; and, without fusion, where the same tensors have scales, the two differ
by less than 1.1 times what either is off, where roundings that have nothing to
do with each other would differ by 1.41 times that.  They do differ: what bf16
rounds otherwise before can be another number of FP8, and a largest magnitude
that it rounds otherwise moves all numbers of a tensor.
"""

import json
import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

import common

CASES = {
    'llama': dict(model_type='llama', hidden_size=128, num_hidden_layers=3,
                  num_attention_heads=4, num_key_value_heads=2,
                  intermediate_size=256, vocab_size=200, rms_norm_eps=1e-5,
                  hidden_act='silu', tie_word_embeddings=False,
                  max_position_embeddings=128),
    'gpt2': dict(model_type='gpt2', n_embd=128, n_layer=3, n_head=4,
                 vocab_size=200, n_positions=128, resid_pdrop=0.0,
                 embd_pdrop=0.0, attn_pdrop=0.0),
    'gpt_neox': dict(model_type='gpt_neox', hidden_size=128,
                     num_hidden_layers=3, num_attention_heads=4,
                     intermediate_size=512, vocab_size=200, rotary_pct=0.25,
                     max_position_embeddings=128, hidden_act='gelu'),
}
LENGTH, BATCH = 64, 4
MOST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0}


def quantize(x, kind, by_row):
    """Numbers of FP8 as fp32, and what they are multiplied by."""
    x = x.float()
    amax = x.abs().amax(1, keepdim=True) if by_row else x.abs().amax()
    scale = amax / MOST[kind]
    scale = torch.where(scale < torch.finfo(torch.float32).tiny, 1.0, scale)
    q = (x * (1 / scale)).clamp(-MOST[kind], MOST[kind]).to(kind)
    return q.float(), scale


def product(a, b, a_kind, b_kind, by_row):
    """a b', of rows of both."""
    (qa, sa), (qb, sb) = quantize(a, a_kind, by_row), quantize(b, b_kind, by_row)
    return (sa * sb.T if by_row else sa * sb) * (qa @ qb.T)


class Linear8(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, weight, by_row):
        ctx.save_for_backward(x, weight)
        ctx.by_row = by_row
        kind = torch.float8_e4m3fn
        return product(x, weight, kind, kind, by_row)

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        kind = torch.float8_e4m3fn
        of_dy = kind if ctx.by_row else torch.float8_e5m2
        dy = dy.bfloat16()
        return (product(dy, weight.T, of_dy, kind, ctx.by_row).bfloat16(),
                product(dy.T, x.T, of_dy, kind, ctx.by_row), None)


def in_fp8(module, by_row):
    """The forward of a layer that stands for nn.Linear's or Conv1D's."""
    def forward(x):
        transposed = isinstance(module, transformers.pytorch_utils.Conv1D)
        weight = module.weight.T if transposed else module.weight
        with torch.autocast('cpu', enabled=False), \
                torch.autocast('cuda', enabled=False):
            y = Linear8.apply(x.reshape(-1, x.shape[-1]).bfloat16(),
                              weight.bfloat16(), by_row)
            if module.bias is not None:
                y = y + module.bias.bfloat16().float()
            return y.bfloat16().reshape(*x.shape[:-1], -1)
    return forward


def gradients(model, batch, kind):
    model.zero_grad(set_to_none=True)
    with torch.autocast(model.device.type, dtype=torch.bfloat16,
                        enabled=kind != 'fp64'):
        loss = model(**batch).loss
    loss.backward()
    return {name: parameter.grad.double()
            for name, parameter in model.named_parameters()}


def off(a, b):
    """Relative, of all gradients as one vector."""
    return (sum((a[name] - b[name]).square().sum() for name in b)
            / sum(one.square().sum() for one in b.values())).sqrt().item()


def theirs(model, batch):
    """Gradients of PyTorch in bf16, in FP8 each way, and in fp64."""
    found = {'bf16': gradients(model, batch, 'bf16')}
    layers = [module for name, module in model.named_modules()
              if isinstance(module, (torch.nn.Linear,
                                     transformers.pytorch_utils.Conv1D))
              and ('.layers.' in name or '.h.' in name)]
    for kind in 'fp8', 'fp8-row':
        for module in layers:
            module.forward = in_fp8(module, kind == 'fp8-row')
        found[kind] = gradients(model, batch, kind)
        for module in layers:
            del module.forward
    found['fp64'] = gradients(model.double(), batch, 'fp64')
    return found


def ours(path, kind, settings, options):
    out = f'{path}.out'
    status, _, message = common.bench(
        options.bench, 'check', '--config', f'{path}.json', '--weights',
        f'{path}.weights', '--batch', f'{path}.batch', '--precision', kind,
        '--settings', settings, '--device', options.device, '--out', out,
        '--force', '--json')
    if status != 0:
        return message
    return {name.removeprefix('grad.'): one.double()
            for name, one in load_file(out).items()
            if name.startswith('grad.')}


def check(name, folder, options):
    """Whether each holds."""
    torch.manual_seed(len(name))
    model = common.build(CASES[name]).eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, 0.0, 0.08)
    # A bias that is lost shows where it is not zero.
    for key, parameter in model.named_parameters():
        if parameter.dim() == 1 and key.endswith('bias'):
            torch.nn.init.normal_(parameter, 0.0, 0.1)
    ids = torch.randint(0, 200, (BATCH, LENGTH))
    batch = dict(input_ids=ids, labels=ids.clone())
    path = folder / name
    pathlib.Path(f'{path}.json').write_text(json.dumps(CASES[name]))
    save_file({key: value.detach().contiguous()
               for key, value in model.named_parameters()}, f'{path}.weights')
    save_file(batch, f'{path}.batch')
    found = theirs(model, batch)
    reference = found['fp64']
    bf16 = off(found['bf16'], reference)
    for kind in 'fp8', 'fp8-row':
        error = off(found[kind], reference)
        for settings in 'naive', 'free-lunch':
            got = ours(path, kind, settings, options)
            if isinstance(got, str):
                print(f'{name}: {kind}, {settings}: FAILED {got}')
                yield False
                continue
            mine, apart = off(got, reference), off(got, found[kind])
            good = (abs(mine / error - 1) < 0.15 and mine > 2 * bf16
                    and (settings != 'naive' or apart < 1.1 * error))
            print(f'{name:9} {kind:8} {settings:10} '
                  f'{"ok    " if good else "FAILED"} off by {mine:.4f}, '
                  f"PyTorch's by {error:.4f}, each from the other by "
                  f'{apart:.4f}; bf16 {bf16:.4f}', flush=True)
            yield good


def main():
    options = common.arguments(__doc__.splitlines()[0],
                               models=','.join(CASES)).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [good for name in options.models.split(',')
                   for good in check(name, pathlib.Path(folder), options)]
    common.conclude(results.count(False), len(results))


main()
