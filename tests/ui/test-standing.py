#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Where a lab stands: a survey with its own GPUs beside it, and comparisons.

test-standing.py PROGRAM, on a display and a session bus of its own.
"""

import os

import driver
from window_test import WindowTest, main


class StandingTest(WindowTest):

    def prepare(self):
        """A lab that may use eight A100 for three days."""
        folder = os.path.join(self.home, "config", "glib-2.0", "settings")
        os.makedirs(folder)
        with open(os.path.join(folder, "keyfile"), "w",
                  encoding="utf-8") as file:
            file.write("[org/quartermaster/Quartermaster]\n"
                       "uses=[('a100-80gb-sxm', 8, 0.0, 72.0)]\n")

    def open(self):
        driver.press_keys("F10")
        self.root.find_menu_item("You and the Majority of Labs…").press()
        self.root.find("label", contains="50 researchers of 35 institutions")

    def test_survey(self):
        self.open()
        self.root.find("label",
                       "You: 8 × A100 SXM4 80GB for 72 hours a job")
        self.root.find("label", contains="A researcher can typically use 4 GPUs")
        self.root.find("label", "70\u00a0% have GPUs that are linked with each "
                                "other, as by NVLink")
        self.root.find("label", "You: yes")
        self.root.find("label", "10\u00a0% can use an H100")
        self.root.find("label", "You: no")
        driver.press_keys("Escape")
        driver.wait_for(lambda: not self.root.all(
            "label", "10\u00a0% can use an H100"), "it closes")

    def test_comparisons(self):
        self.open()
        self.root.find("image", contains="GPU-days against the original "
                                         "trainings. Half of these")
        self.root.tab_to("push button", "Comparison: GPU-days against the "
                                        "original trainings")
        driver.press_keys("space", "Down", "Return")
        self.root.find("image", contains="Days against those at the peak. Half "
                                         "of all trainings take more than")
        # Which one has the focus first differs from one GTK to the next.
        driver.press_keys("space", "Home", "Down", "Down", "Return")
        self.root.find("image", contains="What free-lunch settings gain. Half")
        self.root.find("label", contains="times as fast with the best settings")
        driver.press_keys("space", "End", "Return")
        self.root.find("image", contains="What saving memory gains and costs. "
                                         "Half")
        self.root.find("image", contains="Legend: Fastest way, Median of the "
                                         "ways, Slowest way")


if __name__ == "__main__":
    main()
