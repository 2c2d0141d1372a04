#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The very first start asks which models, for how much and until when, once.

test-first-start.py PROGRAM, on a display and a session bus of its own.
"""

import json
import os

import driver
from window_test import WindowTest, main

HEADING = "What Will You Train?"


class AskedTest(WindowTest):
    first_start = True

    def asked(self):
        return self.root.matches("label", HEADING) != []

    def budget(self):
        """What the window's panel says, under the dialog or without."""
        return self.root.find("text", "Budget", inside=("form", "Question")).text

    def wait_until_gone(self):
        driver.wait_for(lambda: not self.asked(), "the dialog's end")

    def dialog(self):
        return self.root.find("filler", HEADING)

    def test_answered(self):
        """With nothing but the keyboard."""
        dialog = self.dialog()
        dialog.tab_to("push button", "Model: Pythia (1B)")
        driver.press_keys("space")
        driver.type_text("pythia 160")
        driver.press_keys("Return")
        dialog.find("push button", "Model: Pythia (160M)")
        dialog.tab_to("text", "Budget")
        driver.press_keys("ctrl+a")
        driver.type_text("12000")
        dialog.tab_to("check box", "Deadline")
        driver.press_keys("space")
        dialog.tab_to("text", "Deadline", key="shift+Tab")
        driver.press_keys("ctrl+a")
        driver.type_text("90")
        # What is typed counts without Return.
        driver.press_keys("alt+a")
        self.wait_until_gone()
        self.expect_answered()
        self.restart()
        self.expect_answered()
        self.assertFalse(self.asked())

    def expect_answered(self):
        driver.wait_for(lambda: self.budget() == "$12,000", "the budget")
        panel = self.root.find("form", "Question")
        self.assertEqual(panel.find("text", "Deadline").text, "90")
        panel.find("push button", "Model: Pythia (160M)")

    def test_skipped(self):
        self.dialog()
        before = self.budget()
        driver.press_keys("Escape")
        self.wait_until_gone()
        self.assertEqual(self.budget(), before)
        self.restart()
        self.assertEqual(self.budget(), before)
        self.assertFalse(self.asked())


class QuestionTest(WindowTest):
    """Who opens a question is not asked for one."""

    first_start = True

    def prepare(self):
        path = os.path.join(self.home, "lab.quartermaster")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "quartermaster-question", "version": 1,
                       "models": ["pythia-160m"],
                       "money": {"currency": "USD", "budget": 33000}}, file)
        self.arguments = (path,)

    def test_not_asked(self):
        driver.wait_for(
            lambda: self.root.find("text", "Budget").text == "$33,000",
            "the question's budget")
        self.assertEqual(self.root.matches("label", HEADING), [])


class KeptTest(WindowTest):
    """Nor who asked something with a version that had no such question."""

    first_start = True

    def prepare(self):
        folder = os.path.join(self.home, "config", "glib-2.0", "settings")
        os.makedirs(folder)
        with open(os.path.join(folder, "keyfile"), "w",
                  encoding="utf-8") as file:
            file.write("[org/quartermaster/Quartermaster]\n"
                       "models=['vit-large']\nbudget=25000.0\n")

    def test_not_asked(self):
        self.root.find("push button", "Model: ViT (large)")
        self.assertEqual(self.root.find("text", "Budget").text, "$25,000")
        self.assertEqual(self.root.matches("label", HEADING), [])


if __name__ == "__main__":
    main()
