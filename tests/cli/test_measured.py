# SPDX-License-Identifier: Apache-2.0
"""Measured times: listed, asked for by whose they are, and said what they are.

The catalog has results of an H200 that are made up for tests.
"""

import json
import os
import re
import socket

import harness

H200 = "h200-141gb-sxm"
HOST = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname().split(".")[0])
RESULTS = "measurements/h200-test.jsonl"
PRICE = ("item,kind,price,currency,observed_on,source\n"
         "%s,quote,31000,USD,2026-11-01,offer\n" % H200)


def results():
    with open(os.path.join(harness.CATALOG, RESULTS),
              encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def best(model, engine, settings="free-lunch"):
    return min((one for one in results()
                if (one["model"], one["engine"], one["settings"],
                    one["status"]) == (model, engine, settings, "measured")),
               key=lambda one: one["days"])


class MeasuredTest(harness.CommandLineTest):
    def ask(self, *arguments, **more):
        """For the times of the steps, as they are in the results."""
        if "--as-in-the-paper" not in arguments:
            arguments += ("--time-factor", "1")
        return super().ask(*arguments, **more)

    def place(self, answer, gpu=H200, gpus=1):
        found = [one for one in answer["candidates"]
                 if (one["gpu"], one["gpus"]) == (gpu, gpus)]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_catalog(self):
        listed = [one for one in self.run_program(
            "catalog", "measurements", "--json", expect=0)
            .json["measurements"] if one["provenance"] == "measured"
            and one["gpu"] == H200]
        self.assertEqual(len(listed), 16)
        for one in listed:
            self.assertEqual(one["measured_on"], "2026-11-21")
            self.assertIn(one["engine"], ("quartermaster", "pytorch"))
            self.assertTrue(one["source"].startswith("h200-test.jsonl, line"))
            if one["status"] == "feasible":
                wanted = best(one["model"], one["engine"],
                              {"optimal": "free-lunch",
                               "naive": "naive"}[one["settings"]])
                self.assertEqual(one["days"], wanted["days"])
                self.assertEqual(one["micro_batch_size"],
                                 wanted["micro_batch"])
        torch = next(one for one in listed if one["engine"] == "pytorch")
        self.assertEqual(torch["engine_version"],
                         "torch 2.11.0, transformers 5.17.0, cuda 13.0")
        infeasible, = [one for one in listed if one["status"] == "infeasible"]
        self.assertEqual((infeasible["model"], infeasible["settings"]),
                         ("convnext-xlarge", "naive"))

        text = self.run_program("catalog", "measurements", "--sources",
                                expect=0).text
        rows = [line for line in text.splitlines() if H200 in line]
        self.assertEqual(len(rows), len(listed))
        self.assertTrue(all("2026-11-21" in row and "measured" in row
                            for row in rows))
        self.assertIn("PyTorch 2.11.0", text)
        self.assertIn("Quartermaster 0.1.0", text)

    def test_this_machine(self):
        """What was measured here is a candidate, also for a year's runs."""
        lines = [dict(best(model, "quartermaster"), days=days,
                      machine=harness.machine())
                 for model, days in (("pythia-1b", 100), ("vit-large", 20))]
        self.user_file(os.path.join("measurements", HOST + ".jsonl"),
                       "".join(json.dumps(one) + "\n" for one in lines))
        for runs, at_once, days, insufficient in (
                ("pythia-1b=3,vit-large=2", "1", 340, False),
                ("pythia-1b=3,vit-large=2", "2", 340, True),
                ("pythia-1b=4", "1", 400, True),
                ("pythia-1b=1,pythia-410m=1", "1", None, False)):
            answer = self.ask("--runs", runs, "--at-once", at_once,
                              "--times-of", "quartermaster", "--budget", "1",
                              expect=1)
            here, = [one for one in answer["candidates"] if one["here"]]
            self.assertEqual(
                (here["days"], here["machines"], here["price_usd"],
                 here["insufficient"], here["within_limits"]),
                (days, 1, 0, insufficient, days == 340 and not insufficient),
                runs)
            self.assertFalse(here["eligible"])
        text = self.run_program("advise", "--runs", "pythia-1b=4",
                                "--times-of", "quartermaster", "--budget",
                                "50k").text
        self.assertIn("is paid for, but not enough: a year", text)
        left_out = self.ask("--runs", "pythia-1b=4", "--no-this-machine",
                            "--budget", "1M")
        self.assertFalse([one for one in left_out["candidates"]
                          if one["here"]])

    def test_whose_machine(self):
        """A file that is called like this host is not this machine's for that:
        only what says so itself, whatever its file is called."""
        def here(*lines, name=HOST + ".jsonl"):
            path = self.user_file(os.path.join("measurements", name),
                                  "".join(json.dumps(one) + "\n"
                                          for one in lines))
            done = self.run_program("advise", "--model", "pythia-1b", "--json",
                                    "--time-factor", "1",
                                    "--times-of", "quartermaster")
            os.unlink(path)
            self.assertEqual(len(done.json["notices"]),
                             done.err.count(b"note"), str(done))
            return ([one["days"] for one in done.json["candidates"]
                     if one["here"]],
                    [one["message"] for one in done.json["notices"]])

        line = dict(best("pythia-1b", "quartermaster"), days=100)
        mine = dict(line, machine=harness.machine())
        other = dict(line, machine={"id": "ab" * 16, "gpus": []})
        self.assertEqual(here(mine), ([100], []))
        self.assertEqual(here(other), ([], []))
        self.assertEqual(here(mine, name="old-name.jsonl"), ([100], []))
        days, (notice,) = here(line)
        self.assertEqual(days, [])
        self.assertIn("--adopt", notice)
        self.assertEqual(here(line, name="colleague.jsonl"), ([], []))

    def test_aside(self):
        """What several machines did, or GPUs that were held back, is no time
        of a machine: it is listed, named, and nothing is advised by it."""
        line = dict(best("pythia-1b", "quartermaster"), gpus=2, days=3.25,
                    step=dict(mean_s=0.1, min_s=0.1, max_s=0.1),
                    machine=harness.machine())
        more = (("together", dict(nodes=2, transport="sockets"),
                 "results of 2 machines together", "2 of 2 machines", 2),
                ("machines", dict(transport="host"),
                 "made to exchange in a slower way", "2, held back", 1),
                ("path", dict(transport="host", no_peer=True),
                 "made to exchange in a slower way", "2, held back", 1))
        for name, fields, sentence, words, machines in more:
            with self.subTest(name):
                self.user_file("measurements/mine.jsonl",
                               json.dumps(line | fields) + "\n")
                done = self.run_program("advise", "--model", "pythia-1b",
                                        "--gpu", H200, "--times-of",
                                        "quartermaster", "--time-factor", "1",
                                        "--json", expect=0)
                self.assertNotIn(3.25, [one["days"] for one in
                                     done.json["candidates"]])
                self.assertFalse([one for one in done.json["candidates"]
                                  if one["here"] or one["gpus"] == 2 and
                                  one["provenance"] == "measured"])
                said, = done.json["notices"]
                self.assertIn(sentence, said["message"])
                listed = self.run_program("catalog", "measurements", "--json",
                                          expect=0).json["measurements"]
                one, = [one for one in listed if one["days"] == 3.25]
                self.assertEqual(one["machines"], machines)
                self.assertEqual(one["aside"],
                                 "machines" if machines > 1 else "path")
                self.assertEqual({one["aside"] for one in listed
                                  if one["days"] != 3.25}, {None})
                text = self.run_program("catalog", "measurements",
                                        expect=0).text
                self.assertIn(words, text)

    def test_whose(self):
        self.user_file("prices.csv", PRICE)
        ask = ("--model", "pythia-1b", "--budget", "40k")
        for arguments, engine in (((), "pytorch"),
                                  (("--times-of", "pytorch"), "pytorch"),
                                  (("--times-of=quartermaster",),
                                   "quartermaster")):
            answer = self.ask(*ask, *arguments)
            self.assertEqual(answer["question"]["times_of"], engine)
            one = self.place(answer)
            wanted = best("pythia-1b", engine)
            self.assertAlmostEqual(one["days"], wanted["days"], 5)
            self.assertEqual((one["provenance"], one["engine"],
                              one["measured_on"]),
                             ("measured", engine, "2026-11-21"))
            self.assertTrue(one["eligible"])
            if engine == "pytorch":
                other = self.place(answer, "h100-80gb-sxm", 1)
                self.assertTrue(other["eligible"])
        self.assertEqual(answer["recommendation"]["gpu"], H200)

        answer = self.ask(*ask, "--as-in-the-paper")
        self.assertEqual({one["provenance"] for one in answer["candidates"]},
                         {"published"})

    def test_text(self):
        self.user_file("prices.csv", PRICE)
        text = self.run_program("advise", "--model", "pythia-1b", "--times-of",
                                "quartermaster", expect=0).text
        self.assertRegex(text, r"Buy 1 × H200 SXM 141GB: \$32,000 \(a price \d+ "
                               r"years old\), 40 days")
        self.assertIn("no time of Quartermaster is known there and those of "
                      "other software are not comparable: ",
                      " ".join(text.split()))
        self.assertIn("the only machine with a known time of Quartermaster",
                      text)
        self.assertIn("Training times: measured with Quartermaster 0.1.0, 21 "
                      "November 2026", " ".join(text.split()))
        row, = [line for line in text.splitlines()
                if "H200" in line and "Desktop" in line and "40 days" in line]
        self.assertIn("Quartermaster", row)

    def test_left_out(self):
        """Two levels of software are in no answer together: what was measured
        with other software is left out, and named."""
        self.user_file("prices.csv", PRICE)
        self.user_file("measurements/own.csv", "model,gpu,gpus,settings,"
                       "feasibility,days,provenance,engine,source\n"
                       "pythia-1b,h200-141gb-sxm,4,optimal,feasible,9.7,"
                       "measured,quartermaster,us\n")
        ask = ("--model", "pythia-1b", "--gpu", H200, "--predictions", "none")
        answer = self.ask(*ask)
        self.assertEqual({one["engine"] for one in answer["candidates"]},
                         {"pytorch"})
        self.assertEqual(answer["left_out"],
                         [{"model": "pythia-1b", "gpu": H200, "gpus": 4,
                           "engine": "quartermaster",
                           "why": "other-software"}])
        text = self.run_program("advise", *ask, expect=0).text
        self.assertIn("other software are not comparable: 4 × H200 SXM 141GB "
                      "(Quartermaster). With predictions they take part.",
                      " ".join(text.split()))
        self.assertNotIn("9.7 days", text)
        runs = self.ask("--runs", "pythia-1b=2", *ask[2:])
        self.assertNotIn(4, [one["gpus"] for one in runs["candidates"]])
        self.assertEqual([one["gpus"] for one in runs["left_out"]], [4])

    def test_claimed(self):
        """Where nothing else is known a claim counts, and says so."""
        answer = self.ask("--model", "pythia-1b", "--gpu", H200)
        one = self.place(answer)
        # The middle of $28,000 to $35,000, in a desktop of $1,000.
        self.assertEqual((one["cost_low_usd"], one["cost_usd"],
                          one["cost_high_usd"]), (29000, 32500, 36000))
        self.assertTrue(one["weak_price"] and one["eligible"])
        best = answer["recommendation"]
        self.assertIn("claimed price", best["headline"])
        self.assertIn("costs $29,000 to $36,000", best["reason"])
        self.assertTrue([note for note in best["notes"]
                         if "H200 SXM 141GB: no dealer’s price" in note])

    def test_own_results(self):
        """A user's results go before the shipped ones of the same place."""
        own = dict(best("pythia-1b", "pytorch"), days=45.5,
                   time="2026-12-01T00:00:00Z")
        self.user_file("measurements/results.jsonl", json.dumps(own) + "\n")
        one = self.place(self.ask("--model", "pythia-1b"))
        self.assertEqual((one["days"], one["source"], one["measured_on"]),
                         (45.5, "results.jsonl, line 1", "2026-12-01"))

    def test_reported(self):
        """What others reported is called so, with its settings."""
        self.user_file("measurements/mine.csv", """\
model,gpu,gpus,settings,feasibility,days,provenance,source
pythia-1b,rtx3090,1,eager,feasible,500,reported,https://example.org/reported
""")
        line, = (line for line in self.run_program(
            "catalog", "measurements", "--sources", expect=0).text.splitlines()
            if line.endswith("https://example.org/reported"))
        self.assertRegex(line, r" eager +500 .* reported ")

    def test_notices(self):
        """What is left out is noted, and nothing else is lost."""
        line = json.dumps(dict(best("pythia-1b", "pytorch"), days=45.5))
        other = json.dumps(dict(best("pythia-1b", "pytorch"), gpu=None,
                                device={"name": "My GPU",
                                        "architecture": 90}))
        path = self.user_file("measurements/results.jsonl",
                              line + "\n" + other + "\n" + line[:40])
        result = self.run_program("advise", "--model", "pythia-1b", "--json",
                                  "--time-factor", "1",
                                  expect=0)
        notices = result.json["notices"]
        self.assertEqual([(one["file"], one["line"]) for one in notices],
                         [(path, None), (path, 2)])
        self.assertIn("was not finished", notices[0]["message"])
        self.assertIn("'My GPU'", notices[1]["message"])
        self.assertEqual(result.json["problems"], [])
        self.assertEqual(result.complaint.count("\n"), 2)
        self.assertTrue(all(one.startswith("note: ")
                            for one in result.complaint.splitlines()))
        self.assertEqual(self.place(result.json)["days"], 45.5)

    def test_refused(self):
        """A wrong line in the middle: the file is out, with the line."""
        line = json.dumps(dict(best("pythia-1b", "pytorch"), days=45.5))
        path = self.user_file("measurements/results.jsonl",
                              line + "\n" + line[:40] + "\n" + line + "\n")
        result = self.run_program("advise", "--model", "pythia-1b", "--json",
                                  "--time-factor", "1",
                                  expect=0)
        problem, = result.json["problems"]
        self.assertEqual((problem["file"], problem["line"]), (path, 2))
        self.assertRegex(result.complaint,
                         r"^warning: .*results\.jsonl:2:\d+: .+\n$")
        self.assertNotEqual(self.place(result.json)["days"], 45.5)

    def test_bad_whose(self):
        result = self.run_program("advise", "--model", "pythia-1b",
                                  "--times-of", "torch", expect=2)
        self.assertIn("pytorch", result.complaint)

    def test_plot(self):
        self.user_file("prices.csv", PRICE)
        drawn = self.run_program("plot", "--model", "pythia-1b", "--times-of",
                                 "quartermaster", "--format", "svg", "-o", "-",
                                 expect=0)
        self.assertIn(b"<svg", drawn.out)


if __name__ == "__main__":
    harness.main()
