#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Results are given away by the window: shown, signed off, saved.

test-share.py PROGRAM QM_BENCH, on a display and a session bus of its own, with
the catalog that has results made up for tests.
"""

import json
import os
import pathlib
import re
import socket

import driver
from window_test import WindowTest, main

HOST = re.sub(r'[^A-Za-z0-9_-]', '-', socket.gethostname().split('.')[0])
MACHINE = 'c0ffee00c0ffee00c0ffee00c0ffee00'


class ShareTest(WindowTest):
    def measure(self):
        """As if a search had run here."""
        catalog = pathlib.Path(os.environ['QUARTERMASTER_DATA_DIR'])
        lines = (catalog / 'measurements/h200-test.jsonl').read_text()
        self.lines = [dict(line, machine={'id': MACHINE})
                      for line in map(json.loads, lines.splitlines())
                      if line['model'] in ('pythia-160m', 'vit-large')]
        folder = pathlib.Path(self.data) / 'measurements'
        folder.mkdir(parents=True)
        (folder / f'{HOST}.jsonl').write_text(
            ''.join(json.dumps(line) + '\n' for line in self.lines))

    def open(self, how):
        driver.press_keys('alt+3')
        button = self.root.find('push button', 'Share results')
        if how == 'button':
            button.press()
        else:
            driver.press_keys(how)
        return self.root.find(None, 'Share Results')

    def toggle(self, window, name):
        """With the keyboard."""
        box = window.tab_to('check box', name)
        before = box.checked
        driver.press_keys('space')
        driver.wait_for(lambda: box.checked != before, f'“{name}” toggled')

    def test_nothing(self):
        window = self.open('button')
        window.find('label', 'Nothing to Share Yet')
        save = window.find('push button', contains='Save…')
        self.assertFalse(save.has(driver.Atspi.StateType.SENSITIVE))
        driver.press_keys('Escape')
        driver.give_keyboard(self.root, 'Quartermaster')

    def test_share(self):
        self.measure()
        window = self.open('ctrl+shift+s')
        text = window.find('text', 'The Whole File')
        head, *results = map(json.loads, text.text.splitlines())
        self.assertEqual(len(results), len(self.lines))
        self.assertNotIn(MACHINE, text.text)
        window.find('label', contains='A result to share')
        # Nothing is saved by who has not signed.
        save = window.find('push button', contains='Save…')
        self.assertFalse(save.has(driver.Atspi.StateType.SENSITIVE))
        self.toggle(window, window.find('check box',
                                        contains='under CC0 1.0').name)
        driver.wait_for(lambda: save.has(driver.Atspi.StateType.SENSITIVE),
                        'a file that can be saved')
        # One model stays here.
        self.toggle(window, 'Pythia (160M)')
        driver.wait_for(lambda: 'pythia' not in text.text, 'a smaller file')
        path = os.path.join(self.home, 'shared.jsonl')
        save.press()
        driver.choose_file(self.root, 'Save Results to Share', path)
        driver.wait_for(lambda: os.path.exists(path)
                        and os.path.getsize(path) > 0, path)
        with open(path, encoding='utf-8') as file:
            saved = file.read()
        self.assertEqual(saved, text.text)
        head, *results = map(json.loads, saved.splitlines())
        self.assertEqual({line['model'] for line in results}, {'vit-large'})
        self.assertEqual(head['results'], len(results))
        window.find('label', contains='Saved as')


if __name__ == '__main__':
    main()
