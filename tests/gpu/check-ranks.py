# SPDX-License-Identifier: Apache-2.0
"""What several GPUs of one machine do together.

  equal          every family (--families: some, joined by commas) and way of
                 sharding trains as one GPU does, each rank with a GPU of its own,
                 through NCCL and through the host (--places; cpu needs no GPU)
  memory         what every GPU uses is within 1 % of the plan, and whole steps
                 take within 2 % of what is extrapolated from passes, for each
                 way of sharding, with and without offloading
  deterministic  two runs with --deterministic give the same bits
  links          an all-reduce of 256 MiB takes within 5 % of what NCCL's own
                 test (--nccl-tests, all_reduce_perf) says
  halves         two processes that have half of the GPUs each, and may use
                 neither peer access nor shared memory
  kills          a search whose processes are killed leaves nothing running, and
                 a file with which the same command goes on

Nothing else may use the GPUs meanwhile.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import common

WAYS = ('none', 'zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3')
GOLDEN = common.ROOT / 'tests/golden'


def say(part, name, good, text):
    print(f'{part:14} {name:24} {"ok    " if good else "FAILED"} {text}',
          flush=True)
    return bool(good)


def equal(options):
    """Each family in a process of its own, several at a time."""
    programs = pathlib.Path(options.tests) / 'engine'
    listed = dict(line.split() for line in subprocess.run(
        [programs / 'test-ranks', GOLDEN, '--list'], capture_output=True,
        text=True, check=True).stdout.splitlines())
    asked = options.families.split(',') if options.families else listed
    for family in sorted(set(asked) - set(listed)):
        yield say('equal', family, False, 'there is no such family')

    def one(case):
        place, family = case
        begin = time.monotonic()
        try:
            result = subprocess.run(
                [programs / listed[family], GOLDEN, place, family],
                capture_output=True, text=True, check=False,
                timeout=options.limit)
            status, lines = result.returncode, result.stdout.splitlines()
        except subprocess.TimeoutExpired:
            status, lines = 'no end', ['']
        last = [line for line in lines if 'checks' in line][-1:] or lines[-1:]
        return say('equal', f'{place} {family}', status == 0,
                   f'{status} {"".join(last)}, '
                   f'{time.monotonic() - begin:.0f} s')

    cases = [(place, family) for place in options.places.split(',')
             for family in asked if family in listed]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(one, cases)


def small(options, folder, batch, layers=0):
    """A model of the catalog with another batch, in files."""
    config, recipe = common.catalog(options.model)
    recipe['batch_size'] = batch
    if layers > 0:
        config['num_hidden_layers'] = layers
    (folder / 'config.json').write_text(json.dumps(config))
    (folder / 'recipe.json').write_text(json.dumps(recipe))
    return ('--config', folder / 'config.json', '--recipe',
            folder / 'recipe.json', '--gpus', options.gpus)


def memory(options, folder):
    # Steps of a second and more: shorter ones are over before clocks settle.
    words = small(options, folder, 64 * options.gpus)
    for way in WAYS:
        for offload in (False, True) if way != 'none' else (False,):
            status, lines, message = common.bench(
                options.bench, 'run', *words, '--micro-batch', 4, '--sharding',
                way, *(('--offload', way) if offload else ()), '--validate', 2,
                '--json')
            name = way + (', offloading' if offload else '')
            if status != 0:
                yield say('memory', name, False, f'{status} {message}')
                continue
            said = lines[-1]
            off = [rank['memory_use']['difference_percent']
                   for rank in said['ranks']]
            steps = said['validated_difference_percent']
            good = (all(value is not None and abs(value) <= 1 for value in off)
                    and abs(steps) <= 2)
            yield say('memory', name, good,
                      f'memory {", ".join(f"{value:+.2f}" for value in off)} %,'
                      f' whole steps {steps:+.2f} %, step '
                      f'{said["step"]["mean_s"] * 1e3:.1f} ms')


def deterministic(options, folder):
    words = small(options, folder, 8 * options.gpus, layers=2)
    for way in WAYS:
        seen = []
        for _ in range(2):
            status, lines, message = common.bench(
                options.bench, 'run', *words, '--micro-batch', 2, '--sharding',
                way, '--validate', 3, '--deterministic', '--json')
            seen.append(lines[-1]['loss_hex'] if status == 0
                        else f'{status} {message}')
        yield say('deterministic', way,
                  seen[0] == seen[1] and seen[0].startswith('0x'),
                  ' '.join(seen))


def links(options):
    status, lines, message = common.bench(options.bench, 'links', '--gpus',
                                          options.gpus, '--json')
    if status != 0:
        yield say('links', '', False, f'{status} {message}')
        return
    for name, rows in lines[-1]['collectives'].items():
        rates = [row['bus_gbs'] for row in rows]
        yield say('links', name, rates and all(rates), ', '.join(
            f'{row["bytes"] >> 10} KiB {row["bus_gbs"]:.1f}' for row in rows)
            + ' GB/s')
    if not options.nccl_tests:
        return
    ours = [row for row in lines[-1]['collectives']['all_reduce']
            if row['bytes'] == 256 << 20][0]
    text = subprocess.run(
        [options.nccl_tests, '-b', '256M', '-e', '256M', '-g',
         str(options.gpus), '-d', 'float', '-n', '50', '-w', '10', '-c', '0'],
        capture_output=True, text=True, check=False, timeout=120).stdout
    rows = re.findall(r'^ +268435456 .*$', text, re.M)
    numbers = rows[0].split() if rows else []
    # size count type redop root, out of place time algbw busbw, in place
    theirs = [float(word) for word in numbers if re.fullmatch(r'[\d.]+', word)]
    if len(theirs) < 8:
        yield say('links', 'all_reduce_perf', False, text[-500:])
        return
    # Ours is in place.
    yield say('links', '256 MiB', ours['seconds'] * 1e6 <= 1.05 * theirs[-3],
              f'ours {ours["seconds"] * 1e6:.1f} us, theirs ' + rows[0])


def halves(options):
    with socket.create_server(('127.0.0.1', 0)) as server:
        place = f'127.0.0.1:{server.getsockname()[1]}'
    half = options.gpus // 2
    environment = {'QUARTERMASTER_DATA_DIR': str(common.ROOT / 'data'),
                   **os.environ, 'NCCL_P2P_DISABLE': '1',
                   'NCCL_SHM_DISABLE': '1'}
    for way in ('none', 'fsdp_3'):
        processes = [subprocess.Popen(
            [str(options.bench), 'run', '--model', options.model,
             '--micro-batch', '4', '--sharding', way, '--nodes', '2', '--node',
             str(node), '--rendezvous', place, '--gpus', str(half), '--device',
             ','.join(f'cuda:{node * half + i}' for i in range(half)),
             '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment) for node in range(2)]
        said = [process.communicate(timeout=options.limit)
                for process in processes]
        good = all(process.returncode == 0 for process in processes)
        text = ' '.join(error.strip() for _, error in said)
        if good:
            line = json.loads(said[0][0])
            text = (f'{line["gpus"]} GPUs of {line["nodes"]} processes through '
                    f'{line["transport"]} {line.get("nccl")}, last pass '
                    f'{line["last_pass"]["mean_s"] * 1e3:.1f} ms of '
                    f'{line["pass"]["mean_s"] * 1e3:.1f}')
        yield say('halves', way, good, text)


def below(pid):
    """Processes that descend from one."""
    table = {}
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / 'stat').read_text().rsplit(')', 1)[1].split()
            except OSError:
                continue
            if stat[0] != 'Z':
                table.setdefault(int(stat[1]), []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        found += (more := table.get(todo.pop(), []))
        todo += more
    return found


def strike(process, turn):
    """Ends it or one below; all that lived, and which was struck."""
    while True:
        living = [process.pid, *below(process.pid)]
        victim = living[turn % len(living)]
        try:
            os.kill(victim, signal.SIGKILL)
            return living, victim
        except ProcessLookupError:
            pass  # It came to its own end: one of those that are there now.


def kills(options, folder):
    draw = random.Random(5)
    results = folder / 'results.jsonl'
    command = [str(options.bench), 'search', *map(str, small(
        options, folder, 16 * options.gpus, layers=2)), '--results',
        str(results), '--no-cut', '--time-limit', options.time_limit]
    environment = {'QUARTERMASTER_DATA_DIR': str(common.ROOT / 'data'),
                   **os.environ}
    kept = 0
    for i in range(options.kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment)
        time.sleep(0.3 + 3 * draw.random())
        living, victim = strike(process, i)
        begin = time.monotonic()
        if victim == living[0]:
            process.wait()
        else:
            time.sleep(0.5)  # it may go on with a new one, and is ended
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)
        left = living
        while left and time.monotonic() - begin < 10:
            time.sleep(0.05)
            left = [pid for pid in living
                    if pathlib.Path(f'/proc/{pid}/exe').exists()]
        lines = (results.read_text().splitlines() if results.exists() else [])
        good = not left and len(lines) >= kept
        for line in lines:
            json.loads(line)
        kept = len(lines)
        yield say('kills', f'{i} of {len(living)}', good,
                  f'left {left}, {kept} results')
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False,
                            env=environment).returncode
    lines = results.read_text().splitlines() if results.exists() else []
    yield say('kills', 'the same command', status == 0 and len(lines) > kept,
              f'{status}, {len(lines)} results')


def main():
    parser = common.arguments(
        __doc__.splitlines()[0], gpus=2, model='pythia-410m', kills=20,
        time_limit='60s', places='cuda,cuda-host',
        limit=300, jobs=6, nccl_tests='', tests=str(common.ROOT / 'build/tests'),
        families='',
        parts='links,memory,deterministic,halves,kills,equal')
    options = parser.parse_args()
    results = []
    for part in options.parts.split(','):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            arguments = ((options, pathlib.Path(folder))
                         if part in ('memory', 'deterministic', 'kills')
                         else (options,))
            results += list(globals()[part](*arguments))
        print(f'{part}: {time.monotonic() - begin:.0f} s', file=sys.stderr,
              flush=True)
    common.conclude(results.count(False), len(results))


main()
