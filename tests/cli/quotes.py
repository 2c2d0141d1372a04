# SPDX-License-Identifier: Apache-2.0
"""What the tests of quotes share."""

import datetime
import http.server
import os
import threading

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

RATES = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"
 xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<Cube><Cube time='%s'><Cube currency='USD' rate='1.2500'/>
<Cube currency='DKK' rate='7.5'/></Cube></Cube></gesmes:Envelope>
"""

PAGE = """<!DOCTYPE html><html><head><title>Shop</title>
<script type="application/ld+json">{"@context": "https://schema.org",
"@type": "Product", "name": "NVIDIA H100 80GB SXM5", "offers":
{"@type": "Offer", "price": "%s", "priceCurrency": "USD"}}</script></head>
<body><h1>NVIDIA H100 80GB SXM5</h1><p>$%s</p></body></html>
"""


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


class Site:
    """A web page on this machine: `answer` takes the request's handler and
    returns status, headers and text."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, headers, body = answer(self)
                body = body.encode("utf-8")
                self.send_response(status)
                headers.setdefault("Content-Type", "text/html; charset=utf-8")
                headers.setdefault("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(body)
                except BrokenPipeError:
                    pass

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.address = "http://127.0.0.1:%d/page" % self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()
        return self

    def __exit__(self, *arguments):
        self.server.shutdown()
        self.server.server_close()
