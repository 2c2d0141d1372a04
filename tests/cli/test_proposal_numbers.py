# SPDX-License-Identifier: Apache-2.0
"""A reader of proposals who holds each number of theirs against the JSON of the
advice: every line is expected, with numbers done here, and no digit is left over."""

import csv
import datetime
import json
import math
import os
import re
import unittest

import harness

YEAR = ("--runs", "pythia-410m=5,vit-large=2.5", "--deadline-per-run", "42",
        "--budget", "60k", "--currency", "EUR", "--tax", "19")
NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?")
EURO = "€"


def skeleton(line):
    """A line without its numbers, and these as they are told."""
    return NUMBER.sub("#", line), NUMBER.findall(line)


def is_told(told, exact):
    """Whether a number is what is told of it, in as many decimals."""
    decimals = len(told.partition(".")[2])
    told, exact = (float(text.replace(",", "")) for text in (told, exact))
    # The rate of a currency has six digits in JSON.
    return abs(told - exact) <= 0.5001 * 10 ** -decimals + 1e-6 * exact


def days(value):
    if value >= 730:
        return "%.6f years" % (value / 365)
    return "%.6f days" % value


def date(iso):
    """Of a day, a month or a year."""
    parts = iso.split("-")
    if len(parts) == 1:
        return iso
    day = datetime.date.fromisoformat("-".join((parts + ["01"])[:3]))
    return (str(day.day) + " " if len(parts) == 3 else "") + day.strftime(
        "%B %Y")


class NumbersTest(harness.CommandLineTest):
    def json(self, *arguments):
        return json.loads(self.run_program(*arguments, "--json").text)

    def named(self, what):
        return {one["id"]: one["name"]
                for one in self.json("catalog", what)[what]}

    def read(self, *ask, project=24):
        """What is proposed, and what the advice to the same question is."""
        self.answer = self.json("advise", *ask, "--ownership", "all")
        self.best = self.answer["recommendation"]
        asked = self.answer["question"]
        self.money = asked["money"]
        self.rate = float(self.money["rate"] or 1)
        self.sign = EURO if self.money["currency"] == "EUR" else "$"
        self.life = asked["lifetime_years"]
        self.gpus = self.named("gpus")
        self.machines = self.named("platforms")
        self.models = {one["id"]: one
                       for one in self.json("catalog", "models")["models"]}
        text = self.run_program("proposal", *ask, "--project", str(project),
                                "--format", "markdown").text
        self.lines = [re.sub(r"[*\\]", "", line).replace("\u00a0", " ").strip()
                      for line in text.splitlines()]

    def amount(self, usd, gross=False, decimals=6):
        usd *= self.rate * (1 + self.money["tax_percent"] / 100 * gross)
        return self.sign + "%.*f" % (decimals, usd)

    def candidate(self, one):
        text = "%d × %s" % (one["gpus"], self.gpus[one["gpu"]])
        return text if one["machines"] == 1 else (
            "%d machines with %s each" % (one["machines"], text))

    def machine(self, one):
        text = self.machines[one["machine"]]
        return text if one["machines"] == 1 else (
            "%d × %s" % (one["machines"], text))

    def expect(self, wanted):
        """Takes the line that tells this, and says where there is none."""
        words, exact = skeleton(wanted)
        for i, line in enumerate(self.lines):
            said, told = skeleton(line)
            if said == words and all(map(is_told, told, exact)):
                del self.lines[i]
                return
        close = [line for line in self.lines if line[:4] == wanted[:4]]
        raise AssertionError("%s\nis not told, but:\n%s"
                             % (wanted, "\n".join(close)))

    def row(self, *cells):
        self.expect("| " + " | ".join(cells) + " |")

    def work(self):
        if not self.best["runs"]:
            return "a training of " + self.models[
                self.answer["question"]["model"]]["name"]
        runs = ["%g × %s" % (run["runs_per_year"],
                             self.models[run["model"]]["name"])
                for run in self.best["runs"]]
        return ", ".join(runs[:-1]) + " and " + runs[-1] + " a year"

    def expect_request(self):
        tax = self.money["tax_percent"]
        price = self.best["price_usd"]
        money = self.amount(price) + " without tax"
        if tax:
            money += " (%s with tax of %g %%)" % (self.amount(price, True), tax)
        self.expect("We ask for %s for %s in %s, on which these trainings are "
                    "carried out: %s." % (money, self.candidate(self.best),
                                          self.machine(self.best), self.work()))

    def expect_need(self):
        runs = self.best["runs"] or [dict(
            self.best, model=self.answer["question"]["model"],
            runs_per_year=None)]
        for run in runs:
            model = self.models[run["model"]]
            often = run["runs_per_year"]
            within = ("–" if run["days_low"] is None else "%.6f to %s"
                      % (run["days_low"], days(run["days_high"])))
            # Whose it is has digits in its version alone.
            line, = [line for line in self.lines
                     if line.startswith("| %s |" % model["name"])]
            source = line.split(" | ")[5]
            self.assertIn(run["provenance"] == "predicted",
                          ("predicted" in source,))
            self.row(model["name"], "%.6f" % (model["parameters"] / 1e6),
                     "–" if often is None else "%g" % often,
                     "%.6f" % run["days"], within, source,
                     "%.6f" % (run["days"] * (often or 1)))
        if self.best["runs"]:
            total = sum(run["days"] * run["runs_per_year"] for run in runs)
            self.assertAlmostEqual(total, self.best["machine_days"], places=4)
            self.row("All of them", *["–"] * 5, "%.6f" % total)
            several = self.best["machines"] > 1
            self.expect("%d machine%s th%s work and train%s %.6f %% of the year."
                        % (self.best["machines"],
                           "s do" if several else " does", "is",
                           "" if several else "s",
                           total / self.best["machines"] / 365 * 100))
        allowed = self.answer["question"]["run_deadline_days"]
        if allowed is not None:
            self.expect("A training has to be back within %s; the longest takes "
                        "%s." % (days(allowed),
                                 days(max(run["days"] for run in runs))))
        self.expect("Days are those of the proposed machine, %.6f times what the "
                    "steps alone take: for data, evaluation, checkpoints and "
                    "restarts." % self.best["time_factor"])

    def expect_options(self):
        told = []
        for name in (None, "sooner", "runner_up", "cheaper", "faster",
                     "denied"):
            one = self.best if name is None else self.best[name]
            if one is None:
                continue
            what = (self.candidate(one), self.machine(one))
            if what in told:
                continue
            told.append(what)
            line, = [line for line in self.lines
                     if line.startswith("| %s | %s |" % what)]
            self.row(*what, self.amount(one["price_usd"], self.money["gross"]),
                     days(one["longest_days"]), days(one["days"]),
                     line.split(" | ")[-1].rstrip(" |"))
        # Rounded watts become heat, as who multiplies them does.
        each = self.best["wall_watts"] / self.best["machines"]
        line, = [line for line in self.lines if "BTU/h" in line]
        watts = float(NUMBER.findall(line)[0].replace(",", ""))
        self.assertLessEqual(abs(watts - each), 1)
        self.expect("The %d W that a machine draws from the wall at full load, "
                    "by what its parts are rated at, become heat: %.6f BTU/h."
                    % (watts, watts * 3.412142))

    def expect_cost(self, project):
        price, tax = self.best["price_usd"], self.money["tax_percent"]
        self.row("Price without tax", self.amount(price))
        if tax:
            self.row("Tax of %g %%" % tax, self.amount(price * tax / 100))
            self.row("Price with tax", self.amount(price, True))
        if self.best["cost_low_usd"] != self.best["cost_high_usd"]:
            self.row("By what is known of the prices, without tax",
                     self.amount(self.best["cost_low_usd"]) + " to "
                     + self.amount(self.best["cost_high_usd"]))
        self.expect("| Over %g years |  |" % self.life)
        electricity = self.answer["ownership"]["electricity"]
        self.row("Electricity", self.amount(electricity))
        self.row("Price and all of these", self.amount(price + electricity))
        self.expect("Written off over %g years, the price without tax is %s a "
                    "month." % (self.life,
                                self.amount(price / self.life / 12)))
        share = project / self.life / 12
        self.expect("To a project of %d months that alone uses it, %.6f %% of "
                    "that are charged: %s." % (project, share * 100,
                                               self.amount(price * share)))
        assumed = {one["key"]: "%s: %s %s" % (one["name"],
                                              "%g" % one["value"], one["unit"]
                                              or "")
                   for one in self.answer["ownership"]["assumptions"]
                   if one["counts"]}
        self.assertNotIn("rest", assumed)  # What is stated goes before it.
        self.expect("Assumed: " + "; ".join(
            assumed[key].strip() for key in
            ("utilization", "kwh", "pue", "idle")) + ".")
        self.expect("A machine draws %.1f kW at full load, by what the catalog "
                    "states of it."
                    % (self.answer["ownership"]["machine_watts"] / 1000))

    def expect_sensitivity(self):
        price, work = self.best["price_usd"], self.best["machine_days"]
        cases = [("As proposed, used on every day", 1, 1, 1),
                 ("Price 20 % lower", 0.8, 1, 1),
                 ("Price 20 % higher", 1.2, 1, 1),
                 ("Used on 70 % of all days", 1, 1, 0.7),
                 ("Used on 50 % of all days", 1, 1, 0.5)]
        if self.best["days_low"] is not None:
            cases += [(name, 1, self.best[which] / self.best["days"], 1)
                      for name, which in
                      (("Times at the low end of the interval", "days_low"),
                       ("Times at the high end", "days_high"))]
        for name, dearer, longer, use in cases:
            day = price * dearer / (self.life * 365 * use)
            self.row(name, self.amount(price * dearer), "%.6f" % (work * longer),
                     self.amount(day), self.amount(day * work * longer))

    def rents(self, gpu):
        """What an hour of a GPU costs at whom, the cheapest first."""
        prices = [(one["amount"] / one["gpus"], one["source"],
                   one["observed_on"], one["gpus"])
                  for one in self.json("catalog", "prices")["prices"]
                  if (one["item"], one["kind"], one["unit"], one["currency"])
                  == (gpu, "cloud", "hour", "USD")]
        return sorted(prices, key=lambda price: price[0])

    def work_for_rent(self, one):
        prices = self.rents(one["gpu"])
        return (prices[len(prices) // 2][0] * one["machine_days"] * one["gpus"]
                if prices else float("inf"))

    def expect_rent(self):
        rented = self.best
        if not self.rents(rented["gpu"]):
            rented = min((one for one in self.answer["candidates"]
                          if one["eligible"] and not one["late"]
                          and not one["superseded"] and one["machine_days"]),
                         key=self.work_for_rent)
            self.expect("No price is known at which the proposed GPUs can be "
                        "rented. Of those that can, %s do this work for the "
                        "least." % self.candidate(rented))
        prices = self.rents(rented["gpu"])
        for i in sorted({0, len(prices) // 2, len(prices) - 1}):
            hour, source, seen, _ = prices[i]
            work = hour * 24 * rented["machine_days"] * rented["gpus"]
            cells = [source + "<br>" + date(seen), self.amount(hour),
                     self.amount(work)]
            if self.best["runs"]:
                cells.append(self.amount(work * self.life))
            until = self.best["price_usd"] / work
            self.row(*cells, "%.6f" % (until * (12 if self.best["runs"] else 1)))
        self.expect_plans(rented, *prices[0])

    def expect_plans(self, rented, hour, source, seen, together):
        """Uses, an hour before it is bought, and one machine of several
        rented."""
        whole = math.ceil(rented["gpus"] / together) * together * hour
        work = (self.best["machines"] * rented["machine_days"]
                / self.best["machine_days"])
        life = whole * work * self.life * 8760
        what = ("" if rented is self.best else "what the proposed GPUs do in ")
        self.expect(("Renting %s for " + what + "%g years at %s (%s), in use for "
                     "50 %% of all hours, costs %s, for 70 %% %s, and for "
                     "100 %% %s. Buying costs %s.")
                    % (self.candidate(rented), self.life, source, date(seen),
                       self.amount(life * 0.5), self.amount(life * 0.7),
                       self.amount(life), self.amount(self.best["price_usd"])))
        if rented is self.best:
            self.expect("Before anything is bought, an hour on %d × %s costs %s "
                        "at %s: what qm-bench measures in it takes the place of "
                        "the prediction. “Benchmark Another Machine” writes the "
                        "files for that, and so does “quartermaster "
                        "elsewhere”."
                        % (rented["gpus"], self.gpus[rented["gpu"]],
                           self.amount(whole), source))
        n = self.best["machines"]
        if n > 1:
            once = self.best["price_usd"] * (n - 1) / n
            year = hour * 24 * rented["machine_days"] * rented["gpus"] / n
            self.expect("A mixed plan: %d machine%s bought for %s, and the work "
                        "of one more rented for %s a year, in %g years %s for "
                        "both, where all that is proposed costs %s."
                        % (n - 1, " is" if n == 2 else "s are",
                           self.amount(once), self.amount(year), self.life,
                           self.amount(once + year * self.life),
                           self.amount(self.best["price_usd"])))

    def expect_rules(self):
        """Those of data/funders.csv, word for word."""
        path = os.path.join(harness.CATALOG, "funders.csv")
        with open(path, encoding="utf-8", newline="") as file:
            for rule in csv.DictReader(file):
                line = "- %s: %s (%s, read on %s)" % (
                    rule["funder"], rule["rule"], rule["source"],
                    date(rule["seen_on"]))
                each = (self.best["machines"] if rule["of"] == "machine" else 1)
                amount = self.best["price_usd"] * self.rate / each
                if rule["tax"] == "with":
                    amount *= 1 + self.money["tax_percent"] / 100
                holds = (rule["currency"] == self.money["currency"]
                         and float(rule["least"] or 0) <= amount
                         <= float(rule["most"] or "inf"))
                line = line.replace("\u00a0", " ")
                self.assertEqual(line in self.lines, holds, line)
                if holds:
                    self.lines.remove(line)

    def expect_sources(self):
        for name, kind in (("GPUs", "gpu"), ("machine", "machine"),
                           ("host memory", "memory_gib")):
            price = self.best["prices"][kind]
            if price is not None:
                line = "- Price of the %s: %s (%s)" % (
                    name, price["source"], date(price["observed_on"]))
                self.assertIn(line.replace("the host", "host"), self.lines)
                self.lines.remove(line.replace("the host", "host"))

    def expect_nothing_else(self):
        """Sentences of the advice tell the rest, and the day."""
        said = " ".join([self.best["headline"], self.best["reason"],
                         *self.best["alternatives"], *self.best["warnings"],
                         *self.best["notes"]])
        said = " ".join(said.split())
        today = datetime.datetime.now(datetime.timezone.utc).date()
        for line in self.lines:
            line = line.removeprefix("- ")
            # The headline has the same words.
            line = re.sub(r"The price is no offer (\(.*\)): .*", r"\1", line)
            if re.search(r"\d", line) and line not in said:
                self.assertIn(line, (date(str(today)),
                                     date(str(datetime.date.today()))))

    def expect_everything(self, *ask, project=24):
        self.read(*ask, project=project)
        self.expect_request()
        self.expect_need()
        self.expect_options()
        self.expect_cost(project)
        self.expect_sensitivity()
        self.expect_rent()
        self.expect_rules()
        self.expect_sources()
        self.expect_nothing_else()

    def test_year(self):
        self.expect_everything(*YEAR)

    def test_year_with_tax(self):
        """Options with it, and what a day costs without, which it says."""
        self.expect_everything(*YEAR, "--gross")
        self.assertIn("The options are told with tax. What owning and renting "
                      "cost, by the month, the day and the training, is told "
                      "without.", self.lines)

    def test_nine(self):
        self.expect_everything(
            "--runs", "convnext-xlarge=1,mamba-2.8b=2,pythia-160m=3,"
            "pythia-1b=1,pythia-2.8b=2,pythia-410m=3,pythia-6.9b=1,"
            "roberta-large=2,vit-large=3", "--budget", "400k", "--lifetime",
            "4", project=36)

    def test_one_training(self):
        self.expect_everything("--model", "pythia-1b", "--budget", "40k",
                               "--time-factor", "1.25")


if __name__ == "__main__":
    harness.main()
