# SPDX-License-Identifier: Apache-2.0
"""quartermaster advise and plot with the quotes of the user, and what owning
costs."""

import os

import harness
from quotes import EARLIER, LATER, OFFER, TODAY, QuotesTest

ASK = ("--model", "pythia-1b", "--budget", "150k")
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                       os.pardir, "data")


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
                 if one["cost_usd"] == 140010]
        self.assertEqual(len(whole), 1)
        self.assertEqual((whole[0]["gpu"], whole[0]["gpus"]),
                         ("h100-80gb-sxm", 8))
        self.assertEqual(whole[0]["prices"]["machine"]["quote"], number)
        self.assertEqual(answer["recommendation"]["cost_usd"], 140010)

        # Eight of 700 W are more than one circuit gives, whoever offers them.
        answer = self.ask(*ASK, "--room", "one-circuit")
        whole, = [one for one in answer["candidates"]
                  if one["cost_usd"] == 140010]
        self.assertFalse(whole["eligible"])
        self.assertEqual(whole["not_carried"]["problem"], "circuit")
        self.assertNotEqual(answer["recommendation"]["cost_usd"], 140010)
        text = self.run_program("advise", *ASK, "--room", "one-circuit",
                                expect=0, env={"COLUMNS": "300"}).text
        self.assertIn("and the circuit gives 2,944\u00a0W", text)

    def test_cards_alone_get_a_platform(self):
        """One of the shipped catalog that carries them, and it is named."""
        self.add(OFFER.replace("NVIDIA H100 80GB SXM5;8;20000.00",
                               "NVIDIA RTX A6000 48GB;4;3000.00"))
        ask = ("--model", "pythia-1b", "--gpu", "a6000", "--gpus", "4")
        shipped = {"QUARTERMASTER_DATA_DIR": SHIPPED}
        one, = self.ask(*ASK, *ask[2:], env=shipped)["candidates"]
        fits = self.run_program("catalog", "platforms", *ask[2:], "--json",
                                env=shipped, expect=0).json["platforms"]
        platform, = [each for each in fits if each["id"] == one["machine"]]
        self.assertTrue(platform["fits"])
        self.assertIsNone(one["prices"]["machine"]["quote"])
        self.assertEqual(one["prices"]["gpu"]["amount"], 3000)
        text = " ".join(self.run_program("advise", *ASK, *ask[2:], env=shipped,
                                         expect=0).text.split())
        self.assertIn("it has no machine for them, so the catalog’s “%s” was "
                      "added" % platform["name"], text)

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

    def test_counted(self):
        plain = self.ask(*ASK)
        total = self.ask(*ASK, "--costs", "total", "--ownership", "none,tax=21")
        self.assertEqual((plain["question"]["costs"],
                          total["question"]["costs"]), ("prices", "total"))
        for one, other in zip(plain["candidates"], total["candidates"]):
            self.assertEqual(one["price_usd"], one["cost_usd"])
            self.assertEqual(other["price_usd"], one["price_usd"])
            if one["cost_usd"] is not None:
                self.assertAlmostEqual(other["cost_usd"],
                                       one["cost_usd"] * 1.21, delta=0.01)
        self.assertIn("in all", total["recommendation"]["headline"])
        self.assertIn("tax", total["recommendation"]["notes"][0])
        self.assertEqual(total["ownership"]["total"],
                         total["recommendation"]["cost_usd"])
        # Everything where nothing is said, and the plots follow.
        self.assertIn("electricity", self.ask(
            *ASK, "--costs", "total")["recommendation"]["notes"][0])
        self.refuse("advise", *ASK, "--costs", "half", says="--costs")
        drawn = [self.run_program("plot", *ASK, *more, "--format", "svg",
                                  "-o", "-")
                 for more in ((), ("--costs", "total"))]
        self.assertNotEqual(*(one.out for one in drawn))

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
                    self.write("bad", "tax=19\nsuport=3\n"),
                    says=("bad", ":2:", "did you mean 'support'"))
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
