# SPDX-License-Identifier: Apache-2.0
"""How long the matrix products and attention of a pass take alone, forward and
backward in bf16: products by cuBLAS, attention by the fastest backend of SDPA
that takes it, each by itself and with nothing between.

One forward pass of the model in PyTorch tells their shapes; nothing but those of
which there are less than --least FLOPs is left out.  A first layer has no gradient
of its input.  Of attention with a mask, the time without one counts in proportion
to what the mask leaves.  Prints a row of a table and a line of JSON for each model;
fails where a model has no product.
"""

import collections
import gc
import json
import math
import time
import warnings

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

import common

BACKENDS = (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION,
            SDPBackend.EFFICIENT_ATTENTION)
MATMULS = (torch.matmul, torch.bmm, torch.mm, torch.Tensor.matmul,
           torch.Tensor.__matmul__, torch.Tensor.bmm, torch.Tensor.mm)


class Recorder(TorchFunctionMode):
    """Counts products and attention by shape: {('product', batch, rows, inner,
    columns, gradients): times}, {('attention', shapes, causal, part): times}."""

    def __init__(self):
        super().__init__()
        self.found = collections.Counter()

    def product(self, batch, rows, inner, columns, gradients=2):
        self.found['product', batch, rows, inner, columns, gradients] += 1

    def attention(self, q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False,
                  **_):
        part = 1.0
        if attn_mask is not None:
            kept = (attn_mask if attn_mask.dtype == torch.bool
                    else attn_mask == 0)
            part = kept.float().mean().item()
            is_causal = bool(kept.shape[-2] > 1
                             and not kept[..., 0, 1:].any().item())
            if is_causal:
                part = min(1.0, 2 * part)
        self.found['attention', tuple(q.shape), tuple(k.shape), is_causal,
                   round(part, 3)] += 1

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is functional.linear:
            x, w = args[:2]
            self.product(1, x.numel() // x.shape[-1], *reversed(w.shape))
        elif func in (torch.addmm, torch.Tensor.addmm):
            _, a, b = args[:3]
            self.product(1, *a.shape, b.shape[1])
        elif func in MATMULS and args[0].dim() > 1 and args[1].dim() > 1:
            a, b = args[:2]
            batch = math.prod(a.shape[:-2]) if b.dim() > 2 else 1
            self.product(batch, a.numel() // (batch * a.shape[-1]),
                         a.shape[-1], b.shape[-1])
        elif func in (functional.conv2d, torch.conv2d):
            result = func(*args, **kwargs)
            self.product(1, result.numel() // result.shape[1],
                         args[1][0].numel(), result.shape[1], 1)
            return result
        elif func is functional.scaled_dot_product_attention:
            self.attention(*args, **kwargs)
        return func(*args, **kwargs)


def timed(call, times, warm_ups=3):
    for _ in range(warm_ups):
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(times):
        call()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - begin) / times


def random(*shape, **more):
    return torch.randn(*shape, device='cuda', dtype=torch.bfloat16, **more)


def time_product(batch, rows, inner, columns, gradients, times):
    # Rows of odd lengths are not what the hardware can do: they may be padded.
    inner, columns = (64 * math.ceil(n / 64) if n > 64 else n
                      for n in (inner, columns))
    a, b = random(batch, rows, inner), random(batch, columns, inner)
    g = random(batch, rows, columns)
    if batch == 1:
        a, b, g = a[0], b[0], g[0]

    def call():
        a @ b.mT
        g.mT @ a
        if gradients > 1:
            g @ b
    return timed(call, times)


def time_attention(q, k, causal, part, times):
    factors = [random(*shape, requires_grad=True) for shape in (q, k, k)]
    gradient = random(*q)
    best = math.inf
    for backend in BACKENDS:
        def call():
            with sdpa_kernel([backend]):
                result = functional.scaled_dot_product_attention(
                    *factors, is_causal=causal,
                    enable_gqa=q[1] != k[1])
            torch.autograd.grad(result, factors, gradient)
        try:
            best = min(best, timed(call, times))
        except RuntimeError:  # no kernel for this
            pass
    return part * best


def flops_of(key):
    """Of forward and backward, as data/flops.h counts."""
    if key[0] == 'product':
        _, batch, rows, inner, columns, gradients = key
        return 2 * batch * rows * inner * columns * (1 + gradients)
    _, q, k, causal, part = key
    return 3 * 4 * math.prod(q) * k[2] * part * (0.5 if causal else 1)


def shapes(model, size):
    """What a pass has, by one forward pass of the model."""
    config, recipe = common.catalog(model)
    config = dict(config)
    if 'vocab_size' in config:
        config['use_cache'] = False
    with torch.device('cuda'):
        made = common.build(config)
    made.train()
    recorder = Recorder()
    with torch.no_grad(), torch.autocast('cuda', dtype=torch.bfloat16), recorder:
        made(**common.make_batch(config, recipe, size))
    return recorder.found


def measure(model, size, options):
    found = shapes(model, size)
    gc.collect()
    torch.cuda.empty_cache()
    spent = dict(product=0.0, attention=0.0)
    flops, left_out = 0.0, 0
    for key, count in found.items():
        if flops_of(key) < options.least:
            left_out += count
            continue
        way = time_product if key[0] == 'product' else time_attention
        flops += count * flops_of(key)
        spent[key[0]] += count * way(*key[1:], options.times)
    whole = sum(spent.values())
    print(f'| {model} | {size} | {spent["product"]:.1f} | '
          f'{spent["attention"]:.1f} | {whole:.1f} | '
          f'{flops / whole / 1e9 if whole else 0:.0f} |', flush=True)
    print(json.dumps(dict(model=model, micro_batch=size, floor_ms=whole,
                          **spent, flops=flops, left_out=left_out,
                          gpu=torch.cuda.get_device_name())), flush=True)
    return spent['product'] > 0


def main():
    parser = common.arguments(
        __doc__.splitlines()[0], times=10, least=1e8,
        models=','.join(m for m in common.MODERN if m != 'olmoe-1b-7b'))
    options = parser.parse_args()
    warnings.filterwarnings('ignore', module='.*floor')  # why a backend refuses
    models = options.models.split(',')
    print('| model | micro-batch | products, ms | attention, ms | floor, ms | '
          'TFLOP/s |\n' + '| --- ' * 6 + '|', flush=True)
    good = [measure(model, common.SIZES[model][0], options) for model in models]
    common.conclude(good.count(False), len(good))


main()
