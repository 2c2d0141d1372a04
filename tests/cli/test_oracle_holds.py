# SPDX-License-Identifier: Apache-2.0
"""What holds of every answer without working it out: more money is never a slower
machine, a dominated one changes nothing, sums are those of what is shown, text and
JSON tell the same; and what a quote comes to, in dollars of its day."""

import csv
import datetime
import fractions
import json
import math
import os
import random
import re
import unittest

import harness
import oracle
import oracle_quotes
from test_oracle import NOON, TODAY

SEED = int(os.environ.get("QM_ORACLE_SEED", 25))
MANY = int(os.environ.get("QM_ORACLE_QUESTIONS", 16))
MODELS = ("pythia-1b", "vit-large", "mamba-2.8b", "gpt2-124m")[:MANY // 12]
# In the short test few GPUs are asked about, which is done sooner.
FEW = () if MANY >= 100 else (
    "--gpu", "rtx3090,rtx4090,a6000,rtx6000-ada,rtxpro6000-ws,l40s,h100-80gb-sxm")
MONEY = re.compile(r"\$([\d,]+(?:\.\d+)?)")


def money(text):
    return float(MONEY.search(text).group(1).replace(",", ""))


class HoldsTest(harness.CommandLineTest):
    def environment(self, **changes):
        return super().environment(SOURCE_DATE_EPOCH=NOON, **changes)

    def best(self, *arguments):
        return self.ask(*arguments, *FEW, expect=None)["recommendation"]

    def test_more_money_or_time_is_never_worse(self):
        draw = random.Random(SEED)
        for model in MODELS:
            amounts = sorted(round(10 ** draw.uniform(3.5, 6.2)) for _ in range(4))
            days = math.inf
            for budget in amounts:
                best = self.best("--model", model, "--budget", str(budget),
                                 "--slack", "0")
                if best is None:
                    self.assertEqual(days, math.inf)
                    continue
                self.assertLessEqual(best["cost_usd"], budget)
                self.assertLessEqual(best["days"], days)
                days = best["days"]
            # With the slack it is at most so much slower.
            close = self.best("--model", model, "--budget", str(amounts[-1]))
            if close:
                self.assertLessEqual(close["days"], days * 1.05 + 1e-6)
                self.assertLessEqual(close["cost_usd"] * close["days"], best[
                    "cost_usd"] * best["days"] * (1 + 1e-9))

    def test_exactly_affordable(self):
        """A budget of what a machine is told to cost has it; a cent less does
        not."""
        for currency, tax in (("GBP", "gross"), ("JPY", "net"), ("EUR", "net"),
                              ("USD", "gross"))[:1 if MANY < 100 else 4]:
            words = ("--model", "pythia-1b", "--slack", "0", "--currency", currency,
                     "--tax", "19") + ("--gross",) * (tax == "gross")
            cent = 1 if currency == "JPY" else .01
            best = self.best(*words, "--budget", "%d" % (60000 * cent * 100))
            cost = best["cost"][tax]
            same = self.best(*words, "--budget", "%.2f" % cost)
            less = self.best(*words, "--budget", "%.2f" % (cost - cent))
            self.assertEqual(same["headline"], best["headline"], words)
            self.assertLess(less["cost_usd"], best["cost_usd"], words)
        for model in MODELS:
            best = self.best("--model", model, "--budget", "60k", "--slack", "0")
            price = best["cost_usd"]
            same = self.best("--model", model, "--budget", "%.2f" % price,
                             "--slack", "0")
            less = self.best("--model", model, "--budget", "%.2f" % (price - .01),
                             "--slack", "0")
            self.assertEqual(same["headline"], best["headline"])
            self.assertLess(less["cost_usd"], price)
            self.assertGreaterEqual(less["days"], best["days"])
            late = self.ask("--model", model, "--deadline",
                            "%.6f" % (best["days"] + 1e-6), "--budget",
                            "%.2f" % price, "--slack", "0", *FEW)["recommendation"]
            self.assertEqual(late["headline"], best["headline"])

    def test_costs_grow_with_what_they_are_made_of(self):
        def total(**assumed):
            sums = self.ask(
                "--model", "pythia-1b", "--gpu", "rtx6000-ada", "--gpus", "4",
                "--ownership", "all," + ",".join(
                    "%s=%s" % one for one in assumed.items()))["ownership"]
            self.assertAlmostEqual(sums["total"], sum(sums[key] for key in (
                "price", "discount", "shipping", "tax", "overhead", "residual",
                "electricity", "hosting", "support")), places=2)
            return sums["total"]
        plain = total(kwh=.2)
        for name, more in (("kwh", .3), ("pue", 1.7), ("tax", 7), ("support", 16),
                           ("shipping", 10)):
            self.assertGreater(total(**{"kwh": .2, name: more}), plain, name)
        for name, less in (("utilization", 50), ("residual", 10), ("discount", 3)):
            self.assertLess(total(**{"kwh": .2, name: less}), plain, name)

    def test_machines_take_what_is_stated_of_them(self):
        """Rack units and power of those of the catalog, in all that is told."""
        facts = oracle.Facts(harness.CATALOG, TODAY)
        for gpu, gpus in (("h100-80gb-sxm", 8), ("l4", 8)):
            asked = ("--model", "pythia-1b", "--gpu", gpu, "--gpus", str(gpus),
                     "--ownership", "hosting,electricity,hosting_kw=10")
            answer = self.ask(*asked)
            told, best = answer["ownership"], answer["recommendation"]
            platform = facts.platforms[best["machine"]]
            units = int(platform["rack_units"])
            self.assertEqual((told["rack_units"], told["rack_units_from"],
                              told["machine_watts_from"]),
                             (units, "catalog", "catalog"))
            watts = oracle.Carrier.watts(
                platform, facts.gpus[gpu], gpus) / oracle.EFFICIENCY
            self.assertLessEqual(abs(told["machine_watts"] - watts), .051)
            self.assertLessEqual(abs(best["wall_watts"] - watts), .51)
            self.assertLessEqual(abs(told["hosting"] - (
                150 * units + 10 * watts / 1000) * 60), .011)
            text = " ".join(self.run_program("advise", *asked).text.split())
            self.assertIn("%d rack units, as the catalog" % units, text)
            self.assertIn("draws %.1f kW at full load, by what the catalog"
                          % (watts / 1000), text)

    def test_money_is_on_one_basis(self):
        """What owning costs has the tax of the money beside it, and says so.
        [man] Owning and renting"""
        for words, counted, percent in (
                (("--tax", "19", "--gross", "--ownership", "electricity"), True, 19),
                (("--tax", "19", "--ownership", "all"), True, 19),
                (("--tax", "19", "--ownership", "electricity"), False, 0),
                (("--tax", "19", "--gross", "--ownership", "all,no-tax"), False, 0),
                (("--tax", "0", "--gross", "--ownership", "all"), False, 0),
                (("--tax", "19", "--ownership", "all,tax=7"), True, 7)):
            answer = self.ask("--model", "pythia-1b", "--gpu", "rtx6000-ada",
                              "--gpus", "4", *words)
            told, best = answer["ownership"], answer["recommendation"]
            self.assertEqual(told["with_tax"], counted, words)
            self.assertLessEqual(abs(told["tax"] - told["price"] * percent / 100),
                                 .0051, words)
            gross = best["cost"]["gross"]
            tax = int(words[1])
            self.assertLessEqual(abs(gross - best["cost_usd"] * (1 + tax / 100)),
                                 .0101, words)
            text = " ".join(self.run_program(
                "advise", "--model", "pythia-1b", "--gpu", "rtx6000-ada", "--gpus",
                "4", *words).text.split()) if "all" in words else ""
            self.assertTrue(not text or ("with tax of %d" % percent if counted
                                         else "in USD, without tax") in text, words)

    def test_dominated_machines_change_nothing(self):
        """The same places once more, dearer; and the same GPU, slower and dearer."""
        with open(os.path.join(harness.CATALOG, "platforms.csv"),
                  encoding="utf-8", newline="") as file:
            platforms = list(csv.DictReader(file))
        prices = ["item,kind,unit,gpus,price,low,high,currency,observed_on,source"]
        before = {model: self.ask("--model", model, "--budget", "80k")
                  for model in MODELS}
        rows = []
        for row in platforms:
            if row["sold_with"]:
                continue
            row = dict(row, id=row["id"] + "-dear", name=row["name"] + " (dear)")
            rows.append(row)
            prices.append("%s,street,each,1,900000,,,USD,2026-11-01,test"
                          % row["id"])
        with open(self.user_file("platforms.csv", ""), "w", encoding="utf-8",
                  newline="") as file:
            writer = csv.DictWriter(file, list(platforms[0]))
            writer.writeheader()
            writer.writerows(rows)
        self.user_file("prices.csv", "\n".join(prices) + "\n")
        for model, old in before.items():
            new = self.ask("--model", model, "--budget", "80k")
            self.assertEqual(new["recommendation"]["headline"],
                             old["recommendation"]["headline"])
            old_edge, new_edge = ([(one["gpu"], one["gpus"], one["machine"],
                                    one["cost_usd"]) for one in answer["frontier"]]
                                  for answer in (old, new))
            # What only a machine without a price carried has one now.
            self.assertEqual(old_edge, [one for one in new_edge
                                        if one[3] < 900000])

    def test_text_says_what_json_does(self):
        for model in MODELS[:2]:
            asked = ("--model", model, "--budget", "60k", "--ownership",
                     "all,kwh=0.31,tax=19,residual=10")
            answer = self.ask(*asked)
            lines = self.run_program("advise", *asked).text.splitlines()
            best = answer["recommendation"]
            self.assertEqual(money(lines[0]), round(best["price_usd"]))
            row, = [line for line in lines if line.startswith("→")]
            told = MONEY.findall(row)
            self.assertEqual([float(amount.replace(",", "")) for amount in told], [
                round(best["cost_usd"]), round(best["experiment_cost_usd"])])
            self.assertIn(" %d\u00a0%%" % round(100 * best["implied_utilization"]), row)
            rows = [line for line in lines if line.startswith(("→  ", "   "))
                    and re.search(r"\d × .* \$", line)]
            told = sorted(money(line) for line in rows)
            for one in answer["candidates"]:
                if one["cost_usd"] is not None:
                    self.assertIn(round(one["cost_usd"]), told)
            self.compare_sum(lines, answer["ownership"])

    def compare_sum(self, lines, sums):
        """Parts that are shown, and that they come to the total that is."""
        names = ("Price", "Discount", "Shipping", "Tax", "Institutional overhead",
                 "Electricity", "Hosting", "Support", "Residual value", "Total")
        keys = ("price", "discount", "shipping", "tax", "overhead", "electricity",
                "hosting", "support", "residual", "total")
        shown = []
        for name, key in zip(names, keys):
            line, = [line for line in lines if re.match(
                name + r"  +(\$[-−]?[\d,]+|none.*)$", line)]
            shown.append(0 if "none" in line else float(re.sub(
                "[^-0-9]", "", line.split("$")[1].replace("−", "-"))))
            self.assertLessEqual(abs(shown[-1] - sums[key]), .5001, key)
        self.assertLessEqual(abs(sum(shown[:-1]) - shown[-1]), 5)

    def test_quotes_come_to_their_sums(self):
        """A quote counts as a whole, with discounts and shipping, without tax, at the
        rate of its day.  [man] Quotes"""
        draw = random.Random(SEED)
        for i in range(MANY // 4):
            quote = oracle_quotes.Quote(draw, i)
            net, currency, day = quote.sum / quote.machines, quote.currency, quote.day
            path = self.path("quote.csv")
            quote.write_table(path)
            store = self.path("%d.sqlite" % i)
            self.run_program("quotes", "import", path, "--store", store, expect=0)
            expected = float(oracle.Facts(harness.CATALOG, day).in_usd(net, currency))
            answer = self.ask("--model", "pythia-1b", "--predictions", "all",
                              "--gpu", "rtx6000-ada", "--gpus", str(quote.each),
                              "--store", store, "--tax", "19", "--gross")
            with self.subTest(i, net=float(net), currency=currency, day=day):
                one, = [one for one in answer["candidates"]
                        if one["prices"]["machine"]
                        and one["prices"]["machine"]["quote"]]
                self.assertLessEqual(abs(one["price_usd"] - expected), .0051)
                # What somebody offers today is no range.
                self.assertEqual(one["cost_low_usd"], one["cost_high_usd"])
                self.assertLessEqual(
                    abs(one["cost"]["gross"] - one["price_usd"] * 1.19), .0101)

    def test_prices_of_ones_own(self):
        """They go before all, in whatever currency, without their tax."""
        for price, currency, tax in (("5000", "USD", ""), ("4321.5", "EUR", "19"),
                                     ("700000", "JPY", "10"), ("3999", "GBP", "20")):
            self.user_file("prices.csv", "item,kind,unit,gpus,price,currency,"
                           "tax_percent,observed_on,source\nrtx6000-ada,quote,each,1,"
                           "%s,%s,%s,2025-02-03,me\n" % (price, currency, tax))
            facts = oracle.Facts(harness.CATALOG, TODAY)
            each = facts.in_usd(fractions.Fraction(price) / (
                1 + fractions.Fraction(tax or 0) / 100), currency)
            answer = self.ask("--model", "pythia-1b", "--gpu", "rtx6000-ada",
                              "--gpus", "4")
            one = answer["candidates"][0]
            server = facts.amount(facts.price(one["machine"]))
            self.assertLessEqual(abs(one["price_usd"] - float(4 * each + server)),
                                 .0101)

    def test_limits(self):
        """Nothing to do, and hardly any time for it."""
        for wrong in ("pythia-1b=0", "pythia-1b=-1", "pythia-1b=nan"):
            self.refuse("advise", "--runs", wrong)
        for option, wrong in (("--lifetime", "0"), ("--deadline", "0"),
                              ("--budget", "-1"), ("--time-factor", "0.9"),
                              ("--slack", "101"), ("--currency", "XYZ")):
            self.refuse("advise", "--model", "pythia-1b", option, wrong)
        answer = self.ask("--model", "pythia-1b", "--deadline", "1", expect=1)
        self.assertIsNone(answer["recommendation"])
        self.assertIsNotNone(answer["nothing_fits"])
        soonest = min(one["days"] for one in answer["candidates"]
                      if one["eligible"])
        self.assertGreater(soonest, 1)


if __name__ == "__main__":
    harness.main()
