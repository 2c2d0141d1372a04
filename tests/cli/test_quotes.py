# SPDX-License-Identifier: Apache-2.0
"""quartermaster quotes: import, list, compare and export, and several programs at
once."""

import csv
import io
import json
import os
import shutil
import subprocess
import time
import unittest

import harness
from loopback import PAGE, RATES, Site
from quotes import EARLIER, LATER, OFFER, SAMPLES, TODAY, QuotesTest


BOOKS = "de-miete.ods", "de-projektnachlass.ods", "us-packs.xlsx"


def make_pdf(*texts):
    """One page with texts, each with its place in points."""
    content = "".join("BT /F 10 Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n" % text
                      for text in texts)
    objects = ("<< /Type /Catalog /Pages 2 0 R >>",
               "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents "
               "4 0 R /Resources << /Font << /F << /Type /Font /Subtype /Type1 "
               "/BaseFont /Helvetica >> >> >> >>",
               "<< /Length %d >>\nstream\n%s\nendstream"
               % (len(content), content))
    pdf, places = "%PDF-1.4\n", ""
    for number, text in enumerate(objects, 1):
        places += "%010d 00000 n \n" % len(pdf)
        pdf += "%d 0 obj\n%s\nendobj\n" % (number, text)
    return ("%sxref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 "
            "R >>\nstartxref\n%d\n%%%%EOF\n" % (pdf, places, len(pdf)))


class ImportTest(QuotesTest):
    @unittest.skipUnless(shutil.which("pdftotext"), "there is no pdftotext")
    def test_pdf(self):
        """By where words stand; and what is needed for it is said."""
        path = self.write("offer.pdf", make_pdf(
            (50, 740, "Quotation Q-17"), (50, 725, "Vendor: Delta Computers"),
            (50, 710, "Valid until: 2030-12-31"), (50, 680, "Description"),
            (320, 680, "Qty"), (380, 680, "Unit price"), (480, 680, "Total USD"),
            (50, 660, "NVIDIA L40S 48GB,"), (320, 660, "2"),
            (380, 660, "7000.00"), (480, 660, "14000.00"), (50, 648, "passive"),
            (50, 620, "Shipping"), (480, 620, "90.00"),
            (50, 600, "Total"), (480, 600, "14090.00")))
        document, = self.ask_json("import", path)["documents"]
        quote, = document["quotes"]
        self.assertEqual(document["kind"], "pdf")
        self.assertEqual([quote[name] for name in
                          ("vendor", "number", "valid_until", "currency")],
                         ["Delta Computers", "Q-17", "2030-12-31", "USD"])
        self.assertEqual(quote["computed"]["net"], "14090.00")
        self.assertEqual([line["description"] for line in quote["lines"]],
                         ["NVIDIA L40S 48GB, passive"])
        self.assertIn("PDF", json.dumps(quote["findings"]))
        empty = self.path("nothing")
        os.mkdir(empty)
        self.refuse_quotes("import", self.write("other.pdf", make_pdf(
            (50, 740, "Hello"))), says="poppler-utils",
            env={"PATH": empty})

    def test_workbook(self):
        """As CSV, XLSX and ODS the same offer comes to the same."""
        folder = os.path.join(SAMPLES, os.pardir, "procurement")
        for path in (os.path.join(folder, name) for name in BOOKS):
            books = [self.ask_json("import", "--dry-run", file)["documents"][0]
                     for file in (path, os.path.splitext(path)[0] + ".csv")]
            self.assertEqual([book["kind"] for book in books],
                             ["workbook", "csv"])
            book, table = [[(quote["currency"], quote["computed"],
                             [(line["description"], line["total"])
                              for line in quote["lines"]])
                            for quote in document["quotes"]]
                           for document in books]
            self.assertEqual(book, table)
            # What a column holds can be said, as of a table.
            self.refuse_quotes("import", "--map", "A=nonsense", path,
                               says="nonsense")

    def test_mail(self):
        """Of a saved mail what is attached is read, and the mail is kept."""
        path = os.path.join(SAMPLES, os.pardir, "procurement",
                            "de-mail-anhang.eml")
        document, = self.ask_json("import", path)["documents"]
        quote, = document["quotes"]
        self.assertEqual(document["kind"], "mail")
        self.assertEqual(quote["source"], "de-mail-anhang.eml")
        self.assertEqual(quote["payable"], "152558.00")
        self.assertIn("Angebot Grün.csv",
                      json.dumps(quote["findings"], ensure_ascii=False))
        shown = self.ask_json("show", str(quote["id"]))
        self.assertEqual(len(shown["attachments"]), 1)
        self.refuse_quotes("import", "--map", "A=nonsense", path,
                           says="nonsense")
        mapped, = self.ask_json("import", "--dry-run", "--map",
                                "Pos.=part_number", path)["documents"]
        self.assertEqual([line["part_number"]
                          for line in mapped["quotes"][0]["lines"]],
                         ["1", "2"])

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
        with open(self.path("old.csv"), encoding="utf-8") as file:
            again, = self.add(file.read(), name="old.csv")
        self.assertNotEqual(again, self.old)
        self.refuse("quotes", "restore", str(self.old))

    def test_store_of_its_own(self):
        self.refuse("quotes", "list", "--store", self.path("none.sqlite"),
                    says="none.sqlite")
        self.assertFalse(os.path.exists(self.path("none.sqlite")))
        new = self.quotes("import", self.path("offer.csv"), "--store",
                          self.path("mine.sqlite"))
        self.assertIn("mine.sqlite is new", new.complaint)
        self.assertEqual(len(self.stored("--store", self.path("mine.sqlite"))),
                         1)
        again = self.quotes("import", self.path("offer.csv"), "--store",
                            self.path("mine.sqlite"))
        self.assertEqual(again.err, b"")


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
        parts = {part["part"]: part["quotes"] for part in answer["parts"]}
        self.assertEqual([one["net"] for one in parts["gpus"]],
                         ["160000.00", "156000.00"])
        self.assertEqual(parts["gpus"][1]["lines"][0]["price"], "19500")
        self.assertEqual([one["state"] for one in parts["server"]],
                         ["missing", "missing"])
        self.assertEqual([one["lines"][0]["description"]
                          for one in parts["other"]], ["Screws", "Rails"])
        measures = {one["measure"]: one for one in answer["measures"]}
        self.assertEqual(measures["per_gpu"]["values"],
                         ["20001.25", "19501.25"])
        self.assertEqual(measures["per_gpu"]["lowest"], [1])
        text = self.quotes("compare", str(first), str(second)).text
        self.assertEqual(text.count("8 × "), 4)

    def test_tax(self):
        self.user_rates()
        first, = self.add()
        with_tax, = self.add(json.dumps({
            "format": "quartermaster-quotes", "schema": 1, "quotes": [
                {"vendor": "Brutto", "currency": "EUR", "tax_included": True,
                 "issued_on": str(TODAY), "lines": [
                     {"role": "quoted", "quantity": "1", "price": "119000",
                      "description": "GPU server, 2 x EPYC, 8 x NVIDIA H100 "
                                     "80GB SXM5"}]}]}), name="gross.json")
        plain = self.ask_json("compare", str(first), str(with_tax),
                              "--currency", "EUR")["totals"]
        self.assertEqual([total["net"] for total in plain],
                         ["128008.00", None])
        self.assertIn("tax", plain[1]["reason"])
        taxed = self.ask_json("compare", str(first), str(with_tax),
                              "--currency", "EUR", "--tax", "19")
        self.assertEqual([total["net"] for total in taxed["totals"]],
                         ["128008.00", "100000.00"])
        self.assertEqual([total["gross"] for total in taxed["totals"]],
                         ["152329.52", "119000.00"])
        self.assertEqual(taxed["totals"][0]["lacks"], ["server"])
        net, = [one for one in taxed["measures"] if one["measure"] == "net"]
        self.assertEqual(net["lowest"], [])

    def test_trainings(self):
        first, = self.add()
        second, = self.add(OFFER.replace("Q-17", "B-2").replace("80GB SXM5",
                           "80GB SXM5").replace(";8;", ";4;"), name="b.csv")
        answer = self.ask_json("compare", str(first), str(second),
                               "--model", "pythia-1b", "--lifetime", "4")
        training, = answer["trainings"]
        days = [one["days"] for one in training["quotes"]]
        self.assertLess(days[0], days[1])
        cost, = [one for one in answer["measures"]
                 if one["measure"] == "run_cost"]
        for i in range(2):
            price = (float(answer["totals"][i]["net"])
                     + training["quotes"][i]["added_usd"])
            self.assertAlmostEqual(float(cost["values"][i]),
                                   price / (4 * 365) * days[i], delta=0.02)
        self.assertEqual(answer["time_factor"], 1.1)
        self.assertIn("they are 1.1 times what the steps alone take",
                      " ".join(self.quotes(
                          "compare", str(first), str(second), "--model",
                          "pythia-1b").text.split()))
        self.assertNotIn("the steps alone", self.quotes(
            "compare", str(first), str(second)).text)
        self.refuse("quotes", "compare", str(first), str(second), "--model",
                    "pythia-0", says="pythia-0")

    def test_files(self):
        first, = self.add()
        second, = self.add(OFFER.replace("Q-17", "B-2"), name="b.csv")
        both = (str(first), str(second))
        begins = {"c.pdf": b"%PDF-", "c.ods": b"PK\x03\x04",
                  "c.xlsx": b"PK\x03\x04", "c.odt": b"PK\x03\x04",
                  "c.csv": b"USD,",
                  "c.md": b"# ", "c.json": b"{", "c.txt": b"Comparison"}
        for name, start in begins.items():
            self.quotes("compare", *both, "-o", self.path(name))
            with open(self.path(name), "rb") as file:
                self.assertTrue(file.read().startswith(start), name)
            self.refuse("quotes", "compare", *both, "-o", self.path(name),
                        says="--force")
        rows = list(csv.reader(io.StringIO(
            self.quotes("compare", *both, "--format", "csv").out.decode())))
        net, = [row for row in rows if row[0] == "Without tax"]
        self.assertEqual(net[1:], ["160010.00", "160010.00"])
        self.refuse("quotes", "compare", *both, "--format", "docx",
                    says="docx")
        self.refuse("quotes", "compare", *both, "--tax", "200", says="200")

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


class HelpTest(QuotesTest):
    def test_each_command(self):
        overview = self.quotes().text
        self.assertEqual(self.run_program("help", "quotes", expect=0).text,
                         overview)
        self.assertEqual(self.quotes("--help").text, overview)
        for verb in ("import", "list", "show", "compare", "export", "delete",
                     "restore", "fetch", "rates", "history"):
            self.assertRegex(overview, r"(?m)^  %s " % verb)
            text = self.run_program("help", "quotes", verb, expect=0).text
            self.assertEqual(self.quotes(verb, "--help").text, text)
            self.assertIn("quartermaster quotes %s" % verb, text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 100, line)


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


if __name__ == "__main__":
    harness.main()
