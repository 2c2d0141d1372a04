# SPDX-License-Identifier: Apache-2.0

"""Times PyTorch's attention at the shapes of attention-bench, the same way.

python3 attention-torch.py [--dropout P] [--repeat N]
"""

import argparse
import statistics

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

SHAPES = [
    (64, 12, 2049, 64, True, False),
    (32, 16, 2049, 64, True, False),
    (32, 8, 2049, 256, True, False),
    (8, 32, 2049, 80, True, False),
    (2, 32, 2049, 128, True, False),
    (64, 16, 512, 64, False, False),
    (256, 16, 197, 64, False, True),
    (32, 16, 2048, 64, True, False),
    (16, 16, 2048, 128, True, False),
    (16, 16, 2048, 128, False, False),
    (4, 16, 8192, 128, True, False),
]


def median_ms(call, repeat):
    for _ in range(3):
        call()
    times = []
    for _ in range(repeat):
        start = torch.cuda.Event(enable_timing=True)
        stop = torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def run(shape, backend, dropout, repeat):
    batch, heads, seq, dim, causal, fp32 = shape
    dtype = torch.float32 if fp32 else torch.bfloat16
    qkv = torch.randn(batch, seq, heads, 3, dim, device="cuda", dtype=dtype)
    q, k, v = (
        qkv[:, :, :, i].transpose(1, 2).detach().requires_grad_()
        for i in range(3)
    )
    dout = torch.randn(batch, seq, heads, dim, device="cuda", dtype=dtype)
    dout = dout.transpose(1, 2)

    def forward():
        return F.scaled_dot_product_attention(
            q, k, v, is_causal=causal, dropout_p=dropout
        )

    with sdpa_kernel(backend):
        with torch.no_grad():
            forward_ms = median_ms(forward, repeat)
        out = forward()
        backward_ms = median_ms(
            lambda: torch.autograd.grad(out, (q, k, v), dout, retain_graph=True),
            repeat,
        )
    flops = 4 * batch * heads * seq * seq * dim * (0.5 if causal else 1)
    print(
        f"{batch:3}x{heads:2}x{seq:4}x{dim:3} {'fp32' if fp32 else 'bf16'} "
        f"{'causal' if causal else 'full':7} {backend.name[:8]:8}  "
        f"fwd {forward_ms:7.3f} ms {flops / forward_ms * 1e-9:4.0f} TF  "
        f"bwd {backward_ms:7.3f} ms {2.5 * flops / backward_ms * 1e-9:4.0f} TF",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    print(torch.__version__, torch.backends.cudnn.version())
    for shape in SHAPES:
        backends = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]
        if shape[5]:
            backends = [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
        for backend in backends:
            try:
                run(shape, backend, options.dropout, options.repeat)
            except RuntimeError as error:
                print(shape, backend.name, str(error).splitlines()[0])
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
