#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every way of quotes into the window and out of it, by the keyboard, the
clipboard and the loopback.

test-quotes-ways.py PROGRAM, on a display and a session bus of its own.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import driver
from quotes_window import CHEAP, UNKNOWN, QuotesWindowTest
from loopback import PAGE, Site
from window_test import main

CLIPBOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "clipboard.py")


class WaysCase(QuotesWindowTest):

    def store_draft(self, *texts):
        """What was read is shown first; stores it then."""
        self.root.find("label", contains="Nothing is stored yet")
        for text in texts:
            self.root.find("label", contains=text)
        self.assertEqual(self.stored(), [])
        self.root.find("push button", "Store").press()
        return self.expect_rows(1)[0]

    def stored(self):
        return json.loads(self.command("list", "--json"))["quotes"]

    def shown(self, number=1):
        return json.loads(self.command("show", str(number), "--json"))

    def copy(self, media_type, text):
        """Somebody copies something in another program."""
        other = subprocess.Popen(
            [sys.executable, CLIPBOARD, media_type, text],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(other.wait)
        self.addCleanup(other.stdout.close)
        self.addCleanup(other.stdin.close)
        self.assertEqual(other.stdout.readline(), "ready\n")

    def open_quote(self):
        """One of Delta Computers, on its page."""
        self.command("import", self.file("delta.csv", CHEAP))
        driver.press_keys("alt+2")
        self.expect_rows(1)
        self.root.tab_to("check box", "Compare: Delta Computers")
        driver.press_keys("Return")

    def open_page(self):
        driver.press_keys("alt+2")
        self.root.find("push button", "Import Files…")

    def serve(self, answer):
        site = Site(answer)
        site.__enter__()
        self.addCleanup(site.__exit__)
        return site.address


class PasteTest(WaysCase):

    def paste(self):
        """Again, where the program has not heard yet of what was copied."""
        for _ in range(4):
            driver.press_keys("ctrl+v")
            try:
                self.root.find("label", contains="Nothing is stored yet",
                               patience=driver.PATIENCE / 4)
                return
            except driver.NotFound:
                pass

    def test_text(self):
        self.open_page()
        self.copy("text/plain;charset=utf-8", CHEAP)
        self.paste()
        row = self.store_draft("Delta Computers, Q-17")
        self.assertIn("28,100.00 USD", row.name)

    def test_file(self):
        self.open_page()
        path = pathlib.Path(self.file("delta offer.csv", CHEAP))
        self.copy("text/uri-list", path.as_uri() + "\r\n")
        self.paste()
        row = self.store_draft("Delta Computers, Q-17")
        self.assertIn("28,100.00 USD", row.name)

    def test_address(self):
        address = self.serve(
            lambda request: (200, {}, PAGE % ("27500.00", "27,500.00")))
        self.open_page()
        self.copy("text/plain;charset=utf-8", address + "\n")
        self.paste()
        row = self.store_draft("H100")
        self.assertIn("27,500.00 USD", row.name)
        quote, = self.stored()
        self.assertEqual(self.shown(quote["id"])["source"], address)


class AddressTest(WaysCase):

    def ask(self, address):
        self.open_page()
        driver.press_keys("ctrl+l")
        self.root.find("text", "Web address")
        driver.type_text(address)
        driver.press_keys("Return")

    def test_page(self):
        self.ask(self.serve(
            lambda request: (200, {}, PAGE % ("27500.00", "27,500.00"))))
        row = self.store_draft("H100")
        self.assertIn("27,500.00 USD", row.name)

    def test_failure(self):
        self.ask(self.serve(lambda request: (500, {}, "sorry")))
        self.root.find("label", contains="Cannot Be Read")
        self.root.find("label", contains="500")
        self.root.find("push button", "Cancel").press()
        self.root.find("push button", "Import Files…")
        self.assertEqual(self.stored(), [])

    def test_cancel(self):
        asked = threading.Event()
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def answer(_request):
            asked.set()
            go_on.wait(30)
            return 200, {}, PAGE % ("27500.00", "27,500.00")

        self.ask(self.serve(answer))
        self.assertTrue(asked.wait(driver.PATIENCE))
        self.root.find("label", contains="Reading http")
        begin = time.monotonic()
        driver.press_keys("Escape")
        driver.wait_for(lambda: not self.root.all("label",
                                                  contains="Reading http"),
                        "the draft closed")
        self.assertLess(time.monotonic() - begin, 5)
        go_on.set()
        # It is over: what comes late is not shown.
        time.sleep(1)
        self.assertEqual(self.root.all("label", contains="Nothing is stored"),
                         [])
        self.assertEqual(self.stored(), [])
        self.root.find("push button", "Import Files…")


class ColumnsTest(WaysCase):

    def choose(self, combo, item):
        """Chooses by the keyboard."""
        self.root.tab_to("combo box", combo)
        chosen = self.root.after_key("space")
        for _ in range(60):
            if chosen is not None and item in chosen.names():
                break
            chosen = self.root.after_key("Down")
        else:
            raise driver.NotFound(f"{item} in {combo}")
        driver.press_keys("Return")

    def test_asked_once(self):
        self.open_import(self.file("strange.csv", UNKNOWN))
        self.root.find("push button", "Read")
        for column, meaning in (("foo", "Description"), ("bar", "Quantity"),
                                ("baz", "Unit price")):
            self.choose(column, meaning)
        self.root.find("push button", "Read").press()
        self.store_draft("GeForce RTX 3090 24GB")
        line = self.shown()["lines"][0]
        self.assertEqual((line["quantity"], line["price"]), ("2", "1300"))

        # Another file with the same columns is read without a question.
        self.open_import(self.file("again.csv",
                                   UNKNOWN.replace("1300", "1250")))
        self.root.find("label", contains="Nothing is stored yet")
        self.root.find("push button", "Store").press()
        self.expect_rows(2)


class EditTest(WaysCase):

    def open_line(self, name):
        """What a line has is seen once it is open."""
        self.root.tab_to("list item", name)
        driver.press_keys("Return")

    def test_keeps_what_is_not_edited(self):
        self.open_quote()
        before = self.shown()
        self.root.find("push button", "Edit this quote")
        driver.press_keys("F2")
        self.root.find("label", "Edit Quote")
        self.open_line("NVIDIA H100 SXM5 80GB GPU")
        for name in ("Vendor", "Description", "Price of one"):
            self.root.find("text", name)
        self.root.find("text", "Price of one").type("6900.00")
        self.root.find("push button", "Store").press()

        def stored():
            quote = self.shown()
            return quote if quote["lines"][0]["price"] == "6900" else None
        after = driver.wait_for(stored, "the price as it was edited")
        self.assertEqual(after["total"], "27700.00")
        before["lines"][0]["price"] = "6900"
        for quote in (before, after):
            # What follows from the price.
            for name in ("computed", "total", "total_usd"):
                del quote[name]
        self.assertEqual(after, before)
        history = json.loads(self.command("history", "h100-80gb-sxm",
                                          "--json"))["prices"]
        self.assertEqual([point["price"] for point in history], ["6900"])

        driver.press_keys("ctrl+h")
        self.root.find("label", "Prices of H100 SXM5 80GB")
        self.root.find("label", contains="6,900.00 USD")

    def test_a_digit_too_few_is_asked_about(self):
        self.open_quote()
        self.root.find("push button", "Edit this quote")
        driver.press_keys("F2")
        self.open_line("NVIDIA H100 SXM5 80GB GPU")
        self.root.find("text", "Price of one").type("700.00")
        self.root.find("push button", "Store").press()
        driver.wait_for(
            lambda: self.shown()["lines"][0]["asked"] == "price",
            "a question about the price")


class ExportTest(WaysCase):

    def setUp(self):
        super().setUp()
        self.open_quote()
        self.root.find("label", "Q-17")

    def save(self, chooser, name):
        """Types a name into the chooser that is to come, and waits for the
        file."""
        path = os.path.join(self.home, name)
        self.root.find("filler", chooser)
        driver.press_keys("ctrl+a")
        driver.type_text(path)
        driver.press_keys("Return")
        # GTK 4.8 may crash where a dialog that goes away is looked at.
        time.sleep(1)
        driver.wait_for(lambda: os.path.exists(path)
                            and os.path.getsize(path) > 0, f"{name}")
        return path

    def export(self, keys, chooser, name):
        driver.press_keys(keys)
        path = self.save(chooser, name)
        document, = json.loads(self.command(
            "import", path, "--dry-run", "--json"))["documents"]
        quote, = document["quotes"]
        return quote

    def expect_same(self, quote):
        before = self.shown()
        for name in ("vendor", "number", "total", "issued_on", "valid_until",
                     "currency"):
            self.assertEqual(quote[name], before[name], name)
        for line, line_before in zip(quote["lines"], before["lines"],
                                     strict=True):
            for name in ("description", "part_number", "quantity", "price",
                         "item"):
                self.assertEqual(line[name], line_before[name], name)

    def test_csv(self):
        self.expect_same(self.export("ctrl+s", "Export Quotes", "out.csv"))

    def test_ubl(self):
        self.expect_same(self.export("ctrl+u", "Export Quote", "out.xml"))

    def choose(self, menu, item):
        for button in self.root.all("push button", menu):
            if button.actions > 0:
                button.press()
                break
        self.root.find_menu_item(item).press()

    def expect_saved(self, menu, item, chooser, name, begin):
        self.choose(menu, item)
        with open(self.save(chooser, name), "rb") as file:
            self.assertEqual(file.read(len(begin)), begin)

    def test_request(self):
        self.expect_saved("More ways to add quotes",
                          "Request for Quotation as PDF…",
                          "Save the Request for Quotation", "request.pdf",
                          b"%PDF-")
        self.expect_saved("More ways to add quotes",
                          "Request for Quotation as UBL…",
                          "Save the Request for Quotation", "request.xml",
                          b"<?xml")

    def test_answers(self):
        self.expect_saved("Export quotes", "Offers against the Request (PDF)…",
                          "Save What the Offers Say", "offers.pdf", b"%PDF-")


if __name__ == "__main__":
    main()
