#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of quotes as somebody uses it who cannot see it.

test-quotes.py PROGRAM, on a display and a session bus of its own.
"""

import driver
from quotes_window import CHEAP, EXPIRED, UNKNOWN, QuotesWindowTest
from window_test import main


class QuotesTest(QuotesWindowTest):

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
        self.assertIn("28,100.00 USD", row.name)
        self.assertIn("until 31 Dec 2199", row.name)
        self.expect_headline("4 × H100 SXM5 80GB")
        self.root.find("label", "Q-17")

        self.root.find("push button", "Delete this quote").press()
        driver.wait_for(lambda: self.headline() == before,
                        "the advice as it was")
        driver.press_keys("ctrl+z")
        self.expect_rows(1)
        self.expect_headline("4 × H100 SXM5 80GB")

    def test_what_others_store_is_seen(self):
        self.command("import", self.file("delta.csv", CHEAP))
        self.expect_headline("4 × H100 SXM5 80GB")
        driver.press_keys("alt+2")
        self.expect_rows(1)
        self.command("delete", "1")
        driver.wait_for(lambda: "4 × H100" not in self.headline(),
                        "the advice without the quote")

    def test_expired_and_ambiguous(self):
        self.command("import", self.file("nordsee.csv", EXPIRED))
        before = self.headline()
        driver.press_keys("alt+2")
        row, = self.expect_rows(1)
        self.assertIn("expired on 1 Feb 2026", row.name)
        self.root.find("check box", "Compare: Nordsee")
        driver.press_keys("alt+1")
        self.root.tab_to("check box", "Use expired quotes", most=80)
        driver.press_keys("space")
        self.expect_headline("4 × H100 SXM5 80GB", "$33,500")
        driver.press_keys("space")
        driver.wait_for(lambda: self.headline() == before,
                        "the advice as it was")

    def test_marks(self):
        """What needs a look has a sign that says why, and what could not be
        read completely most of all."""
        self.command("import", self.file("delta.csv", CHEAP))
        self.command("import", self.file("nordsee.csv", EXPIRED))
        self.command("import", self.file("torn.csv", CHEAP.replace(
            "Delta Computers", "Torn").replace("Q-17", "Q-18")))
        driver.press_keys("alt+2")
        rows = {row.name.split(",")[0]: row for row in self.expect_rows(3)}
        asks = "Asks something before all of it counts"
        broken = "Could not be read completely, and does not count"
        self.assertIn(asks, rows["Nordsee"].name)
        for name in ("Delta Computers", "Torn"):
            self.assertNotIn(asks, rows[name].name)
            self.assertNotIn(broken, rows[name].name)
        self.assertEqual(len(self.root.matches("image", asks)), 1)
        self.change("UPDATE quotes SET asked = 'zzz' WHERE number = 'Q-18'")
        self.command("delete", "2")  # which is what the window notices
        row = self.root.find("table row", contains=broken)
        self.assertTrue(row.name.startswith("Torn, "))
        self.assertEqual(len(self.root.matches("image", broken)), 1)

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
        # The newest one comes first; the one that was found has the focus, and
        # within the list the arrows go from one to the next.
        self.root.tab_to("check box", "Compare: Delta Computers")
        driver.press_keys("space")
        above = self.root.after_key("Up")
        if above.name == "Compare: Delta Computers":
            # In GTK 4.18 the first arrow selects the row where one is.
            above = self.root.after_key("Up")
        self.assertEqual(above.name, "Compare: Nordsee")
        driver.press_keys("space")
        self.root.find("push button", "Compare").press()
        side = self.root.find("panel", "Quotes side by side")
        side.find("label", contains="Without tax")
        side.find("label", contains="★")
        self.root.find("label", "Lowest by each measure")

    def test_typed_in(self):
        driver.press_keys("alt+2")
        self.root.find("push button", "Type One In…").press()
        self.root.find(None, "New Quote")
        editor = self.root
        for name, text in (("Vendor", "Hand"), ("Currency, like EUR", "usd"),
                           ("Description", "H100 SXM5 80GB"),
                           ("Price of one", "7,000.00")):
            editor.find("text", name).type(text)
        editor.find("push button", "Store").press()
        row, = self.expect_rows(1)
        self.assertIn("7,000.00 USD", row.name)
        self.expect_headline("H100 SXM5 80GB")


if __name__ == "__main__":
    main()
