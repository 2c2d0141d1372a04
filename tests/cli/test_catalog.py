# SPDX-License-Identifier: Apache-2.0
"""quartermaster catalog: the shipped facts, as tables and as JSON."""

import json
import os
import re

import harness
import reference

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                       os.pardir, "data")
TOPICS = ("gpus", "machines", "platforms", "models", "prices", "measurements")


class CatalogTest(harness.CommandLineTest):
    def setUp(self):
        super().setUp()
        self.catalog = reference.Catalog(harness.CATALOG)

    def table(self, *arguments, **options):
        result = self.run_program("catalog", *arguments, expect=0, **options)
        self.assertEqual(result.err, b"")
        return result.text.splitlines()

    def entries(self, topic):
        result = self.run_program("catalog", topic, "--json", expect=0)
        self.assertEqual(result.err, b"")
        self.assertEqual(list(result.json), [topic, "problems", "notices"])
        self.assertEqual(result.json["problems"], [])
        return result.json[topic]

    def same_number(self, got, cell, what):
        if cell in ("", "none"):
            self.assertIn(got, (None, 0), what)
        else:
            self.assertEqual(got, float(cell), what)

    def test_gpus(self):
        entries = self.entries("gpus")
        self.assertEqual([one["id"] for one in entries],
                         [row["id"] for row in self.catalog.gpus])
        for one, row in zip(entries, self.catalog.gpus):
            for key in ("name", "vendor", "form_factor", "source", "notes"):
                self.assertEqual(one[key], row[key] or None, one)
            for key in ("memory_gib", "memory_bandwidth_gbs", "fp16_tflops",
                        "fp8_tflops", "tf32_tflops", "fp32_tflops", "measured_fp16_tflops",
                        "measured_bandwidth_gbs", "tdp_w",
                        "multiprocessors", "boost_mhz", "l2_mib",
                        "nvlink_gbs", "pcie_generation",
                        "launch_price_usd"):
                self.same_number(one[key], row.get(key, ""), (key, one))
                if row.get(key, "") == "":
                    self.assertIsNone(one[key], (key, one))
            self.assertEqual(one["released_on"], row["released_on"] or None)
        lines = self.table("gpus")
        self.assertEqual(len(lines), 1 + len(entries))
        for line, one in zip(lines[1:], entries):
            self.assertEqual(line.split()[0], one["id"])
        unknown = next(line for line in lines
                       if line.startswith("rtxpro6000-server"))
        self.assertIn("–", unknown)
        wide = {line.split()[0]: line for line in self.table(
            "gpus", env={"QUARTERMASTER_DATA_DIR": SHIPPED, "COLUMNS": "200"})}
        self.assertRegex(wide["rtxpro4500-server"], "none known$")
        self.assertRegex(wide["gb10"], "in machines$")
        self.assertRegex(wide["a6000"], r"\$[\d,.]+$")
        self.assertNotIn("http", "".join(lines))
        self.assertIn("http", "".join(self.table("gpus", "--sources")))

    def test_machines(self):
        entries = self.entries("machines")
        self.assertEqual([one["id"] for one in entries],
                         [row["machine"] for row in self.catalog.machines])
        lines = self.table("machines")
        for one, row in zip(entries, self.catalog.machines):
            self.assertEqual(one["kind"], row["kind"])
            self.assertEqual(one["gpus"], int(row["gpus"]))
            for key in ("memory_gib", "cpu_cores", "pcie_generation",
                        "pcie_lanes"):
                self.same_number(one[key], row.get(key, ""), (key, one))
            self.assertEqual(one["source"], row["source"])
            self.assertTrue(one["parts"])
            self.assertIn(self.catalog.published_price(one["id"]),
                          [price["amount"] for price in one["prices"]
                           if price["kind"] == "published"])
            for part in one["parts"]:
                found = [line for line in lines if part["detail"] in line]
                self.assertTrue(found, part)
                if part["price"] is None:
                    self.assertTrue(any(line.endswith("–") for line in found),
                                    found)
                else:
                    self.assertTrue(any(line.endswith("$%.2f" % part["price"])
                                        for line in found), found)
        self.assertEqual(
            entries[0]["parts"][1],
            {"part": "CPU cooler", "detail": "Noctua NH-D15",
             "price": 109.95, "currency": "USD"})
        self.assertIsNone(entries[2]["parts"][0]["price"])

    def test_models(self):
        entries = self.entries("models")
        self.assertEqual([one["id"] for one in entries], [
            "pythia-160m", "pythia-410m", "pythia-1b", "pythia-2.8b",
            "pythia-6.9b", "roberta-large", "vit-large", "convnext-xlarge",
            "mamba-2.8b"])
        self.assertEqual({one["group"] for one in entries}, {"publication"})
        lines = self.table("models")
        self.assertEqual(len(lines), 1 + 9)
        for one, line in zip(entries, lines[1:]):
            model = self.catalog.models[one["id"]]
            flops = reference.training_flops(model)
            self.assertLess(abs(one["train_flops"] / flops - 1), 1e-9, one)
            self.assertEqual(line.split()[0], one["id"])
            self.assertIn(("%.2e" % flops).replace("e+", "e"), line)
            self.assertIn(format(one["parameters"], ","), line)
            for key, value in model["recipe"].items():
                self.assertEqual(one["recipe"][key], value, key)
            self.assertTrue(one["source"])
            for value in one["config"].values():
                self.assertIsNotNone(value)
        sizes = {one["id"]: one["parameters"] for one in entries}
        self.assertEqual(sizes["pythia-1b"], 1011781632)
        self.assertEqual(sizes["pythia-160m"], 162322944)

    def test_prices(self):
        entries = self.entries("prices")
        for row in self.catalog.prices:
            match = [one for one in entries
                     if one["item"] == row["item"]
                     and one["kind"] == row["kind"]
                     and one["source"] == row["source"]]
            self.assertTrue(match, row)
            for key, cell in (("amount", "price"), ("amount_low", "low"),
                              ("amount_high", "high")):
                wanted = float(row[cell]) if row[cell] else None
                self.assertIn(wanted, [one[key] for one in match], row)
            self.assertIn(row["observed_on"] or None,
                          [one["observed_on"] for one in match], row)
        for one in entries:
            self.assertEqual(one["age_days"] is None,
                             one["observed_on"] is None, one)
            self.assertFalse(one["from_user"])
        lines = self.table("prices")
        self.assertEqual(len(lines), 1 + len(entries))
        for line, one in zip(lines[1:], entries):
            self.assertEqual(line.split()[:2], [one["item"], one["kind"]])
            self.assertIn(one["observed_on"] or "–", line)
            if one["observed_on"]:
                self.assertRegex(line, r"(\d+ (day|month|year)s? old|today)")

    def test_measurements(self):
        entries = self.entries("measurements")
        self.assertEqual(len(entries), len(self.catalog.measurements))
        counts = {}
        for one, row in zip(entries, self.catalog.measurements):
            self.assertEqual(
                (one["model"], one["gpu"], str(one["gpus"]), one["settings"],
                 one["status"], one["provenance"], one["source"]),
                (row["model"], row["gpu"], row["gpus"], row["settings"],
                 row["feasibility"], row["provenance"], row["source"]))
            self.same_number(one["days"], row["days"], one)
            self.assertEqual(
                one["verdict"],
                reference.verdict(self.catalog,
                                  self.catalog.models[row["model"]], row))
            self.assertEqual(one["sharding"], row["sharding"] or None)
            self.assertEqual(one["checkpointing"],
                             {"yes": True, "no": False,
                              "": None}[row["checkpointing"]])
            if one["settings"] == "optimal":
                counts[one["verdict"]] = counts.get(one["verdict"], 0) + 1
        self.assertEqual(counts["impossible"], 6)
        lines = self.table("measurements")
        self.assertEqual(len(lines), 1 + len(entries))
        self.assertEqual(sum("impossible" in line and "optimal" in line
                             for line in lines), 6)

    def test_platforms(self):
        env = {"QUARTERMASTER_DATA_DIR": SHIPPED}
        rows = reference.Catalog.rows(SHIPPED, "platforms.csv")
        prices = reference.Catalog.rows(SHIPPED, "prices.csv")
        result = self.run_program("catalog", "platforms", "--json", env=env,
                                  expect=0)
        entries = result.json["platforms"]
        self.assertEqual([one["id"] for one in entries],
                         [row["id"] for row in rows])
        for one, row in zip(entries, rows):
            for key in ("name", "vendor", "form", "sold_with", "memory_kind",
                        "cooling", "noise", "networks", "source", "unverified",
                        "notes"):
                self.assertEqual(one[key], row[key] or None, (key, one))
            for key in ("rack_units", "gpus", "slot_width", "gpu_watts",
                        "pcie_generation", "pcie_lanes", "psu_watts", "psus",
                        "host_watts", "memory_gib", "memory_max_gib",
                        "cpu_cores"):
                self.same_number(one[key], row[key], (key, one))
            self.assertEqual(set(one["takes"]), set(row["takes"].split()))
            self.assertEqual(len(one["prices"]),
                             sum(price["item"] == row["id"]
                                 for price in prices))
        lines = self.run_program("catalog", "platforms", env=env,
                                 expect=0).text.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]],
                         [row["id"] for row in rows])

    def carried(self, *arguments):
        """What is said of each platform, by its id."""
        result = self.run_program("catalog", "platforms", "--json", *arguments,
                                  env={"QUARTERMASTER_DATA_DIR": SHIPPED},
                                  expect=0)
        return {one["id"]: one for one in result.json["platforms"]}

    def test_what_platforms_carry(self):
        # A module is in no machine that takes cards, nor is one sold alone.
        for gpus, fitting in ((1, set()), (8, {"dgx-h100"})):
            found = self.carried("--gpu", "h100-80gb-sxm", "--gpus", str(gpus))
            fits = {name for name, one in found.items() if one["fits"]}
            self.assertLessEqual(fitting, fits)
            self.assertTrue(all(found[name]["sold_with"] == "h100-80gb-sxm"
                                for name in fits))
            self.assertEqual(found["am5-1gpu"]["problem"], "sold-with")
        found = self.carried("--gpu", "rtx5090", "--gpus", "8")
        self.assertEqual(found["am5-1gpu"]["problem"], "count")
        self.assertEqual(found["as-4125gs-tnrt"]["problem"],
                         "cooling")
        # No more host memory, and no stronger circuit, than there is.
        found = self.carried("--gpu", "a6000", "--host-memory", "257")
        self.assertEqual(found["am5-1gpu"]["problem"], "memory")
        self.assertEqual(found["am5-1gpu"]["needed"], 257)
        found = self.carried("--gpu", "a6000", "--circuit", "300")
        self.assertEqual(found["am5-1gpu"]["problem"], "circuit")
        self.assertGreater(found["am5-1gpu"]["wall_watts"], 300)

    def test_why_not_is_said(self):
        env = {"QUARTERMASTER_DATA_DIR": SHIPPED, "COLUMNS": "200"}
        text = self.run_program("catalog", "platforms", "--gpu", "rtx5090",
                                "--gpus", "8", env=env, expect=0).text
        self.assertIn("carries up to 2 GPUs", text)
        self.assertIn("is sold with other GPUs", text)
        german = self.run_program("catalog", "platforms", "--gpu", "rtx5090",
                                  env={**env, "LC_ALL": "de_DE.utf8"},
                                  expect=0).text
        self.assertIn("wird mit anderen GPUs verkauft", german)

    def test_a_load_that_is_none(self):
        for arguments, words in (
                (("platforms", "--gpus", "4"), "--gpu rtx5090 --gpus 4"),
                (("gpus", "--gpu", "a6000"), "--gpu rtx5090 --gpus 4"),
                (("platforms", "--gpu", "a6000", "--gpus", "1.5"), "--gpus 4"),
                (("platforms", "--gpu", "a6000", "--gpus", "0"), "above 0"),
                (("platforms", "--gpu", "a6000", "--gpus", "-1"), "above 0"),
                (("platforms", "--gpu", "a6000", "--circuit", "x"), "above 0"),
                (("platforms", "--gpu", "a6000", "--host-memory", "nan"),
                 "above 0"),
                (("platforms", "--gpu", "a600"), "a6000")):
            result = self.run_program("catalog", *arguments, expect=2)
            self.assertIn(words, result.err.decode(), arguments)
            self.assertEqual(result.out, b"")

    def test_width(self):
        for topic in TOPICS:
            for sources in ((), ("--sources",)):
                for width in (80, 120):
                    with self.subTest(topic=topic, width=width,
                                      sources=sources):
                        lines = self.table(topic, *sources,
                                           env={"COLUMNS": str(width)})
                        for line in lines:
                            self.assertLessEqual(len(line), width, line)

    def test_rates_of_the_catalog_are_times(self):
        """What rates.csv has of a place in PyTorch is the time of the advice
        there: the rate's, and known as the rate is."""
        env = {"QUARTERMASTER_DATA_DIR": SHIPPED}
        rates = {one["id"]: one for one in
                 reference.Catalog.rows(SHIPPED, "rates.csv")}
        times = [one for one in reference.Catalog.rows(
            SHIPPED, "measurements/pytorch.csv") if "rates.csv" in
                 one["source"]]
        self.assertEqual(len(times), 10)
        for settings, model in (("eager", "roberta-large"),
                                ("optimal", "gpt2-124m")):
            answer = self.ask("--model", model, "--settings", settings,
                              "--time-factor", "1", "--budget", "5M", env=env)
            for time in (one for one in times if one["model"] == model):
                rate = rates[re.search(r"\w+(?= of rates.csv)",
                                       time["source"])[0]]
                found, = (one for one in answer["candidates"]
                          if (one["gpu"], str(one["gpus"]))
                          == (rate["gpu"], rate["gpus"]))
                with open(os.path.join(SHIPPED, "models", f"{model}.json"),
                          encoding="utf-8") as file:
                    recipe = json.load(file)["recipe"]
                self.assertEqual(str(recipe["batch_size"]), rate["batch"])
                self.assertEqual(found["provenance"], rate["provenance"])
                self.assertAlmostEqual(
                    found["days"] * float(rate["samples_per_s"]) * 86400
                    / recipe["batch_size"] / recipe["steps"], 1, places=4)

    def test_same_bytes_in_every_locale(self):
        for topic in TOPICS:
            plain = self.run_program("catalog", topic, "--json", expect=0).out
            german = self.run_program("catalog", topic, "--json", expect=0,
                                      env={"LC_ALL": "de_DE.utf8"}).out
            self.assertEqual(plain, german)


if __name__ == "__main__":
    harness.main()
