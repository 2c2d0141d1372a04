# SPDX-License-Identifier: Apache-2.0
"""What can be recommended can be built: every candidate with a price, held
against the shipped tables by rules written down here once more."""

import csv
import os
import unittest

import harness

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                       os.pardir, "data")
MODELS = ("convnext-xlarge", "mamba-2.8b", "pythia-160m", "pythia-1b",
          "pythia-2.8b", "pythia-410m", "pythia-6.9b", "roberta-large",
          "vit-large")
# Planning the memory of all of them takes a while.
if "QM_TEST_FULL" not in os.environ:
    MODELS = ("mamba-2.8b", "pythia-1b", "vit-large")
ROOMS = (2944, 5888, 17664)


def table(name):
    with open(os.path.join(SHIPPED, name), encoding="utf-8",
              newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def watts(platform, gpu, gpus):
    return float(gpu["tdp_w"]) * gpus + float(platform["host_watts"])


class PlatformsTest(harness.CommandLineTest):
    def setUp(self):
        super().setUp()
        self.platforms = table("platforms.csv")
        self.gpus = table("gpus.csv")

    def advise(self, *arguments, expect=None):
        return self.ask(*arguments, "--no-this-machine", expect=expect,
                        env={"QUARTERMASTER_DATA_DIR": SHIPPED})

    def check_cards(self, platform, gpu, gpus, what):
        self.assertLessEqual(gpus, int(platform["gpus"]), what)
        self.assertIn(gpu["cooling"], ("open", "blower", "passive"), what)
        self.assertIn(gpu["cooling"], platform["takes"].split(), what)
        # Every place is so wide; with every second one empty, twice that.
        places = int(platform["gpus"]) // gpus
        self.assertLessEqual(float(gpu["slot_width"]),
                             float(platform["slot_width"]) * places, what)
        self.assertLessEqual(float(gpu["tdp_w"]), float(platform["gpu_watts"]),
                             what)
        spare = int(platform["psu_spare"] or 0)
        given = float(platform["psu_watts"]) * (int(platform["psus"]) - spare)
        self.assertLessEqual(watts(platform, gpu, gpus),
                             given * (1 if spare else 0.9), what)

    def check(self, one, room):
        platform = self.platforms[one["machine"]]
        gpu = self.gpus[one["gpu"]]
        what = "%s x %s in %s" % (one["gpus"], one["gpu"], one["machine"])
        if platform["sold_with"]:
            self.assertEqual(platform["sold_with"], one["gpu"], what)
            self.assertEqual(int(platform["gpus"]), one["gpus"], what)
            self.assertIsNone(one["prices"]["gpu"], what)
        else:
            self.check_cards(platform, gpu, one["gpus"], what)
            self.assertEqual(one["prices"]["gpu"]["item"], one["gpu"], what)
        self.assertEqual(one["prices"]["machine"]["item"], one["machine"])
        most = float(platform["memory_max_gib"] or platform["memory_gib"] or 0)
        self.assertLessEqual(one["host_gib"], most, what)
        if one["host_gib"] > 0:
            self.assertGreaterEqual(
                float(platform["memory_gib"]) + one["extra_gib"],
                one["host_gib"], what)
        if room:
            self.assertLessEqual(
                one["machines"] * watts(platform, gpu, one["gpus"]) / 0.92,
                room, what)

    def check_answer(self, answer, room):
        """How many candidates can be bought."""
        n = 0
        for one in answer["candidates"]:
            if one["cost_usd"] is None:
                self.assertFalse(one["eligible"])
                continue
            self.assertIsNone(one["not_carried"])
            self.assertLessEqual(one["cost_low_usd"], one["cost_usd"])
            self.assertLessEqual(one["cost_usd"], one["cost_high_usd"])
            self.check(one, room)
            n += 1
        return n

    def test_every_candidate(self):
        n = 0
        for model in MODELS:
            with self.subTest(model):
                n += self.check_answer(self.advise(
                    "--model", model, "--predictions", "all"), 17664)
        self.assertGreater(n, 80 * len(MODELS))

    def test_every_room_and_price(self):
        for room in ROOMS:
            for more in ((), ("--any-price",), ("--machine", "desktop"),
                         ("--gpus", "1,3,5,6,7")):
                with self.subTest((room, more)):
                    n = self.check_answer(self.advise(
                        "--model", "pythia-160m", "--predictions", "all",
                        "--room", str(room), *more), room)
                    self.assertGreater(n, 10)

    def test_every_machine_of_a_year(self):
        answer = self.advise("--runs", "pythia-1b=12,vit-large=6", "--at-once",
                             "2", "--predictions", "all")
        self.assertGreater(self.check_answer(answer, 17664), 40)

    def test_refused_for_a_reason(self):
        """Whatever is not offered says what is in the way, and it is."""
        answer = self.advise("--model", "pythia-1b", "--predictions", "all",
                             "--room", "3000")
        found = set()
        for one in answer["candidates"]:
            refused = one["not_carried"]
            if refused is None or refused["needed"] is None \
                    or refused["problem"] in ("unknown", "count"):
                continue
            found.add(refused["problem"])
            self.assertGreater(refused["needed"], refused["available"], one)
        self.assertIn("circuit", found)


if __name__ == "__main__":
    harness.main()
