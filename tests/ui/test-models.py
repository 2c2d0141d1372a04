#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models of one's own, made, changed and deleted without a look at the screen.

test-models.py PROGRAM QM_BENCH, on a display and a session bus of its own.
"""

import json
import os
import re
import subprocess
import unittest.mock

import driver
from window_test import WindowTest, main

CONFIG = {
    "model_type": "gpt_neox", "vocab_size": 50304, "hidden_size": 512,
    "num_hidden_layers": 6, "num_attention_heads": 8,
    "intermediate_size": 2048, "max_position_embeddings": 1024,
    "architectures": ["GPTNeoXForCausalLM"], "torch_dtype": "float16"}

LARGE = dict(CONFIG, hidden_size=4096, num_attention_heads=32,
             num_hidden_layers=32, intermediate_size=16384)

MAE = {
    "model_type": "vit_mae", "hidden_size": 192, "num_hidden_layers": 2,
    "num_attention_heads": 3, "intermediate_size": 768}

CALIBRATION = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           os.pardir, os.pardir, "data", "calibration.csv")


class ModelsCase(WindowTest):

    def write(self, name, value):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    def saved(self, name):
        return os.path.join(self.home, "data", "quartermaster", "models", name)

    def run_beside(self, *arguments):
        environment = dict(os.environ,
                           XDG_DATA_HOME=os.path.join(self.home, "data"))
        done = subprocess.run(arguments, env=environment, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def menu(self, name):
        """An item of the main menu, for when no window has the keyboard."""
        # The inner one of the two can be pressed.
        self.root.all("push button", "Main menu")[-1].press()
        self.root.find_menu_item(name).press()

    def choose(self, path):
        driver.choose_file(self.root, "Open a Configuration", path)

    def open_config(self, path):
        driver.press_keys("ctrl+n")
        self.choose(path)
        return self.root.find(None, "Own Model")

    def make_model(self, name="Tiny One"):
        editor = self.open_config(self.write("given/config.json", CONFIG))
        editor.find("text", "Name").type(name)
        return editor

    def field(self, editor, name):
        return editor.find("text", name)

    def save(self, editor):
        button = editor.find("push button", "Save")
        button.press()

    def models_offered(self):
        """What the advisor's list of models has of ours."""
        button = driver.wait_for(
            lambda: self.root.all("push button", "Model: Pythia (1B)") or None,
            "the button of the picker")[-1]
        button.press()
        # One that is closed before it has the keyboard keeps it from the rest.
        search = self.root.find("entry", "Search models")
        driver.wait_for(lambda: search.has(driver.Atspi.StateType.FOCUSED),
                        "the keyboard in the picker")
        names = self.root.names("list item", contains="Tiny",
                                inside=("list", "Models"))
        button.press()
        driver.wait_for(lambda: not self.root.all("entry", "Search models"),
                        "the picker closed")
        return names

    def times(self, editor):
        """What is predicted: a time of each GPU, with its interval."""
        return [name for name in editor.names("label", contains=" days")
                if re.search(r"\d days\n\(", name)]


class ModelsTest(ModelsCase):

    def test_made_and_offered(self):
        editor = self.make_model()
        # Its size at once, and what it takes as soon as it is planned.
        editor.find("label", "70,426,624")
        editor.find("label", contains="Filled in as for Pythia (160M)")
        editor.find("label", contains="Micro-batch")
        editor.find("label", contains="Fits: Free lunch, micro-batch")
        editor.find("label", contains="too old")
        self.assertEqual(self.field(editor, "Identifier").text, "tiny-one")
        before = editor.find("label", contains="× 10").name
        self.field(editor, "Length of training").type("2000")
        driver.wait_for(lambda: not editor.all("label", before),
                        "other operations")
        self.save(editor)
        driver.wait_for(lambda: os.path.exists(self.saved("tiny-one.json")),
                        "the file")
        with open(self.saved("tiny-one.json"), encoding="utf-8") as file:
            written = json.load(file)
        self.assertEqual(written["config"], CONFIG)
        self.assertEqual(written["name"], "Tiny One")
        self.assertEqual(written["recipe"]["steps"], 2000)

        # The window, the command line and the benchmark have it.
        driver.wait_for(lambda: "Tiny One" in self.models_offered(),
                        "the model in the picker")
        listed = json.loads(self.run_beside(self.PROGRAM, "catalog", "models",
                                            "--json"))
        self.assertIn("tiny-one", [one["id"] for one in listed["models"]])
        plan = json.loads(self.run_beside(self.BENCH, "plan", "--model", "tiny-one",
                                          "--gpu", "rtx4090", "--json"))
        self.assertTrue(plan["fits"])

    def test_what_is_wrong_is_beside_the_field(self):
        editor = self.make_model()
        save = editor.find("push button", "Save")
        for name, text, problem in (
                ("Batch size", "1.5", "A whole number from 1 to 16,777,216"),
                ("Batch size", "0", "A whole number from 1 to 16,777,216"),
                ("Sequence length", "1", "A single token has no next one"),
                ("Learning rate", "much", "A number from 0 to 1,000,000"),
                ("Identifier", "Ü x", "Of a to z"),
                ("Identifier", "pythia-1b", "It is that of “Pythia (1B)”"),
                ("Name", "", "The model needs a name")):
            field = self.field(editor, name)
            right = field.text
            field.type(text)
            editor.find("label", contains=problem)
            driver.wait_for(
                lambda: not save.has(driver.Atspi.StateType.SENSITIVE),
                f"Save to be off while {name} is “{text}”")
            field.type(right)
            driver.wait_for(lambda: not editor.all("label", contains=problem),
                            f"no word about {name}")
        driver.wait_for(lambda: save.has(driver.Atspi.StateType.SENSITIVE),
                        "Save to be on")

    def test_muon(self):
        """What only Muon has is asked for with it alone, and kept."""
        editor = self.make_model()
        self.assertFalse(editor.all("combo box", "Updates of matrices"))
        editor.tab_to("combo box", "Optimizer")
        driver.press_keys("space")
        driver.press_keys("End", "Return")
        editor.find("combo box", "Updates of matrices")
        editor.find("label", contains="Fits: Free lunch, micro-batch")
        self.save(editor)
        driver.wait_for(lambda: os.path.exists(self.saved("tiny-one.json")),
                        "the file")
        with open(self.saved("tiny-one.json"), encoding="utf-8") as file:
            recipe = json.load(file)["recipe"]
        self.assertEqual({name: recipe[name] for name in recipe
                          if name.startswith(("optimizer", "muon"))},
                         {"optimizer": "muon", "muon_learning_rate": 0.02,
                          "muon_momentum": 0.95, "muon_weight_decay": 0,
                          "muon_scale": "jordan"})

    def test_fp8(self):
        """How it is scaled is asked for with it alone, and kept."""
        editor = self.make_model()
        self.assertFalse(editor.all("combo box", "Scales of FP8"))
        editor.tab_to("combo box", "Precision")
        driver.press_keys("space")
        driver.press_keys("End", "Return")
        editor.find("combo box", "Scales of FP8")
        editor.tab_to("combo box", "Scales of FP8")
        driver.press_keys("space")
        driver.press_keys("End", "Return")
        self.save(editor)
        driver.wait_for(lambda: os.path.exists(self.saved("tiny-one.json")),
                        "the file")
        with open(self.saved("tiny-one.json"), encoding="utf-8") as file:
            recipe = json.load(file)["recipe"]
        self.assertEqual({name: recipe[name] for name in recipe
                          if name.startswith(("precision", "fp8"))},
                         {"precision": "fp8", "fp8_scales": "row",
                          "fp8_amax": "current", "fp8_gradients": "e4m3"})

    def test_z_loss(self):
        """It is asked for where a loss has logits, and not where it has none."""
        editor = self.make_model()
        editor.tab_to("list item", "More of the optimizer")
        driver.press_keys("space")
        self.field(editor, "Z-loss")
        editor.find("push button", "Cancel").press()
        driver.wait_for(lambda: not self.root.all(None, "Own Model"), "the end")
        editor = self.open_config(self.write("mae.json", MAE))
        editor.tab_to("list item", "More of the optimizer")
        driver.press_keys("space")
        self.field(editor, "Average of weights")
        self.assertFalse(editor.all("text", "Z-loss"))

    def test_unsupported_is_named(self):
        editor = self.open_config(self.write("t5.json",
                                             {"model_type": "t5"}))
        editor.find("label", "Not Supported Yet")
        text = editor.find("label", contains="t5.json").name
        self.assertIn("'t5' is not supported", text)
        self.assertIn("gpt_neox, bert, roberta, vit, convnext, mamba", text)
        with open(os.path.join(self.home, "broken.json"), "w",
                  encoding="utf-8") as file:
            file.write("{\"model_type\": ")
        editor.find("push button", contains="Open Another File…").press()
        self.choose(os.path.join(self.home, "broken.json"))
        editor.find("label", "Not a Configuration of a Model")

    def test_changed_and_deleted(self):
        editor = self.make_model()
        self.save(editor)
        path = self.saved("tiny-one.json")
        driver.wait_for(lambda: os.path.exists(path), "the file")
        driver.wait_for(lambda: "Tiny One" in self.models_offered(),
                        "the model in the picker")
        with open(path, encoding="utf-8") as file:
            first = file.read()

        self.menu("Own Models…")
        self.root.find("push button", "Change: Tiny One").press()
        editor = self.root.find(None, "Own Model")
        self.field(editor, "Identifier").type("tiny-two")
        self.field(editor, "Name").type("Tiny Two")
        self.save(editor)
        driver.wait_for(lambda: not os.path.exists(path), "the old file gone")
        self.assertTrue(os.path.exists(self.saved("tiny-two.json")))

        self.root.press_until("Delete: Tiny Two", lambda: not os.path.exists(
            self.saved("tiny-two.json")), "the file gone")
        self.root.find("label", contains="No Models of Your Own Yet")
        driver.give_keyboard(self.root, "Own Models")
        driver.press_keys("ctrl+z")
        driver.wait_for(lambda: os.path.exists(self.saved("tiny-two.json")),
                        "the file again")
        with open(self.saved("tiny-two.json"), encoding="utf-8") as file:
            self.assertEqual(file.read().replace("-two", "-one")
                             .replace("Two", "One"), first)

        self.root.press_until("Delete: Tiny Two", lambda: not os.path.exists(
            self.saved("tiny-two.json")), "the file gone")
        driver.press_keys("Escape")
        driver.wait_for(lambda: not self.root.all("frame", "Own Models"),
                        "the list of them closed")
        driver.wait_for(lambda: not self.models_offered(),
                        "the picker without it")


class CalibratedTest(ModelsCase):
    """With a catalog from which times can be predicted."""

    def prepare(self):
        folder = os.path.join(self.home, "catalog")
        os.mkdir(folder)
        catalog = os.environ["QUARTERMASTER_DATA_DIR"]
        for path in [CALIBRATION] + [os.path.join(catalog, name)
                                     for name in os.listdir(catalog)]:
            os.symlink(path, os.path.join(folder, os.path.basename(path)))
        patch = unittest.mock.patch.dict(os.environ,
                                         QUARTERMASTER_DATA_DIR=folder)
        patch.start()
        self.addCleanup(patch.stop)

    def test_what_it_takes(self):
        """On one GPU or several, with the memory that the host has."""
        editor = self.open_config(self.write("given/config.json", LARGE))
        editor.find("label", contains="GiB of the host")
        editor.find("label", contains="Fits: Free lunch, ")
        host = editor.find("text", "Memory of the host (GiB)")
        host.type("16")
        driver.wait_for(
            lambda: editor.all("label", contains="GiB of the host")
            and editor.all("label", contains="Does not fit: it takes")
            and not editor.all("label", contains="Fits: "),
            "nothing that fits into this host")
        host.type("lots")
        editor.find("label", contains="A whole number from 1 to 65,536")
        host.type("")
        editor.find("label", contains="Fits: Free lunch, ")
        before = driver.wait_for(lambda: self.times(editor) or None,
                                 "predicted times")
        editor.tab_to("combo box", "GPUs in a machine")
        driver.press_keys("space")
        driver.press_keys("Down", "Down", "Down", "Return")
        editor.find("label", "Fits, divided among 8 of them")
        after = self.times(editor)
        self.assertTrue(after)
        self.assertNotEqual(before, after)


    def test_pairs_of_a_pass(self):
        """What a loss over pairs compares depends on what fits, and is told."""
        tower = {"hidden_size": 512, "num_hidden_layers": 12,
                 "num_attention_heads": 8, "intermediate_size": 2048}
        editor = self.open_config(self.write("given/siglip.json", {
            "model_type": "siglip",
            "vision_config": {**tower, "image_size": 224, "patch_size": 16},
            "text_config": tower}))
        self.field(editor, "Batch size").type("65536")
        editor.find("label", contains="The loss compares the ")
        self.field(editor, "Batch size").type("1")
        driver.wait_for(
            lambda: not editor.all("label", contains="The loss compares the "),
            "passes that are steps")


class UncalibratedTest(ModelsCase):
    """With one from which nothing can be predicted."""

    def test_what_it_takes(self):
        """What fits is told all the same, and no time."""
        self.root.find("label", contains="Times that nobody measured are not "
                                         "predicted: ")
        editor = self.open_config(self.write("given/config.json", LARGE))
        editor.find("label", contains="Fits: Free lunch, ")
        editor.find("label", contains="GiB of the host")
        self.assertEqual(self.times(editor), [])


if __name__ == "__main__":
    main()
