# SPDX-License-Identifier: Apache-2.0
"""What the tests of quotes share."""

import datetime
import os

import harness

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                       "pricing", "samples")
TODAY = datetime.datetime.now(datetime.timezone.utc).date()
LATER = TODAY + datetime.timedelta(days=30)
EARLIER = TODAY - datetime.timedelta(days=30)

OFFER = """vendor;quote;issued;valid until;item;qty;unit price;currency
Delta Computers;Q-17;%s;%s;NVIDIA H100 80GB SXM5;8;20000.00;USD
Delta Computers;Q-17;%s;%s;Screws;100;0.10;USD
""" % (TODAY, LATER, TODAY, LATER)


class QuotesTest(harness.CommandLineTest):
    def quotes(self, *arguments, **options):
        options.setdefault("expect", 0)
        result = self.run_program("quotes", *arguments, **options)
        return result

    def ask_json(self, *arguments, **options):
        result = self.quotes(*arguments, "--json", **options)
        self.assertEqual(result.err, b"", str(result))
        return result.json

    def write(self, name, data):
        path = self.path(name)
        if isinstance(data, str):
            data = data.encode("utf-8")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def add(self, text=OFFER, *arguments, name="offer.csv"):
        """Imports a text and returns the numbers of its quotes."""
        answer = self.ask_json("import", self.write(name, text), *arguments)
        return [quote["id"] for quote in answer["documents"][0]["quotes"]]

    def stored(self, *arguments):
        return self.ask_json("list", *arguments)["quotes"]

    def refuse_quotes(self, *arguments, **options):
        """Bad input stores nothing."""
        before = self.stored()
        result = self.refuse("quotes", *arguments, **options)
        self.assertEqual(self.stored(), before)
        return result

    def store_path(self):
        return self.path("data", "quartermaster", "quotes.sqlite")
