# SPDX-License-Identifier: Apache-2.0
"""quartermaster elsewhere: a benchmark for another machine, whole or not at all,
and what renting GPUs for it costs."""

import decimal
import os
import subprocess

import harness
import reference

ASK = ("elsewhere", "--model", "pythia-1b,vit-large")


class ElsewhereTest(harness.CommandLineTest):

    def text(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def files(self):
        return sorted(name for name in os.listdir(self.home)
                      if name not in ("data", "cache", "machine-id"))

    def test_written(self):
        result = self.run_program(*ASK, "--methods", "naive", "out", expect=0)
        self.assertEqual(result.err, b"")
        self.assertIn("Written: 'out'", result.text)
        self.assertEqual(self.files(), ["out"])
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["README", "data", "lib", "qm-bench", "run.sh"])
        self.assertEqual(sorted(os.listdir(self.path("out", "data", "models"))),
                         ["pythia-1b.json", "vit-large.json"])
        script = self.text("out", "run.sh")
        self.assertIn("pythia-1b,vit-large", script)
        self.assertIn("naive", script)
        self.assertNotIn("--time-limit", script)
        self.assertTrue(os.access(self.path("out", "run.sh"), os.X_OK))
        subprocess.run(["/bin/sh", "-n", self.path("out", "run.sh")],
                       check=True)
        self.assertIn("(methods: naive)", self.text("out", "README"))

    def test_every_model(self):
        self.run_program("elsewhere", "out", "--model", "all", expect=0)
        shown = self.run_program("catalog", "models", "--json", expect=0).json
        self.assertEqual({name + ".json" for name in
                          (one["id"] for one in shown["models"])},
                         set(os.listdir(self.path("out", "data", "models"))))

    def test_of_a_cluster(self):
        self.run_program(*ASK, "out", "--slurm", "--gpus", "a100:2", "--hours",
                         "1.5", "--nodes", "3", "--partition", "gpu-short",
                         "--account", "lab_7", expect=0)
        job = self.text("out", "job.sbatch")
        for line in ("--partition=gpu-short", "--account=lab_7",
                     "--gpus-per-node=a100:2", "--nodes=3", "--time=01:30:00"):
            self.assertIn("\n#SBATCH %s\n" % line, job)

    def test_rent(self):
        """At the cheapest of the newest prices, for an hour or so many."""
        rows = [row for row in reference.Catalog.rows(harness.CATALOG,
                                                      "prices.csv")
                if row["unit"] == "hour"]
        mine = [row for row in rows if row["item"] == "h100-80gb-sxm"]
        newest = {}
        for row in mine:
            other = newest.get(row["source"])
            if other is None or other["observed_on"] < row["observed_on"]:
                newest[row["source"]] = row
        def times(row, gpus, nodes):
            return -(-gpus // int(row["gpus"])) * nodes

        for hours, gpus, nodes, options in (
                (1, 1, 1, ()), (2.5, 1, 1, ("--hours", "2.5")),
                (2, 4, 2, ("--hours", "2", "--slurm", "--gpus", "4",
                           "--nodes", "2")),
                (3, 8, 1, ("--hours", "3", "--slurm", "--gpus", "h100:8"))):
            # What is rented with more than that is rented whole.
            best = min(newest.values(), key=lambda row: float(row["price"])
                       * times(row, gpus, nodes))
            n = times(best, gpus, nodes)
            text = " ".join(self.run_program(
                *ASK, "out%s" % hours, "--gpu", "h100-80gb-sxm", *options,
                expect=0).text.split())
            amount = (decimal.Decimal(best["price"]) * n
                      * decimal.Decimal(hours)).quantize(decimal.Decimal("0.01"),
                                 decimal.ROUND_HALF_UP)
            self.assertIn("To rent %s × H100 SXM5 80GB for %g h costs $%s at "
                          "%s (" % (f"{int(best['gpus']) * n}", hours,
                                    f"{amount:,}", best["source"]), text)
            self.assertGreaterEqual(int(best["gpus"]) * n, gpus * nodes)
        rented = {row["item"] for row in rows}
        other = next(row["id"] for row in reference.Catalog.rows(
            harness.CATALOG, "gpus.csv") if row["id"] not in rented)
        text = self.run_program(*ASK, "other", "--gpu", other, expect=0).text
        self.assertIn("no price at which that GPU is rented",
                      " ".join(text.split()))

    def test_refused(self):
        for arguments, says in (
                (("elsewhere", "out"), "--model"),
                (("elsewhere", "out", "--model", "pythia-1"), "pythia-1b"),
                (ASK, "FOLDER"),
                ((*ASK, "one", "two"), "FOLDER"),
                ((*ASK, "out", "--gpu", "h10"), "unknown GPU"),
                ((*ASK, "out", "--hours", "0"), "--hours"),
                ((*ASK, "out", "--hours", "9000"), "--hours"),
                ((*ASK, "out", "--methods", "some"), "--methods"),
                ((*ASK, "out", "--nodes", "2"), "--slurm"),
                ((*ASK, "out", "--slurm", "--gpus", "1"), "--hours"),
                ((*ASK, "out", "--slurm", "--hours", "1"), "--gpus"),
                ((*ASK, "out", "--slurm", "--hours", "1", "--gpus", "1",
                  "--nodes", "0"), "--nodes"),
                ((*ASK, "out", "--slurm", "--hours", "1", "--gpus",
                  "1;reboot"), "--gpus"),
                ((*ASK, "no\nfolder/out"), "no\\x0afolder"),
                ((*ASK, "missing/out"), "No such file")):
            self.refuse(*arguments, says=says)
        self.assertEqual(self.files(), [])

    def test_never_over_something(self):
        os.mkdir(self.path("there"))
        with open(self.path("file"), "w", encoding="utf-8") as file:
            file.write("mine")
        for name in ("there", "file"):
            self.refuse(*ASK, name, says="already")
        self.assertEqual(os.listdir(self.path("there")), [])
        self.assertEqual(self.text("file"), "mine")

    def test_no_qm_bench(self):
        self.refuse(*ASK, "out", says="qm-bench",
                    env={"QUARTERMASTER_BENCH": "/nowhere/qm-bench"})
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    harness.main()
