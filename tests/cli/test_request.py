# SPDX-License-Identifier: Apache-2.0
"""quartermaster quotes request: what a plan asks vendors for, and which offers meet
it."""

import datetime
import json
import os
import re
import xml.etree.ElementTree as ElementTree

import harness
from quotes import TODAY, QuotesTest

ASK = ("--model", "pythia-1b", "--deadline", "60", "--room", "any")
CBC = "{urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2}"
CAC = "{urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2}"

# In the order of UBL-RequestForQuotation-2.1.xsd, as far as they are written.
HEAD = ["UBLVersionID", "ID", "IssueDate", "IssueTime", "SubmissionDueDate",
        "Note", "PricingCurrencyCode", "LineCountNumeric",
        "RequestedValidityPeriod", "SellerSupplierParty",
        "RequestForQuotationLine"]
ITEM = ["Description", "Name", "AdditionalItemProperty"]

# Words of makers and types, which have no place in a specification.
BRANDS = re.compile(r"nvidia|amd|intel|rtx|h100|a100|a6000|geforce|nvlink|dgx|"
                    r"supermicro|asus|dell", re.IGNORECASE)


# Of a model of one's own.
TIMES = """\
model,gpu,gpus,settings,feasibility,days,checkpointing,sharding,offloading,\
micro_batch_size,accumulation,provenance,engine,engine_version,measured_on,source
own-1b,h100-80gb-sxm,8,optimal,feasible,5,no,none,no,\
32,4,measured,pytorch,2.11.0,2026-11-27,tried here
"""


def offer(vendor, *, words="", gpus=8, warranty="5 years", days=90, tax=True):
    """A quote that says everything but what is taken away from it."""
    lines = [("GPU server, 2 x EPYC, 16 x 64 GB DDR5, %d x NVIDIA H100 80GB "
              "SXM5%s" % (gpus, words), "200000"),
             ("Shipping", "900")]
    if warranty:
        lines.append(("Warranty %s on site" % warranty, "5000"))
    return {"vendor": vendor, "number": vendor + "-1", "currency": "USD",
            "issued_on": str(TODAY), "tax_included": False,
            "valid_until": str(TODAY + datetime.timedelta(days=days)),
            **({"tax": "41000.00", "payable": "246900.00"} if tax else {}),
            "lines": [{"role": "quoted", "quantity": "1", "description": text,
                       "price": price} for text, price in lines]}


class Requests(QuotesTest):
    def request(self, *arguments, **options):
        return self.ask_json("request", *(arguments or ASK), **options)

    def own_recipe(self, **changes):
        """A model of the user's: the one asked about with a changed recipe.
        Returns what to ask about it."""
        path = os.path.join(harness.CATALOG, "models", "pythia-1b.json")
        with open(path, encoding="utf-8") as file:
            model = json.load(file)
        model["recipe"].update(changes)
        model["id"] = "own-1b"
        self.user_file("models/own-1b.json", json.dumps(model))
        return [model["id"] if word == "pythia-1b" else word for word in ASK]

    def need(self, answer, kind):
        return next(need for need in answer["requirements"]
                    if need["requirement"] == kind)


class RequestTest(Requests):
    def recipe(self, model):
        path = os.path.join(harness.CATALOG, "models", model + ".json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["recipe"]

    def tokens(self, model):
        recipe = self.recipe(model)
        return (recipe["batch_size"] * recipe["steps"]
                * recipe["sequence_length"])

    def test_rate_of_a_deadline(self):
        answer = self.request()
        training, = answer["trainings"]
        self.assertEqual(training["days"], 60)
        exact = self.tokens("pythia-1b") * 1.1 / (60 * 86400)
        self.assertGreaterEqual(training["per_second"], exact)
        self.assertLess(training["per_second"], exact * 1.01)
        self.assertEqual(self.need(answer, "rate")["least"],
                         training["per_second"])
        twice = self.request("--model", "pythia-1b", "--deadline", "30",
                             "--room", "any")
        self.assertAlmostEqual(
            twice["trainings"][0]["per_second"] / training["per_second"], 2,
            delta=0.02)

    def test_acceptance(self):
        """No GPUs are named, and what is guaranteed follows from the days that
        a training may take; where nothing is predicted, it is the rate of the
        request."""
        path = self.path("order.json")
        answer = self.request(*ASK, "--acceptance", path)
        with open(path, encoding="utf-8") as file:
            one = json.load(file)["experiments"]["pythia-1b"]
        self.assertFalse({"gpu", "gpus", "method"} & set(one))
        self.assertEqual(one["unit"], "tokens")
        if "predicted" not in one:
            self.assertEqual(one["guaranteed_per_second"],
                             answer["trainings"][0]["per_second"])
        text = " ".join(self.quotes("request", *ASK, "--acceptance", path,
                                    "--force").text.split())
        self.assertIn("any that reach it", text)
        self.assertFalse(BRANDS.search(text[text.index("Acceptance test"):]))

    def test_acceptance_of_deadlines(self):
        """Half the time takes twice the rate, and no deadline more than is
        predicted."""
        shipped = os.path.abspath(os.path.join(os.path.dirname(__file__), "..",
                                               "..", "data"))
        rates = []
        for days in ("60", "30", "0.001"):
            path = self.path("order-%s.json" % days)
            result = self.run_program(
                "quotes", "request", "--model", "pythia-1b", "--gpu",
                "h100-80gb-sxm", "--gpus", "8", "--room", "any", "--deadline",
                days, "--acceptance", path,
                env={"QUARTERMASTER_DATA_DIR": shipped})
            if result.code == 2:
                continue
            with open(path, encoding="utf-8") as file:
                one = json.load(file)["experiments"]["pythia-1b"]
            rates.append(one["guaranteed_per_second"])
            self.assertLessEqual(rates[-1], one["predicted"]["low"])
        self.assertGreaterEqual(len(rates), 2)
        self.assertAlmostEqual(rates[1] / rates[0], 2, delta=0.03)

    def test_rates_of_a_year(self):
        """The runs of a year fit into it at the rates that are asked for."""
        answer = self.request("--runs", "pythia-1b=4,roberta-large=1",
                              "--deadline-per-run", "40", "--room", "any")
        days = {one["model"]: one["days"] for one in answer["trainings"]}
        self.assertLessEqual(max(days.values()), 40)
        self.assertLessEqual((4 * days["pythia-1b"] + days["roberta-large"])
                             / answer["machines"], 365.001)

    def test_terms(self):
        answer = self.request(*ASK[:-1], "one-circuit", "--warranty", "5",
                              "--host-memory", "777")
        self.assertEqual(self.need(answer, "warranty")["least"], 5)
        self.assertEqual(self.need(answer, "host_memory")["least"], 777)
        self.assertEqual(self.need(answer, "power")["least"], 2944)
        for bad in (("--warranty", "99"), ("--host-memory", "much"),
                    ("--answer-by", "soon"), ("--format", "docx")):
            self.refuse("quotes", "request", *ASK, *bad, says=bad[1])

    def test_no_brand(self):
        for form in ("text", "markdown", "ubl", "json"):
            text = self.quotes("request", *ASK, "--format", form).text
            found = BRANDS.search(text)
            self.assertIsNone(found, (form, found))
            self.assertIn("tokens a second", text)

    def test_pdf(self):
        for page in ("a4", "letter"):
            self.quotes("request", *ASK, "-o", self.path(page + ".pdf"),
                        "--page", page)
            with open(self.path(page + ".pdf"), "rb") as file:
                self.assertTrue(file.read().startswith(b"%PDF-"))

    def test_ubl(self):
        root = ElementTree.fromstring(self.quotes(
            "request", *ASK, "--format", "ubl", "--id", "R&D <1>",
            "--answer-by", "2026-12-31").out)
        names = [child.tag.split("}")[1] for child in root]
        self.assertEqual([name for name in HEAD if name in names],
                         list(dict.fromkeys(names)))
        self.assertEqual(root.find(CBC + "ID").text, "R&D <1>")
        self.assertEqual(root.find(CBC + "SubmissionDueDate").text,
                         "2026-12-31")
        lines = root.findall(CAC + "RequestForQuotationLine")
        self.assertEqual(len(lines),
                         int(root.find(CBC + "LineCountNumeric").text))
        for line in lines:
            item = line.find(CAC + "LineItem").find(CAC + "Item")
            children = [child.tag.split("}")[1] for child in item]
            self.assertEqual([name for name in ITEM if name in children],
                             list(dict.fromkeys(children)))
            self.assertIsNotNone(line.find(CAC + "LineItem").find(CBC + "ID"))
        values = {one.find(CBC + "Name").text:
                  one.find(CBC + "ValueQuantity")
                  for one in root.iter(CAC + "AdditionalItemProperty")}
        rate = values["Sustained rate: Pythia (1B)"]
        self.assertEqual(float(rate.text),
                         self.request()["trainings"][0]["per_second"])


class AgainstTest(Requests):
    def check(self, *offers, ask=ASK):
        """What is said of offers, each as {requirement: met}."""
        numbers = self.add(json.dumps({"format": "quartermaster-quotes",
                                       "schema": 1, "quotes": offers}),
                           name="offers.json")
        answer = self.request(*ask, "--against", ",".join(map(str, numbers)))
        self.assertEqual([one["quote"] for one in answer["offers"]], numbers)
        return [(one["complete"], {each["requirement"]: each["met"]
                                   for each in one["answers"]})
                for one in answer["offers"]]

    def test_complete(self):
        (complete, answers), = self.check(offer("Whole"))
        self.assertTrue(complete, answers)

    def test_gaps(self):
        offers = (offer("A", warranty=None), offer("B", warranty="24 months"),
                  offer("C", days=10), offer("D", tax=False))
        found = self.check(*offers)
        self.assertEqual([complete for complete, _ in found], [False] * 4)
        self.assertEqual([answers["warranty"] for _, answers in found],
                         ["untold", "no", "yes", "yes"])
        self.assertEqual([answers["validity"] for _, answers in found],
                         ["yes", "yes", "no", "yes"])
        self.assertEqual([answers["tax"] for _, answers in found],
                         ["yes", "yes", "yes", "untold"])

    def test_fp8(self):
        """GPUs before Ada have none, and Hopper's alone have scales of rows.
        Nothing predicts what such trainings take."""
        self.user_file("measurements/own.csv", TIMES)
        offers = [offer(name) for name in ("H100 80GB SXM5", "L40S", "B200",
                                           "A100 80GB SXM4")]
        for one in offers:
            one["lines"][0]["description"] = (
                one["lines"][0]["description"].replace("H100 80GB SXM5",
                                                       one["vendor"]))
        for scales, met, says in (
                ("tensor", ["yes", "yes", "yes", "no"], "that are added up"),
                ("row", ["yes", "no", "no", "no"], "a scale for each row")):
            ask = self.own_recipe(precision="fp8", fp8_scales=scales)
            need = self.need(self.request(*ask), "precision")
            self.assertIn("FP8 products", need["amount"])
            self.assertIn(says, need["amount"])
            self.assertEqual([answers["precision"] for _, answers in
                              self.check(*offers, ask=ask)], met)

    def test_words_of_lines(self):
        """A terabyte is 1,024 gigabytes, and the longest time is the
        warranty's."""
        large = offer("Large", words=", 1 year of help by telephone")
        large["lines"][0]["description"] = (
            large["lines"][0]["description"].replace("16 x 64 GB", "1 TB"))
        for memory, met in ((1024, "yes"), (1025, "no")):
            (_, answers), = self.check(
                large, ask=(*ASK, "--host-memory", str(memory),
                            "--warranty", "5"))
            self.assertEqual(answers["host_memory"], met)
            self.assertEqual(answers["warranty"], "yes")

    def test_power(self):
        """Of one machine, however many there are."""
        two, four = offer("Two", gpus=4), offer("Four", gpus=8)
        two["lines"][0]["quantity"] = "2"
        found = self.check(two, four, ask=(*ASK[:-1], "one-circuit"))
        self.assertEqual([answers["power"] for _, answers in found],
                         ["untold", "no"])

    def test_validity(self):
        """From the day of the quote, and the last day counts."""
        days = self.need(self.request(), "validity")["least"]
        self.assertEqual([answers["validity"] for _, answers in
                          self.check(offer("A", days=int(days)),
                                     offer("B", days=int(days) - 1))],
                         ["yes", "no"])

    def test_slow_and_small(self):
        slow = offer("Slow")
        slow["lines"][0]["description"] = (
            "Workstation, Threadripper, 64 GB RAM, 1 x NVIDIA RTX A6000 48GB")
        slow["lines"][0]["price"] = "9000"
        loose = offer("Loose")
        loose["lines"][0].update(description="NVIDIA H100 80GB SXM5",
                                 quantity="8", price="20000")
        (_, small), (_, bare) = self.check(slow, loose)
        self.assertEqual((small["rate"], small["machines"]), ("no", "yes"))
        self.assertEqual(bare["machines"], "no")
        self.assertEqual(bare["host_memory"], "untold")

    def test_text(self):
        number, = self.add(json.dumps({"format": "quartermaster-quotes",
                                       "schema": 1,
                                       "quotes": [offer("A", warranty=None)]}),
                           name="a.json")
        text = " ".join(self.quotes("request", *ASK, "--against",
                                    str(number)).text.split())
        self.assertIn("0 of 1 offer is complete", text)
        self.assertIn("A, A-1 does not tell: Warranty on site", text)
        self.refuse("quotes", "request", *ASK, "--against", "99", says="99")


if __name__ == "__main__":
    harness.main()
