# SPDX-License-Identifier: Apache-2.0
"""Files that are not ours, given to every option that takes one.

Whatever is named, no file changes but one that was named as output and is
empty, of the kind that is written there, or to be replaced by force; then it is
either as it was or whole.  Nothing waits for a pipe.  QM_TEST_FULL=1 tries all
kinds of files with all options, otherwise three of them with each.
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import unittest
import zipfile

import harness
from quotes import OFFER, QuotesTest

FULL = os.environ.get("QM_TEST_FULL") == "1"
LIMIT_S = 30
WAIT_S = 2

# A model of a second.
CONFIG = dict(model_type="gpt_neox", vocab_size=256, hidden_size=32,
              num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=64, max_position_embeddings=64,
              hidden_act="gelu", rotary_pct=0.25, layer_norm_eps=1e-5)
RECIPE = dict(batch_size=8, steps=100, sequence_length=16, precision="fp32",
              optimizer="adamw", learning_rate=3e-3, beta1=0.9, beta2=0.95,
              epsilon=1e-8, weight_decay=0.01, max_grad_norm=1.0)
TINY = ("--config", "{own}/config.json", "--recipe", "{own}/recipe.json")
SMALL = (*TINY, "--device", "cpu")
MODEL = ("--model", "pythia-1b")

# What is run on a file; "{own}" has files of the right kind.
INPUTS = {
    ("advise", "store"): ("advise", *MODEL, "--store", "{}"),
    ("advise", "ownership-file"):
        ("advise", *MODEL, "--ownership-file", "{}"),
    ("plot", "store"):
        ("plot", *MODEL, "--format", "svg", "-o", "-", "--store", "{}"),
    ("plot", "ownership-file"):
        ("plot", *MODEL, "--format", "svg", "-o", "-", "--ownership-file",
         "{}"),
    ("extract", "FILE"): ("extract", "{}"),
    ("extract", "rules"): ("extract", "{own}/page.html", "--rules", "{}"),
    ("quotes import", "FILE"): ("quotes", "import", "{}", "--dry-run"),
    ("quotes import", "store"):
        ("quotes", "import", "{own}/offer.csv", "--store", "{}"),
    ("quotes list", "store"): ("quotes", "list", "--store", "{}"),
    ("quotes show", "store"): ("quotes", "show", "1", "--store", "{}"),
    ("quotes answer", "store"):
        ("quotes", "answer", "1", "1:rent=no", "--store", "{}"),
    ("quotes compare", "store"):
        ("quotes", "compare", "1", "2", "--store", "{}"),
    ("quotes export", "store"):
        ("quotes", "export", "1", "--format", "csv", "--store", "{}"),
    ("quotes delete", "store"): ("quotes", "delete", "1", "--store", "{}"),
    ("quotes restore", "store"): ("quotes", "restore", "1", "--store", "{}"),
    ("quotes backups", "store"):
        ("quotes", "backups", "--restore", "newest", "--store", "{}"),
    ("quotes backups", "accept"):
        ("quotes", "backups", "--accept", "--store", "{}"),
    ("quotes fetch", "store"): ("quotes", "fetch", "--list", "--store", "{}"),
    ("quotes fetch", "add"):
        ("quotes", "fetch", "--add", "http://127.0.0.1:9/", "--store", "{}"),
    ("quotes fetch", "all"): ("quotes", "fetch", "--store", "{}"),
    ("quotes rates", "store"):
        ("quotes", "rates", "show", "EUR", "USD", "--store", "{}"),
    ("quotes rates", "update"):
        ("quotes", "rates", "update", "--address", "http://127.0.0.1:9/",
         "--store", "{}"),
    ("quotes history", "store"):
        ("quotes", "history", "h100-80gb-sxm", "--store", "{}"),
}
OUTPUTS = {
    ("proposal", "acceptance"):
        ("proposal", *MODEL, "--acceptance", "{}"),
    ("quotes request", "acceptance"):
        ("quotes", "request", *MODEL, "--acceptance", "{}"),
    ("plot", "output"):
        ("plot", *MODEL, "--format", "svg", "-o", "{}"),
    ("plot", "force"):
        ("plot", *MODEL, "--format", "svg", "--force", "-o", "{}"),
    # A vendor's own table looks like one of ours: it stays, too.
    ("quotes export", "output"):
        ("quotes", "export", "1", "--format", "csv", "-o", "{}"),
    ("quotes export", "force"):
        ("quotes", "export", "1", "--format", "csv", "--force", "-o", "{}"),
}
BENCH_INPUTS = {
    ("plan", "config"):
        ("plan", "--config", "{}", "--recipe", "{own}/recipe.json"),
    ("plan", "recipe"):
        ("plan", "--config", "{own}/config.json", "--recipe", "{}"),
    ("predict", "config"):
        ("predict", "--config", "{}", "--recipe", "{own}/recipe.json",
         "--gpu", "rtx4090"),
    ("predict", "recipe"):
        ("predict", "--config", "{own}/config.json", "--recipe", "{}",
         "--gpu", "rtx4090"),
    ("predict", "speeds"):
        ("predict", "--model", "pythia-160m", "--gpu", "rtx4090", "--speeds",
         "{}"),
    ("predict", "links"):
        ("predict", "--model", "pythia-160m", "--gpu", "rtx4090", "--gpus", "2",
         "--links", "{}"),
    ("run", "config"): ("run", "--config", "{}", "--recipe",
                        "{own}/recipe.json", "--device", "cpu"),
    ("run", "recipe"): ("run", "--config", "{own}/config.json", "--recipe",
                        "{}", "--device", "cpu"),
    ("check", "config"):
        ("check", "--config", "{}", "--weights", "{own}/none", "--batch",
         "{own}/none"),
    ("check", "weights"):
        ("check", "--config", "{own}/config.json", "--weights", "{}",
         "--batch", "{own}/none"),
    ("check", "batch"):
        ("check", "--config", "{own}/config.json", "--weights", "{own}/none",
         "--batch", "{}"),
    ("train", "config"):
        ("train", "--config", "{}", "--recipe", "{own}/recipe.json",
         "--device", "cpu", "--text", "{own}/text", "--steps", "1"),
    ("train", "recipe"):
        ("train", "--config", "{own}/config.json", "--recipe", "{}",
         "--device", "cpu", "--text", "{own}/text", "--steps", "1"),
    ("train", "weights"):
        ("train", *SMALL, "--text", "{own}/text", "--steps", "1",
         "--weights", "{}"),
    ("train", "text"): ("train", *SMALL, "--steps", "1", "--text", "{}"),
    ("train", "tokens"): ("train", *SMALL, "--steps", "1", "--tokens", "{}"),
    ("train", "images"): ("train", *SMALL, "--steps", "1", "--images", "{}"),
    ("search", "config"):
        ("search", "--config", "{}", "--recipe", "{own}/recipe.json",
         "--device", "cpu", "--dry-run", "--results", "{own}/new.jsonl"),
    ("search", "recipe"):
        ("search", "--config", "{own}/config.json", "--recipe", "{}",
         "--device", "cpu", "--dry-run", "--results", "{own}/new.jsonl"),
    ("search", "links"):
        ("search", *SMALL, "--gpus", "2", "--links", "{}", "--dry-run",
         "--results", "{own}/new.jsonl"),
    ("results", "FILE"): ("results", "{}"),
    ("share", "FILE"):
        ("share", "{}", "--sign-off", "--out", "{own}/shared.json"),
    ("share", "audit"): ("share", "--audit", "{}"),
    ("share", "take"): ("share", "--take", "{own}", "{}"),
    ("accept", "against"):
        ("accept", "--against", "{}", "--device", "cpu", "--load", "0"),
    ("export", "config"):
        ("export", "--config", "{}", "--recipe", "{own}/recipe.json"),
    ("export", "recipe"):
        ("export", "--config", "{own}/config.json", "--recipe", "{}"),
    ("export", "result"): ("export", "--result", "{}"),
    ("framework", "config"):
        ("framework", "--config", "{}", "--recipe", "{own}/recipe.json"),
    ("framework", "recipe"):
        ("framework", "--config", "{own}/config.json", "--recipe", "{}"),
}
BENCH_OUTPUTS = {
    # Without a GPU nothing is written.
    ("calibrate", "out"): ("calibrate", "--device", "cpu", "--out", "{}"),
    ("train", "out"):
        ("train", *SMALL, "--text", "{own}/text", "--steps", "1", "--out",
         "{}"),
    ("check", "out"):
        ("check", "--config", "{own}/config.json", "--weights", "{own}/none",
         "--batch", "{own}/none", "--out", "{}"),
    ("export", "out"): ("export", *TINY, "--micro-batch", "1", "--out", "{}"),
    ("results", "merge"): ("results", "{own}/results.jsonl", "--merge", "{}"),
    ("share", "out"):
        ("share", "{own}/results.jsonl", "--sign-off", "--out", "{}"),
    ("train", "force"):
        ("train", *SMALL, "--text", "{own}/text", "--steps", "1", "--force",
         "--out", "{}"),
    ("export", "force"): ("export", *TINY, "--micro-batch", "1", "--force",
                          "--out", "{}"),
    ("results", "force"):
        ("results", "{own}/results.jsonl", "--force", "--merge", "{}"),
    ("share", "force"):
        ("share", "{own}/results.jsonl", "--sign-off", "--force", "--out",
         "{}"),
}
# Files that grow: what is no file of results is refused.
BENCH_GROWING = {
    ("search", "results"):
        ("search", *SMALL, "--methods", "naive", "--results", "{}"),
    ("framework", "results"): ("framework", *SMALL, "--results", "{}"),
}
# Documents may come through a pipe, also from somebody who begins later.
WAITING = {("advise", "ownership-file"), ("plot", "ownership-file"),
           ("extract", "FILE"), ("quotes import", "FILE")}
# Worked by the program itself, not by people.
BENCH_INTERNAL = {"worker"}


def make_database(path, journal):
    base = sqlite3.connect(path)
    base.execute("PRAGMA application_id = 1234")
    base.execute("PRAGMA journal_mode = %s" % journal)
    base.execute("CREATE TABLE quotes (id INTEGER, text TEXT)")
    base.execute("INSERT INTO quotes VALUES (1, 'not ours')")
    base.commit()
    return base


class Foreign:
    """A folder of files of other programs."""

    def __init__(self, folder):
        self.folder = folder
        os.mkdir(folder)
        self.write("text", b"Dear diary,\nnothing happened.\n")
        self.write("empty", b"")
        self.write("image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(200))
        with zipfile.ZipFile(self.path("archive"), "w") as archive:
            archive.writestr("a", "b")
        make_database(self.path("database"), "DELETE").close()
        # As somebody leaves it who is still writing.
        writer = make_database(self.path("written"), "WAL")
        for name in ("written", "written-wal"):
            shutil.copy(self.path(name), self.path(name + "-copy"))
        writer.close()
        for name in ("written", "written-wal"):
            os.replace(self.path(name + "-copy"), self.path(name))
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        self.write("locked", b"may only be read\n")
        os.chmod(self.path("locked"), 0o444)

    kinds = ("text", "pipe", "database", "empty", "image", "written",
             "archive", "folder", "locked")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def state(self):
        """Everything of every file, but when it was read."""
        found = {}
        for root, folders, names in os.walk(self.folder):
            for name in folders + names:
                path = os.path.join(root, name)
                status = os.lstat(path)
                digest = None
                if stat.S_ISREG(status.st_mode):
                    with open(path, "rb") as file:
                        digest = hashlib.sha256(file.read()).hexdigest()
                found[os.path.relpath(path, self.folder)] = (
                    status.st_mode, status.st_ino, status.st_size,
                    status.st_mtime_ns, digest)
        return found


class ForeignTest(QuotesTest):
    """Runs the commands, each on some kinds of files."""

    def setUp(self):
        super().setUp()
        own = self.path("own")
        os.mkdir(own)
        for name, data in (("config.json", json.dumps(CONFIG)),
                           ("recipe.json", json.dumps(RECIPE)),
                           ("offer.csv", OFFER), ("text", "a text " * 100),
                           ("page.html", "<html><title>Nothing</title></html>")
                           ):
            self.write("own/" + name, data)
        self.add()
        self.foreign = Foreign(self.path("foreign"))
        self.bench = os.path.join(os.path.dirname(harness.PROGRAM), "qm-bench")

    def kinds_for(self, index):
        kinds = Foreign.kinds
        if FULL:
            return kinds
        rest = kinds[2:]
        return (*kinds[:2], rest[index % len(rest)])

    def run_on(self, program, template, path, limit=LIMIT_S):
        words = [word.replace("{own}", self.path("own")).replace("{}", path)
                 for word in template]
        try:
            done = subprocess.run(
                [program, *words], stdin=subprocess.DEVNULL, cwd=self.home,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                env=self.environment(), timeout=limit)
        except subprocess.TimeoutExpired:
            self.fail("waits for ever: " + " ".join(words))
        self.assertGreaterEqual(done.returncode, 0, (words, done.stderr))
        for word in harness.CRASHES:
            self.assertNotIn(word, done.stderr, words)
        return done

    def each(self, table, check):
        """Runs check (KEY, TEMPLATE, KIND) for some kinds of each."""
        for index, (key, template) in enumerate(table.items()):
            for kind in self.kinds_for(index):
                with self.subTest(command=key, kind=kind):
                    check(key, template, kind)

    def leave_alone(self, program, table):
        def check(key, template, kind):
            before = self.foreign.state()
            if kind == "pipe" and key in WAITING:
                with self.assertRaisesRegex(AssertionError, "waits"):
                    self.run_on(program, template, self.foreign.path(kind),
                                WAIT_S)
                self.assertEqual(self.foreign.state(), before)
                return
            done = self.run_on(program, template, self.foreign.path(kind))
            self.assertEqual(self.foreign.state(), before, done.stderr)
            if "--store" in template:
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(kind, done.stderr.decode())
        self.each(table, check)

    def only_replace(self, program, table):
        def check(_, template, kind):
            before = self.foreign.state()
            done = self.run_on(program, template, self.foreign.path(kind))
            after = self.foreign.state()
            if done.returncode != 0 or after == before:
                self.assertEqual(after, before, done.stderr)
                return
            # What somebody else has written there is lost by force alone.
            if "--force" not in template:
                self.assertEqual(kind, "empty", done.stderr)
            self.assertTrue(stat.S_ISREG(before[kind][0]), done.stderr)
            self.assertTrue(stat.S_ISREG(after[kind][0]), done.stderr)
            self.assertNotEqual(kind, "locked")
            self.assertGreater(after[kind][2], 0)
            for state in (before, after):
                del state[kind]
            self.assertEqual(after, before, done.stderr)
            # The next one finds it as it was.
            shutil.rmtree(self.foreign.folder)
            self.foreign = Foreign(self.foreign.folder)
        self.each(table, check)


    def replaces_its_own(self, program, templates):
        """What a command has written it writes again in the same place."""
        for name, template in templates:
            path = self.path(name)
            with self.subTest(command=template[:2]):
                for _ in range(2):
                    done = self.run_on(program, template, path)
                    self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, "rb") as file:
                    written = file.read()
                self.write("other", b"not ours\n")
                os.replace(self.path("other"), path)
                done = self.run_on(program, template, path)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("--force replaces it", done.stderr.decode())
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), b"not ours\n")
                done = self.run_on(program, (*template, "--force"), path)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, "rb") as file:
                    self.assertEqual(file.read()[:8], written[:8])


class ProgramTest(ForeignTest):
    def test_own_outputs(self):
        self.replaces_its_own(harness.PROGRAM, [
            ("plot." + ending, ("plot", *MODEL, "-o", "{}"))
            for ending in ("svg", "pdf", "png")])

    def test_inputs(self):
        self.leave_alone(harness.PROGRAM, INPUTS)

    def test_outputs(self):
        self.only_replace(harness.PROGRAM, OUTPUTS)

    def test_all_are_here(self):
        """Every option that takes a file is in one of the tables."""
        verbs = ["advise", "plot", "extract", "catalog"]
        listed = self.run_program("quotes", "--help", expect=0).text
        verbs += ["quotes " + name for name in re.findall(
            r"^  ([a-z]+) {2,}", listed, re.MULTILINE)]
        self.assertIn("quotes import", verbs)
        for verb in verbs:
            text = self.run_program("help", *verb.split(), expect=0).text
            for option in re.findall(r"--([a-z-]+)=FILE", text):
                self.assertIn((verb, option), {**INPUTS, **OUTPUTS})

    def test_absent(self):
        """A store that is not there is said, and not made by readers."""
        nowhere = self.path("nowhere.sqlite")
        for key, template in INPUTS.items():
            if key[1] != "store" or key[0] in ("quotes import",
                                               "quotes backups"):
                continue
            with self.subTest(command=key):
                done = self.run_on(harness.PROGRAM, template, nowhere)
                self.assertEqual(done.returncode, 2)
                self.assertIn("nowhere.sqlite", done.stderr.decode())
                self.assertFalse(os.path.exists(nowhere))


class BenchTest(ForeignTest):
    def setUp(self):
        super().setUp()
        done = self.run_on(self.bench, BENCH_GROWING["search", "results"],
                           self.path("own/results.jsonl"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_own_outputs(self):
        self.replaces_its_own(self.bench, [
            ("weights", BENCH_OUTPUTS["train", "out"]),
            ("settings", BENCH_OUTPUTS["export", "out"]),
            ("settings.ds", (*BENCH_OUTPUTS["export", "out"], "--format",
                             "deepspeed")),
            ("results", BENCH_OUTPUTS["results", "merge"])])

    def test_inputs(self):
        self.leave_alone(self.bench, BENCH_INPUTS)

    def test_outputs(self):
        self.only_replace(self.bench, BENCH_OUTPUTS)

    def test_results(self):
        def check(_, template, kind):
            if kind == "empty":
                return
            before = self.foreign.state()
            done = self.run_on(self.bench, template, self.foreign.path(kind))
            self.assertNotEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.foreign.state(), before, done.stderr)
        self.each(BENCH_GROWING, check)

    def test_all_are_here(self):
        overview = subprocess.run([self.bench, "--help"], check=True,
                                  stdout=subprocess.PIPE).stdout.decode()
        verbs = set(re.findall(r"^  ([a-z]+) {2,}", overview, re.MULTILINE))
        self.assertIn("search", verbs)
        tables = {**BENCH_INPUTS, **BENCH_OUTPUTS, **BENCH_GROWING}
        for verb in verbs - BENCH_INTERNAL:
            text = subprocess.run([self.bench, verb, "--help"], check=True,
                                  stdout=subprocess.PIPE).stdout.decode()
            for option in re.findall(r"--([a-z-]+) FILE", text):
                self.assertIn((verb, option), tables)


if __name__ == "__main__":
    harness.main()
