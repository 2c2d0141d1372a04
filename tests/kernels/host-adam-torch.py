# SPDX-License-Identifier: Apache-2.0

"""Times PyTorch's fused AdamW on the host, to set beside bench-host-adam:
plain fp32, no 16-bit copy, 28 bytes a weight.

python3 host-adam-torch.py [--millions N] [--threads T]
"""

import argparse
import statistics
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=float, default=64)
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    n = int(arguments.millions * 1e6)
    weights = torch.nn.Parameter(torch.empty(n).uniform_(-0.02, 0.02))
    weights.grad = torch.empty(n).uniform_(-1e-3, 1e-3)
    optimizer = torch.optim.AdamW(
        [weights], lr=1e-4, betas=(0.9, 0.95), weight_decay=0.01, fused=True
    )
    times = []
    for _ in range(9):
        start = time.perf_counter()
        optimizer.step()
        times.append(time.perf_counter() - start)
    seconds = statistics.median(times[2:])
    print(
        f"torch {torch.__version__} {torch.get_num_threads()} threads: "
        f"{n / seconds * 1e-9:.3f} Gweights/s, {28 * n / seconds * 1e-9:.1f} GB/s"
    )


if __name__ == "__main__":
    main()
