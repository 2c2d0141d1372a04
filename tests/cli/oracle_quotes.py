# SPDX-License-Identifier: Apache-2.0
"""Random quotes, and what each comes to by the words of the project: [readme]
pricing/README.md, "What a quote counts as" and "How quotes are compared", and
pricing/quotes/qm-quote-compare.h.  Like oracle.py it shares nothing with the
program."""

import csv
import datetime
import fractions

import oracle

SERVER = "GPU server, 4U rack, 2 x EPYC 9124, 512 GB"
CARD = "NVIDIA RTX 6000 Ada Generation 48GB"


def decimals(currency):
    return 0 if currency == "JPY" else 2


def rounded(amount, currency):
    whole = 10 ** decimals(currency)
    return fractions.Fraction(oracle.half_up(amount * whole), whole)


def text(amount, currency):
    return "%.*f" % (decimals(currency), amount)


class Quote:
    """Machines with cards, some with services and shipping, whose prices contain
    tax (`gross`) or not, and which tells its tax or not."""

    def __init__(self, draw, number, currencies=("USD", "EUR", "GBP", "CHF", "JPY"),
                 gross=False):
        self.number = "Q-%d" % number
        self.machines = draw.choice([1, 1, 2, 3])
        self.each = draw.choice([2, 4, 8])  # cards
        self.currency = draw.choice(currencies)
        self.day = datetime.date(2026, 1, 5) + datetime.timedelta(
            draw.randint(0, 90))
        self.gross = gross
        self.unit = "each"
        self.tax = draw.choice([None, 19, 8.25])  # None: not told
        scale = 150 if self.currency == "JPY" else 1

        def amount(low, high):
            return rounded(fractions.Fraction(draw.uniform(low, high)) * scale,
                           self.currency)
        # Words, how many, price, per cent off.
        self.lines = [(SERVER, self.machines, amount(9000, 30000), 0),
                      (CARD, self.gpus, amount(6000, 7900),
                       draw.choice([0, 0, 5, 12.5]))]
        if draw.random() < .5:
            self.lines.append(("Installation", 1, amount(200, 900), 0))
        self.shipping = amount(50, 900) if draw.random() < .5 else 0

    @property
    def gpus(self):
        return self.machines * self.each

    def line_total(self, line):
        _, n, price, off = line
        return rounded(n * price * (100 - fractions.Fraction(off)) / 100,
                       self.currency)

    @property
    def sum(self):
        return sum(map(self.line_total, self.lines)) + self.shipping

    @property
    def taxes(self):
        """That it tells; None: it does not."""
        if self.tax is None:
            return None
        rate = fractions.Fraction(self.tax) / 100
        return rounded(self.sum * (rate / (1 + rate) if self.gross else rate),
                       self.currency)

    def comes_to(self, asked=None):
        """Without and with tax, in its own currency; None: it cannot be said.

        asked: the tax in per cent of who asks, where it tells none."""
        if self.taxes is not None:
            return (self.sum - self.taxes, self.sum) if self.gross else (
                self.sum, self.sum + self.taxes)
        other = None
        if asked is not None:
            rate = 1 + fractions.Fraction(asked) / 100
            other = rounded(self.sum / rate if self.gross else self.sum * rate,
                            self.currency)
        return (other, self.sum) if self.gross else (self.sum, other)

    @property
    def extras(self):
        """Parts that not every offer has."""
        return {name for name, has in (("service", len(self.lines) > 2),
                                       ("shipping", self.shipping)) if has}

    def write_table(self, path):
        rows = []
        for line in self.lines:
            name, n, price, off = line
            rows.append([name, n, text(price, self.currency), off or "",
                         text(self.line_total(line), self.currency), self.currency])
        if self.shipping:
            rows.append(["Shipping", "", "", "",
                         text(self.shipping, self.currency), self.currency])
        net, gross = self.comes_to()
        rows.append(["Net total", "", "", "", text(net, self.currency),
                     self.currency])
        if self.tax is not None:
            rows.append(["VAT %g%%" % self.tax, "", "", "",
                         text(self.taxes, self.currency), self.currency])
            rows.append(["Total", "", "", "", text(gross, self.currency),
                         self.currency])
        head = [["Vendor", "Test AG"], ["Quote", self.number],
                ["Date", self.day.isoformat()], ["Valid until", "2026-12-31"],
                ["Description", "Quantity", "Unit price", "Discount %", "Total",
                 "Currency"]]
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(head + rows)

    def json(self):
        """In the project's own format."""
        lines = []
        for line in self.lines:
            name, n, price, off = line
            lines.append({"role": "quoted", "description": name, "quantity": str(n),
                          "price": text(price, self.currency)})
            if off:
                lines[-1]["discount"] = text(
                    n * price - self.line_total(line), self.currency)
        quote = {"vendor": "Test AG", "number": self.number,
                 "currency": self.currency, "issued_on": self.day.isoformat(),
                 "valid_until": "2026-12-31", "lines": lines,
                 "tax_included": self.gross, "unit": self.unit}
        if self.shipping:
            quote["charge"] = text(self.shipping, self.currency)
        if self.taxes is not None:
            quote["tax"] = text(self.taxes, self.currency)
        return quote


def compared(quotes, facts_of, currency=None, tax=None, years=5):
    """What each comes to, of one currency: (that, a list of objects with net,
    gross, tax, per_gpu and per_day)."""
    own = {quote.currency for quote in quotes}
    currency = currency or (own.pop() if len(own) == 1 else "USD")
    found = []
    for quote in quotes:
        rates = facts_of(quote.day).rates

        def common(amount, rates=rates, quote=quote):
            return None if amount is None else rounded(
                amount * rates[currency] / rates[quote.currency], currency)
        net, gross = map(common, quote.comes_to(tax))
        found.append({
            "net": net, "gross": gross, "amount": common(quote.comes_to()[1]
                                                         or quote.sum),
            "tax": None if net is None or gross is None else gross - net,
            "per_gpu": None if net is None else net / quote.gpus,
            "per_day": None if net is None else net / (years * oracle.YEAR)})
    return currency, found


def lowest(values):
    """Where fewer than two are known or all are the same there is none."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(set(known)) == 1:
        return []
    return [i for i, value in enumerate(values) if value == min(known)]
