# SPDX-License-Identifier: Apache-2.0
"""What a laboratory asks: several models a year, each run back by a date, so
much money in its own currency; and the answer against sums done here."""

import json
import math
import os
import shutil

import harness

RUNS = {"pythia-1b": 5, "vit-large": 5, "roberta-large": 2}
ASKED = ("--runs", ",".join("%s=%d" % run for run in RUNS.items()))


class QuestionTest(harness.CommandLineTest):
    def setUp(self):
        super().setUp()
        # With what a euro was worth on one day.
        self.rated = self.path("rated")
        shutil.copytree(harness.CATALOG, self.rated)
        with open(os.path.join(self.rated, "exchange-rates.csv"), "w",
                  encoding="ascii") as file:
            file.write("Date,USD\n2026-03-02,1.25\n")
        self.rates = {"env": {"QUARTERMASTER_DATA_DIR": self.rated}}

    def alone(self, model):
        """Days of one run on each machine, as it is asked for alone."""
        return {(one["gpu"], one["gpus"]): one
                for one in self.ask("--model", model, "--room", "any",
                                    expect=None)["candidates"]}

    def test_matrix(self):
        alone = {model: self.alone(model) for model in RUNS}
        answer = self.ask(*ASKED, "--room", "any", expect=None)
        self.assertGreater(len(answer["candidates"]), 10)
        for one in answer["candidates"]:
            key = one["gpu"], one["gpus"]
            self.assertEqual([run["model"] for run in one["runs"]],
                             list(RUNS))
            for run in one["runs"]:
                single = alone[run["model"]].get(key)
                self.assertEqual(run["runs_per_year"], RUNS[run["model"]])
                self.assertEqual(run["days"], single and single["days"])
                self.assertEqual(run["provenance"],
                                 single and single["provenance"])
                self.assertEqual(run["fits"], single
                                 and single["verdict"] != "infeasible")
            days = [run["days"] for run in one["runs"]]
            if None in days:
                self.assertIsNone(one["longest_days"])
                continue
            busy = sum(run["days"] * run["runs_per_year"]
                       for run in one["runs"])
            self.assertAlmostEqual(one["longest_days"], max(days))
            self.assertAlmostEqual(one["machine_days"], busy, 4)
            self.assertEqual(one["machines"], math.ceil(busy / 365))
            self.assertAlmostEqual(one["busy"],
                                   busy / 365 / one["machines"], 5)

    def test_single(self):
        """One training is no portfolio, and its run is the whole."""
        for one in self.ask("--model", "pythia-1b")["candidates"]:
            self.assertIsNone(one["runs"])
            self.assertIsNone(one["busy"])
            self.assertEqual(one["longest_days"], one["days"])
        slow = self.ask("--model", "pythia-1b", "--budget", "40k")
        limit = slow["recommendation"]["days"] - 1
        for name in ("--deadline", "--deadline-per-run"):
            fast = self.ask("--model", "pythia-1b", name, str(limit),
                            expect=None)
            for one in fast["candidates"]:
                if one["days"] and one["days"] > limit:
                    self.assertFalse(one["within_limits"])

    def test_two_deadlines(self):
        """Each is a limit of its own, and more machines meet that of the year
        but not that of a run."""
        free = self.ask(*ASKED, "--room", "any", expect=None)
        longest = sorted(one["longest_days"] for one in free["candidates"]
                         if one["eligible"])
        limit = round(longest[len(longest) // 2] + 0.001, 3)
        answer = self.ask(*ASKED, "--room", "any", "--deadline-per-run",
                          str(limit), expect=None)
        self.assertEqual(answer["question"]["run_deadline_days"], limit)
        self.assertIsNone(answer["question"]["deadline_days"])
        late = [one for one in answer["candidates"] if one["late"]]
        self.assertTrue(late)
        for one in answer["candidates"]:
            if one["longest_days"] is not None:
                self.assertEqual(one["late"], one["longest_days"] > limit)
            if one["late"]:
                self.assertFalse(one["within_limits"])
        best = answer["recommendation"]
        self.assertLessEqual(best["longest_days"], limit)
        self.assertEqual(best["days"], min(
            one["days"] for one in answer["candidates"]
            if one["eligible"] and not one["late"]))

        year = self.ask(*ASKED, "--room", "any", "--deadline", "120",
                        expect=None)
        for one, before in zip(year["candidates"], free["candidates"]):
            if one["longest_days"] is None or one["longest_days"] > 120:
                continue
            self.assertEqual(one["machines"],
                             math.ceil(one["machine_days"] / 120), one)
            self.assertGreaterEqual(one["machines"], before["machines"])
            self.assertLessEqual(one["days"], 120)

    def test_money(self):
        """60,000 EUR with 19 % tax, at the rate of the newest day."""
        plain = self.ask(*ASKED, "--room", "any", expect=None)
        answer = self.ask(*ASKED, "--room", "any", "--budget", "60k",
                          "--currency", "EUR", "--tax", "19", "--gross",
                          expect=None, **self.rates)
        money = answer["question"]["money"]
        rate = 0.8
        self.assertEqual(money["rate_date"], "2026-03-02")
        self.assertEqual(float(money["rate"]), rate)
        self.assertEqual((money["currency"], money["budget"], money["gross"],
                          money["tax_percent"]), ("EUR", 60000, True, 19))
        self.assertAlmostEqual(answer["question"]["budget_usd"],
                               60000 / 1.19 / rate, delta=0.2)
        for one, before in zip(answer["candidates"], plain["candidates"]):
            self.assertEqual(one["cost_usd"], before["cost_usd"])
            if one["cost_usd"] is None:
                self.assertIsNone(one["cost"])
                continue
            self.assertAlmostEqual(one["cost"]["net"], one["cost_usd"] * rate,
                                   delta=1e-5 * one["cost_usd"])
            self.assertAlmostEqual(one["cost"]["gross"],
                                   one["cost"]["net"] * 1.19, 1)
            if one["within_limits"]:
                self.assertLessEqual(one["cost"]["gross"], 60000.01)
            elif one["eligible"]:
                self.assertGreater(one["cost"]["gross"], 60000)

    def test_money_without_tax(self):
        answer = self.ask("--model", "pythia-1b", "--budget", "40k")
        money = answer["question"]["money"]
        self.assertEqual((money["currency"], money["rate"]), ("USD", None))
        self.assertEqual(answer["question"]["budget_usd"], 40000)
        self.assertEqual(answer["recommendation"]["plan"], [])
        for one in answer["candidates"]:
            self.assertEqual(one["cost"] and one["cost"]["net"],
                             one["cost_usd"])
            self.assertIsNone(one["cost"] and one["cost"]["gross"])

    def rent(self, *ask, **rest):
        """The answer, and what an hour of its GPUs costs at the cheapest, with
        how many of them are rented together."""
        answer = self.ask(*ask, expect=None, **rest)
        prices = [(one["amount"] / one["gpus"], one["gpus"], one["source"])
                  for one in json.loads(self.run_program(
                      "catalog", "prices", "--json").text)["prices"]
                  if (one["item"], one["unit"], one["currency"])
                  == (answer["recommendation"]["gpu"], "hour", "USD")]
        return answer, *min(prices)

    def test_rent(self):
        """What renting costs in use for half of all hours, for 70 %, and for
        all, beside buying; what is not in it; and an hour before."""
        answer, hour, together, source = self.rent(
            "--model", "pythia-1b", "--budget", "40k", "--lifetime", "4")
        best, rent = answer["recommendation"], answer["renting"]
        whole = math.ceil(best["gpus"] / together) * together * hour
        self.assertEqual((rent["source"], rent["rented_together"]), (source, together))
        self.assertAlmostEqual(rent["hour_usd"], whole, 2)
        self.assertEqual([use["use_percent"] for use in rent["uses"]],
                         [50, 70, 100])
        for use in rent["uses"]:
            self.assertAlmostEqual(
                use["rent_usd"],
                whole * 4 * 8760 * use["use_percent"] / 100, 1)
            self.assertEqual(use["buy_usd"], best["price_usd"])
        self.assertIsNone(rent["mixed"])
        said = " ".join(rent["sentences"])
        for word in ("${:,.0f}".format(whole * 4 * 8760), source, "reserved",
                     "egress", "storage", "qm-bench"):
            self.assertIn(word, said)

    def test_rent_of_others(self):
        """Where nobody rents out what is to be bought: for as long as others take
        for the same work."""
        ask = ("--model", "pythia-1b", "--budget", "40k")
        best = self.ask(*ask)["recommendation"]
        path = os.path.join(self.rated, "prices.csv")
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file
                     if not line.startswith(best["gpu"] + ",cloud,")]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
        answer = self.ask(*ask, **self.rates)
        self.assertEqual(answer["recommendation"]["gpu"], best["gpu"])
        rent = answer["renting"]
        self.assertNotEqual(rent["gpu"], best["gpu"])
        other = next(one for one in answer["candidates"]
                     if (one["gpu"], one["gpus"]) == (rent["gpu"], rent["gpus"])
                     and one["eligible"])
        hours = 5 * 8760 * other["days"] / best["days"]
        self.assertAlmostEqual(rent["uses"][2]["rent_usd"],
                               rent["hour_usd"] * hours,
                               delta=1e-3 * rent["uses"][2]["rent_usd"])
        self.assertTrue(rent["sentences"][0].startswith(
            "No price is known at which the proposed GPUs can be rented. Of "))
        self.assertNotIn("qm-bench", " ".join(rent["sentences"]))
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line in lines if ",cloud," not in line)
        rent = self.ask(*ask, **self.rates)["renting"]
        self.assertIsNone(rent["uses"])
        self.assertEqual(rent["sentences"], [
            "No price is known at which GPUs that do this work can be rented."])

    def test_rent_with_electricity(self):
        """Of which more is used where the GPUs are used more."""
        answer, *_ = self.rent("--model", "pythia-1b", "--budget", "60k",
                               "--ownership", "electricity,utilization=70", "--costs",
                               "total")
        low, middle, high = (use["buy_usd"]
                             for use in answer["renting"]["uses"])
        self.assertLess(low, middle)
        self.assertLess(middle, high)
        self.assertAlmostEqual(middle, answer["recommendation"]["cost_usd"], 2)

    def test_rent_of_one_of_several(self):
        answer, hour, *_ = self.rent(*ASKED, "--at-once", "3", "--budget",
                                     "400k", "--room", "any")
        best, mixed = answer["recommendation"], answer["renting"]["mixed"]
        n = best["machines"]
        self.assertGreaterEqual(n, 3)
        self.assertEqual(mixed["machines_bought"], n - 1)
        self.assertAlmostEqual(mixed["bought_usd"],
                               best["price_usd"] * (n - 1) / n, 1)
        year = hour * 24 * best["machine_days"] * best["gpus"] / n
        self.assertAlmostEqual(mixed["rent_a_year_usd"], year, 1)
        self.assertAlmostEqual(
            mixed["all_usd"], mixed["bought_usd"]
            + mixed["rent_a_year_usd"] * answer["question"]["lifetime_years"],
            0)
        self.assertIn("A mixed plan: %d machines are bought" % (n - 1),
                      " ".join(answer["renting"]["sentences"]))

    def test_funding(self):
        answer = self.ask(*ASKED, "--room", "any", "--machine-least", "15k",
                          "--machine-most", "60k", expect=None)
        told = set()
        for one in answer["candidates"]:
            if one["price_usd"] is None:
                continue
            each = one["price_usd"] / one["machines"]
            self.assertEqual(one["unfunded"], not 15000 <= each <= 60000, one)
            if one["unfunded"]:
                self.assertFalse(one["eligible"] or one["within_limits"])
            told.add(one["unfunded"])
        self.assertEqual(told, {True, False})
        self.assertTrue(any("funded" in note for note in
                            answer["recommendation"]["notes"]))

    def test_text(self):
        """The answer and the matrix are told to people, too."""
        text = self.run_program("advise", *ASKED, "--room", "any",
                                "--deadline-per-run", "60", "--currency",
                                "EUR", "--tax", "19", "--gross", "--budget",
                                "2M", expect=0, **self.rates).text
        told = " ".join(text.split())
        for words in ("What one run takes", "5 runs a year.",
                      "with tax of 19 %", "of the budget are left",
                      "The longest run is back", "60 days are allowed",
                      "Budget and costs are in EUR"):
            self.assertIn(words, told)
        self.assertNotIn("$", text.split("What one run takes")[0])

    def test_bad(self):
        for arguments, says in (
                (("--deadline-per-run", "0"), "--deadline-per-run"),
                (("--deadline-per-run", "nan"), "--deadline-per-run"),
                (("--currency", "eur"), "'eur'"),
                (("--currency", "XYZ"), "XYZ"),
                (("--tax", "101"), "--tax"),
                (("--gross",), "--tax"),
                (("--machine-least", "2k", "--machine-most", "1k"),
                 "--machine-most"),
                (("--tax", "19", "--costs", "total"), "twice|already"),
                (("--as-in-the-paper", "--currency", "EUR"), "--currency")):
            result = self.run_program("advise", *ASKED, *arguments, expect=2,
                                      **self.rates)
            self.assertRegex(result.err.decode(), says)

    def write(self, name="lab.quartermaster", **fields):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "quartermaster-question", "version": 1,
                       **fields}, file)
        return path

    def test_file(self):
        """A file asks what the same options ask."""
        path = self.write(
            runs=[{"model": model, "runs_per_year": n}
                  for model, n in RUNS.items()],
            at_once=2, run_deadline_days=60, deadline_days=300, room="any",
            money={"currency": "EUR", "budget": 500000, "tax_percent": 19,
                   "gross": True, "machine_least": 5000},
            gpus=[4, 8], machine="server", settings="optimal",
            lifetime_years=4, time_factor=1.2, slack_percent=2.5)
        typed = self.ask(*ASKED, "--at-once", "2", "--deadline-per-run", "60",
                         "--deadline", "300", "--room", "any", "--budget",
                         "500k", "--currency", "EUR", "--tax", "19", "--gross",
                         "--machine-least", "5k", "--gpus", "4,8",
                         "--machine", "server", "--lifetime", "4",
                         "--time-factor", "1.2", "--slack", "2.5", expect=None, **self.rates)
        self.assertEqual(self.ask(path, expect=None, **self.rates), typed)
        # What is typed goes before what the file has.
        self.assertEqual(
            self.ask(path, "--budget", "90k", "--gpus", "1,2", "--runs",
                     "vit-large=1", "--machine", "all", expect=None,
                     **self.rates)["question"],
            {**typed["question"], "gpus": [1, 2], "machine": "all",
             "budget_usd": math.floor(90000.005 / 1.19 / 0.8 * 100) / 100,
             "money": {**typed["question"]["money"], "budget": 90000},
             "runs": [{"model": "vit-large", "runs_per_year": 1}]})

    def test_file_with_models(self):
        one = self.write(models=["pythia-1b"],
                         money={"currency": "USD", "budget": 40000},
                         use=[{"gpu": "a6000", "gpus": 4, "hour_usd": 1.5}])
        answer = self.ask(one)
        self.assertEqual(answer, self.ask("--model", "pythia-1b", "--budget",
                                          "40k", "--use", "4xa6000@1.5"))
        two = self.write("two.quartermaster", models=["pythia-1b",
                                                      "vit-large"])
        self.refuse("advise", two, says="--model")
        self.run_program("plot", two, "-o", "two.svg", expect=0)
        owned = self.write("owned.quartermaster", models=["pythia-1b"],
                           ownership={"parts": ["electricity"],
                                      "values": {"kwh": 0.31}})
        self.assertEqual(
            self.ask(owned), self.ask("--model", "pythia-1b", "--costs",
                                      "total", "--ownership",
                                      "electricity,kwh=0.31"))
        paper = self.write("paper.quartermaster", models=["pythia-1b"],
                           as_in_the_paper=True)
        self.assertEqual(self.ask(paper),
                         self.ask("--model", "pythia-1b",
                                  "--as-in-the-paper"))
        self.refuse("advise", paper, "--room", "any",
                    says="--as-in-the-paper")

    def test_bad_file(self):
        good = self.write(models=["pythia-1b"])
        self.refuse("advise", self.path("none.quartermaster"),
                    says="none.quartermaster")
        self.refuse("advise", good, good, says="no question")
        self.refuse("advise", self.write(models=["pythia-1"]),
                    says="pythia-1")
        self.refuse("advise", self.write(models=["pythia-1b"], budgte=1),
                    says="budgte")
        other = self.write("question.json", models=["pythia-1b"])
        self.refuse("advise", other, says=".quartermaster")
        euros = self.write(models=["pythia-1b"],
                           money={"currency": "EUR", "budget": 9})
        self.refuse("advise", euros, "--currency", "USD", says="--budget",
                    env={"QUARTERMASTER_DATA_DIR": self.rated})


if __name__ == "__main__":
    harness.main()
