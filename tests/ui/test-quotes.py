#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of quotes as somebody uses it who cannot see it.

test-quotes.py PROGRAM, on a display and a session bus of its own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import driver

PROGRAM = None

CHEAP = """Vendor,Quote,Issued,Valid until,Description,Part number,Quantity,Price,Currency
Delta Computers,Q-17,2026-01-10,2199-12-31,NVIDIA H100 SXM5 80GB GPU,900-1,8,1000.00,USD
Delta Computers,Q-17,2026-01-10,2199-12-31,Rack rails,R-1,2,50.00,USD
"""

EXPIRED = """Vendor,Quote,Issued,Valid until,Description,Part number,Quantity,Price,Currency
Nordsee,A-88,2026-01-05,2026-02-01,NVIDIA H100 SXM5 80GB GPU,900-1,4,700.00,USD
Nordsee,A-88,2026-01-05,2026-02-01,NVIDIA A100 GPU,900-2,2,9500.00,USD
"""

UNKNOWN = """foo,bar,baz
GeForce RTX 3090 24GB,2,1300
Rack shelf,1,200
"""


class QuotesTest(unittest.TestCase):

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="qm-test-")
        self.program = driver.Program(PROGRAM, home=self.home)
        self.root = self.program.root
        self.headline()
        # Until the window has the keyboard, keys go nowhere.
        driver.wait_for(self.focus, "the keyboard in the window")

    def tearDown(self):
        if self._outcome.result.failures or self._outcome.result.errors:
            print("\n".join(self.program.root.dump()), file=sys.stderr)
        self.program.close()
        path = os.path.join(self.home, "log")
        with open(path, encoding="utf-8", errors="replace") as log:
            complaints = [line for line in log
                          if "WARNING" in line or "CRITICAL" in line]
        self.assertEqual(complaints, [])
        shutil.rmtree(self.home, ignore_errors=True)

    def focus(self):
        driver.press_keys("Tab")
        return self.root.focused()

    def headline(self):
        card = self.root.find("panel", "Recommendation", visible=False)
        return card.find("label", contains=":", visible=False).name

    def expect_headline(self, *words):
        def look():
            text = self.headline()
            return text if all(word in text for word in words) else None
        return driver.wait_for(look, f"a headline with {words}; "
                                     f"it is “{self.headline()}”")

    def file(self, name, text):
        path = os.path.join(self.home, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def command(self, *arguments):
        environment = dict(os.environ)
        environment["XDG_DATA_HOME"] = os.path.join(self.home, "data")
        environment["LC_ALL"] = "C.UTF-8"
        done = subprocess.run([PROGRAM, "quotes", *arguments],
                              env=environment, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def open_import(self, path):
        driver.press_keys("ctrl+o")
        chooser = self.root.find("filler", "Import Quotes")
        driver.wait_for(chooser.focused, "the keyboard in the file chooser")
        driver.type_text(path)
        driver.press_keys("Return")
        return self.root

    def rows(self):
        table = self.root.find("tree table", "Quotes", visible=False)
        return [row for row in table.all("table row") if ", " in row.name]

    def expect_rows(self, n):
        return driver.wait_for(lambda: self.rows() if len(self.rows()) == n
                               else None, f"{n} quotes in the list")

    def test_import_changes_the_advice(self):
        before = self.headline()
        path = self.file("delta.csv", CHEAP)
        draft = self.open_import(path)
        draft.find("label", contains="Nothing is stored yet")
        draft.find("label", contains="Delta Computers, Q-17")
        draft.find("label", contains="Catalog: H100 SXM5 80GB")
        draft.find("push button", "Store").press()

        row, = self.expect_rows(1)
        self.assertIn("Delta Computers", row.name)
        self.assertIn("8,100.00 USD", row.name)
        self.assertIn("until 2199-12-31", row.name)
        self.expect_headline("8 × H100 SXM5 80GB")
        self.root.find("label", "Q-17")

        self.root.find("push button", "Delete this quote").press()
        driver.wait_for(lambda: self.headline() == before,
                        "the advice as it was")
        self.root.find("push button", contains="Undo").press()
        self.expect_rows(1)
        self.expect_headline("8 × H100 SXM5 80GB")

    def test_what_others_store_is_seen(self):
        self.command("import", self.file("delta.csv", CHEAP))
        self.expect_headline("8 × H100 SXM5 80GB")
        driver.press_keys("alt+2")
        self.expect_rows(1)
        self.command("delete", "1")
        driver.wait_for(lambda: "8 × H100" not in self.headline(),
                        "the advice without the quote")

    def test_expired_and_ambiguous(self):
        self.command("import", self.file("nordsee.csv", EXPIRED))
        before = self.headline()
        driver.press_keys("alt+2")
        row, = self.expect_rows(1)
        self.assertIn("expired on 2026-02-01", row.name)
        self.root.find("check box", "Compare: Nordsee")
        driver.press_keys("alt+1")
        self.root.tab_to("check box", "Use expired quotes", most=80)
        driver.press_keys("space")
        self.expect_headline("8 × H100 SXM5 80GB", "$16,100")
        driver.press_keys("space")
        driver.wait_for(lambda: self.headline() == before,
                        "the advice as it was")

    def test_columns_are_asked_for(self):
        draft = self.open_import(self.file("strange.csv", UNKNOWN))
        draft.find("push button", "Read")
        draft.find("combo box", "foo")

    def test_search_and_compare(self):
        self.command("import", self.file("delta.csv", CHEAP))
        self.command("import", self.file("nordsee.csv", EXPIRED))
        driver.press_keys("alt+2")
        self.expect_rows(2)
        driver.press_keys("ctrl+f")
        driver.type_text("rails")
        row, = self.expect_rows(1)
        self.assertIn("Delta", row.name)
        driver.press_keys("Escape")
        self.expect_rows(2)
        # The newest one comes first.
        for name in ("Compare: Nordsee", "Compare: Delta Computers"):
            self.root.tab_to("check box", name)
            driver.press_keys("space", "Down")
        self.root.find("push button", "Compare").press()
        side = self.root.find("panel", "Quotes side by side")
        side.find("label", contains="not offered")
        side.find("label", contains="prices differ")

    def test_typed_in(self):
        driver.press_keys("alt+2")
        self.root.find("push button", "Type One In…").press()
        self.root.find(None, "New Quote")
        editor = self.root
        for name, text in (("Vendor", "Hand"), ("Currency, like EUR", "usd"),
                           ("Description", "H100 SXM5 80GB"),
                           ("Price of one", "1,000.00")):
            editor.find("text", name).type(text)
        editor.find("push button", "Store").press()
        row, = self.expect_rows(1)
        self.assertIn("1,000.00 USD", row.name)
        self.expect_headline("H100 SXM5 80GB")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
