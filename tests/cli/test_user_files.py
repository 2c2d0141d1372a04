# SPDX-License-Identifier: Apache-2.0
"""The user's own files: they extend and override, and a broken one is refused
whole without a word lost about the rest."""

import datetime
import json
import os

import harness
import loopback

PRICES = "item,kind,unit,gpus,price,low,high,currency,observed_on,source\n"
GPU_NAMES = ("id,name,vendor,form_factor,memory_gib,memory_bandwidth_gbs,"
             "fp16_tflops,bf16,tf32_tflops,fp32_tflops,measured_fp16_tflops,"
             "tdp_w,nvlink_gbs,pcie_generation,pcie_lanes,peer_to_peer,"
             "released_on,launch_price_usd,source,vendor_document,unverified,"
             "notes\n")
ASK = ("--model", "pythia-1b", "--budget", "40000")


def candidate(answer, gpu, gpus):
    return next(one for one in answer["candidates"]
                if (one["gpu"], one["gpus"]) == (gpu, gpus))


class OverrideTest(harness.CommandLineTest):
    def test_price(self):
        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        self.user_file("prices.csv", PRICES + (
            "rtx3090,quote,each,1,900.50,,,USD,%s,the shop next door\n"
            % today))
        answer = self.ask(*ASK)
        one = candidate(answer, "rtx3090", 8)
        self.assertEqual(one["cost_usd"], 10500 + 8 * 900.50)
        price = one["prices"]["gpu"]
        self.assertEqual(price["amount"], 900.50)
        self.assertTrue(price["from_user"])
        self.assertEqual(price["observed_on"], today)
        self.assertIn(price["age_days"], (0, 1))
        self.assertEqual(candidate(answer, "a6000", 8)["cost_usd"], 48900)
        text = self.run_program("advise", *ASK, expect=0).text
        self.assertIn("$900.50", text)
        self.assertIn("the shop next door", text)
        self.assertIn("the shop next door",
                      self.run_program("catalog", "prices", expect=0).text)

    def test_currency(self):
        """A price counts in whatever currency, without its tax; where no
        exchange rate is known it does not, and that is said."""
        with loopback.Site(lambda request: (
                200, {}, loopback.RATES % datetime.date.today())) as site:
            self.run_program("quotes", "rates", "update", "--address",
                             site.address, expect=0)
        self.user_file("prices.csv", (
            "item,kind,price,currency,tax_percent,observed_on,source\n"
            "rtx3090,quote,1200,EUR,20,2026-03-01,the shop next door\n"
            "a6000,quote,1,ARS,,2026-03-01,a shop abroad\n"))
        answer = self.ask(*ASK)
        one = candidate(answer, "rtx3090", 8)
        self.assertEqual(one["cost_usd"], 10500 + 8 * 1000 * 1.25)
        price = one["prices"]["gpu"]
        self.assertEqual((price["amount"], price["currency"],
                          price["tax_percent"]), (1200, "EUR", 20))
        self.assertEqual(candidate(answer, "a6000", 8)["cost_usd"], 48900)
        notes = " ".join(answer["recommendation"]["notes"])
        self.assertRegex(notes, "8 × GeForce RTX 3090.*: a price in another "
                                "currency, converted at the exchange rate of ")
        self.assertIn("no exchange rate is known: a6000 (ARS).", notes)

    def test_gpu_with_hostile_name(self):
        """A name cannot steer the terminal."""
        self.user_file("gpus.csv", GPU_NAMES + (
            'evil,"A \u202eB 日本",Nobody,PCIe,24,936,71,yes,35.6,35.6,,350,'
            ',4,16,,2020-09-24,1499,nowhere,,,\n'))
        result = self.run_program("catalog", "gpus", expect=0)
        self.assertIn(r"A \u202eB 日本", result.text)
        self.assertNotIn("\u202e", result.text)
        self.assertNotIn("\u202e", result.complaint)
        lines = result.text.splitlines()
        column = lines[0].index("GiB") + 3
        row = next(line for line in lines if line.startswith("evil"))
        wide = sum(2 if ord(c) > 0x2e80 else 1 for c in row[:row.index("24")])
        self.assertEqual(wide + 2, column, lines[0] + "\n" + row)


class BrokenFileTest(harness.CommandLineTest):
    def broken(self):
        return self.user_file("prices.csv", PRICES + (
            "rtx3090,quote,each,1,900.50,,,USD,2026-01-01,shop\n"
            "a6000,quote,each,1,-5,,,USD,2026-01-01,shop\n"))

    def test_warning(self):
        path = self.broken()
        plain = self.run_program("advise", *ASK, expect=0)
        self.assertRegex(plain.complaint,
                         r"^warning: .*prices\.csv:3:\d+: .+\n$")
        self.assertIn(path, plain.complaint)
        self.assertIn("$20,900", plain.text)

    def test_json(self):
        path = self.broken()
        result = self.run_program("advise", *ASK, "--json", expect=0)
        self.assertEqual(result.err.count(b"\n"), 1)
        problem, = result.json["problems"]
        self.assertEqual(list(problem), ["file", "line", "column", "message"])
        self.assertEqual((problem["file"], problem["line"]), (path, 3))
        self.assertIn("%s:%d:%d: %s" % (problem["file"], problem["line"],
                                        problem["column"],
                                        problem["message"]),
                      result.complaint)
        self.assertEqual(candidate(result.json, "rtx3090", 8)["cost_usd"],
                         20900)
        catalog = self.run_program("catalog", "gpus", "--json", expect=0)
        self.assertEqual(catalog.json["problems"], [problem])

    def test_exit_status_stays(self):
        self.broken()
        self.run_program("advise", "--model", "pythia-1b", "--budget", "1k",
                         expect=1)
        result = self.run_program("advise", "--model", "x", expect=2)
        self.assertEqual(result.err.count(b"\n"), 2)

    def test_garbage(self):
        """Whatever lies in the user's directory, advice goes on."""
        self.user_file("gpus.csv", "\x00\x01\x1b[31mred")
        self.user_file("machines.csv", "machine\n" + "," * 5000)
        self.user_file("prices.csv", "item\n\x1b]0;title\x07\n")
        self.user_file("models/x.json", "{" * 100000)
        self.user_file("models/y.json", '{"id": "\\ud800"}')
        self.user_file("measurements/z.csv", "model,gpu\n\"open\n")
        result = self.run_program("advise", *ASK, "--json", expect=0)
        self.assertGreaterEqual(len(result.json["problems"]), 6)
        self.assertEqual(result.err.count(b"\n"), len(result.json["problems"]))
        self.assertFalse([byte for byte in result.err
                          if (byte < 0x20 and byte != 0x0a) or byte == 0x7f],
                         result.err)
        self.assertEqual(len(result.json["candidates"]), 16)


QUOTE = "description,quantity,unit price,currency\nRTX 3090,2,800.00,USD\n"
RULES = '<rules version="1"><site/></rules>'
OWN = {"page-rules.xml": RULES,
       "part-numbers.csv": "part_number,item,source\nABC,a6000\n",
       "csv-mappings.json": "{ no mappings"}


def make_pipe(path):
    os.mkfifo(path)


def make_endless(path):
    os.symlink("/dev/zero", path)


def make_loop(path):
    os.symlink(path, path)


class BrokenRuleFileTest(harness.CommandLineTest):
    """Own files that help to read quotes: a broken one is left out and told,
    and stops nothing."""

    def setUp(self):
        super().setUp()
        self.quote = self.path("offer.csv")
        with open(self.quote, "w", encoding="utf-8") as file:
            file.write(QUOTE)
        self.page = self.path("page.html")
        with open(self.page, "w", encoding="utf-8") as file:
            file.write("<p>nothing</p>")

    def look(self, names):
        """Every verb that reads such files does its work."""
        imported = self.run_program("quotes", "import", self.quote, expect=0)
        for name in names:
            self.assertRegex(imported.complaint,
                             r"(?m)^warning: .*%s:.+$" % name)
        self.assertEqual(imported.err.count(b"\n"), len(names), str(imported))
        self.run_program("quotes", "list", expect=0)
        read = self.run_program("extract", self.page, "--json", expect=1)
        told = [os.path.basename(one["file"]) for one in read.json["problems"]]
        self.assertEqual(told,
                         [name for name in names if name == "page-rules.xml"])
        watched = self.run_program("quotes", "fetch", expect=2)
        self.assertIn("--add", watched.complaint)

    def test_all(self):
        for name, text in OWN.items():
            self.user_file(name, text)
        self.look(list(OWN))

    def test_none(self):
        self.look([])

    def test_what_is_no_file(self):
        for make in (os.mkdir, make_pipe, make_endless, make_loop):
            for name in OWN:
                with self.subTest(name=name, make=make.__name__):
                    path = self.user_file(name, "")
                    os.unlink(path)
                    make(path)
                    self.look([name])
                    if make is os.mkdir:
                        os.rmdir(path)
                    else:
                        os.unlink(path)

    def test_mappings_are_not_lost(self):
        """What is remembered goes into a new file; what was there may be
        mended."""
        path = self.user_file("csv-mappings.json", OWN["csv-mappings.json"])
        with open(self.quote, "w", encoding="utf-8") as file:
            file.write("a,b\nRTX 3090,800.00\n")
        self.run_program("quotes", "import", self.quote, "--currency", "USD",
                         "--map", "1=description", "--map", "2=price",
                         expect=0)
        with open(path + ".damaged", encoding="utf-8") as file:
            self.assertEqual(file.read(), OWN["csv-mappings.json"])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["mappings"]), 1)


if __name__ == "__main__":
    harness.main()
