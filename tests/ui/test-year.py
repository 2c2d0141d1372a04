#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a laboratory asks, in the window: a question that a file manager opens,
its answer above the plots with what each run takes, and saved again.

test-year.py PROGRAM, on a display and a session bus of its own.
"""

import json
import os
import subprocess

import driver
from window_test import WindowTest, main

QUESTION = {
    "format": "quartermaster-question", "version": 1,
    "runs": [{"model": "pythia-1b", "runs_per_year": 3},
             {"model": "vit-large", "runs_per_year": 10}],
    "money": {"currency": "USD", "budget": 60000, "tax_percent": 19,
              "gross": True},
    "run_deadline_days": 42, "time_factor": 1, "predictions": "none",
}


class YearTest(WindowTest):

    def prepare(self):
        self.path = os.path.join(self.home, "lab.quartermaster")
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(QUESTION, file)

    def year(self):
        return self.root.find("panel", "A year’s runs")

    def answer(self, *words):
        def look():
            text = "\n".join(self.year().names("label"))
            return all(word in text for word in words)

        driver.wait_for(look, f"an answer with {words}")

    def open(self, path):
        driver.press_keys("ctrl+alt+o")
        driver.choose_file(self.root, "Open Question", path)

    @staticmethod
    def has(path, word):
        if not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return word in file.read()

    def asked(self, *arguments):
        """What the command line answers to it."""
        environment = dict(os.environ, HOME=self.home, LC_ALL="C.UTF-8",
                           XDG_DATA_HOME=os.path.join(self.home, "data"))
        done = subprocess.run([self.PROGRAM, "advise", *arguments, "--json"],
                              env=environment, text=True, check=False,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_question(self):
        self.open(self.path)
        # 48,900 USD and 19 %, of 60,000; 226 days of a year.
        self.answer("Buy 8 × RTX A6000: $58,191", "it trains 62\u00a0% of the year",
                    "Pythia (1B): 22 days a run", "42 days are allowed",
                    "It costs $48,900 without tax and $58,191 with tax of 19\u00a0%",
                    "$1,809 of the budget are left")
        # Each cell says what it is about.
        self.year().find("label",
                         "ViT (large) on 8 × RTX A6000: 16 days; PyTorch")
        self.assertEqual(self.root.find("text", "Budget").text, "$60,000")
        self.assertEqual(self.root.find("text", "Per run").text, "42")
        # It is reached with the keyboard, and selects.
        self.year().find("push button", "8 × RTX A6000").press()
        self.root.find("label", contains="Selected: 8 × RTX A6000")
        # The command line answers the same.
        best = self.asked(self.path)["recommendation"]
        self.assertEqual((best["gpu"], best["gpus"], best["cost"]["gross"]),
                         ("a6000", 8, 58191.0))

    def test_limits(self):
        self.open(self.path)
        self.answer("Buy 8 × RTX A6000")
        scale = self.root.find("slider", "Per run")
        scale.value = 1.2  # the logarithm of 16 days
        self.answer("Nothing within the budget will do")
        # A deadline of all runs takes more machines.
        scale.value = 2
        self.answer("Buy 8 × RTX A6000")

    def test_save(self):
        self.open(self.path)
        self.answer("Buy 8 × RTX A6000")
        saved = os.path.join(self.home, "again.quartermaster")
        driver.press_keys("ctrl+alt+s")
        driver.choose_file(self.root, "Save Question As", saved)
        driver.wait_for(lambda: os.path.exists(saved), "the file")
        with open(saved, encoding="utf-8") as file:
            self.assertEqual(json.load(file), QUESTION)
        # The desktop remembers it.
        recent = os.path.join(self.home, "data", "recently-used.xbel")
        driver.wait_for(lambda: self.has(recent, "again.quartermaster"),
                        "recent documents")
        self.assertEqual(self.asked(saved), self.asked(self.path))

    def test_bad_file(self):
        before = self.headline()
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({**QUESTION, "deadlien": 5}, file)
        self.open(self.path)
        self.root.find("label", contains="deadlien: unsupported field")
        self.assertEqual(self.headline(), before)


class OpenedTest(WindowTest):
    """As a file manager starts it."""

    def prepare(self):
        path = os.path.join(self.home, "lab.quartermaster")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(QUESTION, file)
        self.arguments = (path,)

    def test_opened(self):
        self.root.find("label", contains="Buy 8 × RTX A6000: $58,191")


if __name__ == "__main__":
    main()
