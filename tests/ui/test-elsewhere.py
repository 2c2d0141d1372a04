#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A benchmark for another machine, and its results, by the window.

test-elsewhere.py PROGRAM QM_BENCH, on a display and a session bus of its own.
"""

import json
import os
import shutil
import subprocess

import driver
from window_test import WindowTest, main

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "catalogs", "measured", "measurements",
                       "h200-test.jsonl")
MODEL = {
    "id": "tiny", "name": "Tiny", "source": "a test",
    "config": {"model_type": "gpt_neox", "vocab_size": 64, "hidden_size": 16,
               "num_hidden_layers": 1, "num_attention_heads": 2,
               "intermediate_size": 32},
    "recipe": {"batch_size": 2, "steps": 10, "sequence_length": 8,
               "precision": "fp32", "optimizer": "adam",
               "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.95,
               "epsilon": 1e-8, "weight_decay": 0}}


class ElsewhereTest(WindowTest):

    def prepare(self):
        os.makedirs(os.path.join(self.data, "models"))
        with open(os.path.join(self.data, "models", "tiny.json"), "w",
                  encoding="utf-8") as file:
            json.dump(MODEL, file)

    def menu(self, name):
        # The inner one of the two can be pressed.
        self.root.all("push button", "Main menu")[-1].press()
        self.root.find_menu_item(name).press()

    def choose(self, title, path):
        driver.choose_file(self.root, title, path)

    def test_job_is_written(self):
        self.menu("Benchmark Another Machine…")
        window = self.root.find(None, "Benchmark Another Machine")
        write = driver.wait_for(
            lambda: next((node for node in window.all("push button")
                          if "Write…" in node.name), None), "the button")
        enabled = driver.Atspi.StateType.SENSITIVE
        driver.wait_for(lambda: write.has(enabled), "the button to be on")
        window.find("check box", "A node of a cluster").press()
        for name, text, problem in (
                ("GPUs of the node", "", "It has to be said how many"),
                ("Partition", "a b; rm -rf /", "Letters, digits and"),
                ("Time limit", "", "A number from 0.1 to 8,760")):
            field = window.find("text", name)
            field.type("x")
            field.type(text)
            window.find("label", contains=problem)
            self.assertFalse(write.has(enabled))
            field.type({"Partition": "gpu-short", "GPUs of the node": "a100:1",
                        "Time limit": "1.5"}[name])
        driver.wait_for(lambda: write.has(enabled), "the button to be on")
        target = os.path.join(self.home, "out")
        os.mkdir(target)
        write.press()
        self.choose("Where the Folder Goes", target)
        folder = os.path.join(target, "quartermaster-benchmark")
        driver.wait_for(lambda: os.path.isdir(folder), "the folder")
        with open(os.path.join(folder, "job.sbatch"),
                  encoding="utf-8") as file:
            job = file.read()
        self.assertIn("\n#SBATCH --partition=gpu-short\n", job)
        self.assertIn("\n#SBATCH --gpus-per-node=a100:1\n", job)
        self.assertIn("\n#SBATCH --time=01:30:00\n", job)
        self.assertNotIn("--account", job)
        with open(os.path.join(folder, "run.sh"), encoding="utf-8") as file:
            self.assertIn("--model 'pythia-1b'", file.read())
        self.assertTrue(os.access(os.path.join(folder, "qm-bench"), os.X_OK))
        self.assertIn("\n#SBATCH --mem=", job)
        self.assertIn("\n#SBATCH --cpus-per-task=8\n", job)
        with open(os.path.join(folder, "README"), encoding="utf-8") as file:
            self.assertIn("with glibc 2.", file.read())
        self.root.find("label", contains="README says what to do")

    def test_by_keyboard(self):
        driver.press_keys("ctrl+shift+b")
        self.root.find(None, "Benchmark Another Machine")

    def test_results_are_imported(self):
        path = os.path.join(self.home, "node7.jsonl")
        subprocess.run([self.BENCH, "search", "--model", "tiny", "--methods",
                        "naive", "--device", "cpu", "--results", path],
                       env=dict(os.environ,
                                XDG_DATA_HOME=os.path.join(self.home, "data")),
                       check=True, capture_output=True)
        driver.press_keys("ctrl+shift+o")
        self.choose("Import Results", path)
        stored = os.path.join(self.data, "measurements", "node7.jsonl")
        driver.wait_for(lambda: os.path.exists(stored)
                        and os.path.getsize(stored) > 0, "the results")
        with open(stored, "rb") as file, open(path, "rb") as given:
            self.assertEqual(json.loads(file.read()), json.loads(given.read()))

    def test_results_that_were_copied_are_seen(self):
        """Whoever put them into the folder, by the time that the user comes
        back to the advisor."""
        self.assertFalse(self.root.all("check box", contains="H200"))
        driver.press_keys("alt+3")
        self.root.find("push button", "Benchmark")
        folder = os.path.join(self.data, "measurements")
        os.makedirs(folder, exist_ok=True)
        shutil.copy(RESULTS, os.path.join(folder, "node8.jsonl"))
        driver.press_keys("alt+1")
        self.root.find("check box", contains="H200")


class LibraryTest(WindowTest):
    """A qm-bench that found cuBLASLt, on a machine with a GPU."""

    def prepare(self):
        self.library = os.path.join(self.home, "libcublasLt.so.13")
        with open(self.library, "wb") as file:
            file.truncate(123_000_000)
        gpu = {"id": "cuda:0", "name": "NVIDIA Stand-in", "driver": "580.1",
               "processors": 1, "memory_bytes": 1 << 34, "usable": True,
               "architecture": 90, "capability": 90, "bus": "0000:01:00.0",
               "driver_cuda": 13000, "runtime_cuda": 13000,
               "products": self.products(), "peers": [],
               "products_file": self.found(), "products_note": "a note"}
        bench = os.path.join(self.home, "qm-bench")
        with open(bench, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho '{json.dumps(gpu)}'\n")
        os.chmod(bench, 0o755)
        self.BENCH = bench

    def products(self):
        return "cuBLASLt 13.1.0"

    def found(self):
        return self.library

    def open(self):
        driver.press_keys("ctrl+shift+b")
        window = self.root.find(None, "Benchmark Another Machine")
        return window, window.find("check box", "Take cuBLASLt along")

    def test_it_can_be_taken_along(self):
        window, switch = self.open()
        window.find("label", contains="matrices, 123.0")
        driver.wait_for(lambda: switch.has(driver.Atspi.StateType.CHECKED),
                        "the library to be taken")
        self.assertTrue(switch.has(driver.Atspi.StateType.SENSITIVE))


class OwnProductsTest(LibraryTest):
    """One that did not."""

    def products(self):
        return "own"

    def found(self):
        return None

    def test_it_can_be_taken_along(self):
        window, switch = self.open()
        window.find("label", contains="It is not on this computer.")
        self.assertFalse(switch.has(driver.Atspi.StateType.SENSITIVE))
        self.assertFalse(switch.has(driver.Atspi.StateType.CHECKED))

    def test_this_machine_says_so(self):
        driver.press_keys("alt+3")
        self.root.find("label", contains="There is no cuBLASLt 13 here")


if __name__ == "__main__":
    main()
