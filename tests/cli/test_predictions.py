# SPDX-License-Identifier: Apache-2.0
"""What nobody measured: predicted by qm-bench from the shipped calibration, and
marked."""

import json
import os

import harness


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

    def test_numbers(self):
        """Numbers of GPUs that no machine is made for are predicted, too."""
        answer = self.ask("--model", "pythia-1b", "--use", "3xa6000", expect=None)
        one, = [one for one in answer["candidates"] if one["gpus"] == 3]
        two, = [one for one in answer["candidates"]
                if (one["gpu"], one["gpus"]) == ("a6000", 2)]
        self.assertTrue(one["predicted"])
        self.assertLess(one["days"], two["days"])

    def test_memory(self):
        """A model that a small GPU cannot hold, though four can."""
        self.own_model(hidden_size=4096, num_attention_heads=32,
                       num_hidden_layers=32, intermediate_size=16384)
        answer = self.ask("--model", "own", "--gpu", "rtx4090,a6000",
                          expect=None)
        one = self.candidate(answer, "rtx4090", 1)
        self.assertEqual(one["prediction"]["fits"], "offloading")
        self.assertGreater(one["prediction"]["host_bytes"], 64 << 30)
        self.assertGreater(one["host_gib"], 64)
        self.assertEqual(self.candidate(answer, "a6000", 4)
                         ["prediction"]["fits"], "yes")
        self.assertTrue(any("memory of the host" in note for note in
                            answer["recommendation"]["notes"]))
        answer = self.ask("--model", "own", "--gpu", "rtx4090", "--settings",
                          "naive", expect=1)
        self.assertEqual({one["verdict"] for one in answer["candidates"]},
                         {"infeasible"})

    def test_no_bench(self):
        """Without qm-bench the answer says that nothing is predicted."""
        answer = self.ask("--model", "pythia-1b", "--budget", "400k", "--times-of",
                          "quartermaster",
                          env={"QUARTERMASTER_BENCH": self.path("nowhere")},
                          expect=None)
        self.assertFalse(any(one["predicted"] for one in answer["candidates"]))
        self.assertTrue(any("are not predicted" in note for note in
                            answer["nothing_fits"]["notes"]))

    def test_known_model(self):
        """A measured time goes before a predicted one; a published one is not
        there at all."""
        ask = ("--model", "pythia-1b", "--budget", "40k")
        known = self.ask(*ask, "--predictions", "none", expect=None)
        self.assertFalse(any(one["predicted"] for one in known["candidates"]))
        answer = self.ask(*ask)
        measured = [one for one in answer["candidates"] if not one["prediction"]]
        self.assertEqual([one["days"] for one in measured],
                         [one["days"] for one in known["candidates"]])
        self.assertEqual({one["provenance"] for one in answer["candidates"]},
                         {"measured", "predicted"})
        self.assertTrue(self.candidate(answer, "a6000", 2)["predicted"])
        text = self.run_program("advise", *ask, expect=0).text
        self.assertIn("PyTorch, predicted", text)
        self.assertIn("times are predicted for compiled PyTorch, operator by "
                      "operator", " ".join(text.split()))

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

    def test_plot(self):
        self.own_model()
        self.run_program("plot", "--model", "own", "--log", "-o", "own.svg",
                         expect=0)
        with open(self.path("own.svg"), encoding="utf-8") as file:
            self.assertIn("<svg", file.read())


if __name__ == "__main__":
    harness.main()
