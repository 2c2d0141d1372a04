# SPDX-License-Identifier: Apache-2.0
"""quartermaster quotes: addresses, the watch list and exchange rates, over the
loopback."""

import json
import os
import signal
import subprocess
import sys
import threading

import harness
from loopback import PAGE, RATES, Site
from quotes import EARLIER, SAMPLES, TODAY, QuotesTest

SERVER = os.path.join(os.path.dirname(SAMPLES), "server.py")


class FetchTest(QuotesTest):
    def test_import_of_an_address(self):
        with Site(lambda request:
                  (200, {}, PAGE % ("27500.00", "27,500.00"))) as site:
            document, = self.ask_json("import", site.address)["documents"]
        quote, = document["quotes"]
        self.assertEqual(document["kind"], "page")
        self.assertEqual(quote["source"], site.address)
        self.assertEqual(quote["total"], "27500.00")

    def test_hostile_servers(self):
        server = subprocess.Popen(
            [sys.executable, SERVER, SAMPLES,
             os.path.join(os.path.dirname(SAMPLES), "localhost.pem")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stdin.close)
        ports = json.loads(server.stdout.readline())
        base = "http://127.0.0.1:%d" % ports["http"]
        for page in ("/status/404", "/status/500", "/loop", "/redirect/9",
                     "/huge", "/bomb", "/cut", "/garbage", "/packed-badly",
                     "/to?url=file:///etc/passwd", "/nothing"):
            with self.subTest(page=page):
                self.refuse_quotes("import", base + page, says="127.0.0.1")
        self.refuse_quotes("import", "https://127.0.0.1:%d/file/server.xml"
                           % ports["https"], says="127.0.0.1")
        document, = self.ask_json("import",
                                  base + "/file/server.xml")["documents"]
        self.assertEqual(document["quotes"][0]["vendor"], "Rechenwerk GmbH")

    def test_watch_list(self):
        state = {"price": "27500.00", "status": 200, "asked": []}

        def answer(request):
            state["asked"].append(request.headers.get("If-None-Match"))
            if state["status"] != 200:
                return state["status"], {}, "sorry"
            tag = '"%s"' % state["price"]
            if request.headers.get("If-None-Match") == tag:
                return 304, {"ETag": tag}, ""
            return 200, {"ETag": tag}, PAGE % (state["price"], state["price"])

        with Site(answer) as site:
            self.quotes("fetch", "--add", site.address, "--item",
                        "h100-80gb-sxm")
            entry, = self.ask_json("fetch", "--list")
            self.assertIsNone(entry["price"])
            self.assertEqual(state["asked"], [])

            def fetch(expect=0):
                return self.ask_json("fetch", expect=expect)[0]

            entry = fetch()
            self.assertEqual((entry["outcome"], entry["price"],
                              entry["currency"], entry["date"]),
                             ("first", "27500", "USD", str(TODAY)))
            entry = fetch()
            self.assertEqual((entry["outcome"], entry["price"]),
                             ("same", "27500"))
            self.assertEqual(state["asked"], [None, '"27500.00"'])
            state["price"] = "26000.00"
            entry = fetch()
            self.assertEqual((entry["outcome"], entry["price"]),
                             ("changed", "26000"))
            state["status"] = 500
            entry = fetch(expect=1)
            self.assertEqual((entry["outcome"], entry["price"]),
                             ("failed", "26000"))
            self.assertIn("500", entry["error"])
            text = self.quotes("fetch", expect=1).text
            self.assertIn("still 26,000.00 USD", text)
            self.assertIn("26,000.00", self.quotes("fetch", "--list").text)
            points = self.ask_json("history", "h100-80gb-sxm")["prices"]
            self.assertEqual([(point["price"], point["source"])
                              for point in points],
                             [("26000", site.address)])
            self.quotes("fetch", "--remove", site.address)
        self.assertEqual(self.ask_json("fetch", "--list"), [])

    def test_interrupt(self):
        ready = threading.Event()
        go_on = threading.Event()

        def answer(_request):
            ready.set()
            go_on.wait(30)
            return 200, {}, "too late"

        with Site(answer) as site:
            program = subprocess.Popen(
                [harness.PROGRAM, "quotes", "import", site.address],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL, cwd=self.home,
                env=self.environment())
            self.assertTrue(ready.wait(30))
            program.send_signal(signal.SIGINT)
            out, err = program.communicate(timeout=30)
            go_on.set()
        self.assertEqual(program.returncode, 2)
        self.assertEqual(out, b"")
        self.assertIn(b"interrupted", err)
        self.assertEqual(self.stored(), [])


class RatesTest(QuotesTest):
    def test_update(self):
        with Site(lambda request: (200, {}, RATES % TODAY)) as site:
            answer = self.ask_json("rates", "update", "--address",
                                   site.address)
            self.assertEqual((answer["rates"], answer["last_day"]),
                             (2, str(TODAY)))
        rate = self.ask_json("rates", "show", "EUR", "USD")
        self.assertEqual((rate["rate"], rate["date"], rate["stale"],
                          rate["source"]),
                         ("1.25000", str(TODAY), False, site.address))
        rate = self.ask_json("rates", "show", "usd", "dkk")
        self.assertEqual(rate["rate"], "6.00000")
        self.assertIn("1.25000", self.quotes("rates", "show").text)

    def test_bad_answers(self):
        for body in ("", "<a/>", "<html>", RATES % "yesterday",
                     RATES.replace("1.2500", "-1") % TODAY,
                     '<!DOCTYPE a [<!ENTITY x "y">]>' + RATES % TODAY):
            with self.subTest(body=body[:40]), Site(
                    lambda request, body=body: (200, {}, body)) as site:
                self.refuse("quotes", "rates", "update", "--address",
                            site.address)
        self.refuse("quotes", "rates", "show", "EUR", "USD",
                    "--date", "1980-01-01")

    def test_stale(self):
        with Site(lambda request: (200, {}, RATES % EARLIER)) as site:
            self.quotes("rates", "update", "--address", site.address)
        rate = self.ask_json("rates", "show", "EUR", "USD")
        self.assertEqual((rate["age_days"], rate["stale"]), (30, True))
        self.assertIn("30 days older",
                      self.quotes("rates", "show", "EUR", "USD").text)


if __name__ == "__main__":
    harness.main()
