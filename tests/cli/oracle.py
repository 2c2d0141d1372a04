# SPDX-License-Identifier: Apache-2.0
"""The advice worked out once more by somebody who has read only what the project says
of itself, from the same files, to hold the program's answers against.

Each formula names where it is documented: [man] quartermaster.1, [README], [data]
data/README.md, [pricing] pricing/README.md, or the header of pricing/ or data/.
Nothing is shared with the program, and nothing taken from its answers: times that
are predicted come from qm-bench, whose room this is not."""

import csv
import datetime
import fractions
import glob
import json
import math
import os

YEAR = 365  # days; [qm-ownership.h]
SOUND = ("quote", "street", "list", "estimate")  # [qm-price.h]
# Of one day; what comes first counts.  [qm-price.h]
ORDER = ("quote", "street", "list", "estimate", "resale", "published", "claim")
SUPPLY_SHARE, EFFICIENCY = 0.9, 0.92  # [carry.h]
ROOMS = {"one-circuit": 0.8 * 230 * 16, "two-circuits": 0.8 * 2 * 230 * 16,
         "three-phases": 0.8 * 3 * 230 * 32, "any": math.inf}  # [man] --room


def number(cell):
    return float(cell) if cell not in (None, "", "none") else math.nan


def first_day(text):
    """A date of which only the year or the month is known, as the first of it;
    an unknown one as long ago."""
    if not text:
        return datetime.date.min
    return datetime.date.fromisoformat((text + "-01-01")[:10]
                                       if len(text) < 10 else text)


def half_up(value):
    return math.floor(value + fractions.Fraction(1, 2))


class Facts:
    """What is in the folder of the catalog."""

    def __init__(self, folder, today):
        self.folder, self.today = folder, today
        self.gpus = {row["id"]: row for row in self.rows("gpus.csv")}
        self.platforms = {row["id"]: row for row in self.rows("platforms.csv")}
        self.prices = self.rows("prices.csv")
        self.mine = []
        self.rates = self.newest_rates()
        self.chosen = {}
        self.s = self.spread()

    def rows(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8",
                  newline="") as file:
            return list(csv.DictReader(line for line in file
                                       if not line.startswith("#")))

    def newest_rates(self):
        """Of one euro, of the last day on which both it and the dollar were
        published, unless the currency ended.  [qm-rates.h]"""
        days = sorted(self.rows("exchange-rates.csv"), key=lambda row: row["Date"])
        last = [row for row in days if row["Date"] <= self.today.isoformat()][-1]
        self.rate_day = last["Date"]
        return {"EUR": fractions.Fraction(1),
                **{code: fractions.Fraction(cell) for code, cell in last.items()
                   if code != "Date" and cell not in ("", "N/A")}}

    def in_usd(self, amount, currency):
        return amount * self.rates["USD"] / self.rates[currency] \
            if currency != "USD" else amount

    def ends(self, row):
        """The least and most of a price, in USD without tax."""
        low, high = row["low"] or row["price"], row["high"] or row["price"]
        tax = 1 + fractions.Fraction(row["tax_percent"] or 0) / 100
        return [self.in_usd(fractions.Fraction(end) / tax, row["currency"])
                for end in (low, high)]

    def amount(self, row):
        """Of a range the middle counts.  [man] Prices"""
        return self.in_usd(
            fractions.Fraction(row["price"]) / (1 + fractions.Fraction(
                row["tax_percent"] or 0) / 100), row["currency"]) \
            if row["price"] else sum(self.ends(row)) / 2

    def weak(self, row):
        """Nobody is known to sell a new one at it.  [qm-price.h]"""
        return row["kind"] not in SOUND or (
            row["kind"] == "list" and not row["observed_on"])

    def price(self, item, unit="each", any_price=False):
        key = item, unit, any_price
        if key not in self.chosen:
            rows = [row for row in self.mine + self.prices
                    if row["item"] == item and (row["unit"] or "each") == unit
                    and row["kind"] != "cloud" and row["currency"] in self.rates]
            self.chosen[key] = max(
                rows, default=None,
                key=lambda row: (row in self.mine,
                                 not self.weak(row) or any_price,
                                 row["kind"] != "claim",
                                 first_day(row["observed_on"]),
                                 -ORDER.index(row["kind"])))
        return self.chosen[key]

    def spread(self):
        """s holds nine of ten of what two prices of one thing say of it: pairs of
        sound prices in USD, or of used ones, of one item, at least a year apart.
        [qm-price.h]"""
        says = []
        for sound in (True, False):
            rows = [row for row in self.prices if row["observed_on"]
                    and (row["unit"] or "each") in ("each", "gib")
                    and row["currency"] == "USD"
                    and (not self.weak(row) if sound else row["kind"] == "resale")]
            for i, a in enumerate(rows):
                for b in rows[:i]:
                    apart = abs((first_day(a["observed_on"])
                                 - first_day(b["observed_on"])).days)
                    if a["item"] == b["item"] and apart >= 365:
                        says.append(abs(math.log(self.amount(a) / self.amount(b)))
                                    / math.sqrt(apart / 365.25))
        says.sort()
        return says[math.ceil(0.9 * len(says)) - 1] if len(says) >= 10 else 0

    def interval(self, row):
        """low exp (-s sqrt (years)) to high exp (s sqrt (years)).  [qm-price.h]"""
        years = max(0, (self.today - first_day(row["observed_on"])).days) / 365.25 \
            if row["observed_on"] else 0
        low, high = self.ends(row)
        wide = math.exp(self.s * math.sqrt(years))
        return float(low) / wide, float(high) * wide


class Carrier:
    """[carry.h], [data] platforms.csv"""

    def __init__(self, facts, any_price=False, kinds="all", room=ROOMS["three-phases"]):
        self.facts, self.any_price, self.kinds, self.room = (
            facts, any_price, kinds, room)

    @staticmethod
    def watts(platform, gpu, gpus):
        return gpus * number(gpu["tdp_w"]) + number(platform["host_watts"])

    def carries(self, platform, gpu, gpus, memory, machines=1):
        all_watts = self.watts(platform, gpu, gpus)
        if platform["sold_with"]:
            if platform["sold_with"] != gpu["id"] or int(platform["gpus"]) != gpus:
                return False
        else:
            width, slots = number(gpu["slot_width"]), number(platform["slot_width"])
            places = int(platform["gpus"])
            if (gpu["cooling"] not in platform["takes"].split() or gpus > places
                    # Wider cards take the places of others.
                    or not gpus * width <= slots * places
                    or not number(gpu["tdp_w"]) <= number(platform["gpu_watts"])):
                return False
            supplies, spare = number(platform["psus"]), number(platform["psu_spare"])
            gives = number(platform["psu_watts"]) * (supplies - spare)
            if not all_watts <= gives * (SUPPLY_SHARE if spare == 0 else 1):
                return False
        has = number(platform["memory_gib"])
        if memory > 0 and not memory <= has:
            if not memory <= number(platform["memory_max_gib"]):
                return False
        return machines * all_watts / EFFICIENCY <= self.room

    def kind_passes(self, platform):
        """Machines that are no rack machines stand on or beside a desk."""
        return self.kinds == "all" or (
            (platform["form"] == "rack") == (self.kinds == "server"))

    def find(self, name, gpus, memory=0, machines=1):
        """The cheapest that carries them, with its price: (platform, price,
        interval, weak, parts); None where none has a price."""
        gpu, found = self.facts.gpus[name], []
        for platform in self.facts.platforms.values():
            if self.kind_passes(platform) and self.carries(
                    platform, gpu, gpus, memory, machines):
                cost = self.cost(platform, name, gpus, memory)
                if cost:
                    found.append(cost)
        return min(found, default=None,
                   key=lambda one: (one["weak_machine"], one["price"]))

    def cost(self, platform, name, gpus, memory):
        parts = [(self.facts.price(platform["id"], any_price=self.any_price), 1)]
        if not platform["sold_with"]:
            parts.append((self.facts.price(name, any_price=self.any_price), gpus))
        # In modules.  [qm-carrier.h]
        extra = 16 * max(0, math.ceil(
            (memory - number(platform["memory_gib"])) / 16)) \
            if memory and platform["memory_gib"] else 0
        if extra:
            parts.append((self.facts.price("memory-" + platform["memory_kind"],
                                           "gib", self.any_price), extra))
        if any(row is None for row, _ in parts):
            return None
        low = high = 0
        total = sum(self.facts.amount(row) * fractions.Fraction(n)
                    for row, n in parts)
        for row, n in parts:
            ends = self.facts.interval(row)
            middle = float(self.facts.amount(row))
            low += (n * (middle - ends[0])) ** 2
            high += (n * (ends[1] - middle)) ** 2
        return {"machine": platform["id"], "price": float(total), "extra": extra,
                "low": float(total) - math.sqrt(low),
                "high": float(total) + math.sqrt(high),
                "weak_machine": self.facts.weak(parts[0][0])
                and not self.any_price,
                "weak": any(self.facts.weak(row) for row, _ in parts[:2]),
                "wall": self.watts(platform, self.facts.gpus[name], gpus)
                / EFFICIENCY}


def lanes(platform, gpu):
    """What a place moves of what the card does: the older generation of both, and
    the fewer lanes; each generation doubles.  [carry.h]"""
    generation = min(number(platform["pcie_generation"]),
                     number(gpu["pcie_generation"]))
    wide = min(number(platform["pcie_lanes"]), number(gpu["pcie_lanes"]))
    return wide * 2 ** generation / (
        number(gpu["pcie_lanes"]) * 2 ** number(gpu["pcie_generation"]))


def frontier(points):
    """Of (index, cost, days): none is at most as large in both and smaller in one.
    [qm-frontier.h]"""
    return [i for i, x, y in points
            if not any(a <= x and b <= y and (a < x or b < y) for _, a, b in points)]


def recommend(candidates, within, slack):
    """[man] --slack; qm-advice.h, QmRecommendation.  The candidates, each with cost,
    days, weak, gpus and whether it is on the frontier, to the names of the roles."""
    fits = [c for c in candidates if c["eligible"] and within(c)]

    def first(some):
        return min(some, default=None,
                   key=lambda c: (c["days"], c["cost"], c["gpus"], c["place"]))

    def best_of(some):
        fastest = first(some)
        if fastest is None:
            return None
        # What is only claimed is not advised, and yet hides what is dearer and slower.
        edge = frontier([(i, c["cost"], c["days"]) for i, c in enumerate(some)])
        close = [c for c in (some[i] for i in edge)
                 if c["days"] <= fastest["days"] * (1 + slack / 100)
                 and (fastest["weak"] or not c["weak"])]
        return min(close, key=lambda c: (c["cost"] * c["days"], c["days"], c["cost"],
                                         c["gpus"], c["place"]))
    best = best_of(fits)
    roles = {"best": best, "sooner": None, "runner_up": None, "faster": None,
             "cheaper": None, "would_do": None}
    everything = [c for c in candidates if c["eligible"]]
    if best is None:
        return roles
    fastest = first(fits)
    roles["sooner"] = fastest if fastest is not best else None
    roles["runner_up"] = best_of([c for c in fits if c is not best])
    roles["faster"] = min(
        (c for c in everything if c["days"] * (1 + slack / 100) < best["days"]),
        default=None, key=lambda c: (c["cost"], c["days"], c["gpus"], c["place"]))
    roles["cheaper"] = first([c for c in everything if c["cost"] < best["cost"]])
    return roles


def full_load(gpus, watts, stated, rest):
    """Watts of a machine: those that are stated of it, unless there are none or the
    share of the rest was set to another than half.  [man] Owning and renting"""
    if rest == 50 and not math.isnan(stated):
        return stated
    return gpus * watts * (1 + rest / 100)


def own(parts, price, machines, load, rack, years, **a):
    """What owning costs.  [qm-ownership.h]; shares in percent, money in major
    units, each line rounded once to cents; `load` in watts of a machine, `rack` its
    units, 0: it stands on a desk."""
    def cents(value):
        return float(fractions.Fraction(half_up(abs(value) * 100), 100)
                     * (1 if value >= 0 else -1))

    def share(key, part):
        return fractions.Fraction(str(a[key])) / 100 if part in parts else 0
    price = fractions.Fraction(str(price))
    life = fractions.Fraction(str(years))
    result = {"price": float(price)}
    result["discount"] = -cents(price * share("discount", "discount"))
    net = price + fractions.Fraction(str(result["discount"]))
    shipping = fractions.Fraction(str(a["shipping"])) * machines \
        if "shipping" in parts else fractions.Fraction(0)
    result["shipping"] = cents(shipping)
    result["tax"] = cents((net + shipping) * share("tax", "tax"))
    unit = (net + shipping + fractions.Fraction(str(result["tax"]))) / machines
    use = fractions.Fraction(str(a["utilization"])) / 100
    busy = use + (1 - use) * fractions.Fraction(str(a["idle"])) / 100
    kw = machines * fractions.Fraction(load) / 1000
    result["kwh"] = float(kw * busy * fractions.Fraction(str(a["pue"]))
                          * 8760 * life) if "electricity" in parts else None
    result["electricity"] = cents(fractions.Fraction(str(a["kwh"])) * kw * busy
                                  * fractions.Fraction(str(a["pue"])) * 8760 * life) \
        if "electricity" in parts else 0
    month = (machines * fractions.Fraction(str(a["hosting_machine"]))
             + kw * fractions.Fraction(str(a["hosting_kw"]))
             + machines * rack * fractions.Fraction(str(a["hosting_unit"])))
    result["hosting"] = cents(month * 12 * life) if "hosting" in parts and rack else 0
    result["support"] = cents(net * share("support", "support") * life)
    exempt = unit >= a["overhead_threshold"]
    base = fractions.Fraction(str(result["hosting"])) \
        + fractions.Fraction(str(result["support"]))
    if not exempt:
        base += net + shipping + fractions.Fraction(str(result["tax"]))
    result["overhead"] = cents(base * share("overhead", "overhead"))
    result["residual"] = -cents(net * share("residual", "residual"))
    result["total"] = sum(result[key] for key in (
        "price", "discount", "shipping", "tax", "overhead", "electricity", "hosting",
        "support", "residual"))
    return result


def settings_of(methods):
    """Of a line of results: whether PyTorch was compiled.  [man] --settings"""
    if methods == "naive":
        return methods
    return "optimal" if methods == "free-lunch" or "compile" in methods else "eager"


def pytorch_times(folder, settings="optimal"):
    """(model, gpu, gpus) to the days of the steps and whether these were measured with
    PyTorch, which goes before reported; of several the shortest.  [qm-selection.h],
    [data] Results files"""
    known = {}

    def add(key, rank, days):
        known[key] = min(known.get(key, (9, 0)), (rank, days))
    for name in sorted(glob.glob(os.path.join(folder, "measurements", "*.jsonl"))):
        with open(name, encoding="utf-8") as file:
            for line in file:
                one = json.loads(line)
                if (one["engine"] == "pytorch" and one["status"] == "measured"
                        and (one.get("nodes") or 1) == 1
                        and settings_of(one["settings"]) == settings):
                    add((one["model"], one["gpu"], one["gpus"]), 0, one["days"])
    for name in sorted(glob.glob(os.path.join(folder, "measurements", "*.csv"))):
        with open(name, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if (row["provenance"] in ("measured", "reported")
                        and row["settings"] == settings and row["days"]
                        and row.get("engine") in ("", "pytorch", None)):
                    add((row["model"], row["gpu"], int(row["gpus"])),
                        row["provenance"] == "reported", float(row["days"]))
    return {key: (days, rank == 0) for key, (rank, days) in known.items()}


def no_worse(gpu, than):
    """Of which nothing is less: a prediction is never faster than what was measured
    there.  [qm-predictions.h]"""
    return all(number(gpu[column]) >= number(than[column])
               for column in ("memory_gib", "memory_bandwidth_gbs", "fp16_tflops",
                              "tf32_tflops", "fp32_tflops")
               if than[column] not in ("", "none"))


def machines_of_year(work, longest, at_once, deadline):
    """How many machines do so many machine days of runs a year, and in how many days.
    [qm-advice.h] qm_advice_new()"""
    within = YEAR
    if deadline is not None and longest <= deadline <= YEAR:
        within = deadline
    machines = max(at_once, math.ceil(work / within - 1e-9))
    return machines, max(longest, work / machines)


class Rents:
    """[qm-rent-plan.h], [qm-ownership.h]: of each source the newest, the cheapest per
    GPU first; instances are rented whole, each machine's GPUs on their own."""

    def __init__(self, facts):
        self.facts = facts

    def prices(self, gpu):
        newest = {}
        for row in self.facts.mine + self.facts.prices:
            if (row["item"] == gpu and row["unit"] == "hour" and row["price"]
                    and row["currency"] == "USD"):
                known = newest.get(row["source"])
                if known is None or first_day(row["observed_on"]) >= first_day(
                        known["observed_on"]):
                    newest[row["source"]] = row
        return sorted(newest.values(),
                      key=lambda row: (self.each(row), row["source"]))

    def each(self, row):
        return self.facts.amount(row) / int(row["gpus"])

    def hour(self, row, gpus):
        return float(self.facts.amount(row)) * math.ceil(gpus / int(row["gpus"]))

    def find(self, bought, candidates):
        """Whose GPUs: its own, or those of the candidate on which the work costs
        least at the price in the middle."""
        if self.prices(bought["gpu"]):
            return bought
        costs = []
        for one in candidates:
            prices = self.prices(one["gpu"])
            if one["eligible"] and not one["late"] and prices:
                middle = prices[len(prices) // 2]
                costs.append((self.hour(middle, one["gpus"]) * one["machine_days"],
                              one["gpu"], one["gpus"]))
        if not costs:
            return None
        least = min(costs)
        return next(one for one in candidates
                    if (one["gpu"], one["gpus"]) == least[1:])

    def plan(self, bought, rented, years):
        price = self.prices(rented["gpu"])[0]
        hour = self.hour(price, rented["gpus"])
        work = bought["machines"]
        if rented is not bought:
            work *= rented["machine_days"] / bought["machine_days"]
        plan = {"hour_usd": hour, "gpu_hour_usd": float(self.each(price)),
                "uses": [hour * work * years * YEAR * 24 * use / 100
                         for use in (50, 70, 100)], "mixed": None}
        if bought["machines"] > 1:
            kept = bought["machines"] - 1
            year = hour * rented["machine_days"] * 24 / bought["machines"]
            bought_usd = bought["price_usd"] * kept / bought["machines"]
            plan["mixed"] = {"machines_bought": kept, "bought_usd": bought_usd,
                             "rent_a_year_usd": year,
                             "all_usd": bought_usd + year * years}
        return plan
