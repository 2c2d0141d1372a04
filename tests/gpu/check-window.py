# SPDX-License-Identifier: Apache-2.0
"""Drives the window on a machine with a GPU, through accessibility: what is here
is told before anything runs; a benchmark of a model ends with its results in the
advice; one whose qm-bench is killed goes on without measuring anything twice;
and nothing is left on the GPU when the window closes in the midst of one.

Needs a display, a session bus and AT-SPI: tests/with-display.sh.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'tests/ui'))
import driver  # noqa: E402


class Check:

    def __init__(self, options, home):
        self.options = options
        self.home = pathlib.Path(home)
        self.begin = time.monotonic()
        self.failed = self.told = 0
        _, _, self.gpu = self.ask_gpu('index,uuid,name')[0]
        folder = self.home / 'config/glib-2.0/settings'
        folder.mkdir(parents=True)
        (folder / 'keyfile').write_text(
            '[org/quartermaster/Quartermaster]\n'
            "bench-models=@as []\nbench-methods='all'\n")

    def ask_gpu(self, what, about='gpu'):
        text = subprocess.run(
            ['nvidia-smi', f'--query-{about}={what}', '--format=csv,noheader'],
            capture_output=True, text=True, check=True).stdout
        return [line.split(', ') for line in text.splitlines()]

    def say(self, text, good=True):
        self.failed += not good
        self.told += 1
        print(f'{time.monotonic() - self.begin:6.1f} s '
              f'{"" if good else "FAILED "}{text}', flush=True)

    def picture(self, name):
        """The screen into a file, by whatever command does that here."""
        if self.options.picture:
            path = pathlib.Path(self.options.logs) / name
            subprocess.run(self.options.picture.format(path), shell=True,
                           check=False)

    def start(self):
        self.program = driver.Program(
            self.options.program, home=str(self.home),
            environment={'QUARTERMASTER_BENCH': self.options.bench})
        self.root = self.program.root
        driver.wait_for(self.focus, 'the keyboard in the window')
        driver.press_keys('alt+3')

    def focus(self):
        driver.press_keys('Tab')
        return self.root.focused()

    def choose(self, model):
        check = self.root.find('check box', model)
        if not check.checked:
            self.root.tab_to('check box', model)
            driver.press_keys('space')
            driver.wait_for(lambda: check.checked, f'{model} chosen')

    def results(self):
        return [json.loads(line)
                for path in self.home.glob('data/quartermaster/**/*.jsonl')
                for line in path.read_text().splitlines()]

    def on_gpu(self):
        """Processes on a GPU; in a container nvidia-smi may see none."""
        return self.ask_gpu('pid', 'compute-apps')

    def benches(self):
        found = []
        for entry in pathlib.Path('/proc').iterdir():
            try:
                words = (entry / 'cmdline').read_bytes().split(b'\0')
                state = (entry / 'stat').read_text().rsplit(')', 1)[1].split()
            except (OSError, IndexError):
                continue
            if (words[0].endswith(b'qm-bench') and state[0] != 'Z'):
                found.append((int(entry.name), int(state[1])))
        return found

    def see_machine(self):
        self.root.find(None, contains=self.gpu)
        self.say(f'the page tells of {self.gpu}')
        self.root.find('label', contains='Fits')
        fits = self.root.all('label', contains='Fits')
        self.say(f'{len(fits)} models fit by prediction')
        self.picture('1-machine')

    def begin_benchmark(self, model):
        self.choose(model)
        guess = self.root.find('label', contains='predicted to take about')
        self.say(f'{model}: {guess.name}')
        driver.press_keys('ctrl+Return')
        self.root.find(None, 'Measuring')

    def wait_results(self, count, patience):
        driver.wait_for(lambda: len(self.results()) >= count or None,
                        f'{count} results', patience)

    def see_run(self):
        labels = [node.name for node in self.root.all('label')
                  if re.search(r'\d °C|\d W', node.name)]
        self.say(f'while it runs: {labels}', bool(labels))
        self.picture('2-running')

    def kill_and_continue(self):
        ours = self.program.process.pid
        child = driver.wait_for(
            lambda: next((pid for pid, parent in self.benches()
                          if parent == ours), None), 'qm-bench')
        os.kill(child, signal.SIGKILL)
        self.root.find(None, 'The benchmark stopped', patience=60)
        why = self.root.find('label', contains='killed')
        self.say(f'qm-bench killed: {why.name}')
        self.picture('3-killed')
        driver.wait_for(lambda: not self.benches(), 'that no child is left')
        self.root.find('push button', 'Continue').press()
        self.root.find(None, 'Measuring')

    def see_end(self):
        self.root.find(None, 'The benchmark is done', patience=240)
        results = self.results()
        keys = {(line['settings'], line['checkpointing'], line['sharding'],
                 line['micro_batch']) for line in results}
        self.say(f'done: {len(results)} results', len(keys) == len(results))
        measured = [line for line in results if line['status'] == 'measured']
        best = min(measured, key=lambda line: line['days'])
        self.say(f'best: {best["days"]:.3f} days, {best["settings"]}, '
                 f'micro-batch {best["micro_batch"]}, {best["device"]}')
        self.picture('4-done')

    def see_advice(self):
        driver.press_keys('ctrl+g')
        self.root.find('panel', 'Recommendation')
        row = driver.wait_for(
            lambda: next((row for row in self.root.all('table row')
                          if 'his machine' in row.name
                          and row.has(driver.Atspi.StateType.SELECTED)), None),
            'this machine selected in the table')
        self.say(f'in the advice: {row.name}')
        self.picture('5-advice')
        driver.press_keys('alt+3')

    def close_in_the_midst(self):
        known = len(self.results())
        self.begin_benchmark(self.options.second)
        self.wait_results(known + 1, 120)
        driver.press_keys('ctrl+w')
        self.root.find('push button', contains='Stop and Close')
        self.picture('6-closing')
        self.root.find('push button', contains='Stop and Close').press()
        self.program.wait()
        left = self.benches() + self.on_gpu()
        self.say(f'closed in the midst of {self.options.second}: '
                 f'{len(left)} processes left', not left)

    def run(self):
        try:
            self.start()
            self.see_machine()
            self.begin_benchmark(self.options.model)
            self.wait_results(3, 120)
            self.see_run()
            self.kill_and_continue()
            self.see_end()
            self.see_advice()
            self.close_in_the_midst()
        except Exception as error:
            self.say(f'{type(error).__name__}: {error}', False)
            self.picture('failed')
            print('\n'.join(self.program.root.dump()), file=sys.stderr)
        self.program.close()
        for line in driver.complaints((self.home / 'log').read_text()):
            self.say(line, False)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split(':', maxsplit=1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--program', default=ROOT / 'build/app/quartermaster')
    parser.add_argument('--bench', default=ROOT / 'build/app/qm-bench')
    parser.add_argument('--model', default='Pythia (160M)',
                        help='what is benchmarked wholly')
    parser.add_argument('--second', default='Pythia (1B)',
                        help='what is closed in the midst of')
    parser.add_argument('--logs', default='.', help='where pictures go')
    parser.add_argument('--picture', default='',
                        help='a command that saves the screen into {}')
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.bench = os.path.abspath(options.bench)
    with tempfile.TemporaryDirectory() as home:
        check = Check(options, home)
        check.run()
    print(f'{check.told - check.failed} passed, {check.failed} failed')
    return check.failed > 0


if __name__ == '__main__':
    sys.exit(main())
