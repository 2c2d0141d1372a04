#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The advisor as somebody uses it who cannot see it: by accessible names only.

test-advisor.py PROGRAM, on a display and a session bus of its own.
"""

import os
import shutil
import sys
import tempfile
import unittest

import driver
from window_test import Headline

PROGRAM = None
MEASURED = None  # a catalog with times of an H200 that are made up


class AdvisorCase(Headline, unittest.TestCase):

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="qm-test-")
        self.program = None
        self.start()

    def tearDown(self):
        if self._outcome.result.failures or self._outcome.result.errors:
            print("\n".join(self.program.root.dump()), file=sys.stderr)
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    environment = None

    def start(self):
        self.program = driver.Program(PROGRAM, home=self.home,
                                      environment=self.environment)
        self.root = self.program.root
        self.headline()

    def stop(self):
        self.program.close()
        complaints = driver.complaints(self.program_log())
        self.assertEqual(complaints, [])

    def program_log(self):
        path = os.path.join(self.home, "log")
        with open(path, encoding="utf-8", errors="replace") as log:
            return log.read()


class AdvisorTest(AdvisorCase):

    def test_default_question(self):
        self.expect_headline("1 × H100 SXM5 80GB", "$31,000", "37 days")
        self.root.find("label", contains="119\u00a0%")
        self.root.find("list item", contains="Next faster: 8 × RTX A6000")
        plots = self.root.all("image", contains="16 candidates")
        self.assertEqual(len(plots), 2)

    def test_choose_a_model(self):
        self.root.find("push button", "Model: Pythia (1B)").press()
        search = self.root.find("entry", "Search models")
        driver.type_text("vit")
        driver.wait_for(lambda: search.text == "vit", "the search")
        driver.press_keys("Return")
        self.root.find("push button", "Model: ViT (large)")
        self.root.find("image", contains="ViT (large): 16 candidates")
        self.expect_headline("Buy ")
        self.assertNotIn("37 days", self.headline())

    def test_move_the_slider(self):
        slider = self.root.find("slider", "Budget")
        entry = self.root.find("text", "Budget")
        before = slider.value
        slider.value = before * 1.15
        driver.wait_for(lambda: entry.text != "$40,000", "the entry in step")
        self.assertGreater(slider.value, before)
        amount = int("".join(c for c in entry.text if c.isdigit()))
        self.assertGreater(amount, 40000)
        slider.value = 1e9  # beyond the end: the most that there is
        self.expect_headline("8 × H100 SXM5 80GB", "$250,500", "4.4 days")
        self.assertEqual(entry.text, "$1,000,000")
        slider.value = 0
        driver.wait_for(lambda: "Nothing within the budget" in
                        self.root.find("panel", "Recommendation")
                        .find("label").name, "that nothing is affordable")
        self.root.find("label", contains="1 × GeForce RTX 3090")

    def test_type_a_budget(self):
        slider = self.root.find("slider", "Budget")
        before = slider.value
        self.root.tab_to("text", "Budget")
        driver.press_keys("ctrl+a")
        driver.type_text("130k")
        driver.press_keys("Return")
        self.expect_headline("4 × H100 SXM5 80GB", "$127,500", "8.8 days")
        self.assertGreater(slider.value, before)
        driver.press_keys("ctrl+a")
        driver.type_text("many dollars")
        driver.press_keys("Return")
        self.expect_headline("4 × H100 SXM5 80GB")

    def sensitive(self, row):
        """Whether the row of that name can be used."""
        return self.root.find("list item", row).has(
            driver.Atspi.StateType.SENSITIVE)

    SETTLED = ("Times of", "Predictions", "Prices", "Power of the room",
               "Use expired quotes", "Count the total cost", "Lifetime",
               "Time factor", "Nearly as fast, in percent")

    def test_as_in_paper(self):
        for row in self.SETTLED:
            self.assertTrue(self.sensitive(row), row)
        self.toggle("As in the paper")
        self.expect_headline("8 × GeForce RTX 3090", "$20,900", "30 days")
        self.root.find("label", contains="would need 119\u00a0%")
        for row in self.SETTLED:
            driver.wait_for(lambda: not self.sensitive(row),
                            f"“{row}” to be the paper's")
        self.assertTrue(self.sensitive("Settings"))
        # The keyboard goes past what cannot be used.
        self.assertEqual(self.root.after_key("Tab").name,
                         "Check the paper’s times…")
        # Beside the title is what its words mean.
        self.assertEqual(self.root.after_key("Tab").name,
                         "Optimal, Eager, Naive")
        self.assertEqual(self.root.after_key("Tab").name, "Settings: Optimal")
        self.toggle("As in the paper")
        self.expect_headline("1 × H100 SXM5 80GB", "$31,000", "37 days")
        for row in self.SETTLED:
            self.assertTrue(self.sensitive(row), row)

    def choose_room(self, now, *keys):
        self.root.tab_to("push button", f"Power of the room: {now}")
        driver.press_keys("space")
        driver.press_keys(*keys, "Return")

    def test_room(self):
        """Machines that a circuit does not feed are not offered, and who
        selects one reads why."""
        self.root.find("slider", "Budget").value = 1e9
        self.expect_headline("8 × H100 SXM5 80GB")
        self.choose_room("Three phases of 32 A", "Home")
        self.expect_headline("2 × H100 SXM5 80GB", "$61,500", "18 days")
        self.root.find("push button", "Power of the room: One circuit of 16 A")
        self.root.find("table row", "8 × H100 SXM5 80GB",
                       holding="no machine; GPU server for 8 GPUs draws "
                               "6,413\u00a0W, and the circuit gives 2,944\u00a0W",
                       inside=("tree table", "Candidates"))
        self.assertFalse(self.root.all("label", contains="Selected: "))
        self.root.tab_to("table row", "1 × GeForce RTX 3090")
        driver.press_keys("End")
        self.root.find("label", contains="Selected: 8 × H100 SXM5 80GB: –")
        self.root.find("label", contains="It is not offered: no machine; GPU "
                                         "server for 8 GPUs draws 6,413\u00a0W")
        # Tab does not go through all rows.
        self.root.after_key("Home")
        self.assertNotEqual(self.root.after_key("Tab").role, "table row")
        self.root.find("push button", "Reset: Power of the room").press()
        self.expect_headline("8 × H100 SXM5 80GB", "$250,500")
        self.root.find("push button",
                       "Power of the room: Three phases of 32 A")

    def test_filters(self):
        self.toggle("H100 SXM5 80GB")
        self.expect_headline("2 × A100 SXM4 80GB")
        self.toggle("2 GPUs")
        self.expect_headline("4 × RTX A6000")
        for box in ("4 GPUs", "8 GPUs", "1 GPU"):
            self.toggle(box)
        driver.wait_for(lambda: "No machine is left" in
                        self.root.find("panel", "Recommendation")
                        .find("label").name, "that nothing is left")

    def toggle(self, name):
        box = self.root.tab_to("check box", name, most=150)
        before = box.checked
        driver.press_keys("space")
        driver.wait_for(lambda: box.checked != before, f"“{name}” toggled")

    def test_select_everywhere(self):
        self.root.find("push button", "Select this machine").press()
        driver.wait_for(lambda: any(
            row.has(driver.Atspi.StateType.SELECTED)
            for row in self.root.all("table row", holding="$31,000",
                                     inside=("tree table", "Candidates"))),
            "the row of the recommended machine")

    def test_export_png(self):
        path = os.path.join(self.home, "plots.png")
        self.open_menu("Export")
        self.root.find_menu_item("Export Plots…").press()
        self.root.find("text", "Name:").type(path)
        self.root.find("push button", contains="Save").press()
        driver.wait_for(lambda: os.path.exists(path)
                        and os.path.getsize(path) > 0, "the file")
        with open(path, "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(int.from_bytes(head[16:20], "big"), 400)

    def test_proposal(self):
        for form, begin in ("PDF", b"%PDF-"), ("ODT", b"PK\x03\x04\x14"):
            path = os.path.join(self.home, "proposal." + form.lower())
            self.open_menu("Export")
            self.root.find_menu_item(f"Proposal as {form}…").press()
            self.root.find("text", "Name:").type(path)
            self.root.find("push button", contains="Save").press()
            driver.wait_for(lambda: os.path.exists(path)
                            and os.path.getsize(path) > 0, "the file")
            with open(path, "rb") as file:
                self.assertEqual(file.read(5), begin)

    def open_menu(self, name):
        for button in self.root.all("push button", name):
            if button.actions > 0:
                button.press()
                return
        self.fail(f"no button “{name}” can be pressed")

    def test_state_comes_back(self):
        self.choose_room("Three phases of 32 A", "Home")
        self.root.find("push button", "Power of the room: One circuit of 16 A")
        self.toggle("As in the paper")
        slider = self.root.find("slider", "Budget")
        slider.value = 1e9
        self.expect_headline("8 × H100 SXM5 80GB")
        self.root.find("push button", "Close").press()
        self.assertEqual(self.program.wait(), 0)
        self.program.close()
        self.start()
        self.expect_headline("8 × H100 SXM5 80GB")
        self.assertTrue(self.root.find("check box", "As in the paper").checked)
        self.assertFalse(self.sensitive("Prices"))
        # What was chosen before is kept beside it.
        self.toggle("As in the paper")
        self.root.find("push button", "Power of the room: One circuit of 16 A")


class MeasuredTest(AdvisorCase):
    """The same window with an H200 that was measured, and a price for it."""

    def setUp(self):
        self.environment = {"QUARTERMASTER_DATA_DIR": MEASURED}
        super().setUp()

    def start(self):
        folder = os.path.join(self.home, "data", "quartermaster")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "prices.csv"), "w",
                  encoding="utf-8") as prices:
            prices.write("item,kind,price,currency,observed_on,source\n"
                         "h200-141gb-sxm,quote,31000,USD,2026-11-01,offer\n")
        super().start()

    def test_measured(self):
        self.root.find("image", contains="17 candidates")
        row, = self.root.all("table row", holding="H200 SXM 141GB",
                             inside=("tree table", "Candidates"))
        self.assertTrue(row.all("label", "PyTorch"))
        self.assertTrue(row.all("label",
                                contains="measured with PyTorch 2.11.0, "))
        self.root.find("check box", "H200 SXM 141GB")

    def test_whose_times(self):
        self.root.find("combo box", "Times of: PyTorch")
        self.root.tab_to("push button", "Times of: PyTorch")
        driver.press_keys("space")
        driver.press_keys("Down", "Return")
        self.expect_headline("Buy 1 × H200 SXM 141GB", "$32,000", "40 days")
        self.root.find("label", contains="no time of Quartermaster")
        self.root.find("push button", "Times of: Quartermaster")
        self.root.find("push button", "Reset: Times of").press()
        self.expect_headline("1 × H100 SXM5 80GB")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    MEASURED = sys.argv.pop(1)
    unittest.main(verbosity=2)
