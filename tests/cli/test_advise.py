# SPDX-License-Identifier: Apache-2.0
"""quartermaster advise: the answers, their JSON and their text."""

import math
import unittest

import harness
import reference

ALL_MODELS = ("convnext-xlarge", "mamba-2.8b", "pythia-160m", "pythia-1b",
              "pythia-2.8b", "pythia-410m", "pythia-6.9b", "roberta-large",
              "vit-large")

CANDIDATE_KEYS = ["gpu", "gpus", "machine", "machines", "price_usd",
                  "cost_usd", "cost_low_usd", "cost_high_usd", "not_carried",
                  "wall_watts", "host_gib", "extra_gib", "days", "time_factor",
                  "experiment_cost_usd", "source", "provenance", "engine",
                  "engine_version", "measured_on", "days_low", "days_high",
                  "predicted", "prediction",
                  "implied_utilization", "reachable_days", "verdict", "here",
                  "use",
                  "insufficient",
                  "superseded", "weak_price", "eligible",
                  "on_frontier", "within_limits", "prices", "runs",
                  "longest_days", "machine_days", "busy", "late", "unfunded",
                  "cost"]
OUTCOME_KEYS = ["outcome", "headline", "reason", "plan", "alternatives",
                "warnings",
                "notes", "probability", "sooner", "runner_up", "faster", "cheaper",
                "would_do", "outlived", "denied"]
PRICE_KEYS = ["item", "amount", "amount_low", "amount_high", "currency",
              "tax_percent", "kind", "unit", "gpus", "observed_on", "age_days",
              "source", "from_user"]
QUOTE_KEYS = ["quote", "quote_holds"]
QUESTION_KEYS = ["model", "runs", "at_once", "budget_usd", "deadline_days",
                 "run_deadline_days", "money", "gpu", "gpus", "machine", "as_in_the_paper", "times_of",
                 "predictions", "link", "uses", "any_price", "room_watts", "settings",
                 "lifetime_years", "time_factor", "slack_percent", "costs"]


def place(candidate):
    return candidate and (candidate["gpu"], candidate["gpus"])


def places(candidates):
    return [place(candidate) for candidate in candidates]


class AdviseTest(harness.CommandLineTest):
    def setUp(self):
        super().setUp()
        self.catalog = reference.Catalog(harness.CATALOG)

    def assertNumber(self, got, wanted, tolerance, what):
        if math.isnan(wanted):
            self.assertIsNone(got, what)
        else:
            self.assertIsNotNone(got, what)
            self.assertLessEqual(abs(got - wanted), tolerance, what)

    def assertCandidate(self, got, wanted):
        what = "%s\nwanted: %s" % (got, wanted)
        for key in ("gpu", "gpus", "machine", "verdict", "source", "eligible"):
            self.assertEqual(got[key], wanted[key], what)
        self.assertNumber(got["cost_usd"], wanted["cost_usd"], 0, what)
        self.assertNumber(got["days"], wanted["days"], 0, what)
        self.assertNumber(got["experiment_cost_usd"],
                          wanted["experiment_cost_usd"], 0.0051, what)
        self.assertNumber(got["implied_utilization"],
                          wanted["implied_utilization"], 1e-6, what)

    def compare(self, answer, wanted, budget=math.inf, deadline=math.inf):
        self.assertEqual(len(answer["candidates"]), len(wanted))
        for got, one in zip(answer["candidates"], wanted):
            self.assertCandidate(got, one)
            self.assertEqual(
                got["within_limits"],
                one["cost_usd"] <= budget and one["days"] <= deadline, got)
        self.assertEqual(places(answer["frontier"]),
                         places(reference.frontier(wanted)))
        self.assertEqual(place(answer["recommendation"]),
                         place(reference.recommend(wanted, budget, deadline)))


class AnswerTest(AdviseTest):
    def test_published_figures(self):
        """The figures of the published analysis, as they stand in it."""
        answer = self.ask("--model", "pythia-1b", "--as-in-the-paper")
        got = {place(one): one for one in answer["candidates"]}
        self.assertEqual(len(got), 16)
        for key, cost, days, experiment in (
                (("h100-80gb-sxm", 4), 127500, 8, 559),
                (("a100-80gb-sxm", 8), 162500, 9, 801),
                (("rtx3090", 8), 20900, 30, 344)):
            self.assertEqual(got[key]["cost_usd"], cost)
            self.assertEqual(got[key]["days"], days)
            self.assertEqual(round(got[key]["experiment_cost_usd"]),
                             experiment)

    def test_slack(self):
        """163 days for $39,500 are no better than 165 for $26,700, unless one
        asks for the shortest time, as the paper does."""
        arguments = ("--model", "pythia-2.8b", "--budget", "40k",
                     "--predictions", "none", "--any-price")
        cheap, fast = ("a6000", 4), ("a100-80gb-sxm", 2)
        best = self.ask(*arguments)["recommendation"]
        self.assertEqual((place(best), place(best["sooner"])), (cheap, fast))
        self.assertRegex(best["reason"], r"sooner by more than 5\u00a0%\. "
                         r"2 × A100 SXM4 80GB would save .* \(1\u00a0%\) for "
                         r"\$12,800 more; times within 5\u00a0% of the shortest")
        for slack, wanted in (("0", fast), ("1", fast), ("1.5", cheap),
                              ("5.0", cheap)):
            answer = self.ask(*arguments, "--slack", slack)
            best = answer["recommendation"]
            self.assertEqual(answer["question"]["slack_percent"], float(slack))
            self.assertEqual(place(best), wanted)
            self.assertEqual(place(best["sooner"]),
                             None if wanted == fast else fast)
        paper = self.ask("--model", "pythia-2.8b", "--budget", "40k",
                         "--as-in-the-paper")
        self.assertEqual(paper["question"]["slack_percent"], 0)
        self.assertIsNone(paper["recommendation"]["sooner"])

    def test_default_question(self):
        answer = self.ask("--model", "pythia-1b", "--budget", "40000")
        wanted = reference.candidates(self.catalog, "pythia-1b")
        self.assertEqual(len(wanted), 16)
        self.compare(answer, wanted, 40000)
        best = answer["recommendation"]
        self.assertEqual(place(best["denied"]), ("rtx3090", 8))
        self.assertEqual(best["denied"]["verdict"], "impossible")
        self.assertTrue(any("119\u00a0%" in text for text in best["warnings"]),
                        best["warnings"])

    def test_as_in_the_paper(self):
        arguments = ("--model", "pythia-1b", "--budget", "40000",
                     "--as-in-the-paper")
        answer = self.ask(*arguments)
        wanted = reference.candidates(self.catalog, "pythia-1b", paper=True)
        self.compare(answer, wanted, 40000)
        best = answer["recommendation"]
        self.assertEqual(place(best), ("rtx3090", 8))
        self.assertEqual(best["verdict"], "impossible")
        self.assertIsNone(best["denied"])
        text = self.run_program("advise", *arguments, expect=0).text
        self.assertRegex(text, r"30 days .*8 × GeForce RTX 3090")
        self.assertIn("119\u00a0%", text)

    def test_every_model(self):
        for model in ALL_MODELS:
            for settings in ("optimal", "naive"):
                for paper in (False, True):
                    with self.subTest(model=model, settings=settings,
                                      paper=paper):
                        wanted = reference.candidates(
                            self.catalog, model, settings=settings,
                            paper=paper)
                        # No machine is advised that a run would outlive.
                        life = math.inf if paper else 5 * 365
                        fits = reference.recommend(wanted, 100000,
                                                   life) is not None
                        answer = self.ask(
                            "--model", model, "--budget", "100k", "--settings",
                            settings,
                            *(("--as-in-the-paper",) if paper else ()),
                            expect=0 if fits else 1)
                        self.compare(answer, wanted, 100000, life)

    def test_budgets_and_deadlines(self):
        wanted = reference.candidates(self.catalog, "pythia-1b")
        for budget in (1000, 2300, 2299.99, 12000, 40000, 127500, 1e6):
            for deadline in (1, 4.4, 8, 33.5, 60, 1000):
                with self.subTest(budget=budget, deadline=deadline):
                    best = reference.recommend(wanted, budget, deadline)
                    answer = self.ask("--model", "pythia-1b", "--budget",
                                      "%.2f" % budget, "--deadline",
                                      "%g" % deadline,
                                      expect=0 if best else 1)
                    self.compare(answer, wanted, budget, deadline)

    def test_amounts(self):
        for typed, usd in (("40000", 40000), ("40k", 40000), ("40K", 40000),
                           ("1.5M", 1500000), ("0.04M", 40000),
                           ("1499.99", 1499.99), ("40000.999", 40000.99),
                           ("0.01", 0.01)):
            result = self.run_program("advise", "--model", "pythia-1b",
                                      "--budget=" + typed, "--json")
            self.assertEqual(result.json["question"]["budget_usd"], usd)
        self.assertIn(b'"budget_usd": 1499.99,', self.run_program(
            "advise", "--model=pythia-1b", "--budget=1499.99", "--json").out)

    def test_no_budget(self):
        answer = self.ask("--model", "pythia-1b")
        self.assertIsNone(answer["question"]["budget_usd"])
        self.compare(answer, reference.candidates(self.catalog, "pythia-1b"))
        self.assertEqual(place(answer["recommendation"]),
                         ("h100-80gb-sxm", 8))

    def test_filters(self):
        model = "pythia-410m"
        for arguments, filters in (
                (("--gpu", "rtx3090,a6000"), {"gpu": ("rtx3090", "a6000")}),
                (("--gpu", "rtx3090", "--gpu", "a6000"),
                 {"gpu": ("rtx3090", "a6000")}),
                (("--gpu", " a6000 , a6000"), {"gpu": ("a6000",)}),
                (("--gpus", "1,2"), {"gpus": (1, 2)}),
                (("--gpus=8",), {"gpus": (8,)}),
                (("--machine", "server"), {"kinds": ("server",)}),
                (("--machine", "desktop"), {"kinds": ("desktop",)}),
                (("--machine", "all"), {}),
                (("--lifetime", "3"), {"lifetime": 3}),
                (("--time-factor", "1"), {"factor": 1}),
                (("--time-factor=2.5",), {"factor": 2.5}),
                (("--gpu", "a6000", "--gpus", "4", "--machine", "server",
                  "--lifetime=2.5"),
                 {"gpu": ("a6000",), "gpus": (4,), "kinds": ("server",),
                  "lifetime": 2.5})):
            with self.subTest(arguments):
                wanted = reference.candidates(self.catalog, model, **filters)
                self.assertTrue(wanted)
                self.compare(self.ask("--model", model, *arguments), wanted)

    def test_prices_add_up(self):
        """Machine, GPUs and memory are what a candidate costs."""
        answer = self.ask("--model", "pythia-1b")
        for one in answer["candidates"]:
            self.assertEqual(
                one["cost_usd"],
                one["prices"]["machine"]["amount"]
                + one["gpus"] * one["prices"]["gpu"]["amount"])
            self.assertGreater(one["prices"]["gpu"]["age_days"], 0)
            self.assertFalse(one["weak_price"])
            self.assertIsNone(one["not_carried"])

    def test_any_price(self):
        """The newest of an RTX 3090 is of used ones, a range."""
        best, = self.ask("--model", "pythia-1b", "--gpu", "rtx3090", "--gpus",
                         "1", "--any-price")["candidates"]
        price = best["prices"]["gpu"]
        self.assertEqual((price["kind"], price["amount_low"],
                          price["amount_high"]), ("resale", 500, 1000))
        self.assertTrue(best["weak_price"])
        self.assertEqual((best["cost_low_usd"], best["cost_usd"],
                          best["cost_high_usd"]), (1500, 1750, 2000))

    def test_room(self):
        """What draws more than the room gives is not offered, and says so."""
        for room, watts in (("one-circuit", 2944), ("two-circuits", 5888),
                            ("three-phases", 17664), ("3000", 3000)):
            answer = self.ask("--model", "pythia-1b", "--room", room)
            self.assertEqual(answer["question"]["room_watts"], watts)
            for one in answer["candidates"]:
                refused = one["not_carried"]
                self.assertEqual(refused is not None,
                                 one["wall_watts"] > watts, one)
                if refused is not None:
                    self.assertEqual(refused["problem"], "circuit")
                    self.assertEqual(refused["available"], watts)
                    self.assertIsNone(one["cost_usd"])
                    self.assertFalse(one["eligible"])
        anything = self.ask("--model", "pythia-1b", "--room", "any")
        self.assertIsNone(anything["question"]["room_watts"])
        self.assertTrue(all(one["not_carried"] is None
                            for one in anything["candidates"]))
        # All machines of a year's runs stand in it.
        for one in self.ask("--runs", "pythia-1b=2", "--at-once", "4",
                            "--room", "two-circuits",
                            expect=None)["candidates"]:
            self.assertEqual(one["not_carried"] is not None,
                             one["wall_watts"] > 5888, one)

    def test_use(self):
        """GPUs at hand are compared and never bought; in numbers that nobody
        tried they are predicted, which is not possible here."""
        plain = self.ask("--model", "pythia-1b", "--budget", "40k")
        answer = self.ask("--model", "pythia-1b", "--budget", "40k", "--use",
                          "4xh100-80gb-sxm@2.5/24,3xa6000", "--use", "6xl40s")
        self.assertEqual([(one["gpu"], one["gpus"], one["hour_usd"],
                           one["walltime_hours"])
                          for one in answer["question"]["uses"]],
                         [("h100-80gb-sxm", 4, 2.5, 24), ("a6000", 3, 0, None),
                          ("l40s", 6, 0, None)])
        used = [one for one in answer["candidates"] if one["use"]]
        self.assertEqual([place(one) for one in used],
                         [("h100-80gb-sxm", 4)])
        self.assertFalse([one for one in used if one["eligible"]
                          or one["on_frontier"] or one["here"]])
        self.assertIn("3 × a6000, 6 × l40s to use: no time is known or "
                      "predicted of so many together, and they are not in the "
                      "answer.", answer["recommendation"]["notes"])
        # 8 days of steps and a tenth more, in jobs of 24 hours.
        self.assertEqual((used[0]["days"], used[0]["cost_usd"],
                          used[0]["experiment_cost_usd"]),
                         (8.8, 4 * 2.5 * 24 * 8.8, 4 * 2.5 * 24 * 8.8))
        self.assertEqual(used[0]["use"], {"hour_usd": 2.5,
                                          "walltime_hours": 24, "jobs": 9})
        # The rest of the answer is the same.
        self.assertEqual([one for one in answer["candidates"]
                          if not one["use"]], plain["candidates"])
        self.assertEqual(place(answer["recommendation"]),
                         place(plain["recommendation"]))
        self.assertIn("4 × H100 SXM5 80GB to use cost $2,112 and take 8.8 days "
                      "in 9 jobs.",
                      " ".join(answer["recommendation"]["alternatives"]))

    def test_use_for_a_year(self):
        answer = self.ask("--runs", "pythia-1b=2", "--use", "8xa6000@1",
                          "--lifetime", "3")
        used, = [one for one in answer["candidates"] if one["use"]]
        # 2 x 22 days and a tenth more of 8 GPUs a year.
        self.assertEqual(used["experiment_cost_usd"], 8 * 24 * 48.4)
        self.assertEqual(used["cost_usd"], 27878.4)  # for three years
        self.assertEqual((used["machines"], used["insufficient"]), (1, False))
        busy = self.ask("--runs", "pythia-1b=20", "--use", "8xa6000")
        used, = [one for one in busy["candidates"] if one["use"]]
        self.assertTrue(used["insufficient"])

    def test_portfolio(self):
        runs = {"pythia-1b": 3, "vit-large": 10}
        answer = self.ask("--runs", "pythia-1b=3,vit-large=10", "--at-once",
                          "2", "--budget", "200k")
        tables = {model: {place(one): one for one in
                          reference.candidates(self.catalog, model)}
                  for model in runs}
        self.assertEqual(len(answer["candidates"]), 16)
        for got in answer["candidates"]:
            single = {model: tables[model][place(got)] for model in runs}
            busy = sum(count * single[model]["days"]
                       for model, count in runs.items())
            machines = max(2, math.ceil(busy / 365))
            cost = single["pythia-1b"]["cost_usd"]
            self.assertEqual(got["machines"], machines)
            self.assertEqual(got["cost_usd"], machines * cost)
            self.assertAlmostEqual(
                got["days"], max(busy / machines,
                                 *(one["days"] for one in single.values())), 5)
            self.assertAlmostEqual(got["experiment_cost_usd"],
                                   cost * busy / (5 * 365), 1)
        best = min((one for one in answer["candidates"] if one["eligible"]
                    and one["cost_usd"] <= 200000), key=reference.rank)
        self.assertEqual(place(answer["recommendation"]), place(best))
        self.assertEqual(answer["question"]["runs"],
                         [{"model": "pythia-1b", "runs_per_year": 3.0},
                          {"model": "vit-large", "runs_per_year": 10.0}])

    def test_nothing_affordable(self):
        answer = self.ask("--model", "pythia-1b", "--budget", "1k", expect=1)
        self.assertIsNone(answer["recommendation"])
        nothing = answer["nothing_fits"]
        self.assertEqual(nothing["outcome"], "over_budget")
        self.assertEqual(place(nothing["would_do"]), ("rtx3090", 1))
        text = self.run_program("advise", "--model", "pythia-1b", "--budget",
                                "1k", expect=1).text
        self.assertIn("1 × GeForce RTX 3090", text)
        self.assertIn("$2,300", text)

    def test_nothing_in_time(self):
        answer = self.ask("--model", "pythia-1b", "--deadline", "1", expect=1)
        nothing = answer["nothing_fits"]
        self.assertEqual(nothing["outcome"], "too_late")
        self.assertEqual(place(nothing["would_do"]), ("h100-80gb-sxm", 8))

    def test_nothing_known(self):
        """A GPU of the catalog that nobody has measured."""
        answer = self.ask("--model", "pythia-1b", "--gpu", "rtx4090", expect=1)
        self.assertEqual(answer["candidates"], [])
        self.assertEqual(answer["nothing_fits"]["outcome"], "nothing")
        self.assertIsNone(answer["nothing_fits"]["would_do"])
        self.run_program("advise", "--model", "pythia-1b", "--gpu", "rtx4090",
                         expect=1)


class JsonTest(AdviseTest):
    def check_candidate(self, candidate, more=()):
        self.assertEqual(list(candidate), CANDIDATE_KEYS + list(more))
        self.assertIn(candidate["verdict"], ("possible", "impossible",
                                             "infeasible", "unknown"))
        self.assertIn(candidate["provenance"], ("published", "measured",
                                                "predicted"))
        self.assertEqual(list(candidate["prices"]),
                         ["gpu", "machine", "memory_gib"])
        self.assertIsNone(candidate["prices"]["memory_gib"])
        for key in ("gpu", "machine"):
            self.assertEqual(list(candidate["prices"][key]),
                             PRICE_KEYS + QUOTE_KEYS)

    def check_outcome(self, outcome):
        self.assertTrue(outcome["headline"])
        self.assertTrue(outcome["reason"])
        self.assertIsInstance(outcome["alternatives"], list)
        self.assertIsInstance(outcome["warnings"], list)
        self.assertIsInstance(outcome["notes"], list)
        for key in ("sooner", "runner_up", "faster", "cheaper", "would_do",
                    "outlived", "denied"):
            if outcome[key] is not None:
                self.check_candidate(outcome[key])

    def check(self, answer, fits):
        self.assertEqual(list(answer), ["question", "recommendation",
                                        "nothing_fits", "frontier",
                                        "candidates", "left_out", "renting",
                                        "problems", "notices"])
        self.assertEqual(list(answer["question"]), QUESTION_KEYS)
        if fits:
            self.assertIsNone(answer["nothing_fits"])
            self.check_candidate(answer["recommendation"], OUTCOME_KEYS)
            self.assertEqual(answer["recommendation"]["outcome"], "found")
            self.assertIsNone(answer["recommendation"]["would_do"])
            self.check_outcome(answer["recommendation"])
        else:
            self.assertIsNone(answer["recommendation"])
            self.assertEqual(list(answer["nothing_fits"]), OUTCOME_KEYS)
            self.check_outcome(answer["nothing_fits"])
        for candidate in answer["frontier"] + answer["candidates"]:
            self.check_candidate(candidate)
        self.assertEqual([one for one in answer["candidates"]
                          if one["on_frontier"]],
                         sorted(answer["frontier"],
                                key=answer["candidates"].index))

    def test_schema(self):
        self.check(self.ask("--model", "pythia-1b", "--budget", "40k"), True)
        self.check(self.ask("--model", "pythia-1b", "--budget", "1k",
                            expect=1), False)
        self.check(self.ask("--runs", "pythia-1b=2"), True)
        self.check(self.ask("--model", "pythia-6.9b", "--settings", "naive",
                            "--deadline", "60", expect=1), False)

    def test_no_noise(self):
        """Numbers have the decimals that they need, and unknown is null."""
        result = self.run_program("advise", "--runs",
                                  "pythia-1b=0.3,vit-large=0.7", "--json",
                                  expect=0)
        for line in result.text.splitlines():
            value = line.rpartition(": ")[2].rstrip(",")
            if value[:1].isdigit() and "." in value and '"' not in value:
                self.assertLessEqual(len(value.partition(".")[2]), 6, line)
        self.assertNotIn("NaN", result.text)
        self.assertNotIn("Infinity", result.text)

    def test_same_bytes_in_every_locale(self):
        arguments = ("advise", "--model", "pythia-1b", "--budget", "40000",
                     "--deadline", "60.5", "--json")
        plain = self.run_program(*arguments, expect=0).out
        self.assertEqual(plain, self.run_program(*arguments, expect=0).out)
        for locale in ("C", "de_DE.utf8", "tr_TR.utf8", "fa_IR.utf8",
                       "hi_IN.utf8", "nonsense"):
            with self.subTest(locale):
                other = self.run_program(*arguments, expect=0,
                                         env={"LC_ALL": locale,
                                              "LANGUAGE": "de"}).out
                self.assertEqual(plain, other)


class TextTest(AdviseTest):
    def test_answer_and_table(self):
        text = self.run_program("advise", "--model", "pythia-1b", "--budget",
                                "40000", expect=0).text
        lines = text.splitlines()
        answer = self.ask("--model", "pythia-1b", "--budget", "40000")
        best = answer["recommendation"]
        self.assertEqual(lines[0], best["headline"])
        for said in ([best["reason"]] + best["alternatives"] + best["warnings"]
                     + answer["renting"]["sentences"]):
            self.assertIn(" ".join(said.split()), " ".join(text.split()))
        rows = [line for line in lines
                if " × " in line and line[:3] in ("   ", "→  ")]
        self.assertEqual(len(rows), 16)
        self.assertEqual([line for line in rows if line.startswith("→")],
                         [rows[places(answer["frontier"]).index(place(best))]])
        self.assertIn("$%s" % format(int(best["cost_usd"]), ","),
                      next(line for line in rows if line.startswith("→")))
        self.assertEqual(text.count("impossible"), 3)
        self.assertIn("2024-09-21", text)
        self.assertIn("years old", text)

    def test_columns_line_up(self):
        lines = self.run_program("advise", "--model", "pythia-1b", "--budget",
                                 "40000", expect=0).text.splitlines()
        title = next(line for line in lines if "Verdict" in line)
        at = title.index("Verdict")
        rows = [line for line in lines if line[:3] in ("   ", "→  ")
                and " × " in line]
        for row in rows:
            self.assertEqual(row[at - 2:at], "  ", row)
            self.assertRegex(row[at:], "^(possible|impossible)")

    def test_width(self):
        """Nothing is wider than the screen, as far as that can be done."""
        for width in (72, 80, 100, 120, 160):
            with self.subTest(width):
                text = self.run_program(
                    "advise", "--model", "pythia-1b", "--budget", "40000",
                    "--deadline", "60", expect=0,
                    env={"COLUMNS": str(width)}).text
                for line in text.splitlines():
                    self.assertLessEqual(len(line), width, line)
        wide = self.run_program("advise", "--model", "pythia-1b", "--budget",
                                "40000", expect=0).text
        self.assertIn("GPU server for 8 GPUs", wide)
        self.assertIn("over budget", wide)

    def test_absurd_width(self):
        for width in ("0", "1", "-5", "x", "", "99999999999999999999"):
            self.run_program("advise", "--model", "pythia-1b", expect=0,
                             env={"COLUMNS": width})

    def test_other_encodings(self):
        arguments = ("advise", "--model", "pythia-1b", "--budget", "40000")
        ascii_only = self.run_program(*arguments, expect=0,
                                      env={"LC_ALL": "C"}).out
        ascii_only.decode("ascii")
        self.assertIn(b"1 x H100 SXM5 80GB", ascii_only)
        latin = self.run_program(*arguments, expect=0,
                                 env={"LC_ALL": "de_DE"}).out
        latin.decode("latin-1")

    def test_german_numbers(self):
        text = self.run_program("advise", "--model", "pythia-1b", "--budget",
                                "40000", expect=0,
                                env={"LC_ALL": "de_DE.utf8"}).text
        if "31,000" in text:
            self.skipTest("the locale de_DE.utf8 is not installed")
        self.assertIn("31.000", text)


if __name__ == "__main__":
    harness.main()
