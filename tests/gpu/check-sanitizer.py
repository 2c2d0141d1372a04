# SPDX-License-Identifier: Apache-2.0
"""Runs qm-bench and the kernels' tests under compute-sanitizer.

memcheck: `check` of the golden models in every precision and setting, and `run
--validate 1` of tiny configurations; racecheck, synccheck and initcheck: the
kernels' own tests, few cases of each.  Needs no PyTorch.  Prints a line for
each run; what a failed one said is in a file of the folder --logs.

cuBLASLt's products in FP8 (nvjet_...) have races of their own by racecheck, which
knows of them and not of what orders them; those are counted, not failed.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import common

GOLDEN = common.ROOT / 'tests/golden'
RUNS = {
    'gpt-neox-parallel': dict(sequence_length=19),
    'gpt-neox-sequential': dict(sequence_length=19),
    'bert': dict(sequence_length=17),
    'roberta': dict(sequence_length=17),
    'vit': dict(image_size=14),
    'convnext': dict(image_size=22),
    'mamba': dict(sequence_length=70),
    'mamba2': dict(sequence_length=70),
    'dinov2-pair-hidden': dict(image_size=16, ema_decay=0.9),
}
RECIPE = dict(batch_size=4, steps=10, optimizer='adamw', learning_rate=1e-3,
              beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.01,
              max_grad_norm=1.0)
TOOLS = ('memcheck', 'racecheck', 'synccheck', 'initcheck')
# Exit status of qm-bench, which the sanitizer hands on.
UNSUPPORTED = 5
# Programs of tests/kernels, with options that make them quick.
TESTS = (
    ('attention-test', ('--cases', '12', '--path', 'portable')),
    ('attention-test', ('--cases', '12', '--path', 'hopper')),
    ('test-cuda-rows', ('--cases', '3')),
    ('test-cuda-updates', ('--cases', '3')),
    ('test-cuda-products', ('--cases', '3')),
    ('test-cuda-scan', ('--small', '--cases', '4')),
    ('test-cuda-scaled', ('--cases', '4')),
)


def checks(options, folder):
    """(name, tool, command) of everything to run."""
    for model in RUNS:
        for precision in ('fp32', 'tf32', 'fp16', 'bf16'):
            for settings in ('naive', 'kernels', 'free-lunch'):
                name = f'check {model} {precision} {settings}'
                out = folder / (name.replace(' ', '.') + '.safetensors')
                yield name, 'memcheck', (
                    options.bench, 'check', '--config',
                    GOLDEN / f'{model}.json', '--weights',
                    GOLDEN / f'{model}.weights.safetensors', '--batch',
                    GOLDEN / f'{model}.batch.safetensors', '--precision',
                    precision, '--settings', settings, '--device',
                    options.device, '--out', out)
    for model, data in RUNS.items():
        for precision in ('fp32', 'fp16', 'bf16'):
            recipe = folder / f'{model}.{precision}.json'
            recipe.write_text(json.dumps(
                {**RECIPE, **data, 'precision': precision}))
            for settings in ('naive', 'free-lunch'):
                yield f'run {model} {precision} {settings}', 'memcheck', (
                    options.bench, 'run', '--config', GOLDEN / f'{model}.json',
                    '--recipe', recipe, '--micro-batch', 2, '--validate', 1,
                    '--settings', settings, '--device', options.device)
    for name, words in TESTS:
        program = pathlib.Path(options.kernels) / name
        for tool in TOOLS:
            yield f'{name} {words[-1]}', tool, (program, *words)


def library_races(text):
    """How many races there are, all of which are in kernels of cuBLASLt and
    nothing else was found; else 0."""
    places = re.findall(r'(?:Read|Write) access at (\w+)', text)
    failed = re.search(r'^\d+ passed, (\d+) failed$', text, re.M)
    if (not places or not failed or failed.group(1) != '0'
            or any(not place.startswith('nvjet_') for place in places)
            or len(re.findall('Error: ', text))
            != len(re.findall('Error: Race reported', text))):
        return 0
    return len(places) // 2


def run(name, tool, command, options):
    """(line, status): 0 where it is clean, UNSUPPORTED where the device has no
    kernels for the family."""
    begin = time.monotonic()
    try:
        result = subprocess.run(
            ['compute-sanitizer', '--tool', tool, '--error-exitcode', '99',
             *map(str, command)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors='replace',
            timeout=options.limit, check=False,
            env={'QUARTERMASTER_DATA_DIR': str(common.ROOT / 'data'),
                 **os.environ})
        status, text = result.returncode, result.stdout
    except subprocess.TimeoutExpired as late:
        status, text = 'too late', (late.stdout or b'').decode()
    found = [line for line in text.splitlines()
             if 'SUMMARY' in line or 'Error:' in line]
    if status == UNSUPPORTED:
        return f'-      {tool:9} {name}: not supported', status
    races = library_races(text) if tool == 'racecheck' and status == 99 else 0
    if races > 0:
        status = 0
    line = (f'{"ok    " if status == 0 else "FAILED"} {tool:9} {name}: '
            f'{found[-1].lstrip("= ") if found else "no summary"}, '
            f'{time.monotonic() - begin:.0f} s'
            + (f', {races} in cuBLASLt' if races > 0 else ''))
    if status != 0:
        log = pathlib.Path(options.logs) / f'{tool}-{name}.log'.replace(' ', '-')
        log.write_text(text)
        line += f', status {status}, see {log}'
    return line, status


def main():
    parser = common.arguments(
        __doc__.splitlines()[0], jobs=8, only='', tool='', limit=300,
        logs='.', kernels=str(common.ROOT / 'build/tests/kernels'))
    options = parser.parse_args()
    if shutil.which('compute-sanitizer') is None:
        raise SystemExit('compute-sanitizer is missing; it is in the CUDA '
                         'toolkit')
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run, *check, options)
                   for check in checks(options, pathlib.Path(folder))
                   if options.only in check[0] and options.tool in check[1]]
        statuses = []
        for future in futures:
            line, status = future.result()
            print(line, flush=True)
            statuses.append(status)
    skipped = statuses.count(UNSUPPORTED)
    common.conclude(len(statuses) - statuses.count(0) - skipped, len(statuses),
                    skipped)


main()
