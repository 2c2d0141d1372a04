# SPDX-License-Identifier: Apache-2.0
"""Random questions, answered by the program and by oracle.py, which shares nothing
with it, from the same files; and what holds of every answer, whoever gives it.

QM_ORACLE_QUESTIONS says how many, QM_ORACLE_SEED which."""

import collections
import datetime
import json
import math
import os
import random
import subprocess

import harness
import oracle

TODAY = datetime.date(2026, 11, 28)
NOON = str(int(datetime.datetime(2026, 11, 28, 12,
                                 tzinfo=datetime.timezone.utc).timestamp()))
# Watched for memory errors each takes ten times as long.
QUESTIONS = int(os.environ.get("QM_ORACLE_QUESTIONS", 16)) // (
    3 if harness.READY else 1)
SEED = int(os.environ.get("QM_ORACLE_SEED", 25))
LEVELS = {"optimal": "tuned", "eager": "eager", "naive": "naive"}
PARTS = {"discount", "shipping", "tax", "overhead", "electricity", "hosting",
         "support", "residual"}
ASSUMED = {"utilization": (100, 60, 33.3), "discount": (0, 5), "shipping": (0, 250.5),
           "tax": (0, 19, 8.25, None), "overhead": (0, 55.5), "residual": (0, 10),
           "kwh": (.12, .31), "pue": (1.5, 1, 1.234), "idle": (10, 0),
           "rest": (50, 30), "hosting_machine": (0, 20), "hosting_kw": (0, 123.45),
           "hosting_unit": (150, 0), "rack_units": (4, 2), "support": (15, 0)}
EVERY = {"overhead_threshold": 10000}


class Question:
    """What is asked, and how a command line says it."""

    def __init__(self, draw, models, gpus):
        def some(chance, value):
            return value() if draw.random() < chance else None
        self.runs = some(.3, lambda: {
            model: draw.choice([1, 3, 2.5, 0.4, 12])
            for model in draw.sample(models, draw.randint(1, 3))})
        self.model = None if self.runs else draw.choice(models)
        self.at_once = draw.choice([1, 1, 2, 3]) if self.runs else 1
        self.settings = draw.choice(["optimal"] * 3 + ["eager", "naive"])
        self.budget = some(.85, lambda: round(10 ** draw.uniform(3, 6.3)))
        self.deadline = some(.4, lambda: round(10 ** draw.uniform(0, 2.8), 1))
        self.life = draw.choice([5, 5, 1, 3, 2.5, 10, 0.5])
        self.factor = draw.choice([1.1, 1.1, 1, 1.25, 3])
        self.slack = draw.choice([5, 5, 0, 20, 100])
        self.currency = draw.choice(["USD", "USD", "EUR", "GBP", "JPY", "CHF"])
        self.tax = draw.choice([None, 0, 19, 8.25, 20])
        self.gross = self.tax is not None and draw.random() < .5
        self.kinds = draw.choice(["all", "all", "desktop", "server"])
        self.room = draw.choice(list(oracle.ROOMS) + ["5000"])
        self.any_price = draw.random() < .2
        self.gpu = some(.15, lambda: draw.sample(sorted(gpus), 8))
        self.gpus = some(.2, lambda: draw.sample([1, 2, 4, 8], draw.randint(1, 3)))
        self.least = some(.1, lambda: round(10 ** draw.uniform(3.5, 5)))
        self.own = some(.5, lambda: {key: draw.choice(values)
                                     for key, values in ASSUMED.items()})
        self.total = self.own is not None and draw.random() < .5
        if self.total:  # Which contains the tax.
            self.tax, self.gross = None, False
        self.use = some(.2, lambda: (draw.choice(["a6000", "rtx4090"]),
                                     draw.choice([1, 2, 4]),
                                     draw.choice([0, 0.55]), draw.choice([0, 24])))
        if self.currency == "JPY" and self.budget:
            self.budget *= 100

    def arguments(self):
        words = ["--lifetime", self.life, "--time-factor", self.factor, "--slack",
                 self.slack, "--currency", self.currency, "--machine", self.kinds,
                 "--room", self.room, "--settings", self.settings]
        if self.runs:
            words += ["--runs", ",".join("%s=%g" % run for run in self.runs.items()),
                      "--at-once", self.at_once]
        else:
            words += ["--model", self.model]
        for option, value in (("--budget", self.budget), ("--tax", self.tax),
                              ("--deadline", self.deadline),
                              ("--machine-least", self.least)):
            if value is not None:
                words += [option, value]
        for option, values in (("--gpu", self.gpu), ("--gpus", self.gpus)):
            if values:
                words += [option, ",".join(map(str, values))]
        words += ["--gross"] * self.gross + ["--any-price"] * self.any_price
        if self.use:
            gpu, gpus, usd, hours = self.use
            words += ["--use", "%dx%s" % (gpus, gpu) + "@%g" % usd * (usd > 0)
                      + "/%g" % hours * (hours > 0)]
        if self.own:
            words += ["--ownership", "all," + ",".join(
                "%s=%s" % one for one in self.own.items()
                if one[1] is not None)]
        if self.total:
            words += ["--costs", "total"]
        return list(map(str, words))

    def all_runs(self):
        return self.runs or {self.model: 1}


class Answered:
    """The oracle's answer to a question: its candidates by GPU and number."""

    def __init__(self, facts, question, times, forecasts):
        self.facts, self.question = facts, question
        self.times, self.forecasts = times, forecasts
        self.room = oracle.ROOMS.get(question.room) or float(question.room)
        self.candidates = {}
        for place in self.places():
            one = self.candidate(*place)
            if one:
                self.candidates[place] = one

    def places(self):
        found = set()
        for model in self.question.all_runs():
            found |= {place[1:] for place in self.times if place[0] == model}
            found |= set(self.forecasts[model])
        return sorted(place for place in found
                      if (not self.question.gpu or place[0] in self.question.gpu)
                      and (not self.question.gpus or place[1] in self.question.gpus))

    def run_days(self, model, gpu, gpus):
        """Of the steps: (days, low, high), (days, half of the lanes ...), the host's
        memory; None where it is not known."""
        known = self.times.get((model, gpu, gpus))
        if known:
            days, measured = known
            return (days, None, None), (days, None, None), 0
        told = self.forecasts[model].get((gpu, gpus))
        if not told or not told.get("days"):
            return None
        floor = max((days for (of, other, n), (days, measured) in self.times.items()
                     if measured and of == model and n == gpus and oracle.no_worse(
                         self.facts.gpus[other], self.facts.gpus[gpu])), default=0)

        def times(one):
            days = [one["days"], one["days_low"], one["days_high"]]
            return days if days[0] >= floor else [floor, None, None]
        slow = told["half_lanes"] or told
        # Where a simpler way is preferred at all lanes, half may be less.
        if slow["days"] < told["days"]:
            slow = told
        return times(told), times(slow), told["host_bytes"] / 2 ** 30

    def candidate(self, gpu, gpus):
        runs = {model: self.run_days(model, gpu, gpus)
                for model in self.question.all_runs()}
        if None in runs.values():
            return None
        memory = max(run[2] for run in runs.values())
        # Whether places halve the lanes depends on the machine, and on that how
        # many of them are needed; on these, by the room's power, the machine.
        for half in (0, 1):
            one = self.in_machine(gpu, gpus, runs, memory, half)
            if one is None:
                return None
            platform = self.facts.platforms[one["machine"]]
            if (oracle.lanes(platform, self.facts.gpus[gpu]) < 1) == half:
                break
        old = (TODAY - oracle.first_day(self.facts.gpus[gpu]["released_on"])).days
        if one["weak"] and not self.question.any_price and old >= 5 * 365.25 \
                and any((model, gpu, gpus) not in self.times for model in runs):
            return None
        return one

    def in_machine(self, gpu, gpus, runs, memory, half):
        question = self.question
        days = {model: run[half][0] * question.factor for model, run in runs.items()}
        longest, machines = max(days.values()), 1
        work = longest
        if question.runs:
            work = sum(days[model] * n for model, n in question.runs.items())
            machines, whole = oracle.machines_of_year(
                work, longest, question.at_once, question.deadline)
        else:
            whole = longest
        one = oracle.Carrier(self.facts, question.any_price, question.kinds,
                             self.room).find(gpu, gpus, memory, machines)
        if one is None:
            return None
        # What one machine costs is in cents.
        return dict(one, machines=machines, days=whole, longest=longest,
                    runs=days, machine_days=work,
                    price=round(one["price"], 2) * machines,
                    low=one["low"] * machines, high=one["high"] * machines,
                    wall=one["wall"] * machines)


FORECASTS = {}


def forecasts_of(test, model, level):
    """What qm-bench predicts of every GPU."""
    if (model, level) not in FORECASTS:
        bench = harness.BENCH or os.path.join(
            os.path.dirname(harness.PROGRAM), "qm-bench")
        done = subprocess.run(
            [bench, "predict", "--model", model, "--gpu", "all", "--gpus",
             "1,2,4,8", "--level", level, "--json"], check=False,
            env=test.environment(), stdout=subprocess.PIPE, timeout=400)
        lines = map(json.loads, done.stdout.splitlines())
        FORECASTS[model, level] = {
            (line["gpu_id"], line["gpus"]): line for line in lines}
    return FORECASTS[model, level]


class OracleTest(harness.CommandLineTest):
    facts = None

    def setUp(self):
        super().setUp()
        if OracleTest.facts is None:
            OracleTest.facts = oracle.Facts(harness.CATALOG, TODAY)
            OracleTest.times = {settings: oracle.pytorch_times(
                harness.CATALOG, settings) for settings in LEVELS}
            OracleTest.models = sorted(
                name[:-5] for name in os.listdir(
                    os.path.join(harness.CATALOG, "models")))
        self.compared = collections.Counter()

    def environment(self, **changes):
        return super().environment(SOURCE_DATE_EPOCH=NOON, **changes)

    def ask_both(self, question):
        self.question = question
        self.answer = self.ask(*question.arguments(), expect=None)
        self.told = {(one["gpu"], one["gpus"]): one
                     for one in self.answer["candidates"]
                     if not one["superseded"] and not one["use"]}
        self.oracle = Answered(
            self.facts, question, self.times[question.settings],
            {model: forecasts_of(self, model, LEVELS[question.settings])
             for model in question.all_runs()})

    def near(self, told, expected, what, within=.0101):
        self.compared[what[0] if isinstance(what, tuple) else what] += 1
        if told is None or expected is None:
            self.assertEqual(told, expected, what)
        elif abs(told - expected) > within + 1e-9 * abs(expected):
            self.fail("%s: %.9g is told, %.9g expected" % (what, told, expected))

    def compare_candidates(self):
        for place, one in self.oracle.candidates.items():
            self.assertIn(place, self.told)
            told = self.told[place]
            if told["price_usd"] is None:
                self.fail("%s has no price, but %s" % (place, one))
            for key, mine, within in (
                    ("price_usd", "price", .0101), ("wall_watts", "wall", .51),
                    ("extra_gib", "extra", .051), ("days", "days", 2e-5),
                    ("longest_days", "longest", 2e-5), ("machines", "machines", 0),
                    ("machine_days", "machine_days", 2e-5)):
                self.near(told[key], one[mine], (key, place), within)
            if not self.question.total:
                # Of each machine in cents.
                cent = .0101 * one["machines"]
                self.near(told["cost_low_usd"], one["low"], ("low", place), cent)
                self.near(told["cost_high_usd"], one["high"], ("high", place), cent)
            self.compare_runs(told, one, place)
            self.assertEqual((told["machine"], told["weak_price"]),
                             (one["machine"], one["weak"]), place)
        for place, told in self.told.items():
            if place not in self.oracle.candidates and told["days"] is not None:
                self.assertIsNone(told["price_usd"], place)

    def compare_runs(self, told, one, place):
        """What a run of each model takes there, and how much of the year is
        trained.  [qm-advice.h]"""
        if not self.question.runs:
            self.assertIsNone(told["runs"])
            return
        self.assertEqual([(run["model"], run["runs_per_year"])
                          for run in told["runs"]],
                         list(self.question.runs.items()))
        for run in told["runs"]:
            self.near(run["days"], one["runs"][run["model"]],
                      ("run", place, run["model"]), 2e-5)
        self.near(told["busy"], one["machine_days"] / one["machines"] / oracle.YEAR,
                  ("busy", place), 2e-6)

    def cost_of(self, one):
        if not self.question.total:
            return one["price_usd"]
        return self.own(one)["total"]

    def own(self, one):
        gpu = self.facts.gpus[one["gpu"]]
        platform = self.facts.platforms[one["machine"]]
        assumed = dict(self.question.own)
        if assumed["tax"] is None:  # That of the money.
            assumed["tax"] = self.question.tax or 0
        load = oracle.full_load(
            one["gpus"], oracle.number(gpu["tdp_w"]), oracle.Carrier.watts(
                platform, gpu, one["gpus"]) / oracle.EFFICIENCY, assumed["rest"])
        units = oracle.number(platform["rack_units"])
        if math.isnan(units) or assumed["rack_units"] != 4:
            units = assumed["rack_units"]
        return oracle.own(
            PARTS, one["price_usd"], one["machines"], load,
            int(units) if platform["form"] == "rack" else 0, self.question.life,
            **EVERY, **assumed)

    def compare_costs(self):
        """What follows from prices and times: costs, shares, the user's money."""
        question = self.question
        rate = float(self.facts.rates[question.currency]
                     / self.facts.rates["USD"]) if question.currency != "USD" else 1
        tax = 1 + (question.tax or 0) / 100
        self.per_usd = rate * (tax if question.gross else 1)
        for place in self.oracle.candidates:
            told = self.told[place]
            cost = self.cost_of(told)
            self.near(told["cost_usd"], cost, ("cost", place), .021)
            share = told["machine_days"] / (question.life * 365) / told["machines"]
            self.near(told["experiment_cost_usd"], cost * share,
                      ("experiment", place), .011 + share * .021)
            self.near(told["cost"]["net"], cost * rate, ("net", place),
                      .011 + .021 * rate)
            self.near(told["cost"]["gross"], cost * rate * tax
                      if question.tax is not None else None, ("gross", place),
                      .011 + .025 * rate)
        if question.budget is not None:
            self.near(self.answer["question"]["budget_usd"],
                      question.budget / self.per_usd, "budget")

    def judged(self):
        """The candidates of the answer, as what is recommended goes by."""
        question, found = self.question, []
        least = question.least and question.least / self.per_usd
        for i, told in enumerate(self.answer["candidates"]):
            place = told["gpu"], told["gpus"]
            mine = None if told["use"] or told["superseded"] \
                else self.oracle.candidates.get(place)
            eligible = (mine is not None and told["verdict"] not in (
                "impossible", "infeasible") and not (
                    least and told["price_usd"] / told["machines"] < least - .005))
            self.assertEqual(told["eligible"], eligible, place)
            if eligible:
                limit = question.life * 365
                found.append({
                    "place": i, "id": place, "cost": told["cost_usd"],
                    "days": told["days"], "gpus": told["gpus"] * told["machines"],
                    "weak": mine["weak"], "eligible": True,
                    "late": told["longest_days"] > limit})
                self.assertEqual(told["late"], found[-1]["late"], place)
        return found

    def compare_recommendation(self):
        question, judged = self.question, self.judged()
        edge = oracle.frontier([(one["id"], one["cost"], one["days"])
                                for one in judged if not one["late"]])
        every = oracle.frontier([(one["id"], one["cost"], one["days"])
                                 for one in judged])
        told = [(one["gpu"], one["gpus"]) for one in self.answer["frontier"]]
        self.assertIn(sorted(told), (sorted(edge), sorted(every)))
        budget = self.answer["question"]["budget_usd"]

        def within(one):
            return (not one["late"]
                    and (budget is None or one["cost"] <= budget)
                    and (question.deadline is None
                         or one["days"] <= question.deadline))
        roles = oracle.recommend(judged, within, question.slack)
        best = self.answer["recommendation"]
        self.compared["found" if best else "nothing"] += 1
        names = {"best": best and (best["gpu"], best["gpus"])}
        for role in ("sooner", "runner_up", "faster", "cheaper"):
            one = best and best[role]
            names[role] = one and (one["gpu"], one["gpus"])
        for role, name in names.items():
            self.assertEqual(name, roles[role] and roles[role]["id"], role)

    def compare_rest(self):
        """Owning, renting, and GPUs at hand."""
        best = self.answer["recommendation"]
        if best and self.question.own:
            sums = self.own(best)
            told = self.answer["ownership"]
            for key, value in sums.items():
                self.near(told[key], value, ("own", key),
                          .0501 if key == "kwh" else .011)
            self.near(told["experiment_cost"], sums["total"] / (
                self.question.life * 365) * best["days"], "own experiment")
        renting = self.answer["renting"]
        if best:
            rents = oracle.Rents(self.facts)
            rented = rents.find(best, self.told.values())
            self.assertEqual((renting["gpu"], renting["gpus"]),
                             (rented["gpu"], rented["gpus"]) if rented
                             else (None, None))
            if rented:
                # Days are told to a millionth.
                self.vague = 1e-6 * (1 / best["machine_days"]
                                     + 1 / rented["machine_days"])
                self.compare_renting(rents.plan(best, rented, self.question.life))
        if self.question.use:
            self.compare_use()

    def compare_renting(self, plan):
        told = self.answer["renting"]
        self.near(told["hour_usd"], plan["hour_usd"], "hour", .0051)
        for use, expected in zip(told["uses"], plan["uses"]):
            self.near(use["rent_usd"], expected, "rent", .011 + self.vague * expected)
        self.assertEqual(told["mixed"] is None, plan["mixed"] is None)
        for key, value in (plan["mixed"] or {}).items():
            self.near(told["mixed"][key], value, ("mixed", key),
                      .011 + self.vague * value)

    def compare_use(self):
        """GPUs at hand cost what an hour of them costs for as long as the work takes,
        of a year's runs in each year of a machine's life.  [qm-advice.h]"""
        gpu, gpus, usd, hours = self.question.use
        for told in self.answer["candidates"]:
            if told["use"] and told["machine_days"] is not None:
                years = self.question.life if self.question.runs else 1
                self.near(told["cost_usd"], told["machine_days"] * 24 * gpus * usd
                          * years, "use")
                if hours and not self.question.runs:
                    self.near(told["use"]["jobs"],
                              math.ceil(told["days"] * 24 / hours), "jobs", 0)

    def test_random_questions(self):
        draw = random.Random(SEED)
        for i in range(QUESTIONS):
            question = Question(draw, self.models, self.facts.gpus)
            with self.subTest(i, asked=" ".join(question.arguments())):
                self.ask_both(question)
                self.compare_candidates()
                self.compare_costs()
                self.compare_recommendation()
                self.compare_rest()
        if QUESTIONS < 16:
            return
        # None of it may have been looked at no time.
        for what in ("price_usd", "low", "experiment", "gross", "own", "rent",
                     "run", "busy", "found"):
            self.assertGreater(self.compared[what], 0, what)

    def test_whole_instances(self):
        """Four GPUs where eight are rented together cost what eight do."""
        self.answer = self.ask("--runs", "pythia-160m=2", "--gpu", "l4", "--gpus",
                               "4", "--at-once", "2")
        best = self.answer["recommendation"]
        self.assertEqual((best["gpu"], best["machines"]), ("l4", 2))
        self.assertEqual(self.answer["renting"]["rented_together"], 8)
        plan = oracle.Rents(self.facts).plan(best, best, 5)
        self.assertGreater(plan["hour_usd"], 7 * plan["gpu_hour_usd"])
        self.vague = 2e-6 / best["machine_days"]
        self.compare_renting(plan)


if __name__ == "__main__":
    harness.main()
