#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A model that nobody has trained, and GPUs that nobody has tried, in the
window.

test-predictions.py PROGRAM QM_BENCH, on a display and a session bus of its own.
"""

import json
import os

import driver
from window_test import WindowTest, main


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

    def card(self):
        return self.root.find("panel", "Recommendation")

    def choose(self, name):
        self.root.find("push button", "Model: Pythia (1B)").press()
        search = self.root.find("entry", "Search models")
        driver.type_text(name)
        driver.wait_for(lambda: search.text == name, "the search")
        driver.press_keys("Return")
        self.root.find("push button", "Model: My Own")

    def rows_of(self, gpu):
        return self.root.all("table row", holding=gpu,
                             inside=("tree table", "Candidates"))

    def test_own_model(self):
        self.choose("own")
        self.expect_headline("Buy ", "(predicted)")
        self.root.find("label", contains="The advice rests on a prediction")
        self.root.find("label",
                       contains="from those of other models on the same GPUs")
        self.root.find("label", "PyTorch, predicted")
        # What it takes of the memory is planned meanwhile: then nothing is
        # left to be looked at.
        driver.wait_for(
            lambda: not self.root.all("label", contains="is being looked at")
            and not self.root.all("label", contains="was not looked at"),
            "the plan of qm-bench")

    def test_everywhere(self):
        before = self.headline()
        self.assertNotIn("(predicted)", before)
        self.assertEqual(self.root.all("check box", "GeForce RTX 4090"), [])
        self.root.find("push button", "Everywhere").press()
        self.expect_headline("(predicted)")
        box = self.root.find("check box", "GeForce RTX 4090")
        self.root.find("label", contains="from those of the model on other")
        self.assertTrue(box.checked)
        self.root.find("push button", "Reset: Predictions").press()
        self.expect_headline(before)


if __name__ == "__main__":
    main()
