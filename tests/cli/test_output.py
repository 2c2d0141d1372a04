# SPDX-License-Identifier: Apache-2.0
"""Help, terminals, and what happens where output cannot be written."""

import os
import pty
import signal
import subprocess

import harness

ASK = ("advise", "--model", "pythia-1b", "--budget", "40000")
EVERY_COMMAND = (ASK, (*ASK, "--json"), ("catalog", "gpus"),
                 ("catalog", "models", "--json"), ("help",),
                 ("advise", "--help"), ("--version",),
                 ("plot", "--model", "pythia-1b", "-o", "-", "--format",
                  "svg"))


class HelpTest(harness.CommandLineTest):
    def test_overview(self):
        text = self.run_program("help", expect=0).text
        for word in ("advise", "plot", "catalog", "Exit status"):
            self.assertIn(word, text)
        for same in ("--help", "-h"):
            self.assertEqual(self.run_program(same, expect=0).text, text)
        self.assertEqual(self.run_program("help", "help", expect=0).text, text)

    def test_each_command(self):
        asked = ["--model", "--runs", "--at-once", "--budget", "--deadline",
                 "--deadline-per-run", "--currency", "--tax", "--gross",
                 "--machine-least", "--machine-most", "--gpu", "--gpus", "--machine", "--room", "--any-price",
                 "--settings", "--lifetime", "--time-factor", "--help"]
        for command, options in (
                ("advise", asked + ["--json"]),
                ("plot", asked + ["--kind", "--log", "-o", "--output",
                                  "--format", "--size", "--theme"]),
                ("catalog", ["--json", "--sources", "gpus", "machines",
                             "models", "prices", "measurements"])):
            text = self.run_program("help", command, expect=0).text
            for option in options:
                self.assertIn(option, text)
            self.assertIn("quartermaster %s" % command, text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 100, line)
            for arguments in ((command, "--help"), (command, "-h"),
                              (command, "--help", "--json")):
                if arguments[-1] == "--json" and command == "plot":
                    continue
                result = self.run_program(*arguments, expect=0)
                self.assertEqual(result.text, text)
                self.assertEqual(result.err, b"")

    def test_version(self):
        text = self.run_program("--version", expect=0).text
        self.assertRegex(text, r"^quartermaster \d+\.\d+\.\d+\n$")

    def test_examples_work(self):
        """What the help shows can be typed."""
        lines = self.run_program("help", expect=0).text.splitlines()
        shown = [line.split()[1:] for line in lines
                 if line.startswith("  quartermaster ")
                 and "COMMAND" not in line]
        self.assertGreaterEqual(len(shown), 4)
        for arguments in shown:
            self.run_program(*arguments, expect=0)


class BrokenOutputTest(harness.CommandLineTest):
    def test_full_disk(self):
        for arguments in EVERY_COMMAND:
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                self.refuse(*arguments, stdout=full,
                            says=("standard output", "No space left"))

    def test_closed_output(self):
        for arguments in EVERY_COMMAND:
            with self.subTest(arguments):
                done = subprocess.run(
                    ["/bin/sh", "-c", 'exec "$@" >&-', "sh", harness.PROGRAM,
                     *arguments], stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, env=self.environment(),
                    cwd=self.home, timeout=120, check=False)
                self.assertEqual(done.returncode, 2, done)
                self.assertEqual(done.stderr.count(b"\n"), 1, done)
                self.assertIn(b"standard output", done.stderr)

    def test_every_descriptor_closed(self):
        done = subprocess.run(
            ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", harness.PROGRAM,
             "plot", "--model", "pythia-1b", "-o", "x.svg"],
            env=self.environment(), cwd=self.home, timeout=120, check=False)
        self.assertEqual(done.returncode, 0)
        with open(self.path("x.svg"), encoding="utf-8") as file:
            self.assertTrue(file.read().rstrip().endswith("</svg>"))

    def closed_pipe(self):
        reading, writing = os.pipe()
        os.close(reading)
        return os.fdopen(writing, "wb")

    def test_closed_pipe(self):
        """As with "| head": the signal ends the program, without a word."""
        for arguments in EVERY_COMMAND:
            with self.subTest(arguments), self.closed_pipe() as pipe:
                result = self.run_program(*arguments, stdout=pipe,
                                          expect=-signal.SIGPIPE)
                self.assertEqual(result.err, b"")

    def test_closed_pipe_without_signal(self):
        for arguments in EVERY_COMMAND:
            with self.subTest(arguments), self.closed_pipe() as pipe:
                self.refuse(*arguments, stdout=pipe, restore_signals=False,
                            says=("standard output", "Broken pipe"))


class TerminalTest(harness.CommandLineTest):
    def on_terminal(self, *arguments, **env):
        """What the program writes to a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([harness.PROGRAM, *arguments],
                                   stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=subprocess.PIPE, cwd=self.home,
                                   env=self.environment(**env))
        os.close(theirs)
        written = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            written += chunk
        os.close(ours)
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=120), 0, err)
        self.assertEqual(err, b"")
        return written.decode("utf-8")

    def test_colours(self):
        text = self.on_terminal(*ASK, TERM="xterm")
        self.assertIn("\033[1;32m→", text)
        self.assertEqual(text.count("\033[") % 2, 0)
        self.assertIn("\033[", self.on_terminal(*ASK, TERM="xterm",
                                                NO_COLOR=""))
        for env in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
            self.assertNotIn("\033", self.on_terminal(*ASK, **env))
        self.assertNotIn(b"\033", self.run_program(
            *ASK, env={"TERM": "xterm"}).out)
        self.assertNotIn("\033", self.on_terminal(*ASK, "--json",
                                                  TERM="xterm"))

    def test_width(self):
        """Without a size a terminal counts as 80 columns wide."""
        for line in self.on_terminal(*ASK).splitlines():
            self.assertLessEqual(len(line), 80, line)
        wide = self.on_terminal(*ASK, COLUMNS="130")
        self.assertIn("GPU server for 8 GPUs", wide)


if __name__ == "__main__":
    harness.main()
