# SPDX-License-Identifier: Apache-2.0
"""quartermaster proposal: each number of it against the advice that it is of, and
against sums done here."""

import csv
import json
import os
import re
import shutil
import subprocess
import unittest

import harness

ASK = ("--runs", "pythia-1b=3,vit-large=2", "--room", "any", "--budget", "400k",
       "--currency", "EUR", "--tax", "20")
YEARS = {"two": "pythia-1b=3,vit-large=2",
         "nine": "convnext-xlarge=1,mamba-2.8b=2,pythia-160m=3,"
                 "pythia-1b=1,pythia-2.8b=2,pythia-410m=3,"
                 "pythia-6.9b=1,roberta-large=2,vit-large=3"}
DAYS = 5 * 365
SHIPPED = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..",
                                       "data"))


def number(text):
    """Of "€1,234.50" or "≈ 12 days"."""
    return float(re.sub(r"[^0-9.]", "", text))


class ProposalTest(harness.CommandLineTest):
    def setUp(self):
        super().setUp()
        # With what a euro was worth on one day.
        self.rated = self.path("rated")
        shutil.copytree(harness.CATALOG, self.rated)
        with open(os.path.join(self.rated, "exchange-rates.csv"), "w",
                  encoding="ascii") as file:
            file.write("Date,USD,GBP\n2026-03-02,1.25,0.8\n")
        with open(os.path.join(self.rated, "funders.csv"), "w",
                  encoding="ascii") as file:
            file.write("id,funder,currency,least,most,of,tax,rule,source,"
                       "seen_on\n"
                       "a,Eurofund,EUR,1,,machine,with,Ask early.,here,"
                       "2026-03-01\n"
                       "b,Toolarge,EUR,1e9,,total,with,Never.,here,2026-03-01\n"
                       .replace("1e9", "1000000000")
                       + "c,Other,USD,1,,total,with,Dollars.,here,2026-03-01\n")

    def run_in(self, *arguments, expect=0, env=None):
        return self.run_program(*arguments, expect=expect,
                                env={"QUARTERMASTER_DATA_DIR": self.rated,
                                     **(env or {})})

    def tables(self, *arguments):
        """The tables of the Markdown, each as {first cell: other cells}, and all
        of the text."""
        text = self.run_in("proposal", *arguments, "--format", "markdown").text
        tables = []
        for line in text.splitlines():
            if not line.startswith("| "):
                tables.append({})
                continue
            cells = [cell.strip().strip("*") for cell in
                     line.strip("|").split(" | ")]
            tables[-1][cells[0]] = cells[1:]
        return [table for table in tables if table], text

    def advice(self, *arguments):
        return json.loads(self.run_in("advise", *arguments, "--json").text)[
            "recommendation"]

    def test_numbers(self):
        best = self.advice(*ASK)
        price = best["price_usd"] / 1.25
        tables, text = self.tables(*ASK)
        need, options, cost, depends = tables[:4]
        self.assertEqual(round(number(cost["Price without tax"][0])),
                         round(price))
        self.assertAlmostEqual(number(cost["Tax of 20\u00a0%"][0]), price * 0.2,
                               delta=1)
        self.assertAlmostEqual(number(cost["Price with tax"][0]), price * 1.2,
                               delta=1)
        self.assertIn("€{:,.0f} without tax".format(price), text)
        for run in best["runs"]:
            row = next(row for name, row in need.items()
                       if name.split()[0].lower() in run["model"])
            self.assertEqual(float(row[1]), run["runs_per_year"])
            self.assertAlmostEqual(float(row[2]), run["days"],
                                   delta=0.5 if run["days"] >= 10 else 0.06)
        self.assertAlmostEqual(float(need["All of them"][-1]),
                               best["machine_days"], delta=0.5)
        self.assertIn("€{:,.0f} a month".format(price / 60), text)
        row = depends["As proposed, used on every day"]
        self.assertAlmostEqual(number(row[2]), price / DAYS, delta=0.01)
        self.assertAlmostEqual(number(row[3]),
                               price / DAYS * best["machine_days"], delta=1)
        self.assertAlmostEqual(number(depends["Price 20\u00a0% higher"][0]),
                               price * 1.2, delta=1)
        self.assertAlmostEqual(number(depends["Price 20\u00a0% lower"][0]),
                               price * 0.8, delta=1)
        self.assertAlmostEqual(number(depends["Used on 50\u00a0% of all days"][2]),
                               2 * price / DAYS, delta=0.02)
        proposed, = [name for name, row in options.items()
                     if row[-1] == "proposed"]
        self.assertIn(str(best["gpus"]), proposed)

    def test_rent(self):
        """An hour of a GPU is that of what is rented out by the number of its
        GPUs, and the work takes that of all that are proposed."""
        best = self.advice(*ASK)
        path = os.path.join(self.rated, "prices.csv")
        with open(path, "a", encoding="ascii") as file:
            file.write("%s,cloud,hour,8,8,,,USD,2026-03-01,Eight at once\n"
                       % best["gpu"])
        with open(path, newline="", encoding="utf-8") as file:
            hours = {row["source"]: float(row["price"]) / float(row["gpus"])
                     for row in csv.DictReader(file)
                     if row["kind"] == "cloud" and row["currency"] == "USD"
                     and row["item"] == best["gpu"]}
        rent = self.tables(*ASK)[0][4]
        rows = [(cells, hours[name.split("<br>")[0]])
                for name, cells in rent.items()
                if name.split("<br>")[0] in hours]
        self.assertIn(1, [dollars for _, dollars in rows])
        for (hour, year, years, months), dollars in rows:
            self.assertAlmostEqual(number(hour), dollars / 1.25, delta=0.01)
            work = (dollars / 1.25 * 24 * best["gpus"] * best["machine_days"])
            self.assertAlmostEqual(number(year), work, delta=1)
            self.assertAlmostEqual(number(years), 5 * work, delta=5)
            self.assertAlmostEqual(number(months), best["price_usd"] / 1.25
                                   / work * 12, delta=1)

    def test_project(self):
        best = self.advice(*ASK)
        _, text = self.tables(*ASK, "--project", "12")
        self.assertIn("€{:,.0f}".format(best["price_usd"] / 1.25 / 5), text)
        self.assertIn("20\u00a0% of that are charged", text)
        self.refuse("proposal", *ASK, "--project", "many", says="many")

    def test_funders(self):
        _, text = self.tables(*ASK)
        self.assertIn("Eurofund: Ask early. (here, read on 1 March 2026)", text)
        self.assertNotIn("Never.", text)
        self.assertNotIn("Dollars.", text)

    def test_forms(self):
        for name, begin in (("p.pdf", b"%PDF-"), ("p.md", b"# Proposal"),
                            ("p.tex", b"\\documentclass"),
                            ("p.odt", b"PK\x03\x04"),
                            ("p.txt", b"Proposal")):
            self.run_in("proposal", *ASK, "-o", self.path(name))
            with open(self.path(name), "rb") as file:
                data = file.read()
            self.assertTrue(data.startswith(begin), name)
            if name == "p.pdf":
                self.assertIn(self.count_pages(data), (2, 3, 4))
            if name == "p.tex":
                plain = re.sub(rb"\\[{}]", b"", data)
                self.assertEqual(plain.count(b"{"), plain.count(b"}"))
                for part in (b"longtable", b"itemize", b"document"):
                    self.assertEqual(data.count(b"\\begin{%s}" % part),
                                     data.count(b"\\end{%s}" % part))

    @staticmethod
    def count_pages(pdf):
        return len(re.findall(rb"/Type /Page\b(?!s)",
                              harness.pdf_objects(pdf)))

    def test_pages(self):
        """Two to four, of two models and of nine, in both languages and on
        both papers."""
        for name, year in YEARS.items():
            for language, paper, width in (("en", "letter", b"612"),
                                           ("de", "a4", b"595")):
                with self.subTest(name=name, language=language):
                    self.run_in("proposal", "--runs", year, "--room", "any",
                                "--currency", "EUR", "--tax", "19", "--page",
                                paper, "-o", self.path("p.pdf"), "--force",
                                env={"LC_ALL": "de_DE.utf8",
                                     "LANGUAGE": language})
                    with open(self.path("p.pdf"), "rb") as file:
                        data = file.read()
                    self.assertIn(self.count_pages(data), (2, 3, 4))
                    self.assertRegex(harness.pdf_objects(data),
                                     rb"/MediaBox \[ ?0 0 " + width)

    @unittest.skipUnless(shutil.which("pdflatex"), "there is no pdflatex")
    def test_latex(self):
        for name, year in YEARS.items():
            for language in ("en", "de"):
                with self.subTest(name=name, language=language):
                    paper = f"{name}-{language}.tex"
                    self.run_in("proposal", "--runs", year, "--room", "any",
                                "--currency", "EUR", "--tax", "20",
                                "--predictions", "all", "-o", self.path(paper),
                                env={"LC_ALL": "de_DE.utf8",
                                     "LANGUAGE": language})
                    self.compile(paper)

    def compile(self, paper):
        """Nothing is refused, and no line leaves the page."""
        run = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error",
             "-no-shell-escape", paper], cwd=os.path.dirname(self.path(paper)),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=120, check=False)
        log = run.stdout.decode(errors="replace")
        self.assertEqual(run.returncode, 0, log[-2000:])
        self.assertNotIn("Overfull", log)
        self.assertRegex(log, r"Output written on .*\(\d+ pages")

    def accept(self, *arguments, catalog=None):
        path = self.path("order.json")
        text = self.run_program(
            "proposal", *arguments, "--acceptance", path, "--force", expect=0,
            env={"QUARTERMASTER_DATA_DIR": catalog or self.rated}).text
        with open(path, encoding="utf-8") as file:
            return text, json.load(file)

    def bench(self, *arguments, catalog=None):
        return subprocess.run(
            [os.path.join(os.path.dirname(harness.PROGRAM), "qm-bench"),
             *arguments], capture_output=True, text=True, check=False,
            env=self.environment(
                QUARTERMASTER_DATA_DIR=catalog or self.rated))

    def tokens_a_day(self, model, unit):
        with open(os.path.join(SHIPPED, "models", model + ".json"),
                  encoding="utf-8") as file:
            recipe = json.load(file)["recipe"]
        return (recipe["batch_size"] * recipe["steps"] / 86400
                * (recipe["sequence_length"] if unit == "tokens" else 1))

    def test_acceptance(self):
        """What was bought has to do what was predicted of it, by the engine
        that measures it."""
        ask = ("--runs", "pythia-1b=3,vit-large=2", "--room", "any",
               "--budget", "400k")
        text, order = self.accept(*ask, catalog=SHIPPED)
        best = json.loads(self.run_program(
            "advise", *ask, "--json",
            env={"QUARTERMASTER_DATA_DIR": SHIPPED}).text)["recommendation"]
        self.assertIn("Acceptance test", text)
        self.assertIn("--against order.json", " ".join(text.split()))
        self.assertEqual(order["tolerance_percent"], 5)
        self.assertEqual(sorted(order["experiments"]),
                         ["pythia-1b", "vit-large"])
        for model, one in order["experiments"].items():
            self.assertEqual((one["gpu"], one["gpus"]),
                             (best["gpu"], best["gpus"]))
            predicted = json.loads(self.bench(
                "predict", "--model", model, "--gpu", best["gpu"], "--gpus",
                str(best["gpus"]), "--level", "engine", "--json",
                catalog=SHIPPED).stdout)
            rate = self.tokens_a_day(model, one["unit"])
            for name, days in (("per_second", "days"), ("low", "days_high"),
                               ("high", "days_low")):
                self.assertAlmostEqual(one["predicted"][name] * predicted[days]
                                       / rate, 1, places=4)
            low = one["predicted"]["low"]
            self.assertLessEqual(one["guaranteed_per_second"], low)
            self.assertGreater(one["guaranteed_per_second"], low * 0.99)
            self.assertEqual(one["method"]["checkpointing"],
                             predicted["checkpointing"])
            self.assertEqual(one["method"]["sharding"], predicted["sharding"])

    def test_acceptance_without_prediction(self):
        """Then what the plan needs is what is guaranteed."""
        _, order = self.accept(*ASK)
        for one in order["experiments"].values():
            self.assertNotIn("predicted", one)
            self.assertNotIn("method", one)
            self.assertGreater(one["guaranteed_per_second"], 0)

    def test_acceptance_is_read(self):
        """qm-bench takes what was written, and sees that it is not here."""
        self.accept(*ASK, "--tolerance", "2.5")
        result = self.bench("accept", "--against", self.path("order.json"),
                            "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 6, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["tolerance_percent"], 2.5)
        self.assertFalse(answer["accepted"])

    def test_acceptance_options(self):
        rated = {"QUARTERMASTER_DATA_DIR": self.rated}
        for wrong in ("0", "51", "-1", "many"):
            self.refuse("proposal", *ASK, "--acceptance", self.path("o.json"),
                        "--tolerance", wrong, says="not a percentage",
                        env=rated)
        path = self.path("there.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        self.refuse("proposal", *ASK, "--acceptance", path, says="--force",
                    env=rated)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_one_training(self):
        tables, text = self.tables("--model", "pythia-1b", "--room", "any")
        self.assertIn("a training of Pythia (1B)", text)
        self.assertEqual(len(tables[0]), 3)

    def test_limits(self):
        """Beyond the limits it says so, and ends with 1; where nothing can be
        proposed, with 2."""
        result = self.run_in("proposal", *ASK[:4], "--budget", "1k", expect=1)
        self.assertIn("beyond the limits", result.text)
        self.refuse("proposal", "--model", "pythia-1b", "--deadline", "0.001",
                    "--gpu", "a40", "--gpus", "1", "--predictions", "none",
                    says="nothing to propose")


if __name__ == "__main__":
    harness.main()
