#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""GPUs to use, in the window: compared with what could be bought, never
recommended, and there again after a restart.

test-uses.py PROGRAM, on a display and a session bus of its own.
"""

import driver
from window_test import WindowTest, main

TABLE = ("tree table", "Candidates")


class UsesTest(WindowTest):

    def restart(self):
        self.root.find("push button", "Close").press()
        self.assertEqual(self.program.wait(), 0)
        self.program.close()
        self.program = driver.Program(self.PROGRAM, home=self.home)
        self.root = self.program.root
        self.headline()
        driver.wait_for(self.focus, "the keyboard in the window")

    def fill_in(self, name, text):
        """Types into the number of that name, which has the keyboard next."""
        self.root.tab_to("spin button", name)
        driver.press_keys("ctrl+a")
        driver.type_text(text)

    def add(self, gpus, hour=None, walltime=None):
        """Adds lines by the keyboard alone."""
        self.root.tab_to("list item", "Add GPUs", most=150)
        driver.press_keys("Return")
        self.root.find("push button", "Remove: 1 × GeForce RTX 3090 to use")
        self.fill_in("GPUs", str(gpus))
        if hour is not None:
            self.fill_in("USD an hour of each", hour)
        if walltime is not None:
            self.fill_in("Hours a job may run", walltime)
        driver.press_keys("Tab")

    def expect_row(self, name, *cells):
        for cell in cells:
            self.root.find("table row", name, holding=cell, inside=TABLE)

    def test_add(self):
        before = self.headline()
        self.root.find("label", contains="never recommended")
        self.add(4, "0.50", "24")
        # 4 × 24 × $0.50 a day; the machines keep their place.
        self.expect_row("4 × GeForce RTX 3090 to use", "is not to be bought")
        self.root.find("list item", "4 × GeForce RTX 3090 to use")
        self.root.find("label", contains="Buy nothing: 4 × GeForce RTX 3090 "
                                         "to use cost $")
        self.assertEqual(self.headline(), before)
        self.restart()
        self.expect_row("4 × GeForce RTX 3090 to use", "is not to be bought")
        self.assertEqual(self.headline(), before)
        self.assertEqual(
            self.root.find("spin button", "USD an hour of each").text, "0.50")
        self.assertEqual(
            self.root.find("spin button", "Hours a job may run").text, "24")
        self.root.find("push button",
                       "Remove: 4 × GeForce RTX 3090 to use").press()
        driver.wait_for(lambda: not self.root.all(
            "table row", "4 × GeForce RTX 3090 to use", inside=TABLE),
            "no GPUs to use in the table")


if __name__ == "__main__":
    main()
