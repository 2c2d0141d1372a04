# SPDX-License-Identifier: Apache-2.0
"""What the advice counts of the quotes in tests/pricing/procurement is what a
person reads off them, which stands beside each."""

import configparser
import glob
import os

import harness
from quotes import QuotesTest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                      "pricing", "procurement")
CODECS = {"WINDOWS-1250": "cp1250", "WINDOWS-1252": "cp1252",
          "UTF-8": "utf-8", "UTF-16LE": "utf-16-le"}
# Those of a line; it does not count before they are answered.
OF_LINES = {"rent", "pack", "price"}
# Prices are in dollars with six decimals, by exchange rates with as many, ...
TOLERANCE = 2e-5
# ... and in minor units where they are shared among lines.
CENTS = 0.05


def expectations(path):
    parser = configparser.ConfigParser()
    parser.read(path, encoding="utf-8")
    return parser


def document_of(name):
    """One of the forms of a quote: those of the others say the same, which
    pricing-procurement tests."""
    for ending in (".csv", ".xml", ".xlsx", ".html", ".eml"):
        path = os.path.join(FOLDER, name + ending)
        if os.path.exists(path):
            return path
    raise AssertionError(name)


class ProcurementTest(QuotesTest):
    def document(self, name, expected):
        """The bytes of a quote as its vendor would have sent them."""
        path = document_of(name)
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith((".csv", ".html")):
            text = data.decode("utf-8").replace("\n", "\r\n")
            if expected.get("file", "mark", fallback="") == "true":
                text = "\ufeff" + text
            data = text.encode(CODECS[expected.get("file", "encoding",
                                                   fallback="UTF-8")])
        return self.write(os.path.basename(path), data)

    def offers(self, store, gpus):
        """(GPU, GPUs in one, what one costs in its currency) of all that the
        advice has of quotes as they are offered."""
        answer = self.ask("--model", "pythia-1b", "--expired-quotes",
                          "--any-price", "--gpu", ",".join(sorted(gpus)),
                          "--store", store, expect=None)
        found = set()
        for one in answer["candidates"]:
            for price in one["prices"].values():
                if not isinstance(price, dict) or price["quote"] is None:
                    continue
                offer = price["offer"]
                # "Instead" stands beside what a person reads off.
                if offer["variant"]:
                    continue
                amount = price["amount"] / float(offer["rate"] or 1)
                found.add((one["gpu"], price["gpus"], amount))
        return found

    def check_offer(self, name, offer, wanted):
        """An offer is the whole of an alternative, divided by its machines or
        cards."""
        gpu, gpus, amount = offer
        for count, item, net in wanted:
            if gpu != item or count % gpus != 0:
                continue
            whole = amount * count / gpus
            if abs(whole - net) <= net * TOLERANCE + CENTS * count:
                return net
        raise AssertionError("%s: the advice has %s for %s"
                             % (name, offer, wanted))

    def check_quote(self, name):
        expected = expectations(os.path.join(FOLDER, name + ".ini"))
        if expected.has_section("refused") or expected.has_section("columns"):
            return None
        store = self.path(name + ".sqlite")
        self.quotes("import", self.document(name, expected), "--store", store)
        wanted = []
        for section in expected.sections():
            if section.startswith("alternative "):
                count, item = expected[section]["gpus"].split()
                net = (expected[section].get("net")
                       or expected[section]["total"])
                wanted.append((int(count), item, float(net)))
        kinds = expected.get("questions", "kinds", fallback="").split(";")
        gpus = ({item for _, item, _ in wanted}
                or {"h100-80gb-sxm", "h100-94gb-nvl", "a100-80gb-pcie", "l40s"})
        found = self.offers(store, gpus)
        seen = {self.check_offer(name, offer, wanted) for offer in found}
        # The cheapest of those with as many GPUs of a type counts.
        if wanted and not OF_LINES.intersection(kinds):
            self.assertTrue(seen, name)
        return len(seen)

    def test_all(self):
        names = sorted(os.path.basename(path)[:-len(".ini")]
                       for path in glob.glob(os.path.join(FOLDER, "*.ini")))
        # How each is read, pricing-procurement tests; here, a sample.
        if "QM_TEST_FULL" not in os.environ:
            names = names[::3]
        counted = 0
        for name in names:
            with self.subTest(name):
                counted += bool(self.check_quote(name))
        self.assertGreater(counted, len(names) // 2)


if __name__ == "__main__":
    harness.main()
