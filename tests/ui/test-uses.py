#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""GPUs to use, in the window: compared with what could be bought, never
recommended, and there again after a restart.

test-uses.py PROGRAM, on a display and a session bus of its own.
"""

import csv
import os

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

    def in_list(self):
        """Whether the keyboard is in a list that was opened."""
        focused = self.root.focused()
        return focused is not None and focused.role != "push button"

    def choose(self, gpu):
        """Makes GPUs to use of that kind of those that were added."""
        with open(os.path.join(os.environ["QUARTERMASTER_DATA_DIR"],
                               "gpus.csv"), encoding="utf-8") as file:
            names = [row["name"] for row in csv.DictReader(file)]
        self.root.tab_to("push button", "GPU: GeForce RTX 3090", most=150)
        driver.press_keys("space")
        driver.wait_for(self.in_list, "the keyboard in the list of GPUs")
        # GTK 4.18 begins in the entry of the search, above the first one.
        driver.press_keys("Down", "Home", *["Down"] * names.index(gpu),
                          "Return")
        self.root.find("push button", f"GPU: {gpu}")

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

    def test_never_recommended(self):
        """Not even what is faster than anything else and costs nothing."""
        before = self.headline()
        self.add(8)
        self.choose("H100 SXM5 80GB")
        self.expect_row("8 × H100 SXM5 80GB to use", "is not to be bought",
                        "$0")
        self.root.find("label", contains="Buy nothing: 8 × H100 SXM5 80GB to "
                                         "use take 4.4 days")
        self.assertEqual(self.headline(), before)
        for row in self.root.all("table row", "8 × H100 SXM5 80GB to use",
                                 inside=TABLE):
            self.assertFalse([cell for cell in row.walk()
                              if "Recommended" in cell.description])

    def test_without_a_time(self):
        self.add(4)
        self.assertFalse(self.root.all("label", contains="No time on them"))
        self.choose("Instinct MI300X")
        self.root.find("push button", "Remove: 4 × Instinct MI300X to use")
        self.root.find("label", contains="No time on them is known")
        # Who takes it away goes on where another one is added.
        self.root.tab_to("push button", "Remove: 4 × Instinct MI300X to use")
        driver.press_keys("space")
        driver.wait_for(lambda: not self.root.all(
            "label", contains="No time on them"), "the line to be gone")
        focused = self.root.focused()
        self.assertEqual((focused.role, focused.name),
                         ("list item", "Add GPUs"))

    def test_reset(self):
        self.add(2)
        self.root.tab_to("push button", "Reset: GPUs to Use", most=150)
        driver.press_keys("space")
        driver.wait_for(lambda: not self.root.all(
            "list item", contains="to use"), "no GPUs to use")
        self.assertEqual(self.root.focused().name, "Add GPUs")


if __name__ == "__main__":
    main()
