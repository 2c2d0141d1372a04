# SPDX-License-Identifier: Apache-2.0
"""Runs all that needs a GPU, one part after the other, and reports.

suite.py [OPTION...] [PART...]: parts or groups of them (--list), all without.
Needs python3 and a build folder, which may have come from another machine.  A
part that cannot run here is left out, by name and with the reason; one that
does not end is ended with all that it started.  Each ends with a sum of its
checks: one without has not passed, whatever its exit status.

The folder --logs has what each part said and report.json, which is written anew
after each.  Exit status: 0 where all that ran passed, 1 where something did not,
2 for a wrong argument or no build, 77 where nothing could run, as without a GPU.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77
# A program that never stops talking must not fill the disk.
MOST_SAID = 64 << 20
SUM = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) not supported)?$', re.M)

# By group: name, about how many seconds it takes, what it needs (NEEDS), and
# the program with its words.  One of tests/kernels or tests/engine is a built
# test; one that ends in .py is here, and is told --bench and --device.  Words
# are filled in by Suite.word().
PARTS = {
    'kernels': (
        ('attention', 60, '', 'kernels/attention-test --cases 200'),
        ('attention-portable', 60, '',
         'kernels/attention-test --cases 200 --path portable'),
        ('attention-hopper', 60, 'hopper',
         'kernels/attention-test --cases 200 --path hopper'),
        ('rows', 60, '', 'kernels/test-cuda-rows'),
        ('updates', 30, '', 'kernels/test-cuda-updates'),
        ('products', 60, '', 'kernels/test-cuda-products'),
        ('products-older', 60, 'newer',
         'kernels/test-cuda-products --architecture 80'),
        ('scan', 60, '', 'kernels/test-cuda-scan'),
        ('scan-oldest', 60, 'newer', 'kernels/test-cuda-scan --architecture 75'),
        ('scaled', 60, '', 'kernels/test-cuda-scaled'),
        ('scaled-older', 30, 'newer', 'kernels/test-cuda-scaled --architecture 80'),
        ('operators', 120, '', 'kernels/compare-devices {device}'),
        ('operators-oldest', 120, 'newer',
         'kernels/compare-devices {device} --architecture 75'),
        ('communicator', 90, '', 'kernels/test-cuda-communicator'),
    ),
    'engine': (
        ('diffusion', 30, '', 'engine/test-diffusion {golden} {device}'),
        ('mae', 30, '', 'engine/test-mae {golden} {device}'),
        ('depth', 30, '', 'engine/test-depth {golden} {device}'),
        ('loss', 60, '', 'engine/test-loss {golden} {device}'),
        ('optimizers', 60, '', 'engine/test-optimizers {golden} {device}'),
        ('offload', 180, '', 'engine/test-offload {golden} {device}'),
        ('average', 60, 'several', 'engine/test-average {golden} cuda'),
        ('pairs', 60, 'several', 'engine/test-pairs {golden} cuda'),
    ),
    'bench': (
        ('deterministic', 120, '', 'check-deterministic.py'),
        ('fp8', 420, 'fp8', 'check-fp8.py'),
        ('predictions', 120, 'eighty', 'check-predictions.py'),
        ('search', 180, '', 'check-search.py'),
        ('memory', 180, 'nvidia-smi',
         'check-memory.py --architecture {architecture}'),
        ('validation', 120, 'large', 'check-validation.py'),
        ('large-vocabulary', 480, '',
         'check-loss.py --architecture {architecture}'),
        ('folder', 240, 'folder',
         'check-folder.py --folder {folder} --tests {tests}/kernels'),
        ('window', 120, 'window', 'check-window.py'),
    ),
    'sanitizer': (
        ('sanitizer', 240, 'sanitizer',
         'check-sanitizer.py --kernels {tests}/kernels --logs {logs}'),
    ),
    'ranks': tuple(
        (name, seconds, 'several', 'check-ranks.py --gpus {gpus} --tests '
         f'{{tests}} --parts {name.removeprefix("ranks-")}')
        for name, seconds in (
            ('links', 60), ('ranks-equal', 300), ('ranks-deterministic', 60),
            ('ranks-memory', 120), ('halves', 60), ('kills', 120))),
    'pytorch': (
        ('precision', 480, 'torch', 'check-precision.py'),
        ('training', 360, 'torch', 'check-training.py'),
        ('fp8-torch', 120, 'torch fp8', 'check-fp8-torch.py'),
        ('side-by-side', 360, 'torch large',
         'side-by-side.py --logs {logs}'),
        ('families', 600, 'torch large', 'check-families.py --parts times'),
        ('side-by-side-ranks', 540, 'torch large several',
         'side-by-side-ranks.py --gpus {gpus} --python {python}'),
        ('floor', 120, 'torch large', 'floor.py'),
        ('exports', 600, 'torch accelerate several',
         'run-exports.py --gpus {gpus}'),
    ),
}


def modules(*names):
    """Those of Python's that are not there."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def missing(*programs):
    return [name for name in programs if shutil.which(name) is None]


# For each need, why it is not met: nothing where it is.
NEEDS = {
    'several': lambda suite: suite.gpus < 2 and 'there is one GPU',
    'hopper': lambda suite: suite.gpu.get('architecture') != 90
    and "is for Hopper's kernels",
    'newer': lambda suite: suite.gpu.get('architecture', 0) <= 80
    and "has no kernels but those of its own",
    'fp8': lambda suite: suite.gpu.get('architecture', 0) < 89
    and 'has no FP8',
    'eighty': lambda suite: suite.gpu.get('memory_bytes', 0) < 75e9
    and 'needs a GPU of 80 GB',
    'large': lambda suite: suite.gpu.get('memory_bytes', 0) < 130e9
    and 'needs a GPU of 140 GB',
    'nvidia-smi': lambda suite: missing('nvidia-smi'),
    'sanitizer': lambda suite: missing('compute-sanitizer'),
    'torch': lambda suite: modules('torch', 'transformers', 'safetensors',
                                   'numpy'),
    'accelerate': lambda suite: modules('accelerate'),
    'folder': lambda suite: not suite.options.folder
    and 'no folder of tests/ui/write-folder is named (--folder)',
    'window': lambda suite: missing('xvfb-run', 'dbus-run-session')
    or modules('gi') or suite.unbuilt('app/quartermaster'),
}


class Suite:

    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build).resolve()
        self.logs = pathlib.Path(options.logs or self.build / 'gpu-suite')
        self.logs = self.logs.resolve()
        self.bench = self.build / 'app/qm-bench'
        self.begin = time.monotonic()
        self.devices, self.gpus, self.gpu = [], 0, {}
        self.parts = []
        self.environment = {
            'QUARTERMASTER_DATA_DIR': str(ROOT / 'data'),
            'QM_TEST_DATA_DIR': str(ROOT / 'data'), 'PYTHONUNBUFFERED': '1',
            **os.environ}

    def find_gpus(self):
        """Why there is none, or nothing."""
        result = subprocess.run(
            [str(self.bench), 'devices', '--json'], capture_output=True,
            text=True, errors='replace', check=False, timeout=120,
            env=self.environment)
        for line in result.stdout.splitlines():
            self.devices.append(json.loads(line))
        if result.returncode != 0 or not all(
                isinstance(line, dict) and 'id' in line
                for line in self.devices):
            raise ValueError(f'status {result.returncode}, '
                             f'{result.stderr.strip()[-300:]}')
        usable = [line for line in self.devices
                  if 'architecture' in line and line.get('usable')]
        self.gpus = len(usable)
        for line in usable:
            if line['id'] == self.options.device:
                self.gpu = line
        troubles = [f'{line["id"]}: {line["trouble"]}' for line in self.devices
                    if line.get('trouble')]
        return '' if self.gpu else '; '.join(troubles) or (
            f'there is no {self.options.device}' if usable else
            result.stderr.strip())

    def unbuilt(self, name):
        return [] if os.access(self.build / name, os.X_OK) else [
            str(self.build / name)]

    def word(self, word):
        # Rooms for collectives come in powers of two, tests' for up to eight.
        gpus = next(n for n in (8, 4, 2, 1) if n <= max(self.gpus, 1))
        return word.format(
            device=self.options.device, golden=ROOT / 'tests/golden',
            tests=self.build / 'tests', logs=self.logs, gpus=gpus,
            architecture=self.gpu['architecture'], folder=self.options.folder,
            python=sys.executable)

    def command(self, words):
        """What to run."""
        program, *words = words.split()
        words = [self.word(word) for word in words]
        if not program.endswith('.py'):
            return [str(self.build / 'tests' / program), *words]
        told = ['--bench', str(self.bench)]
        if program == 'check-window.py':
            return [str(ROOT / 'tests/with-display.sh'), sys.executable,
                    str(HERE / program), *told, '--program',
                    str(self.build / 'app/quartermaster'), '--logs',
                    str(self.logs)]
        return [sys.executable, str(HERE / program), *told, '--device',
                self.options.device, *words]

    def why_not(self, needs, command, seconds):
        """Why a part cannot run, or nothing."""
        for need in needs.split():
            lacks = NEEDS[need](self)
            if lacks:
                return lacks if isinstance(lacks, str) else (
                    f'missing: {", ".join(lacks)}')
        if not os.access(command[0], os.X_OK):
            return f'not built: {command[0]}'
        left = self.left()
        if left < seconds:
            return (f'takes about {seconds} s, and {max(left, 0):.0f} are left '
                    'of the budget')
        return ''

    def left(self):
        return (self.options.budget - (time.monotonic() - self.begin)
                if self.options.budget else float('inf'))

    def run(self, name, seconds, needs, words):
        command = self.command(words)
        part = {'name': name, 'command': command, 'result': 'skipped',
                'why': self.why_not(needs, command, seconds), 'passed': None,
                'failed': None, 'not_supported': None, 'seconds': 0.0}
        self.parts.append(part)
        if part['why']:
            return part
        part['log'] = str(self.logs / f'{name}.log')
        limit = min(self.options.limit or 3 * seconds + 60, self.left())
        begin = time.monotonic()
        try:
            status, ended = self.execute(command, part['log'], limit)
        finally:
            part['seconds'] = round(time.monotonic() - begin, 1)
        judge(part, status, ended)
        return part

    def execute(self, command, log, limit):
        """Exit status, and why it had to be ended, or nothing."""
        begin = time.monotonic()
        # No pipe: a process that is left would keep it open.
        with tempfile.TemporaryDirectory(
                ignore_cleanup_errors=True) as scratch, \
                open(log, 'wb') as said:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                cwd=scratch, env=self.environment, start_new_session=True)
            ended = ''
            try:
                while process.poll() is None and not ended:
                    time.sleep(0.05)
                    if time.monotonic() - begin > limit:
                        ended = f'no end after {limit:.0f} s'
                    elif os.path.getsize(log) > MOST_SAID:
                        ended = f'said more than {MOST_SAID >> 20} MiB'
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        return process.returncode, ended

    def write(self, complete):
        results = [part['result'] for part in self.parts]
        ran = [result for result in results if result != 'skipped']
        report = {
            'complete': complete,
            'result': 'nothing ran' if not ran
            else 'passed' if set(ran) == {'passed'} else 'failed',
            'time': datetime.datetime.now(datetime.timezone.utc)
            .isoformat(timespec='seconds'),
            'seconds': round(time.monotonic() - self.begin, 1),
            'devices': self.devices, 'parts': self.parts}
        path = self.logs / 'report.json'
        beside = path.with_suffix('.new')
        beside.write_text(json.dumps(report, indent=1) + '\n')
        beside.replace(path)
        return report


def judge(part, status, ended):
    """What came of a part, by how it ended and by its sum."""
    with open(part['log'], 'rb') as file:
        file.seek(max(0, os.path.getsize(part['log']) - (1 << 20)))
        text = file.read().decode(errors='replace')
    sums = SUM.findall(text)
    if sums:
        part['passed'], part['failed'], part['not_supported'] = (
            int(number or 0) for number in sums[-1])
    part['status'] = status
    part['result'] = 'failed'
    if ended:
        part['why'] = ended
    elif status == SKIPPED:
        part['result'] = 'skipped'
        part['why'] = (text.strip().splitlines() or ['it says so'])[-1][:200]
    elif status < 0:
        part['result'] = 'crashed'
        part['why'] = signal.strsignal(-status) or f'signal {-status}'
    elif status != 0:
        part['why'] = '' if part['failed'] else f'exit status {status}'
    elif not sums:
        part['why'] = 'there is no sum of its checks'
    elif part['failed']:
        part['why'] = 'checks failed, and the exit status is 0'
    elif not part['passed']:
        part['why'] = 'nothing was checked'
    else:
        part['result'] = 'passed'


def line(part):
    """One of the report."""
    checks = ('' if part['passed'] is None else
              f'{part["passed"]} passed, {part["failed"]} failed')
    if part['not_supported']:
        checks += f', {part["not_supported"]} not supported'
    words = '; '.join(word for word in (checks, part['why']) if word)
    return (f'{part["result"]:8} {part["name"]:20} {part["seconds"]:6.0f} s  '
            f'{words}')


def chosen(names):
    """(name, seconds, needs, words) of these parts and groups, all without."""
    every = [part for group in PARTS.values() for part in group]
    known = {*PARTS, *(part[0] for part in every)}
    for name in names:
        if name not in known:
            raise ValueError(f'there is no part "{name}", but: '
                             f'{" ".join(sorted(known))}')
    return [part for group, parts in PARTS.items() for part in parts
            if not names or group in names or part[0] in names]


def interrupted(number, _):
    raise KeyboardInterrupt(number)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('parts', nargs='*', metavar='PART')
    parser.add_argument('--list', action='store_true',
                        help='the parts, group by group, and end')
    parser.add_argument('--build', default=ROOT / 'build',
                        help='the build folder (build)')
    parser.add_argument('--device', default='cuda:0', help='(cuda:0)')
    parser.add_argument('--budget', type=float, default=0,
                        help='seconds for all; a part that would not end in '
                        'time is left out')
    parser.add_argument('--limit', type=float, default=0,
                        help='seconds for each part, instead of thrice what it '
                        'is known to take')
    parser.add_argument('--folder', default='',
                        help='what tests/ui/write-folder wrote, for the part '
                        'folder')
    parser.add_argument('--logs', default='',
                        help='where logs and report.json go '
                        '(gpu-suite of the build folder)')
    return parser


def main():
    parser = arguments()
    options = parser.parse_args()
    try:
        parts = chosen(options.parts)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        for group, of_group in PARTS.items():
            for name, seconds, needs, words in of_group:
                print(f'{group:10} {name:20} {seconds:4} s  {words.split()[0]}'
                      + (f'  ({needs})' if needs else ''))
        return 0
    # The toolkit is where it is installed, mostly beside the path.
    os.environ['PATH'] = os.environ.get('PATH', '') + ':/usr/local/cuda/bin'
    suite = Suite(options)
    if suite.unbuilt('app/qm-bench'):
        parser.error(f'{suite.bench} is not built')
    try:
        nothing = suite.find_gpus()
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f'{suite.bench} does not tell which devices there are: {error}',
              file=sys.stderr)
        return 1
    if not suite.gpu:
        print(f'There is no GPU to use here: {nothing}')
        return SKIPPED
    suite.logs.mkdir(parents=True, exist_ok=True)
    for gpu in suite.devices:
        print(f'{gpu["id"]:8} {gpu.get("name", "")}')
    return run_all(suite, parts)


def run_all(suite, parts):
    """Exit status."""
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    suite.write(False)
    complete = False
    try:
        for part in parts:
            print(line(suite.run(*part)), flush=True)
            suite.write(False)
        complete = True
    except KeyboardInterrupt:
        suite.parts[-1].update(result='failed', why='interrupted')
    report = suite.write(complete)
    bad = [part for part in suite.parts
           if part['result'] not in ('passed', 'skipped')]
    for part in bad:
        if 'log' in part:
            text = pathlib.Path(part['log']).read_text(errors='replace')
            print(f'== {part["name"]}: the end of {part["log"]}',
                  *text.splitlines()[-12:], sep='\n')
    print('== report', *map(line, suite.parts), sep='\n')
    counts = {name: sum(part['result'] == name for part in suite.parts)
              for name in ('passed', 'failed', 'crashed', 'skipped')}
    print(', '.join(f'{count} {name}' for name, count in counts.items())
          + f' of {len(parts)} parts in {report["seconds"]:.0f} s; '
          f'{suite.logs / "report.json"}')
    if bad or not complete:
        return 1
    return SKIPPED if report['result'] == 'nothing ran' else 0


if __name__ == '__main__':
    sys.exit(main())
