# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/suite.py over a build of stand-ins: what passes, fails, hangs,
crashes, says nothing or too little is told apart; what cannot run is left out
with its reason; and it knows every program that needs a GPU."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import project

ROOT = pathlib.Path(project.ROOT)
SUITE = ROOT / 'tests/gpu/suite.py'
GPU = {'id': 'cuda:0', 'name': 'A GPU', 'architecture': 90, 'usable': True,
       'memory_bytes': 80 << 30}
CPU = {'id': 'cpu', 'name': 'A processor', 'usable': True}
# What tests/gpu has besides programs of parts.
HELPERS = {'suite.py', 'common.py', 'torch-pass.py'}

problems = []
looked_at = 0


def hold(good, what):
    global looked_at
    looked_at += 1
    if not good:
        problems.append(what)


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\n' + text + '\n')
    path.chmod(0o755)


def devices(build, *lines, status=0):
    text = '\n'.join(line if isinstance(line, str) else json.dumps(line)
                     for line in lines)
    program(build / 'app/qm-bench',
            f"cat <<'END'\n{text}\nEND\necho no driver >&2\nexit {status}")


def run(build, *words):
    """Status, report or None, and all that was said."""
    logs = build / 'logs'
    (logs / 'report.json').unlink(missing_ok=True)
    answer = subprocess.run(
        [sys.executable, str(SUITE), '--build', str(build), '--logs',
         str(logs), *words], capture_output=True, text=True, check=False,
        timeout=120)
    report = logs / 'report.json'
    return (answer.returncode,
            json.loads(report.read_text()) if report.exists() else None,
            answer.stdout + answer.stderr)


def ends(build):
    """Every way in which a program can end."""
    kernels = build / 'tests/kernels'
    program(kernels / 'test-cuda-rows', 'echo 12 passed, 0 failed')
    program(kernels / 'test-cuda-scan',
            'echo "9 passed, 0 failed, 3 not supported"')
    program(kernels / 'test-cuda-products',
            'echo a line of it; echo 11 passed, 1 failed; exit 1')
    program(kernels / 'test-cuda-updates', 'kill -SEGV $$')
    program(kernels / 'attention-test', r"printf '\377\0\1 passed'")
    program(kernels / 'compare-devices', 'echo no GPU of this kind; exit 77')
    program(kernels / 'test-cuda-communicator',
            f'sleep 600 & echo $! >{build}/left; echo begun; wait')
    engine = build / 'tests/engine'
    program(engine / 'test-mae', 'echo 0 passed, 0 failed')
    program(engine / 'test-loss', 'echo 1 passed, 2 failed')
    program(engine / 'test-diffusion', 'echo 5 passed, 0 failed; exit 3')
    program(engine / 'test-average', 'echo 5 passed, 0 failed')
    status, report, said = run(build, '--limit', '3', 'rows', 'scan',
                               'products', 'updates', 'attention', 'operators',
                               'communicator', 'engine')
    parts = {part['name']: part for part in report['parts']}
    for name, result, word in (
            ('rows', 'passed', ''), ('scan', 'passed', ''),
            ('products', 'failed', ''), ('updates', 'crashed', 'egmentation'),
            ('attention', 'failed', 'no sum'),
            ('operators', 'skipped', 'no GPU of this kind'),
            ('communicator', 'failed', 'no end after 3 s'),
            ('mae', 'failed', 'nothing was checked'),
            ('loss', 'failed', 'exit status is 0'),
            ('diffusion', 'failed', 'exit status 3'),
            ('average', 'skipped', 'one GPU'),
            ('offload', 'skipped', 'not built')):
        part = parts[name]
        hold(part['result'] == result and word in part['why'],
             f'{name} is told as {part}')
        hold(name in said.split('== report')[1], f'{name} is not in the text')
    hold([parts['scan'][key] for key in ('passed', 'failed', 'not_supported')]
         == [9, 0, 3], f'checks are not counted: {parts["scan"]}')
    hold((status, report['complete'], report['result'])
         == (1, True, 'failed'), f'{status} where parts failed: {report}')
    hold('a line of it' in said, 'what a failed part said is not shown')
    hold(3 <= parts['communicator']['seconds'] < 30,
         f'time of what hangs: {parts["communicator"]["seconds"]}')
    left = int((build / 'left').read_text())
    stat = pathlib.Path(f'/proc/{left}/stat')
    hold(not stat.exists() or stat.read_text().rsplit(')', 1)[1].split()[0]
         == 'Z', 'what a part started runs on after its time')


def choices(build):
    status, report, _ = run(build, 'rows', 'average', 'attention-hopper',
                            '--limit', '1')
    hold(status == 1 and len(report['parts']) == 3, 'parts cannot be chosen')
    status, report, _ = run(build, 'rows', 'average', 'offload')
    hold((status, report['result']) == (0, 'passed'),
         f'{status} where all that ran passed: {report}')
    status, report, _ = run(build, 'offload')
    hold((status, report['result']) == (77, 'nothing ran'),
         f'{status} where nothing ran')
    status, report, _ = run(build, '--budget', '40', 'rows', 'updates')
    hold([part['result'] for part in report['parts']] == ['skipped', 'crashed']
         and 'of the budget' in report['parts'][0]['why'],
         f'a budget is not kept: {report}')
    status, report, said = run(build, 'no-such-part')
    hold(status == 2 and report is None and 'no-such-part' in said,
         f'{status} for a part that there is not')
    devices(build, CPU, GPU, {**GPU, 'id': 'cuda:1'})
    status, report, _ = run(build, 'average')
    hold(status == 0, f'with two GPUs: {report}')
    devices(build, CPU, {**GPU, 'architecture': 80})
    status, report, _ = run(build, 'attention-hopper', 'products-older')
    hold(status == 77 and all(part['why'] for part in report['parts']),
         f'kernels of another GPU: {report}')


def interrupted(build):
    """A report is left."""
    process = subprocess.Popen(
        [sys.executable, str(SUITE), '--build', str(build), '--logs',
         str(build / 'logs'), 'rows', 'communicator'],
        stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    for text in process.stdout:
        if ' rows ' in text:
            break
    while not (build / 'logs/communicator.log').exists():
        time.sleep(0.02)
    process.terminate()
    process.communicate(timeout=60)
    report = json.loads((build / 'logs/report.json').read_text())
    hold(process.returncode == 1 and not report['complete']
         and [part['why'] for part in report['parts']] == ['', 'interrupted'],
         f'{process.returncode} where it was interrupted: {report}')


def absent(build):
    """No GPU, one that is no use, no qm-bench or one that is broken."""
    for lines, word in (((CPU,), 'no driver'),
                        ((CPU, {**GPU, 'usable': False,
                                'trouble': 'it is in use'}), 'it is in use'),
                        ((CPU, {**GPU, 'id': 'cuda:1'}), 'no cuda:0')):
        devices(build, *lines)
        status, report, said = run(build, 'rows')
        hold(status == 77 and report is None and word in said,
             f'{status} without a GPU: {said}')
    for lines, status in ((('no JSON',), 0), (('[1]',), 0), ((CPU, GPU), 4)):
        devices(build, *lines, status=status)
        status, report, said = run(build, 'rows')
        hold(status == 1 and report is None and 'Traceback' not in said,
             f'{status} where qm-bench says {lines}: {said}')
    (build / 'app/qm-bench').unlink()
    status, report, said = run(build, 'rows')
    hold(status == 2 and 'not built' in said, f'{status} without a build')


def registered():
    """Every program is a part, every part has its source, README names it."""
    listed = subprocess.run(
        [sys.executable, str(SUITE), '--list'], capture_output=True, text=True,
        check=True).stdout.splitlines()
    rows = [line.split() for line in listed]
    programs = {row[4] for row in rows}
    here = {path.name for path in (ROOT / 'tests/gpu').glob('*.py')}
    hold(here - HELPERS == {name for name in programs if name.endswith('.py')},
         f'not in the suite: {here - HELPERS - programs}')
    for name in programs:
        hold(name.endswith('.py') or (ROOT / 'tests' / f'{name}.c').exists(),
             f'{name} has no source')
    readme = project.read('tests/gpu/README.md')
    for group in {row[0] for row in rows}:
        hold(f'`{group}`' in readme, f'README does not name the group {group}')
    names = [row[1] for row in rows]
    hold(len(set(names)) == len(names), 'two parts have one name')


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(os.path.realpath(folder))
    devices(place, CPU, GPU)
    ends(place)
    choices(place)
    (place / 'logs/communicator.log').unlink(missing_ok=True)
    devices(place, CPU, GPU)
    interrupted(place)
    absent(place)
registered()
project.conclude(problems, looked_at)
