# SPDX-License-Identifier: Apache-2.0
"""quartermaster quotes: from the vendor's paper to the recommendation, and
nothing stored of what cannot be trusted."""

import datetime
import http.server
import io
import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

import harness

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                       "pricing", "samples")
SERVER = os.path.join(os.path.dirname(SAMPLES), "server.py")
TODAY = datetime.datetime.now(datetime.timezone.utc).date()
LATER = TODAY + datetime.timedelta(days=30)
EARLIER = TODAY - datetime.timedelta(days=30)
ASK = ("--model", "pythia-1b", "--times", "published", "--budget", "150k")

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


class ImportTest(QuotesTest):
    def test_ubl(self):
        answer = self.ask_json("import",
                               os.path.join(SAMPLES, "four-lines.xml"))
        document, = answer["documents"]
        quote, = document["quotes"]
        self.assertEqual(document["kind"], "ubl")
        self.assertEqual(document["added"], 1)
        self.assertEqual(quote["currency"], "DKK")
        self.assertEqual(quote["payable"], "247187.50")
        self.assertEqual(quote["computed"]["lines"], "197750.00")
        self.assertEqual([line["total"] for line in quote["lines"]],
                         ["150500.00", "43750.00", "1750.00", "1750.00"])
        self.assertEqual(quote["source"], "four-lines.xml")
        self.assertFalse(quote["holds"])
        self.assertEqual(len(self.stored()), 1)
        shown = self.ask_json("show", str(quote["id"]))
        self.assertEqual(len(shown.pop("attachments")), 1)
        self.assertEqual(shown, quote)

    def test_what_does_not_add_up_is_said_and_kept(self):
        path = os.path.join(SAMPLES, "inconsistent.xml")
        result = self.quotes("import", path)
        self.assertIn("!", result.text)
        row, = self.stored()
        self.assertGreater(row["warnings"], 0)
        self.assertEqual(row["total"], "107.50")

    def test_dry_run_stores_nothing(self):
        result = self.quotes("import", self.write("a.csv", OFFER), "--dry-run")
        self.assertIn("Nothing was stored", result.text)
        self.assertIn("h100-80gb-sxm", result.text)
        self.assertFalse(os.path.exists(self.store_path()))
        self.assertEqual(self.stored(), [])
        self.assertFalse(os.path.exists(self.store_path()))

    def test_standard_input(self):
        result = subprocess.run(
            [harness.PROGRAM, "quotes", "import", "-", "--json"],
            input=OFFER.encode(), stdout=subprocess.PIPE, cwd=self.home,
            env=self.environment(), check=True, timeout=60)
        document, = json.loads(result.stdout)["documents"]
        self.assertEqual(document["quotes"][0]["number"], "Q-17")
        self.assertEqual(len(self.stored()), 1)

    def test_endless_standard_input(self):
        with open("/dev/zero", "rb") as zeros:
            result = subprocess.run(
                [harness.PROGRAM, "quotes", "import", "-"], stdin=zeros,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.home,
                env=self.environment(), check=False, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(self.stored(), [])

    def test_again_is_the_same(self):
        first = self.add()
        self.assertEqual(self.add(), first)
        self.assertIn("already", self.quotes("import", "offer.csv").text)
        self.assertEqual(len(self.stored()), 1)
        self.quotes("delete", str(first[0]))
        self.assertNotEqual(self.add(), first)

    def test_several_at_once(self):
        a = self.write("a.csv", OFFER)
        b = self.write("b.csv", OFFER.replace("Q-17", "Q-18"))
        answer = self.ask_json("import", a, b,
                               os.path.join(SAMPLES, "server.xml"))
        self.assertEqual([document["added"] for document
                          in answer["documents"]], [1, 1, 1])
        self.assertEqual(len(self.stored()), 3)

    def test_one_bad_among_good_ones(self):
        self.refuse_quotes("import", self.write("a.csv", OFFER),
                           self.write("b.xml", "<Order/>"), says="b.xml")
        self.assertFalse(os.path.exists(self.store_path()))

    def test_columns(self):
        table = ("Zeug;Wieviel;Wert\nNVIDIA L40S;2;7.500,00\n")
        self.refuse_quotes("import", self.write("t.csv", table),
                           says=("t.csv", "Zeug", "--map"))
        options = ("--map", "Zeug=description", "--map", "B=quantity",
                   "--map", "3=price", "--currency", "eur", "--vendor", "Nord")
        quote = self.ask_json("import", self.path("t.csv"),
                              *options)["documents"][0]["quotes"][0]
        self.assertEqual(quote["lines"][0]["price"], "7500")
        self.assertEqual(quote["lines"][0]["item"], "l40s")
        self.assertEqual(quote["lines"][0]["quantity"], "2")
        self.assertEqual((quote["vendor"], quote["currency"], quote["total"]),
                         ("Nord", "EUR", "15000.00"))
        # The next table like it is read without being told.
        other = self.write("u.csv", table.replace("7.500,00", "7.000,00"))
        quote = self.ask_json("import", other)["documents"][0]["quotes"][0]
        self.assertEqual(quote["total"], "14000.00")

    def test_bad_columns(self):
        path = self.write("a.csv", OFFER)
        for options, says in ((("--map", "price"), "price"),
                              (("--map", "nowhere=price"), "nowhere"),
                              (("--map", "99=price"), "99"),
                              (("--map", "item=prize"), "did you mean 'price'"),
                              (("--decimal", "semicolon"), "semicolon"),
                              (("--currency", "euro"), "euro"),
                              (("--currency", ""), "empty")):
            with self.subTest(options=options):
                self.refuse_quotes("import", path, *options, says=says)
        self.refuse_quotes("import", os.path.join(SAMPLES, "server.xml"),
                           "--map", "1=price", says="no table")

    def test_ambiguous(self):
        table = OFFER.replace("NVIDIA H100 80GB SXM5", "A100")
        path = self.write("a.csv", table)
        text = self.quotes("import", path, "--dry-run").text
        self.assertIn("--item 1=ID", text)
        self.refuse_quotes("import", path, "--item", "1=h999", says="h999")
        self.refuse_quotes("import", path, "--item", "9=l40s", says="9=l40s")
        quote = self.ask_json("import", path, "--item",
                              "1=a100-80gb-pcie")["documents"][0]["quotes"][0]
        self.assertEqual(quote["lines"][0]["item"], "a100-80gb-pcie")
        self.assertEqual(quote["lines"][0]["match"], "chosen")

    def test_own_format(self):
        number, = self.add()
        self.quotes("export", str(number), "-o", "kept.json")
        self.quotes("delete", str(number))
        again, = self.ask_json("import", "kept.json")["documents"]
        self.assertEqual(again["kind"], "json")
        before = self.ask_json("show", str(number))
        after = self.ask_json("show", str(again["quotes"][0]["id"]))
        for quote in (before, after):
            for key in ("id", "attachments"):
                quote.pop(key)
        self.assertEqual(before, after)

    def test_page(self):
        path = self.write("shop.html", PAGE % ("27500.00", "27,500.00"))
        quote = self.ask_json("import", path)["documents"][0]["quotes"][0]
        self.assertEqual(quote["kind"], "street")
        self.assertEqual(quote["lines"][0]["item"], "h100-80gb-sxm")
        self.assertEqual(quote["total"], "27500.00")
        empty = self.write("empty.html", "<!DOCTYPE html><html><body>"
                           "<h1>About us</h1></body></html>")
        self.refuse_quotes("import", empty, says="no price")

    def test_hostile_names(self):
        name = "\u202eevil\x1b[31m.csv"
        text = self.quotes("import", self.write(name, OFFER.replace(
            "Delta Computers", "Del\x1b]0;ta\u202e"))).text
        for bad in ("\x1b", "\u202e"):
            self.assertNotIn(bad, text)
            self.assertNotIn(bad, self.quotes("list").text)


class BadInputTest(QuotesTest):
    def test_documents(self):
        ubl = ('xmlns="urn:oasis:names:specification:ubl:schema:xsd:'
               'Quotation-2"')
        bomb = "".join('<!ENTITY a%d "%s">' % (i, "&a%d;" % (i - 1) * 10)
                       for i in range(1, 9))
        documents = {
            "empty": "",
            "blank": "   \n",
            "nul.csv": b"a,b\0,c\n1,2,3\n",
            "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
            "offer.pdf": b"%PDF-1.7\n" + bytes(100),
            "table.xlsx": b"PK\x03\x04" + bytes(100),
            "cut.xml": open(os.path.join(SAMPLES, "server.xml"),
                            encoding="utf-8").read()[:2000],
            "order.xml": '<Order xmlns="urn:oasis:names:specification:ubl:'
                         'schema:xsd:Order-2"/>',
            "external.xml": '<!DOCTYPE q [<!ENTITY x SYSTEM '
                            '"file:///etc/passwd">]><Quotation %s>&x;'
                            '</Quotation>' % ubl,
            "bomb.xml": '<!DOCTYPE q [<!ENTITY a0 "ha">%s]><Quotation %s>'
                        '&a8;</Quotation>' % (bomb, ubl),
            "deep.xml": "<Quotation %s>%s" % (ubl, "<a>" * 100000),
            "deep.json": "[" * 100000,
            "other.json": '{"format": "something else", "quotes": []}',
            "list.json": "[1, 2, 3]",
            "mixed.csv": OFFER.replace("0.10;USD", "0.10;EUR"),
            "header.csv": OFFER.splitlines()[0] + "\n",
            "open.csv": 'item,price\n"never closed,1\n',
            "invoice.html": "<html><body>Nothing</body></html>",
        }
        for name, data in documents.items():
            with self.subTest(name=name):
                self.refuse_quotes("import", self.write(name, data),
                                   says="" if name == "blank" else name)
        self.assertFalse(os.path.exists(self.store_path()))

    def test_large_documents(self):
        with open(self.path("large.xml"), "wb") as file:
            file.write(b"<Quotation>")
            file.truncate(1 << 31)
        with open(self.path("large.csv"), "wb") as file:
            file.write(b"item,price\n")
            for _ in range(100):
                file.write(b"a,1\n" * 200000)
        for name in ("large.xml", "large.csv"):
            self.refuse_quotes("import", self.path(name), says=name)

    def test_files(self):
        self.refuse_quotes("import", "nowhere.xml", says="nowhere.xml")
        self.refuse_quotes("import", self.home, says="directory")
        self.refuse_quotes("import", says="needed")
        self.refuse_quotes("import", "ftp://localhost/a.csv", says="ftp")
        self.refuse_quotes("import", "file:///etc/passwd", says="file")
        if os.getuid() != 0:
            path = self.write("secret.csv", OFFER)
            os.chmod(path, 0)
            self.refuse_quotes("import", path, says="secret.csv")

    def test_arguments(self):
        for arguments, says in (
                (("impotr",), "did you mean 'import'"),
                (("list", "--sort", "price"), "choose"),
                (("list", "--valid-on", "tomorrow"), "2026-12-31"),
                (("list", "--limit", "0"), "--limit"),
                (("list", "all"), "unexpected"),
                (("show",), "number"), (("show", "x"), "'x'"),
                (("show", "1", "2"), "one quote"), (("show", "77"), "77"),
                (("compare", "1"), "2 to 4"),
                (("compare", "1", "2", "3", "4", "5"), "2 to 4"),
                (("export", "1"), "--format"),
                (("export", "1", "--format", "doc"), "doc"),
                (("delete",), "number"), (("delete", "0"), "'0'"),
                (("delete", "5"), "5"), (("restore", "5"), "5"),
                (("rates",), "update"), (("rates", "guess"), "update"),
                (("rates", "show", "EURO"), "EURO"),
                (("rates", "show", "EUR", "XYZ"), "XYZ"),
                (("rates", "show", "EUR", "USD", "DKK"), "two"),
                (("rates", "update", "EUR"), "neither"),
                (("history",), "needed"), (("history", "h1000"), "h1000"),
                (("fetch",), "--add"), (("fetch", "--item", "l40s"), "--add"),
                (("fetch", "--add", "ftp://a/"), "ftp"),
                (("fetch", "--add", "http://a/", "--item", "x"), "'x'"),
                (("fetch", "http://127.0.0.1/"), "not watched"),
                (("fetch", "--list", "--remove", "http://a/"), "exclude")):
            with self.subTest(arguments=arguments):
                self.refuse_quotes(*arguments, says=says)

    def test_stores(self):
        number, = self.add()
        other = self.path("notes.sqlite")
        base = sqlite3.connect(other)
        base.execute("CREATE TABLE notes (text TEXT)")
        base.close()
        self.refuse("quotes", "list", "--store", other, says="notes.sqlite")
        self.refuse("quotes", "import", self.path("offer.csv"), "--store",
                    self.home)
        damaged = self.write("damaged.sqlite", os.urandom(8192))
        self.refuse("quotes", "list", "--store", damaged,
                    says="damaged.sqlite")
        base = sqlite3.connect(self.store_path())
        base.execute("PRAGMA user_version = 99")
        base.close()
        self.refuse("quotes", "show", str(number), says="newer")
        self.refuse("advise", *ASK, says="newer")
        self.ask(*ASK, "--no-quotes")

    def test_no_space_for_output(self):
        number, = self.add()
        with open("/dev/full", "wb") as full:
            result = self.run_program("quotes", "show", str(number),
                                      stdout=full, expect=2)
        self.assertIn("cannot write", result.complaint)


class ListTest(QuotesTest):
    def setUp(self):
        super().setUp()
        self.new, = self.add()
        self.old, = self.add(OFFER.replace("Q-17", "A-1").replace(
            str(LATER), str(EARLIER)).replace("Delta Computers", "Écho")
            .replace("H100 80GB SXM5", "L40S").replace("20000", "9000"),
            name="old.csv")

    def numbers(self, *arguments):
        return [quote["id"] for quote in self.stored(*arguments)]

    def test_filters(self):
        both = [self.old, self.new]
        self.assertEqual(self.numbers(), both)
        self.assertEqual(self.numbers("--search", "h100"), [self.new])
        self.assertEqual(self.numbers("--search", "ECHO screws"), [self.old])
        self.assertEqual(self.numbers("--search", "100%"), [])
        self.assertEqual(self.numbers("--vendor", "Écho"), [self.old])
        self.assertEqual(self.numbers("--gpu", "h100-80gb-sxm"), [self.new])
        self.assertEqual(self.numbers("--valid"), [self.new])
        self.assertEqual(self.numbers("--valid-on", str(LATER)), [self.new])
        self.assertEqual(self.numbers("--valid-on", "2031-01-01"), [])
        self.refuse("quotes", "list", "--vendor", "Delta Computer",
                    says="did you mean 'Delta Computers'")

    def test_sort(self):
        self.assertEqual(self.numbers("--sort", "total"), [self.old, self.new])
        self.assertEqual(self.numbers("--sort", "total", "--reverse"),
                         [self.new, self.old])
        self.assertEqual(self.numbers("--sort", "number"),
                         [self.old, self.new])
        self.assertEqual(self.numbers("--sort", "vendor"),
                         [self.new, self.old])
        answer = self.ask_json("list", "--limit", "1")
        self.assertEqual((answer["found"], len(answer["quotes"])), (2, 1))

    def test_text(self):
        lines = self.quotes("list").text.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("Écho", lines[1])
        self.assertIn("160,010.00 USD", lines[2])
        german = self.quotes("list", env={"LANGUAGE": "de"})
        self.assertEqual(len(german.text.splitlines()), 3)

    def test_delete_and_restore(self):
        self.quotes("delete", str(self.new), str(self.old))
        self.assertEqual(self.numbers(), [])
        self.assertEqual(len(self.numbers("--deleted")), 2)
        self.refuse("quotes", "delete", str(self.new), says=str(self.new))
        self.quotes("restore", str(self.new))
        self.assertEqual(self.numbers(), [self.new])
        again, = self.add(open(self.path("old.csv"), encoding="utf-8").read(),
                          name="old.csv")
        self.assertNotEqual(again, self.old)
        self.refuse("quotes", "restore", str(self.old))

    def test_store_of_its_own(self):
        self.assertEqual(self.stored("--store", self.path("none.sqlite")), [])
        self.assertFalse(os.path.exists(self.path("none.sqlite")))
        self.quotes("import", self.path("offer.csv"), "--store",
                    self.path("mine.sqlite"))
        self.assertEqual(len(self.stored("--store", self.path("mine.sqlite"))),
                         1)


class CompareTest(QuotesTest):
    def test_lines(self):
        first, = self.add()
        second, = self.add(OFFER.replace("Q-17", "B-2").replace(
            "20000.00", "19500.00").replace("NVIDIA H100 80GB SXM5",
                                            "H100 SXM5 80 GB").replace(
            "Screws", "Rails"), name="b.csv")
        answer = self.ask_json("compare", str(first), str(second))
        self.assertEqual(answer["currency"], "USD")
        self.assertEqual([total["amount"] for total in answer["totals"]],
                         ["160010.00", "156010.00"])
        rows = answer["lines"]
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0]["differences"], ["price"])
        self.assertEqual([cell["price"] for cell in rows[0]["quotes"]],
                         ["20000", "19500"])
        self.assertEqual(rows[1]["differences"], ["missing"])
        self.assertIsNone(rows[1]["quotes"][1])
        self.assertIsNone(rows[2]["quotes"][0])
        text = self.quotes("compare", str(first), str(second)).text
        self.assertEqual(text.count("8 × "), 2)

    def test_currencies(self):
        self.user_rates()
        first, = self.add()
        second, = self.add(OFFER.replace("USD", "EUR").replace("Q-17", "E-1"),
                           name="e.csv")
        answer = self.ask_json("compare", str(first), str(second))
        self.assertEqual([total["amount"] for total in answer["totals"]],
                         ["160010.00", "200012.50"])
        self.assertEqual(answer["totals"][1]["rate"]["rate"], "1.25000")
        self.assertEqual(answer["totals"][1]["rate"]["date"],
                         str(TODAY))
        self.assertIsNone(answer["totals"][0]["rate"])
        self.assertEqual(answer["lines"][0]["differences"], [])
        answer = self.ask_json("compare", str(first), str(second),
                               "--currency", "dkk")
        self.assertEqual(answer["totals"][1]["amount"], "1200075.00")
        answer = self.ask_json("compare", str(first), str(second),
                               "--currency", "JPY")
        self.assertEqual([total["amount"] for total in answer["totals"]],
                         [None, None])
        self.assertIn("JPY", answer["totals"][0]["reason"])

    def user_rates(self):
        with Site(lambda request: (200, {}, RATES % TODAY)) as site:
            self.quotes("rates", "update", "--address", site.address)


class ExportTest(QuotesTest):
    def test_formats(self):
        number, = self.add()
        for name in ("a.csv", "a.xml", "a.json"):
            self.quotes("export", str(number), "-o", name)
            twin, = self.ask_json("import", name, "--store",
                                  self.path(name + ".sqlite"))["documents"]
            quote, = twin["quotes"]
            self.assertEqual((quote["vendor"], quote["number"],
                              quote["total"]),
                             ("Delta Computers", "Q-17", "160010.00"))
        piped = self.quotes("export", str(number), "--format", "csv")
        with open(self.path("a.csv"), "rb") as file:
            self.assertEqual(file.read(), piped.out)

    def test_nothing_is_overwritten(self):
        number, = self.add()
        path = self.write("mine.csv", "mine")
        self.refuse("quotes", "export", str(number), "-o", path,
                    says=("exists", "--force"))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.quotes("export", str(number), "-o", path, "--force")
        with open(path, encoding="utf-8-sig") as file:
            self.assertIn("Q-17", file.read())
        self.refuse("quotes", "export", str(number), "-o", "no/where.csv",
                    says="no/where.csv")
        self.refuse("quotes", "export", "99", "-o", "b.csv", says="99")
        self.assertFalse(os.path.exists(self.path("b.csv")))

    def test_several(self):
        first, = self.add()
        second, = self.add(OFFER.replace("Q-17", "Q-18"), name="b.csv")
        self.refuse("quotes", "export", str(first), str(second), "--format",
                    "ubl", says="one")
        self.quotes("export", str(first), str(second), "-o", "both.csv")
        document, = self.ask_json("import", "both.csv", "--dry-run",
                                  "--store", "x.sqlite")["documents"]
        self.assertEqual([quote["number"] for quote in document["quotes"]],
                         ["Q-17", "Q-18"])

    def test_formulas(self):
        evil = ["=HYPERLINK(\"http://evil/\")", "+1+1", "-2+3", "@SUM(1)",
                "\t=1+1"]
        rows = "".join('Delta;Q;%s;1;5.00;USD\n' % text.replace(";", ",")
                       .replace('"', "'") for text in evil)
        number, = self.add("vendor;quote;item;qty;price;currency\n" + rows)
        text = self.quotes("export", str(number), "--format",
                           "csv").out.decode("utf-8-sig")
        cells = [cell for row in csv.reader(io.StringIO(text))
                 for cell in row]
        for cell in cells:
            self.assertNotIn(cell[:1], ("=", "+", "@", "\t"), cell)
        self.assertTrue(any("HYPERLINK" in cell for cell in cells))


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
                self.wfile.write(body)

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


class TogetherTest(QuotesTest):
    def start(self, name):
        return subprocess.Popen(
            [harness.PROGRAM, "quotes", "import", name, "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, cwd=self.home, env=self.environment())

    @staticmethod
    def many(n, prefix):
        return OFFER.splitlines()[0] + "\n" + "".join(
            "V%d;%s-%d;%s;%s;NVIDIA H100 80GB SXM5;1;%d.50;USD\n"
            % (i % 7, prefix, i, TODAY, LATER, 20000 + i) for i in range(n))

    def test_two_at_the_same_time(self):
        names = ["a%d.csv" % i for i in range(4)]
        for name in names:
            self.write(name, self.many(200, name))
        programs = [self.start(name) for name in names]
        for program in programs:
            out, err = program.communicate(timeout=60)
            self.assertEqual((program.returncode, err), (0, b""))
            self.assertEqual(json.loads(out)["documents"][0]["added"], 200)
        self.assertEqual(self.ask_json("list", "--limit", "1")["found"], 800)

    def test_the_same_twice_at_the_same_time(self):
        self.write("a.csv", self.many(200, "a"))
        programs = [self.start("a.csv"), self.start("a.csv")]
        added = sorted(json.loads(program.communicate(timeout=60)[0])
                       ["documents"][0]["added"] for program in programs)
        self.assertEqual(added, [0, 200])

    def test_kill(self):
        """Killed at any moment: all of a document's quotes or none."""
        self.quotes("import", self.write("first.csv", OFFER))
        self.write("many.csv", self.many(3000, "m"))
        started = time.monotonic()
        subprocess.run([harness.PROGRAM, "quotes", "import", "many.csv",
                        "--store", "timed.sqlite"], cwd=self.home, check=True,
                       stdout=subprocess.DEVNULL, env=self.environment())
        whole = time.monotonic() - started
        found = set()
        for i in range(8):
            program = self.start("many.csv")
            time.sleep(whole * (0.2 + 0.1 * i))
            program.kill()
            program.communicate()
            n = self.ask_json("list", "--limit", "1")["found"]
            self.assertIn(n, (1, 3001))
            found.add(n)
            if n == 3001:
                break
        self.assertIn(1, found)
        self.quotes("import", "many.csv")
        self.assertEqual(self.ask_json("list", "--limit", "1")["found"], 3001)


class AdviceTest(QuotesTest):
    def h100(self, answer, gpus):
        return next(one for one in answer["candidates"]
                    if (one["gpu"], one["gpus"]) == ("h100-80gb-sxm", gpus)
                    and one["machine"] is not None)

    def test_a_quote_changes_the_advice(self):
        before = self.ask(*ASK)
        self.assertNotIn("quotes", before)
        number, = self.add()
        after = self.ask(*ASK)
        published = self.h100(before, 4)
        quoted = self.h100(after, 4)
        self.assertEqual(published["cost_usd"] - quoted["cost_usd"],
                         4 * 10000)
        price = quoted["prices"]["gpu"]
        self.assertEqual((price["amount"], price["kind"], price["quote"],
                          price["quote_holds"]), (20000, "quote", number, True))
        offer = price["offer"]
        self.assertEqual((offer["id"], offer["vendor"], offer["number"],
                          offer["date"], offer["valid_until"], offer["line"]),
                         (number, "Delta Computers", "Q-17", str(TODAY),
                          str(LATER), 1))
        self.assertEqual(after["recommendation"]["cost_usd"],
                         quoted["cost_usd"])
        self.assertNotEqual(before["recommendation"]["cost_usd"],
                            after["recommendation"]["cost_usd"])
        text = self.run_program("advise", *ASK, expect=0).text
        for words in ("Your quotes", "Delta Computers", "Q-17", str(LATER)):
            self.assertIn(words, text)
        self.assertEqual(self.ask(*ASK, "--no-quotes"), before)
        self.quotes("delete", str(number))
        self.assertEqual(self.ask(*ASK), before)
        self.quotes("restore", str(number))
        self.assertEqual(self.ask(*ASK), after)

    def test_expired(self):
        before = self.ask(*ASK)
        self.add(OFFER.replace(str(LATER), str(EARLIER)).replace(
            str(TODAY), str(EARLIER)))
        answer = self.ask(*ASK)
        self.assertEqual(answer["recommendation"], before["recommendation"])
        answer = self.ask(*ASK, "--expired-quotes")
        price = self.h100(answer, 4)["prices"]["gpu"]
        self.assertEqual((price["amount"], price["quote_holds"]),
                         (20000, False))
        text = self.run_program("advise", *ASK, expect=0).text
        self.assertIn("--expired-quotes", text)

    def test_whole_server(self):
        table = OFFER.replace(
            "NVIDIA H100 80GB SXM5;8;20000.00",
            "GPU server with 8x NVIDIA H100 80GB SXM5 and 2 EPYC;1;140000.00")
        number, = self.add(table)
        answer = self.ask(*ASK)
        whole = [one for one in answer["candidates"]
                 if one["cost_usd"] == 140000]
        self.assertEqual(len(whole), 1)
        self.assertEqual((whole[0]["gpu"], whole[0]["gpus"]),
                         ("h100-80gb-sxm", 8))
        self.assertEqual(whole[0]["prices"]["machine"]["quote"], number)
        self.assertEqual(answer["recommendation"]["cost_usd"], 140000)

    def test_currency_without_a_rate(self):
        self.add(OFFER.replace("USD", "JPY"))
        answer = self.ask(*ASK)
        self.assertEqual(len(answer["quotes"]["left_out"]), 1)
        self.assertIn("JPY", answer["quotes"]["left_out"][0])
        self.assertIsNone(self.h100(answer, 4)["prices"]["gpu"]["quote"])
        self.assertIn("Does not count",
                      self.run_program("advise", *ASK, expect=0).text)

    def test_plot(self):
        self.run_program("plot", "--model", "pythia-1b", "-o", "a.svg",
                         expect=0)
        self.add()
        self.run_program("plot", "--model", "pythia-1b", "-o", "b.svg",
                         expect=0)
        self.run_program("plot", "--model", "pythia-1b", "-o", "c.svg",
                         "--no-quotes", expect=0)
        drawings = []
        for name in ("a.svg", "b.svg", "c.svg"):
            with open(self.path(name), "rb") as file:
                drawings.append(file.read())
        self.assertNotEqual(drawings[0], drawings[1])
        self.assertEqual(drawings[0], drawings[2])

    def test_contradiction(self):
        self.refuse("advise", *ASK, "--no-quotes", "--expired-quotes",
                    says="--no-quotes")


class OwnershipTest(QuotesTest):
    def own(self, *assumptions, arguments=ASK):
        return self.ask(*arguments, "--ownership", *assumptions)["ownership"]

    def test_price_alone(self):
        answer = self.ask(*ASK, "--ownership", "none")
        best = answer["recommendation"]
        owning = answer["ownership"]
        self.assertEqual(owning["total"], best["cost_usd"])
        self.assertEqual(owning["price"], best["cost_usd"])
        self.assertEqual(owning["experiment_cost"],
                         best["experiment_cost_usd"])
        self.assertEqual({key: owning[key] for key in (
            "tax", "discount", "electricity", "residual")},
            {"tax": 0, "discount": 0, "electricity": 0, "residual": 0})
        self.assertNotIn("ownership", self.ask(*ASK))

    def test_parts(self):
        price = self.own("none")["price"]
        owning = self.own("tax=10,discount=5%,residual=20,shipping=1000")
        net = price - round(price * 0.05, 2)
        self.assertEqual(owning["discount"], -round(price * 0.05, 2))
        self.assertEqual(owning["shipping"], 1000)
        self.assertEqual(owning["tax"], round((net + 1000) * 0.1, 2))
        self.assertEqual(owning["residual"], -round(net * 0.2, 2))
        self.assertEqual(owning["total"],
                         net + 1000 + owning["tax"] + owning["residual"])
        assumptions = {one["key"]: one for one in owning["assumptions"]}
        self.assertEqual(assumptions["tax"]["value"], 10)
        self.assertTrue(assumptions["tax"]["changed"])
        self.assertTrue(assumptions["tax"]["counts"])
        self.assertFalse(assumptions["kwh"]["counts"])
        for one in assumptions.values():
            self.assertTrue(one["source"], one)
        off = self.own("tax=10,no-tax")
        self.assertEqual((off["tax"], off["total"]), (0, price))
        for part in ("electricity", "hosting", "support"):
            self.assertGreater(self.own(part)[part], 0)
            self.assertEqual(self.own("all,no-" + part)[part], 0)

    def test_own_or_rent(self):
        arguments = (*ASK, "--gpu", "h100-80gb-sxm", "--gpus", "4")
        owning = self.own("none", arguments=arguments)
        rents = {one["source"]: one for one in owning["own_or_rent"]}
        one = next(rent for rent in rents.values() if rent["gpus"] == 1)
        month = one["hour"] * 4 * 730
        self.assertAlmostEqual(one["rent_month"], month, 2)
        self.assertEqual(one["outcome"], "reached")
        self.assertAlmostEqual(one["months"], owning["price"] / month, 2)
        half = self.own("utilization=50", arguments=arguments)
        again = next(rent for rent in half["own_or_rent"]
                     if rent["source"] == one["source"])
        self.assertAlmostEqual(again["months"], 2 * one["months"], 1)
        rare = self.own("utilization=1", "--lifetime", "1",
                        arguments=arguments)
        self.assertIn(rare["own_or_rent"][0]["outcome"],
                      ("after_life", "never"))

    def test_file(self):
        path = self.write("owning", "# ours\ntax = 19 %\nno-support\n\nkwh=0.3"
                                    "  # dear\n")
        owning = self.ask(*ASK, "--ownership-file", path)["ownership"]
        assumptions = {one["key"]: one["value"]
                       for one in owning["assumptions"]}
        self.assertEqual((assumptions["tax"], assumptions["kwh"]), (19, 0.3))
        self.refuse("advise", *ASK, "--ownership-file",
                    self.write("bad", "tax=19\ntaxes=3\n"),
                    says=("bad", ":2:", "did you mean 'tax'"))
        self.refuse("advise", *ASK, "--ownership-file", "nowhere",
                    says="nowhere")
        self.refuse("advise", *ASK, "--ownership-file", "/dev/zero")

    def test_bad_assumptions(self):
        for value in ("electricty", "tax=", "tax=-1", "tax=1e3", "tax=nan",
                      "pue=0.5", "discount=101", "utilization=101",
                      "lifetime=0", "lifetime=1000", "rack_units=1.5",
                      "kwh=99999999999999999999", "=5", "no-", "a=b=c"):
            with self.subTest(value=value):
                self.refuse("advise", *ASK, "--ownership", value,
                            says="--ownership")

    def test_text(self):
        text = self.run_program("advise", *ASK, "--ownership", "all",
                                expect=0).text
        for words in ("Owning", "Electricity", "Own or rent", "Assumed",
                      "Lifetime"):
            self.assertIn(words, text)


if __name__ == "__main__":
    harness.main()
