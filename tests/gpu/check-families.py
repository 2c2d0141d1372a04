# SPDX-License-Identifier: Apache-2.0
"""Holds models of text that labs train today against PyTorch: errors of loss and
gradients of random models in every precision, by check-precision.py, then times
of forward and backward beside compiled PyTorch, by side-by-side.py, on one GPU.

Prints what those print, a heading before each, and at the end a line for each
part.  Fails where a part fails; --parts errors,times chooses.
"""

import pathlib
import subprocess
import sys

import common

HERE = pathlib.Path(__file__).parent
# Beginnings of the names of models, random ones and those of tests/golden.
FAMILIES = ('llama', 'mistral', 'qwen2', 'qwen3', 'olmo2', 'olmo3', 'smollm3',
            'gemma3', 'gpt2', 'starcoder2', 'mamba2', 'modernbert', 'esm',
            'olmoe', 'qwen3-moe', 'mixtral',
            'dino', 'vit-mae', 'dit', 'clip', 'siglip')


def run(title, program, *words):
    print(f'== {title}', flush=True)
    status = subprocess.run([sys.executable, str(HERE / program),
                             *map(str, words)], check=False).returncode
    return f'{title}: {"passed" if status == 0 else f"FAILED ({status})"}'


def main():
    parser = common.arguments(__doc__.splitlines()[0], architecture=0,
                              torch_device='cuda:0', parts='errors,times',
                              models=','.join(common.MODERN), repeat=2,
                              families=','.join(FAMILIES))
    options = parser.parse_args()
    shared = ['--bench', options.bench, '--device', options.device]
    parts = options.parts.split(',')
    results = []
    if 'errors' in parts:
        for family in options.families.split(','):
            results.append(run(
                f'errors of {family}', 'check-precision.py', *shared,
                '--only', family, '--torch-device', options.torch_device,
                '--architecture', options.architecture))
    if 'times' in parts:
        for model in options.models.split(','):
            results.append(run(f'times of {model}', 'side-by-side.py', *shared,
                               '--models', model, '--repeat', options.repeat))
    print('== in all', *results, sep='\n')
    common.conclude(sum('FAILED' in result for result in results), len(results))


main()
