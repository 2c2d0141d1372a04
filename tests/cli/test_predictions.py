# SPDX-License-Identifier: Apache-2.0
"""What nobody measured: predicted by qm-bench from the shipped calibration, and
marked."""

import csv
import json
import os
import unittest
import xml.etree.ElementTree

import harness
import reference


class PredictionsTest(harness.CommandLineTest):

    def own_model(self, name="own", **changes):
        """A model of the user's, like one of the catalog."""
        path = os.path.join(harness.CATALOG, "models", "pythia-1b.json")
        with open(path, encoding="utf-8") as file:
            model = json.load(file)
        model.update(id=name, name="My Own")
        model["config"].update(changes)
        self.user_file("models/%s.json" % name, json.dumps(model))

    @staticmethod
    def candidate(answer, gpu, gpus):
        return next((one for one in answer["candidates"]
                     if (one["gpu"], one["gpus"]) == (gpu, gpus)), None)

    def test_own_model(self):
        self.own_model()
        answer = self.ask("--model", "own", "--budget", "40k")
        self.assertEqual(answer["question"]["predictions"], "all")
        best = answer["recommendation"]
        self.assertTrue(best["predicted"])
        self.assertEqual(best["provenance"], "predicted")
        self.assertLess(best["days_low"], best["days"])
        self.assertGreater(best["days_high"], best["days"])
        self.assertIn("(predicted)", best["headline"])
        self.assertTrue(best["warnings"][0].startswith(
            "The advice rests on a prediction"))
        one = self.candidate(answer, "a6000", 4)
        self.assertEqual(one["prediction"]["level"], "tuned")
        self.assertEqual(one["prediction"]["fits"], "yes")
        self.assertEqual(one["prediction"]["host_bytes"], 0)
        self.assertIn(one["prediction"]["bound"],
                      ("arithmetic", "power", "bandwidth", "exchange", "host"))
        self.assertEqual(one["verdict"], "ok")

    def test_levels(self):
        """Who trains without compiling waits longer, and off the shelf still
        longer; the engine is the fastest."""
        days = []
        for arguments in (("--times-of", "quartermaster"), (),
                          ("--settings", "eager"), ("--settings", "naive")):
            answer = self.ask("--model", "pythia-410m", "--budget", "100k",
                              "--gpu", "a6000", "--gpus", "4", *arguments)
            days.append(self.candidate(answer, "a6000", 4)["days"])
        self.assertEqual(days, sorted(days))
        self.assertGreater(days[3], 1.5 * days[0])

    # Of the published times with the best methods.
    DOUBTFUL = {
        ("pythia-160m", "a100-80gb-sxm", 1),
        ("pythia-160m", "a100-80gb-sxm", 4),
        ("pythia-1b", "a100-80gb-sxm", 1), ("pythia-1b", "a100-80gb-sxm", 2),
        ("pythia-1b", "a100-80gb-sxm", 4), ("pythia-1b", "a100-80gb-sxm", 8),
        ("pythia-1b", "a6000", 1), ("pythia-1b", "a6000", 2),
        ("pythia-1b", "a6000", 4),
        ("convnext-xlarge", "rtx3090", 1),
        ("vit-large", "rtx3090", 1), ("vit-large", "rtx3090", 2),
        ("vit-large", "rtx3090", 4),
        ("vit-large", "a6000", 1), ("vit-large", "a6000", 2),
        ("vit-large", "a100-80gb-sxm", 1), ("vit-large", "a100-80gb-sxm", 2),
        ("vit-large", "a100-80gb-sxm", 4)}
    IMPOSSIBLE = {
        ("pythia-160m", "rtx3090", 1), ("pythia-160m", "rtx3090", 2),
        ("pythia-160m", "rtx3090", 4), ("pythia-160m", "rtx3090", 8),
        ("pythia-1b", "rtx3090", 2), ("pythia-1b", "rtx3090", 8)}

    def check_audit(self, times, doubtful, impossible):
        for verdict, wanted in (("doubtful", doubtful),
                                ("impossible", impossible)):
            self.assertEqual({place for place, one in times
                              if one["verdict"] == verdict}, wanted)
        for _, one in times:
            if one["verdict"] in ("ok", "doubtful"):
                days = one["days"] + 0.5  # they are rounded
                self.assertEqual(days < one["reachable_days"],
                                 one["verdict"] == "doubtful", one)

    def test_audit(self):
        """Published times are held against what is predicted, which changes
        nothing of the paper's answer."""
        answer = self.ask("--model", "pythia-1b", "--budget", "40k",
                          "--as-in-the-paper")
        self.check_audit(
            [(("pythia-1b", one["gpu"], one["gpus"]), one)
             for one in answer["candidates"]],
            {one for one in self.DOUBTFUL if one[0] == "pythia-1b"},
            {one for one in self.IMPOSSIBLE if one[0] == "pythia-1b"})
        best = answer["recommendation"]
        self.assertEqual((best["gpu"], best["gpus"], best["days"],
                          best["time_factor"]), ("rtx3090", 8, 30, 1))
        self.assertFalse([note for note in best["notes"] if "audit" in note])

    @unittest.skipUnless(os.environ.get("QM_TEST_FULL"), "takes seconds")
    def test_audit_of_all(self):
        times = [((one["model"], one["gpu"], one["gpus"]), one)
                 for one in self.run_program("catalog", "measurements",
                                             "--json").json["measurements"]
                 if one["provenance"] == "published"
                 and one["settings"] == "optimal"
                 and one["status"] == "feasible"]
        self.assertEqual(len(times), 140)
        self.check_audit(times, self.DOUBTFUL, self.IMPOSSIBLE)

    def test_audit_without_predictions(self):
        """Also those are audited that want nothing predicted; where nothing
        can be predicted the peak alone decides, which is said."""
        arguments = ("--model", "pythia-1b", "--predictions", "none", "--gpu",
                     "h200-141gb-sxm", "--gpus", "1")
        one, = self.ask(*arguments, expect=None)["candidates"]
        self.assertEqual(one["verdict"], "ok")
        self.assertLess(one["reachable_days"], one["days"])
        answer = self.run_program(
            "advise", *arguments, "--json",
            env={"QUARTERMASTER_BENCH": "/nonexistent/qm-bench"}).json
        one, = answer["candidates"]
        self.assertEqual((one["verdict"], one["reachable_days"]),
                         ("possible", None))
        found = answer["recommendation"] or answer["nothing_fits"]
        self.assertTrue([note for note in found["notes"] if note.startswith(
            "Times are audited by the cards’ peak alone: ")], found["notes"])

    def test_published(self):
        """Published times are held against the yardstick, and nothing but
        times of the same software."""
        answer = self.run_program("times", "--model", "pythia-1b", "--budget",
                                  "40k", "--json", expect=0).json
        self.assertEqual([one["settings"] for one in answer["sums"]],
                         ["optimal", "naive"])
        optimal = answer["sums"][0]
        self.assertLess(optimal["median"], 0.8)
        self.assertEqual(optimal["compared"], 16)
        places = {(one["gpu"], one["gpus"], one["settings"]): one
                  for one in answer["places"]}
        self.assertEqual(len(places), 32)
        measured = places["h100-80gb-sxm", 1, "optimal"]
        self.assertEqual(measured["published"]["days"], 34)
        self.assertEqual(measured["yardstick"]["provenance"], "measured")
        predicted = places["rtx3090", 8, "optimal"]
        self.assertEqual(predicted["verdict"], "impossible")
        self.assertAlmostEqual(predicted["ratio"],
                               30 / predicted["yardstick"]["days"], places=3)
        both, = answer["answers"]
        best = both["as_in_the_paper"]["recommendation"]
        self.assertEqual((best["gpu"], best["gpus"]), ("rtx3090", 8))
        self.assertNotEqual(both["yardstick"]["recommendation"]["gpu"],
                            "rtx3090")
        text = self.run_program("times", "--gpu", "h100-80gb-sxm", "--gpus",
                                "1", "--predictions", "none", expect=0).text
        self.assertIn("measured", text)
        self.assertNotIn("predicted ", text.split("Model", 1)[1])
        self.assertIn("As in the paper: Buy", text)

    def test_numbers(self):
        """Numbers of GPUs that no machine is made for are predicted, too."""
        answer = self.ask("--model", "pythia-1b", "--use", "3xa6000", expect=None)
        one, = [one for one in answer["candidates"] if one["gpus"] == 3]
        two, = [one for one in answer["candidates"]
                if (one["gpu"], one["gpus"]) == ("a6000", 2)]
        self.assertTrue(one["predicted"])
        self.assertLess(one["days"], two["days"])

    def test_memory(self):
        """A model that a small GPU cannot hold, though eight can."""
        self.own_model(hidden_size=4096, num_attention_heads=32,
                       num_hidden_layers=32, intermediate_size=16384)
        answer = self.ask("--model", "own", "--gpu", "rtx4090,a6000",
                          expect=None)
        one = self.candidate(answer, "rtx4090", 1)
        self.assertEqual(one["prediction"]["fits"], "offloading")
        self.assertGreater(one["prediction"]["host_bytes"], 64 << 30)
        self.assertGreater(one["host_gib"], 64)
        self.assertEqual(self.candidate(answer, "a6000", 8)
                         ["prediction"]["fits"], "yes")
        self.assertTrue(any("memory of the host" in note for note in
                            answer["recommendation"]["notes"]))
        answer = self.ask("--model", "own", "--gpu", "rtx4090", "--settings",
                          "naive", expect=1)
        self.assertEqual({one["verdict"] for one in answer["candidates"]},
                         {"infeasible"})

    def test_no_bench(self):
        """Without qm-bench the answer, with something that fits or without,
        says that nothing is predicted."""
        for budget, where in (("20k", "nothing_fits"),
                              ("400k", "recommendation")):
            answer = self.ask("--model", "pythia-1b", "--budget", budget,
                              "--times-of", "quartermaster",
                              env={"QUARTERMASTER_BENCH": self.path("nowhere")},
                              expect=None)
            self.assertFalse(any(one["predicted"] for one in
                                 answer["candidates"]))
            self.assertTrue(any("are not predicted" in note for note in
                                answer[where]["notes"]))

    def test_known_model(self):
        """A measured time goes before a predicted one; a published one is not
        there at all."""
        ask = ("--model", "pythia-1b", "--budget", "40k")
        known = self.ask(*ask, "--predictions", "none", expect=None)
        self.assertFalse(any(one["predicted"] for one in known["candidates"]))
        answer = self.ask(*ask)
        measured = [one for one in answer["candidates"] if not one["prediction"]]
        self.assertEqual([one["days"] for one in measured],
                         [one["days"] for one in known["candidates"]
                          if one["engine"] == "pytorch"])
        self.assertEqual({one["provenance"] for one in answer["candidates"]},
                         {"measured", "predicted"})
        self.assertTrue(self.candidate(answer, "a6000", 2)["predicted"])
        text = self.run_program("advise", *ask, expect=0).text
        self.assertIn("PyTorch, predicted", text)
        self.assertIn("times are predicted for compiled PyTorch, operator by "
                      "operator", " ".join(text.split()))

    def test_link(self):
        """Bridges make cards faster where little hides what they exchange, and
        boards without NVLink are slower."""
        path = os.path.join(harness.CATALOG, "models", "pythia-1b.json")
        with open(path, encoding="utf-8") as file:
            model = json.load(file)
        model.update(id="own", name="My Own")
        model["recipe"]["batch_size"] = 2
        self.user_file("models/own.json", json.dumps(model))
        days, links = {}, {}
        for link in ("auto", "nvlink", "pcie"):
            answer = self.ask("--model", "own", "--budget", "2M", "--gpu",
                              "a6000,h200-141gb-sxm", "--link", link)
            self.assertEqual(answer["question"]["link"], link)
            for gpu, gpus in (("a6000", 2), ("h200-141gb-sxm", 2)):
                one = self.candidate(answer, gpu, gpus)
                days[gpu, link] = one["days"]
                links[gpu, link] = one["prediction"]["link"]
        self.assertEqual(
            links, {("a6000", "auto"): "pcie", ("a6000", "nvlink"): "nvlink",
                    ("a6000", "pcie"): "pcie",
                    ("h200-141gb-sxm", "auto"): "nvlink",
                    ("h200-141gb-sxm", "nvlink"): "nvlink",
                    ("h200-141gb-sxm", "pcie"): "pcie"})
        self.assertLess(days["a6000", "nvlink"], days["a6000", "auto"])
        self.assertGreater(days["h200-141gb-sxm", "pcie"],
                           days["h200-141gb-sxm", "auto"])
        text = self.run_program("advise", "--model", "own", "--budget", "2M",
                                "--gpu", "a6000", "--gpus", "2", "--link",
                                "nvlink", expect=0).text
        self.assertIn("NVLink bridges, which are not in the price",
                      " ".join(text.split()))
        self.refuse("advise", "--model", "own", "--link", "string",
                    says=("--link", "nvlink"))

    def test_none(self):
        self.own_model()
        answer = self.ask("--model", "own", "--predictions", "none", expect=1)
        self.assertEqual(answer["candidates"], [])
        self.refuse("advise", "--model", "own", "--predictions", "some",
                    says=("--predictions", "some"))

    def test_runs(self):
        self.own_model()
        answer = self.ask("--runs", "own=2,pythia-1b=1", "--budget", "90k")
        one = self.candidate(answer, "a6000", 4)
        self.assertTrue(one["predicted"])
        self.assertLess(one["days_low"], one["days"])

    def own_rates(self, *changes):
        """A catalog with a rate for each of these, the first shipped one with
        changes; its folder."""
        folder = self.path("catalog")
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(harness.CATALOG):
            if name != "rates.csv" and not os.path.lexists(
                    os.path.join(folder, name)):
                os.symlink(os.path.join(os.path.abspath(harness.CATALOG), name),
                           os.path.join(folder, name))
        row = reference.Catalog.rows(harness.CATALOG, "rates.csv")[0]
        with open(os.path.join(folder, "rates.csv"), "w", encoding="utf-8",
                  newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            for i, change in enumerate(changes):
                writer.writerow({**row, "id": "x%d" % i, **change})
        return {"QUARTERMASTER_DATA_DIR": folder}

    def test_rates(self):
        """Each with its audit, by the FLOPs and the peak of its own training."""
        result = self.run_program("catalog", "rates", "--json", expect=0)
        self.assertEqual((result.err, result.json["problems"]), (b"", []))
        catalog = reference.Catalog(harness.CATALOG)
        rows = reference.Catalog.rows(harness.CATALOG, "rates.csv")
        rates = result.json["rates"]
        self.assertEqual([one["id"] for one in rates],
                         [row["id"] for row in rows])
        checked = 0
        for one, row in zip(rates, rows):
            for name in ("provenance", "model", "config", "precision", "gpu",
                         "link", "software", "level", "settings",
                         "measured_on", "source", "defect", "notes"):
                self.assertEqual(one[name], row[name].strip() or None,
                                 (name, one))
            for name, column in (("batch_size", "batch"), ("gpus", "gpus"),
                                 ("sequence", "sequence"),
                                 ("micro_batch", "micro_batch"),
                                 ("sm_mhz", "sm_mhz")):
                self.assertEqual(one[name] or 0, float(row[column] or 0), one)
            self.assertEqual(one["verdict"] == "defect", row["defect"] != "")
            self.assertLess(one["predicted_low"], one["predicted_high"])
            model = catalog.models.get(row["model"])
            if row["config"] or model["recipe"].get("sequence_length") != int(
                    row["sequence"] or 0):
                continue
            settings = "naive" if row["level"] == "naive" \
                or "naive" in row["settings"] else "optimal"
            peak = catalog.peak(row["gpu"], row["precision"], settings)
            self.assertAlmostEqual(
                one["utilization"], 3 * reference.forward_flops(model)
                * one["samples_per_s"] / (one["gpus"] * peak * 1e12),
                places=5, msg=one)
            checked += 1
        self.assertGreater(checked, 40)
        lines = self.run_program("catalog", "rates", expect=0).text.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]],
                         [row["id"] for row in rows])
        self.assertEqual(sum("plausible" in line for line in lines),
                         sum(one["verdict"] == "ok" for one in rates))

    def test_audit_of_rates(self):
        env = self.own_rates({})
        one, = self.run_program("catalog", "rates", "--json", env=env,
                                expect=0).json["rates"]
        fast = 1.5 * one["predicted"]
        peak = one["samples_per_s"] / one["utilization"]
        env = self.own_rates({"samples_per_s": 1.2 * peak},
                             {"samples_per_s": fast}, {},
                             {"samples_per_s": fast, "defect": "too warm"})
        rates = self.run_program("catalog", "rates", "--json", env=env,
                                 expect=0).json["rates"]
        self.assertEqual([one["verdict"] for one in rates],
                         ["impossible", "doubtful", "ok", "defect"])
        lines = self.run_program("catalog", "rates", env=env,
                                 expect=0).text.splitlines()
        for line, word in zip(lines[1:], ("impossible", "doubtful",
                                          "plausible", "too warm")):
            self.assertIn(word, line)
        self.assertIn("120\u00a0%", lines[1])

    def test_rates_without_bench(self):
        env = {"QUARTERMASTER_BENCH": self.path("nowhere")}
        result = self.run_program("catalog", "rates", env=env, expect=0)
        self.assertIn(b"nothing is predicted of these rates", result.err)
        self.assertEqual(result.err.count(b"\n"), 1)
        lines = result.text.splitlines()
        self.assertGreater(len(lines), 190)
        self.assertRegex(lines[1], "279 +– +– +– +measured")
        one = self.run_program("catalog", "rates", "--json", env=env,
                               expect=0).json["rates"][0]
        self.assertEqual((one["predicted"], one["utilization"],
                          one["verdict"]), (None, None, None))

    def test_broken_rates(self):
        env = self.own_rates({}, {"precision": "fp8"})
        self.refuse("catalog", "rates", says=("rates.csv:3:", "precision"),
                    env=env)
        os.remove(os.path.join(env["QUARTERMASTER_DATA_DIR"], "rates.csv"))
        result = self.run_program("catalog", "rates", "--json", env=env,
                                  expect=0)
        self.assertEqual((result.err, result.json["rates"]), (b"", []))

    def test_plot(self):
        self.own_model()
        self.run_program("plot", "--model", "own", "--log", "-o", "own.svg",
                         expect=0)
        with open(self.path("own.svg"), encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def types_drawn(self, *arguments):
        """The ids of the types of GPU in a plot's legend, and its note."""
        drawn = self.run_program("plot", "--model", "pythia-1b", "--format",
                                 "svg", "-o", "-", "--size", "2000x1200",
                                 *arguments, expect=0).out
        texts = [" ".join("".join(one.itertext()).split())
                 for one in xml.etree.ElementTree.fromstring(drawn).iter(
                     "{http://www.w3.org/2000/svg}text")]
        types = self.run_program("catalog", "gpus", "--json",
                                 expect=0).json["gpus"]
        return ({one["id"] for one in types if one["name"] in texts},
                next(text for text in texts if text.startswith("Source:")))

    def test_plot_of_many_types(self):
        """As in the window some of them, with what is recommended; all where all
        are asked for."""
        few, note = self.types_drawn()
        self.assertTrue(note.endswith("; some of the types of GPU"), note)
        every, note = self.types_drawn("--all-gpus")
        self.assertNotIn("some of the types", note)
        answer = self.run_program("advise", "--model", "pythia-1b", "--json",
                                  expect=0).json
        self.assertIn(answer["recommendation"]["gpu"], few)
        self.assertLess(few, every)
        # Six, the ends of the frontier, and what else the advice tells of; names
        # that are too long for the legend are cut.
        self.assertIn(len(few), range(5, 13))
        self.assertGreater(len(every), 15)
        self.assertLessEqual(every, {one["gpu"] for one in answer["candidates"]})


if __name__ == "__main__":
    harness.main()
