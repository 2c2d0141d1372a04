#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A window that nothing happens in takes no processor time, on every page.

test-idle.py PROGRAM BENCH, on a display and a session bus of its own.  With
QM_TEST_FULL=1 each page is looked at for a minute instead of seconds.
"""

import os
import time

import driver
from quotes_window import CHEAP, QuotesWindowTest
from window_test import main

FULL = os.environ.get('QM_TEST_FULL') == '1'
SECONDS = 60 if FULL else 4
# What is looked for now and then is not nothing: 0.0 % of a core is less than
# 0.05 %, and a tick is a hundredth of a second.
MOST_TICKS = 3 if FULL else 1
PATIENCE = 120   # until then, of a busy machine


class IdleTest(QuotesWindowTest):

    def prepare(self):
        self.command('import', self.file('cheap.csv', CHEAP))

    def ticks(self):
        """User and system time of the program, in hundredths of a second."""
        with open(f'/proc/{self.program.process.pid}/stat',
                  encoding='utf-8') as file:
            fields = file.read().rsplit(')', 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def expect_quiet(self, what):
        """Work that has an end may go on first; nobody may ask the window
        anything meanwhile."""
        end = time.monotonic() + PATIENCE
        used = None
        while used is None or time.monotonic() < end:
            before = self.ticks()
            time.sleep(SECONDS)
            used = self.ticks() - before
            if used <= MOST_TICKS:
                return
        self.fail(f'{what}: never quiet, at last {used} hundredths of a '
                  f'second in {SECONDS} s')

    def test_every_page(self):
        for page, key in (('Advisor', 'alt+1'), ('Quotes', 'alt+2'),
                          ('This Machine', 'alt+3'), ('Advisor', 'alt+1')):
            driver.press_keys(key)
            self.expect_quiet(page)

    def test_windows(self):
        """What is open over a page, and what is left when it is closed."""
        for what, key in (('Your Models', 'ctrl+m'), ('Total Cost', 'ctrl+t'),
                          ('Benchmark', 'ctrl+shift+b')):
            driver.press_keys(key)
            self.expect_quiet(what)
            driver.press_keys('Escape')
            driver.give_keyboard(self.root, 'Quartermaster')
        driver.press_keys('alt+2')
        self.root.tab_to('check box', 'Compare: Delta Computers')
        driver.press_keys('Return')
        driver.press_keys('ctrl+h')
        self.expect_quiet('price history')
        driver.press_keys('Escape')
        self.expect_quiet('after all of them')


if __name__ == '__main__':
    main()
