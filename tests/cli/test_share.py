# SPDX-License-Identifier: Apache-2.0
"""What was measured here is shown, and given away only by who says so.

The catalog has results of an H200 that are made up for tests.
"""

import json
import os
import re
import socket

import harness

HOST = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname().split(".")[0])
SECRET = "secret-project"
MODELS = ("pythia-160m", "pythia-1b")


class ShareTest(harness.CommandLineTest):
    def setUp(self):
        super().setUp()
        path = os.path.join(harness.CATALOG, "measurements/h200-test.jsonl")
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.lines = [dict(line, machine=harness.machine(), note=SECRET)
                      for line in lines if line["model"] in MODELS]
        self.lines += [line for line in lines if line["status"] != "measured"]
        self.own = self.user_file("measurements/%s.jsonl" % HOST, "".join(
            json.dumps(line) + "\n" for line in self.lines))
        self.given = [line for line in self.lines if line["model"] in MODELS]

    def share(self, *arguments, expect=0, **more):
        return self.run_program("share", *arguments, expect=expect, **more)

    def written(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            head, *results = map(json.loads, file)
        return head, results

    def test_shown_before_it_is_written(self):
        text = self.share().text
        self.assertEqual(len(re.findall("^pythia-", text, re.M)),
                         len(self.given))
        for said in ("1 × NVIDIA H200", "Quartermaster 0.1.0, driver 580.95.05",
                     "PyTorch ", "Free lunch, micro-batch 64", "6.8 days",
                     "2026-11-21", "CC0 1.0", "A result to share",
                     "--sign-off"):
            self.assertIn(said, " ".join(text.split()))
        for hidden in (SECRET, harness.machine()["id"], "mamba"):
            self.assertNotIn(hidden, text)
        self.assertEqual(os.listdir(self.home).count("shared.jsonl"), 0)
        self.assertIn("Quartermaster 0.1.0",
                      self.share(env={"COLUMNS": "160"}).text)
        for line in self.share(env={"COLUMNS": "60"}).text.splitlines():
            self.assertLessEqual(len(line), 60)

    def test_machines(self):
        line = dict(next(line for line in self.given), gpus=4, nodes=2)
        self.user_file("measurements/%s.jsonl" % HOST, json.dumps(line) + "\n")
        self.assertIn("2 machines of 2 × NVIDIA H200",
                      " ".join(self.share().text.split()))
        self.share("--sign-off", "-o", "shared.jsonl")
        self.assertEqual(self.written("shared.jsonl")[1][0]["nodes"], 2)

    def test_written(self):
        result = self.share("--sign-off", "-o", "shared.jsonl")
        self.assertIn("Written: shared.jsonl", result.text)
        head, results = self.written("shared.jsonl")
        self.assertEqual(head["results"], len(self.given))
        self.assertEqual([line["days"] for line in results],
                         [line["days"] for line in self.given])
        self.assertNotIn(SECRET, json.dumps(results))
        self.assertNotIn("machine", results[0])
        # Of a model of one's own nothing is given away.
        more = self.user_file("more.jsonl", "".join(
            json.dumps(line) + "\n" for line in
            [*self.lines, dict(self.lines[0], model="/home/me/" + SECRET)]))
        plain = self.share("--results", more, "--sign-off", "-o", "-").out
        with open(self.path("shared.jsonl"), "rb") as file:
            self.assertEqual(file.read(), plain)
        # The next one takes its place.
        self.share("--sign-off", "-o", "shared.jsonl", "--model", "pythia-1b")
        _, results = self.written("shared.jsonl")
        self.assertEqual({line["model"] for line in results}, {"pythia-1b"})

    def test_only_who_signs(self):
        self.refuse("share", "-o", "shared.jsonl", says="CC0 1.0")
        self.refuse("share", "--sign-off", says="--output")
        self.refuse("share", "--model", "pythia-1", says="pythia-1b")
        self.refuse("share", "--results", "missing", says="missing")
        self.assertFalse(os.path.exists(self.path("shared.jsonl")))

    def test_nothing_is_lost(self):
        """What was measured is no file to share, though it looks like one."""
        with open(self.own, "rb") as file:
            before = file.read()
        self.refuse("share", "--sign-off", "-o", self.own, says="--force")
        with open(self.own, "rb") as file:
            self.assertEqual(file.read(), before)
        self.refuse("share", "--sign-off", "-o", "nowhere/x", says="nowhere")

    def test_nothing_to_share(self):
        result = self.share("--model", "vit-large", expect=1)
        self.assertIn("nothing was measured here", result.complaint)
        os.remove(self.own)
        result = self.share("--sign-off", "-o", "shared.jsonl", expect=1)
        self.assertIn("nothing was measured here", result.complaint)
        self.assertFalse(os.path.exists(self.path("shared.jsonl")))

    def test_hostile_results(self):
        for version in ("\x1b[2J", "<a href>", "/home/me"):
            bad = dict(self.lines[0], version=version)
            name = self.user_file("bad.jsonl", json.dumps(bad) + "\n")
            self.refuse("share", "--results", name, "--sign-off", "-o", "x",
                        says="version")
            self.assertFalse(os.path.exists(self.path("x")))
        name = self.user_file("worse.jsonl", "[" * 10000 + "\n")
        self.refuse("share", "--results", name, says="worse.jsonl:1")


if __name__ == "__main__":
    harness.main()
