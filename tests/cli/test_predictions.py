# SPDX-License-Identifier: Apache-2.0
"""What nobody measured: predicted, marked, and planned by qm-bench."""

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
        self.assertEqual(answer["question"]["predictions"], "needed")
        best = answer["recommendation"]
        self.assertTrue(best["predicted"])
        self.assertEqual(best["provenance"], "predicted")
        self.assertLess(best["days_low"], best["days"])
        self.assertGreater(best["days_high"], best["days"])
        self.assertIn("(predicted)", best["headline"])
        self.assertTrue(best["warnings"][0].startswith(
            "The advice rests on a prediction"))
        one = self.candidate(answer, "h100-80gb-sxm", 4)
        self.assertEqual(one["prediction"]["unknown"], "model")
        self.assertEqual(one["prediction"]["fits"], "yes")
        self.assertEqual(one["prediction"]["coverage"], 0.84)
        one = self.candidate(answer, "rtx4090", 4)
        self.assertEqual(one["prediction"]["unknown"], "both")
        self.assertEqual(one["verdict"], "ok")

    def test_memory(self):
        """A model that a small GPU cannot hold, though four can."""
        self.own_model(hidden_size=4096, num_attention_heads=32,
                       num_hidden_layers=32, intermediate_size=16384)
        answer = self.ask("--model", "own", "--gpu", "rtx4090,h100-80gb-sxm")
        one = self.candidate(answer, "rtx4090", 1)
        self.assertEqual(one["prediction"]["fits"], "offloading")
        self.assertGreater(one["prediction"]["host_bytes"], 64 << 30)
        self.assertEqual(self.candidate(answer, "h100-80gb-sxm", 4)
                         ["prediction"]["fits"], "yes")
        self.assertTrue(any("memory of the host" in note for note in
                            answer["recommendation"]["notes"]))
        answer = self.ask("--model", "own", "--gpu", "rtx4090", "--settings",
                          "naive", expect=1)
        self.assertEqual({one["verdict"] for one in answer["candidates"]},
                         {"infeasible"})

    def test_no_bench(self):
        """Without qm-bench the answer says that it did not look."""
        self.own_model()
        answer = self.ask("--model", "own", "--budget", "40k",
                          env={"QUARTERMASTER_BENCH": self.path("nowhere")})
        self.assertEqual({one["prediction"]["fits"]
                          for one in answer["candidates"]}, {"unknown"})
        self.assertTrue(any("was not looked at" in note for note in
                            answer["recommendation"]["notes"]))

    def test_known_model(self):
        known = self.ask("--model", "pythia-1b", "--budget", "40k")
        self.assertFalse(any(one["predicted"] for one in known["candidates"]))
        self.assertIsNone(known["candidates"][0]["prediction"])
        answer = self.ask("--model", "pythia-1b", "--budget", "40k",
                          "--predictions", "all")
        self.assertEqual(
            [one for one in answer["candidates"] if not one["prediction"]]
            [0]["days"], known["candidates"][0]["days"])
        one = self.candidate(answer, "rtx4090", 2)
        self.assertEqual(one["prediction"]["unknown"], "gpu")
        text = self.run_program("advise", "--model", "pythia-1b", "--budget",
                                "40k", "--predictions", "all", expect=0).text
        self.assertIn("PyTorch, predicted", text)
        self.assertIn("Of known times 85 % lie in such an interval",
                      " ".join(text.split()))

    def test_none(self):
        self.own_model()
        answer = self.ask("--model", "own", "--predictions", "none", expect=1)
        self.assertEqual(answer["candidates"], [])
        self.refuse("advise", "--model", "own", "--predictions", "some",
                    says=("--predictions", "some"))

    def test_runs(self):
        self.own_model()
        answer = self.ask("--runs", "own=2,pythia-1b=1", "--budget", "90k")
        one = self.candidate(answer, "h100-80gb-sxm", 1)
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
