#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A model that nobody has trained, and GPUs that nobody has tried, in the
window, which asks the real qm-bench.

test-predictions.py PROGRAM QM_BENCH, on a display and a session bus of its own,
with a catalog that has a calibration.
"""

import json
import os
import re

import driver
from window_test import WindowTest, main

TABLE = ("tree table", "Candidates")


class PredictionsTest(WindowTest):

    def prepare(self):
        """A model of one's own, like one of the catalog."""
        given = os.path.join(os.environ["QUARTERMASTER_DATA_DIR"], "models",
                             "pythia-1b.json")
        with open(given, encoding="utf-8") as file:
            model = json.load(file)
        model.update(id="own", name="My Own")
        path = os.path.join(self.data, "models", "own.json")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(model, file)

    def choose(self, name):
        self.root.find("push button", "Model: Pythia (1B)").press()
        search = self.root.find("entry", "Search models")
        driver.type_text(name)
        driver.wait_for(lambda: search.text == name, "the search")
        driver.press_keys("Return")
        self.root.find("push button", "Model: My Own")

    def rows(self, name):
        return self.root.all("table row", name, inside=TABLE)

    def expect_predicted(self, name):
        """A row whose time is predicted and which says so."""
        row = self.root.find("table row", name, inside=TABLE)
        row.find("label", "PyTorch, predicted")
        row.find("label", "predicted for PyTorch, operator by operator")

    def test_own_model(self):
        """All that is known of it is what is predicted."""
        self.choose("own")
        self.expect_headline("Buy ", "(predicted)")
        self.root.find("label", contains="The advice rests on a prediction: "
                                         "the training may take")
        self.root.find("label", contains="times are predicted for compiled "
                                         "PyTorch, operator by operator")
        for name in ("1 × GeForce RTX 4090", "2 × RTX A5000"):
            self.expect_predicted(name)
        self.assertFalse(self.root.all("label", contains="being predicted"))
        self.assertFalse(self.root.all("label", contains="not predicted"))

    def test_settings(self):
        """What is trained with is what is predicted."""
        self.expect_headline("Buy ", "(predicted)")
        before = self.headline()
        driver.press_keys("alt+l")  # the lifetime, some rows below
        self.root.tab_to("push button", "Settings: Optimal", key="shift+Tab")
        driver.press_keys("space", "End", "Return")
        self.root.find("label", contains="times are predicted for PyTorch off "
                                         "the shelf")
        driver.wait_for(lambda: self.headline() != before, "other advice")
        # Which one has the focus first differs from one GTK to the next.
        driver.press_keys("space", "Home", "Down", "Return")
        self.root.find("label", contains="times are predicted for PyTorch that "
                                         "is not compiled")
        self.root.find("push button", "Settings: Usual (eager)")

    def test_published(self):
        """The paper's times are held against the yardstick."""
        driver.press_keys("alt+l")  # the lifetime, some rows below
        self.root.tab_to("list item", "Check the paper’s times…",
                         key="shift+Tab")
        driver.press_keys("Return")
        self.root.find("label", contains="16 places: the published time is 0.6")
        self.root.find("label", contains="As in the paper: Buy 8 × GeForce RTX "
                                         "3090: $20,900, 30 days")
        self.root.find("table row", "Pythia (1B), 1 × H100 SXM5 80GB, Optimal: "
                                    "published 34 days, yardstick 51 days "
                                    "measured")
        self.root.find("label", "impossible (119\u00a0%)")
        driver.press_keys("Escape")
        driver.wait_for(lambda: not self.root.all("label", "impossible "
                                                  "(119\u00a0%)"), "it closes")

    def shown(self):
        """How many candidates the first plot shows, and of how many."""
        name = self.root.find("image", contains="candidates").name
        numbers = re.search(r"(?:(\d+) of )?(\d+) candidates", name).groups()
        return int(numbers[0] or numbers[1]), int(numbers[1])

    def legend(self):
        return self.root.find("image", contains="Legend: ").name

    def test_shortlist(self):
        """Of many types of GPU the plots show a few, until all are asked for,
        which the next start knows."""
        self.expect_headline("Buy ", "(predicted)")
        few, all_of_them = self.shown()
        self.assertLess(few, all_of_them)
        legend = self.legend()
        self.assertLess(legend.count(","), 10)
        button = self.root.find("push button", "All types of GPU in the plots")
        self.assertFalse(button.has(driver.Atspi.StateType.PRESSED))
        button.press()
        driver.wait_for(lambda: self.shown() == (all_of_them, all_of_them),
                        "all candidates")
        driver.wait_for(lambda: self.legend() != legend, "a longer legend")
        driver.press_keys("ctrl+j")
        driver.wait_for(lambda: self.shown() == (few, all_of_them),
                        "the shortlist")
        driver.press_keys("ctrl+j")
        driver.wait_for(lambda: self.shown()[0] == all_of_them, "all again")
        self.restart()
        driver.wait_for(lambda: self.root.find(
            "push button", "All types of GPU in the plots").has(
                driver.Atspi.StateType.PRESSED),
            "what was chosen before")

    def test_none(self):
        """Nothing but what was measured is left, until all is as it was."""
        self.expect_headline("Buy ", "(predicted)")
        before = self.headline()
        self.assertTrue(self.root.find("check box",
                                       "RTX 6000 Ada Generation").checked)
        self.expect_predicted("1 × RTX 6000 Ada Generation")
        self.root.find("push button", "None").press()
        driver.wait_for(lambda: "(predicted)" not in self.headline(),
                        "advice without predictions")
        for name in ("check box", "RTX 6000 Ada Generation"), \
                ("label", "PyTorch, predicted"):
            driver.wait_for(lambda: not self.root.all(*name),
                            f"no {name} left")
        self.assertEqual(self.rows("1 × RTX 6000 Ada Generation"), [])
        # That of the one GPU that was tried stays.
        self.root.find("check box", "H200 SXM 141GB")
        self.root.find("table row", "1 × H200 SXM 141GB", inside=TABLE)
        self.assertFalse(self.root.all("label", contains="are predicted"))
        self.root.find("push button", "Reset: Predictions").press()
        self.expect_headline(before)
        self.assertTrue(self.root.find("check box",
                                       "RTX 6000 Ada Generation").checked)
        self.expect_predicted("1 × RTX 6000 Ada Generation")


if __name__ == "__main__":
    main()
