#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The watch list as somebody uses it who cannot see it, over the loopback.

test-watch.py PROGRAM, on a display and a session bus of its own.
"""

import datetime
import json
import os
import sqlite3
import threading
import time

import driver
from quotes_window import QuotesWindowTest
from loopback import PAGE, RATES, Site
from window_test import main

TODAY = datetime.datetime.now(datetime.timezone.utc).date()


class Shop:
    """A page with a price, and a bank with exchange rates."""

    def __init__(self):
        self.price = "27500.00"
        self.status = 200
        self.asked = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.site = Site(self.answer)
        base = self.site.address.rsplit("/", 1)[0]
        self.page = base + "/page"
        self.other = base + "/other"
        self.rates = base + "/rates.xml"

    def answer(self, request):
        self.asked.append(request.path)
        self.go_on.wait(30)
        if request.path == "/rates.xml":
            return 200, {}, RATES % TODAY
        if self.status != 200:
            return self.status, {}, "sorry"
        return 200, {}, PAGE % (self.price, self.price)


class WatchCase(QuotesWindowTest):

    settings = {}

    def setUp(self):
        self.shop = Shop()
        self.shop.site.__enter__()
        self.addCleanup(self.shop.site.__exit__)
        self.addCleanup(self.shop.go_on.set)
        super().setUp()

    def prepare(self):
        self.set_settings(rates_address=f"'{self.shop.rates}'",
                          **self.settings)

    def open_list(self):
        driver.press_keys("alt+2")
        self.root.find("push button", "Watch Prices…")
        driver.press_keys("ctrl+shift+p")
        return self.root.find("label", "Pages and Price Feeds")

    def entries(self):
        return json.loads(self.command("fetch", "--list", "--json"))

    def expect(self, text):
        """Something on the screen with that text."""
        return self.root.find("label", contains=text)

    def watch(self, address):
        self.root.find("text", "Web address").type(address)
        self.root.find("push button", "Watch").press()


class WatchTest(WatchCase):

    def test_add_refresh_fail_remove(self):
        self.open_list()
        self.expect("Nothing is watched yet")
        self.watch("ftp://127.0.0.1/a")
        self.expect("http")
        self.assertEqual(self.entries(), [])
        self.watch(self.shop.page)
        self.expect("Not looked at yet")
        self.assertEqual(self.shop.asked, [])

        driver.press_keys("F5")
        self.expect(f"27,500.00 USD, seen on {TODAY.day} ")
        self.expect(f"The newest known rates are of {TODAY.day} ")
        self.assertEqual(sorted(self.shop.asked), ["/page", "/rates.xml"])
        # The product's name is what the entry is called from then on.
        again = "Refresh NVIDIA H100 80GB SXM5"
        self.shop.price = "26000.00"
        self.root.find("push button", again).press()
        self.expect("26,000.00 USD")
        self.shop.status = 500
        self.root.find("push button", again).press()
        label = self.expect("Could not be refreshed: 127.0.0.1")
        self.assertIn("26,000.00 USD, seen on", label.name)
        self.assertIn("500", label.name)
        entry, = self.entries()
        self.assertEqual(entry["price"], "26000")

        # Not from within the entry, where Ctrl+Z takes back what was typed.
        self.root.tab_to("push button",
                         "No longer watch NVIDIA H100 80GB SXM5")
        driver.press_keys("space")
        self.expect("Nothing is watched yet")
        self.assertEqual(self.entries(), [])
        driver.press_keys("ctrl+z")
        self.expect("26,000.00 USD")
        self.assertEqual(self.entries(), [entry])

    def test_keyboard(self):
        """From the page to the switch without a mouse."""
        self.open_list()
        # GTK 4.8 does not tell that an entry has the keyboard.
        self.root.tab_to("list item", "Web address")
        driver.press_keys("Tab")
        driver.type_text(self.shop.page)
        driver.press_keys("Return")
        self.expect("Not looked at yet")
        self.root.tab_to("push button", f"Refresh {self.shop.page}")
        driver.press_keys("space")
        self.expect("27,500.00 USD")
        self.root.tab_to("push button", "Refresh the exchange rates")
        driver.press_keys("space")
        self.expect(f"The newest known rates are of {TODAY.day} ")
        driver.press_keys("Escape")
        driver.wait_for(lambda: not self.root.all(
            "label", "Pages and Price Feeds"), "the window closed")

    def test_stop(self):
        for address in (self.shop.page, self.shop.other):
            self.command("fetch", "--add", address)
        self.open_list()
        self.expect("Not looked at yet")
        self.shop.go_on.clear()
        driver.press_keys("F5")
        stop = self.root.find("push button", "Stop")
        driver.wait_for(lambda: self.shop.asked, "a request")
        self.expect("0 of 3")
        begin = time.monotonic()
        stop.press()
        self.root.find("push button", "Refresh All")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual([entry["error"] for entry in self.entries()],
                         [None, None])

    def test_closing_while_it_refreshes(self):
        self.command("fetch", "--add", self.shop.page)
        self.open_list()
        self.shop.go_on.clear()
        driver.press_keys("F5")
        driver.wait_for(lambda: self.shop.asked, "a request")
        begin = time.monotonic()
        self.program.close()
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(self.program.process.returncode, 0)


class FeedTest(WatchCase):

    def prepare(self):
        """A feed that was refreshed: its own address is not the loopback."""
        super().prepare()
        address = "https://console.vast.ai/api/v0/bundles/"
        self.command("fetch", "--add", address)
        store = sqlite3.connect(os.path.join(
            self.home, "data", "quartermaster", "quotes.sqlite"))
        with store:
            store.execute("UPDATE watched SET last_date = ?, tried_at = 1",
                          (str(TODAY),))
            store.executemany(
                "INSERT INTO prices (source, item, kind, unit, gpus, date,"
                "  micros, currency) VALUES (?, ?, 'cloud', 'hour', 1, ?,"
                "  2000000, 'USD')",
                [(f"{address}#one", "h100-80gb-sxm", str(TODAY)),
                 (f"{address}#two", "a100-80gb-sxm", str(TODAY)),
                 (f"{address}#two", "a100-80gb-sxm", "2026-01-31"),
                 (f"{address}-of-another#one", "a6000", str(TODAY))])
            store.execute("UPDATE state SET changes = changes + 1")
        store.close()

    def test_how_many_prices(self):
        self.open_list()
        self.expect("Prices for rent of Vast.ai")
        self.expect(f"2 prices of {TODAY.day} ")


class StartCase(WatchCase):

    def prepare(self):
        super().prepare()
        self.command("fetch", "--add", self.shop.page)

    def expect_nothing_fetched(self):
        self.open_list()
        self.expect("Not looked at yet")
        time.sleep(2)
        self.assertEqual(self.shop.asked, [])

    def switch(self):
        return self.root.find("check box",
                              contains="Refresh when the program starts")


class OffTest(StartCase):

    def test_nothing_by_itself(self):
        self.expect_nothing_fetched()
        self.assertFalse(self.switch().checked)


class OnTest(StartCase):

    settings = {"refresh_prices_at_start": "true"}

    def test_at_the_start(self):
        self.open_list()
        self.expect("27,500.00 USD")
        self.assertEqual(sorted(self.shop.asked), ["/page", "/rates.xml"])
        self.assertTrue(self.switch().checked)


class RecentTest(StartCase):

    settings = {"refresh_prices_at_start": "true",
                "prices_refreshed": f"int64 {int(time.time()) - 3600}"}

    def test_not_twice_a_day(self):
        self.expect_nothing_fetched()


if __name__ == "__main__":
    main()
