# SPDX-License-Identifier: Apache-2.0
"""A quote counts as a whole: from documents to what the advice counts, the
questions about it, its revisions and its duplicates."""

import json

import harness
from quotes import LATER, TODAY, QuotesTest

ASK = ("--model", "pythia-1b")
HEAD = "vendor;quote;issued;valid until;item;qty;unit price;currency\n"


def table(number, *lines, vendor="Delta", issued=TODAY, until=LATER,
          currency="USD", totals=()):
    rows = ["%s;%s;%s;%s;%s;%s;%s;%s" % (vendor, number, issued, until, words,
                                         quantity, price, currency)
            for words, quantity, price in lines]
    rows += [";;;;%s;;%s;" % total for total in totals]
    return HEAD + "\n".join(rows) + "\n"


BOARD = table(
    "B-1", ("NVIDIA HGX H100 8-GPU 80GB SXM5 baseboard", 1, "215000.00"),
    ("8U GPU server chassis with 6 power supplies", 1, "21900.00"),
    ("Intel Xeon Platinum 8480+ processor", 2, "9850.00"),
    ("64 GB DDR5-4800 ECC RDIMM", 32, "425.00"),
    ("ConnectX-7 NDR 400 adapter", 8, "1875.00"),
    ("Server warranty 5 years next business day", 1, "38107.67"))


class WholeTest(QuotesTest):
    def quoted(self, *arguments, **options):
        """The candidates that rest on a quote, by GPU and count."""
        answer = self.ask(*ASK, *arguments, **options)
        return {(one["gpu"], one["gpus"]): one for one in answer["candidates"]
                if any(price is not None and price["quote"] is not None
                       for price in one["prices"].values())}

    def test_baseboard_is_no_machine(self):
        self.add(BOARD)
        found = self.quoted()
        self.assertEqual(list(found), [("h100-80gb-sxm", 8)])
        one = found["h100-80gb-sxm", 8]
        self.assertEqual(one["cost_usd"], 323307.67)
        offer = one["prices"]["machine"]["offer"]
        self.assertTrue(offer["whole_machine"])
        # Nothing of the catalog stands beside it at a price of its own.
        answer = self.ask(*ASK, "--gpu", "h100-80gb-sxm", "--gpus", "8")
        self.assertEqual(answer["recommendation"]["cost_usd"], 323307.67)
        self.assertEqual(len(answer["candidates"]), 1)
        self.assertIn("Delta, quote B-1", answer["recommendation"]["reason"])

    def test_own_server(self):
        self.add(table("S-1", ("Dell PowerEdge R760xa 2x Xeon 512 GB DDR5", 1,
                               "18450.00"),
                       ("NVIDIA RTX A6000 48GB", 4, "4000.00"),
                       totals=(("Shipping", "250.00"), ("VAT 19 %", "6593.00"),
                               ("Grand total", "41293.00"))))
        one, = self.quoted().values()
        self.assertEqual((one["gpu"], one["gpus"], one["cost_usd"]),
                         ("a6000", 4, 34700))
        self.assertEqual(one["prices"]["machine"]["offer"]["tax"], 6593)

    def test_gpus_alone_get_a_machine(self):
        self.add(table("G-1", ("NVIDIA RTX A6000 48GB", 4, "4000.00")))
        answer = self.ask(*ASK, "--gpu", "a6000", "--gpus", "4")
        reason = answer["recommendation"]["reason"]
        self.assertIn("Delta, quote G-1", reason)
        self.assertIn("it has no machine for them", reason)
        self.assertIn("GPU server for 4 GPUs", reason)

    def test_json_with_alternatives(self):
        def quote(name, item, gpus, net):
            return {"vendor": "Delta", "number": "A-1", "alternative": name,
                    "currency": "USD", "issued_on": str(TODAY),
                    "lines": [
                        {"role": "quoted", "description": "GPU server, 2 EPYC",
                         "quantity": "1", "price": "15000"},
                        {"role": "quoted", "description": item,
                         "quantity": str(gpus), "price": net},
                        {"role": "option", "description": "NVIDIA L40S",
                         "quantity": "1", "price": "1"}]}

        document = json.dumps({
            "format": "quartermaster-quotes", "schema": 1,
            "quotes": [quote("Option A", "NVIDIA RTX A6000 48GB", 4, "4000"),
                       quote("Option B", "NVIDIA A100 80GB SXM4", 8, "9000")]})
        numbers = self.add(document, name="offer.json")
        self.assertEqual(len(set(numbers)), 2)
        found = self.quoted()
        self.assertEqual({key: one["cost_usd"] for key, one in found.items()},
                         {("a6000", 4): 31000, ("a100-80gb-sxm", 8): 87000})
        self.assertEqual(
            found["a6000", 4]["prices"]["machine"]["offer"]["alternative"],
            "Option A")
        # The same bytes again, whatever the file is called.
        again, = self.ask_json("import", self.write("again.json", document))[
            "documents"]
        self.assertEqual((again["added"], [one["stored_before_as"]
                                           for one in again["relations"]]),
                         (0, numbers))
        self.assertEqual(len(self.stored()), 2)
        # What is exported is read back as it was.
        for how in ("json", "csv"):
            out = self.path("out." + how)
            self.quotes("export", *map(str, numbers), "--format", how, "-o",
                        out)
            again = self.ask_json("import", out, "--dry-run")
            self.assertEqual(
                [[one["alternative"], one["computed"]["counts"],
                  [line["role"] for line in one["lines"]]]
                 for one in again["documents"][0]["quotes"]],
                [["Option A", "31000.00", ["quoted", "quoted", "option"]],
                 ["Option B", "87000.00", ["quoted", "quoted", "option"]]])

    def test_revisions(self):
        first, = self.add(table("R-1", ("NVIDIA RTX A6000 48GB", 1, "4000")))
        answer = self.ask_json("import", self.write(
            "b.csv", table("R-1 Rev. 2", ("NVIDIA RTX A6000 48GB", 1,
                                          "4400"))))
        document, = answer["documents"]
        new, = document["quotes"]
        self.assertEqual(document["relations"], [
            {"stored_before_as": None, "revision_of": first}])
        self.assertEqual((new["supersedes"], new["asked"]),
                         ("R-1", "revision"))
        price = self.quoted()["a6000", 1]["prices"]["gpu"]
        self.assertEqual((price["amount"], price["quote"]), (4400, new["id"]))
        self.assertIn("a newer revision counts",
                      " ".join(self.ask(*ASK)["quotes"]["left_out"]))
        # The user knows better: two quotes, of which the cheaper one counts.
        self.quotes("answer", str(new["id"]), "revision=no")
        price = self.quoted()["a6000", 1]["prices"]["gpu"]
        self.assertEqual((price["amount"], price["quote"]), (4000, first))

    def test_contradiction(self):
        """Lines of 16,000 and a net amount of 15,000 are asked about, and
        nothing of them counts before that."""
        number, = self.add(table("T-1", ("NVIDIA RTX A6000 48GB", 4, "4000"),
                                 totals=[("Net", "15000.00")]))
        answer = self.ask(*ASK)
        self.assertEqual(answer["quotes"]["offers"], 0)
        self.assertIn("contradict each other",
                      " ".join(answer["quotes"]["left_out"]))
        shown = self.quotes("show", str(number)).text
        self.assertIn("“quotes answer %d totals=…”" % number,
                      " ".join(shown.split()))
        self.refuse("quotes", "answer", str(number), "totals=no",
                    says="totals=yes")
        self.quotes("answer", str(number), "totals=yes")
        self.assertEqual(self.quoted()["a6000", 4]["prices"]["gpu"]["amount"],
                         4000)

    def test_cheapest_and_undated(self):
        self.add(table("C-1", ("NVIDIA RTX A6000 48GB", 1, "4200")),
                 name="a.csv")
        self.add(table("C-2", ("NVIDIA RTX A6000 48GB", 1, "4100"),
                       vendor="Beta"), name="b.csv")
        self.add(table("C-3", ("NVIDIA RTX A6000 48GB", 1, "3000"),
                       vendor="Gamma", issued="", until=""), name="c.csv")
        price = self.quoted()["a6000", 1]["prices"]["gpu"]
        self.assertEqual(price["amount"], 4100)

    def test_questions(self):
        lines = [{"role": "quoted", "description": "NVIDIA RTX A6000 48GB, 4x",
                  "quantity": "1", "price": "16000", "asked": "pack"},
                 {"role": "quoted", "description": "Rental of an NVIDIA A40",
                  "quantity": "1", "price": "100", "asked": "rent;price"}]
        number, = self.add(json.dumps({
            "format": "quartermaster-quotes", "schema": 1, "quotes": [
                {"vendor": "Delta", "currency": "USD", "asked": "date",
                 "lines": lines}]}), name="asked.json")
        self.assertEqual(self.quoted(), {})
        self.assertIn("a question about it is open",
                      self.run_program("advise", *ASK, expect=0).text.replace(
                          "\n  ", " "))
        shown = self.quotes("show", str(number)).text
        for words in ("Is it a rent?", "How many GPUs", "On which day"):
            self.assertIn(words, shown)
        for wrong in ("1:pack=0", "1:pack=x", "3:rent=no", "rent=no", "1:rent",
                      "date=31.3.2026", "1:item=nothing", "1:price=no", "x"):
            self.refuse_quotes("answer", str(number), wrong, says=wrong)
        self.quotes("answer", str(number), "1:pack=4", "2:rent=yes",
                    "2:price=yes", "date=%s" % TODAY)
        price = self.quoted()["a6000", 1]["prices"]["gpu"]
        self.assertEqual(price["amount"], 4000)
        shown = self.ask_json("show", str(number))
        self.assertEqual((shown["open_questions"], shown["undated"]),
                         (0, False))

    def test_left_out(self):
        """A quote of which nothing counts says why: in the advice, by itself
        and in the list."""
        which, = self.add(table("W-1", ("A100", 4, "8000")), name="which.csv")
        bare, = self.add(table("C-1", ("NVIDIA RTX A6000 48GB", 4, "4000"),
                               currency=""), name="bare.csv")
        good, = self.add(table("G-1", ("NVIDIA RTX A6000 48GB", 4, "4000")),
                         name="good.csv")
        answer = self.ask(*ASK)
        first, second = answer["quotes"]["left_out"]
        self.assertIn("A100", first)
        self.assertIn("a question about it is open", first)
        self.assertIn("A6000", second)
        self.assertIn("no currency", second)
        shown = self.quotes("show", str(which)).text.replace("\n  ", " ")
        self.assertIn("quotes answer %d 1:item=ID" % which, shown)
        self.assertEqual({row["id"]: row["open"] for row in self.stored()},
                         {which: True, bare: True, good: False})
        marks = [line.split()[-2] for line in
                 self.quotes("list").text.splitlines()[1:]]
        self.assertEqual([mark[0] for mark in marks], ["1", "?", "?"])
        self.quotes("answer", str(which), "1:item=a100-80gb-pcie")
        self.assertEqual(len(self.ask(*ASK)["quotes"]["left_out"]), 1)
        self.assertFalse(self.stored("--search", "W-1")[0]["open"])

    def test_ubl(self):
        self.add(BOARD)
        out = self.path("board.xml")
        self.quotes("export", "1", "--format", "ubl", "-o", out)
        self.quotes("delete", "1")
        with open(out, "r", encoding="utf-8") as file:
            self.add(file.read(), name="board.xml")
        self.assertEqual(self.quoted()["h100-80gb-sxm", 8]["cost_usd"],
                         323307.67)

    def test_untimed(self):
        self.add(table("U-1", ("NVIDIA B200 180GB SXM", 8, "40000")))
        answer = self.ask(*ASK)
        text = " ".join(answer["quotes"]["without_times"])
        self.assertIn("Delta, quote U-1", text)
        self.assertIn("no training time of that GPU is known",
                      self.run_program("advise", *ASK, expect=0).text.replace(
                          "\n  ", " "))

    def test_history_and_compare(self):
        one, = self.add(table("H-1", ("NVIDIA RTX A6000 48GB", 4, "4000"),
                              totals=(("Discount", "-800.00"),)), name="a.csv")
        two, = self.add(table("H-2", ("NVIDIA RTX A6000 48GB", 1, "3900"),
                              vendor="Beta"), name="b.csv")
        prices = {point["quote"]: point["price"] for point in
                  self.ask_json("history", "a6000")["prices"]}
        self.assertEqual(prices, {one: "3800", two: "3900"})
        self.assertEqual(
            self.quoted()["a6000", 1]["prices"]["gpu"]["amount"], 3800)
        compared = self.ask_json("compare", str(one), str(two))
        self.assertEqual([total["net"] for total in compared["totals"]],
                         ["15200.00", "3900.00"])


class OwningTest(QuotesTest):
    def test_numbers_from_numbers(self):
        answer = self.ask(*ASK, "--ownership",
                          "overhead_threshold=12500.5,shipping=1234567.89")
        values = {one["key"]: one["value"]
                  for one in answer["ownership"]["assumptions"]}
        self.assertEqual((values["overhead_threshold"], values["shipping"]),
                         (12500.5, 1234567.89))

    def test_tax_once(self):
        self.add(json.dumps({
            "format": "quartermaster-quotes", "schema": 1, "quotes": [
                {"vendor": "Delta", "currency": "USD", "tax_included": True,
                 "issued_on": str(TODAY), "lines": [
                     {"role": "quoted", "quantity": "1", "price": "11900",
                      "description": "Workstation, Threadripper, "
                                     "1 x NVIDIA RTX A6000 48GB"}]}]}),
            name="gross.json")
        owning = self.ask(*ASK, "--gpu", "a6000", "--gpus", "1",
                          "--ownership", "all,tax=19")["ownership"]
        self.assertEqual((owning["price"], owning["tax"], owning["hosting"]),
                         (11900, 0, 0))

    def test_asked_tax_once(self):
        """A quote that contains a tax it does not tell contains the asker's,
        which is not added once more."""
        self.add(json.dumps({
            "format": "quartermaster-quotes", "schema": 1, "quotes": [
                {"vendor": "Delta", "currency": "USD", "tax_included": True,
                 "issued_on": str(TODAY), "lines": [
                     {"role": "quoted", "quantity": "1", "price": "11900",
                      "description": "Workstation, Threadripper, "
                                     "1 x NVIDIA RTX A6000 48GB"}]}]}),
            name="gross.json")
        answer = self.ask(*ASK, "--gpu", "a6000", "--gpus", "1", "--tax", "19",
                          "--gross")
        price = answer["candidates"][0]["prices"]["machine"]
        self.assertEqual((price["amount"], price["offer"]["tax"],
                          price["offer"]["tax_assumed_percent"],
                          price["offer"]["contains_tax"]),
                         (10000, 1900, 19, False))
        result = self.run_program("advise", *ASK, "--gpu", "a6000", "--gpus",
                                  "1", "--tax", "19", "--gross")
        text = result.out.decode()
        self.assertIn("$11,900", text)
        self.assertIn("yours of 19 % was taken off", " ".join(text.split()))

    def test_rent(self):
        arguments = (*ASK, "--gpu", "h100-80gb-sxm", "--gpus", "4")
        bare = self.ask(*arguments, "--ownership", "none")["ownership"]
        taxed = self.ask(*arguments, "--ownership", "none,tax=19")["ownership"]
        for one, other in zip(bare["own_or_rent"], taxed["own_or_rent"]):
            if one["gpus"] > 4:
                self.assertIn("together", one["error"])
            else:
                self.assertEqual(one["instances"] * one["gpus"], 4)
                self.assertAlmostEqual(other["rent_month"],
                                       one["rent_month"] * 1.19, 2)

    def test_desktop_is_not_hosted(self):
        one = self.ask(*ASK, "--gpu", "a6000", "--gpus", "1", "--ownership",
                       "all")["ownership"]
        self.assertEqual(one["hosting"], 0)
        rack = self.ask(*ASK, "--gpu", "h100-80gb-sxm", "--gpus", "4",
                        "--ownership", "all")["ownership"]
        self.assertGreater(rack["hosting"], 0)


if __name__ == "__main__":
    harness.main()
