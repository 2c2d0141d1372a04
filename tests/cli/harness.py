# SPDX-License-Identifier: Apache-2.0
"""Runs the real program as a user would, in an environment of its own.

Each test file is started with the program's path and the shipped catalog's
directory as arguments.
"""

import array
import atexit
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = ""
CATALOG = ""

# What a sanitizer is told reaches the program; nothing else does.
KEPT = ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS")

# To look for leaks takes a third of what a command takes; so where there are many,
# not each is looked at.
LEAKS_EVERY = 1 if os.environ.get("QM_TEST_FULL") else 4
COMMANDS = itertools.count()

# The qm-bench that is asked, if not the one beside the program.  Watched for memory
# errors it takes ten times as long, and has tests of its own that watch it.
BENCH = os.environ.get("QM_TEST_BENCH")

# The program as ready.c is it, for short commands whose environment changes in
# nothing but these; where all is tested, each is started as a user would.
READY = None if os.environ.get("QM_TEST_FULL") else os.environ.get("QM_TEST_READY")
READY_CHANGES = {"QUARTERMASTER_BENCH", "QUARTERMASTER_DATA_DIR",
                 "SOURCE_DATE_EPOCH"}

# What must never appear on standard error, whatever the arguments.
CRASHES = (b"Sanitizer", b"runtime error", b"CRITICAL", b"GLib", b"Gtk",
           b"assertion", b"(process:")


class Result:
    """How one run of the program ended."""

    def __init__(self, arguments, code, out, err):
        self.arguments = arguments
        self.code = code
        self.out = out
        self.err = err

    @property
    def text(self):
        return self.out.decode("utf-8")

    @property
    def complaint(self):
        return self.err.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.out.decode("utf-8"))

    def __str__(self):
        return ("quartermaster %s\nexit status %s\nstandard output:\n%s\n"
                "standard error:\n%s"
                % (" ".join(map(repr, self.arguments))[:500], self.code,
                   self.out[-3000:].decode("utf-8", "replace"),
                   self.err[-3000:].decode("utf-8", "replace")))


class Ready:
    """The program, loaded once; each command is a child of it."""

    one = None

    def __init__(self, environment):
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([READY], stdin=theirs,
                                            env=environment)
        self.socket.settimeout(400)
        atexit.register(self.end)

    def end(self):
        self.socket.close()
        self.process.wait(10)

    def run(self, arguments, environment, folder):
        words = [os.fsencode(word) for word in (PROGRAM, *arguments)]
        variables = [os.fsencode("%s=%s" % one) for one in environment.items()]
        text = b"".join(word + b"\0" for word in
                        (os.fsencode(folder), *words, *variables))
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            self.socket.sendmsg(
                [struct.pack("=III", len(text), len(words), len(variables))],
                [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                  array.array("i", (out.fileno(), err.fileno())))])
            self.socket.sendall(text)
            status, = struct.unpack("=i", self.socket.recv(4, socket.MSG_WAITALL))
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(
                words, os.waitstatus_to_exitcode(status), out.read(), err.read())


class CommandLineTest(unittest.TestCase):
    """A test with a home of its own and no display."""

    maxDiff = None

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="quartermaster-test-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        with open(self.path("machine-id"), "w", encoding="ascii") as file:
            file.write(MACHINE_ID + "\n")

    def path(self, *names):
        return os.path.join(self.home, *names)

    def user_file(self, name, text):
        """Writes a file of the user's catalog and returns its path."""
        path = self.path("data", "quartermaster", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def environment(self, **changes):
        environment = {name: os.environ[name] for name in KEPT
                       if name in os.environ}
        if "ASAN_OPTIONS" in environment and next(COMMANDS) % LEAKS_EVERY:
            environment["ASAN_OPTIONS"] += ":detect_leaks=0"
        environment.update(HOME=self.home, LC_ALL="C.UTF-8",
                           XDG_DATA_HOME=self.path("data"),
                           XDG_CACHE_HOME=self.path("cache"),
                           QUARTERMASTER_DATA_DIR=CATALOG,
                           QUARTERMASTER_MACHINE_ID=self.path("machine-id"),
                           G_DEBUG="fatal-warnings")
        if BENCH:
            environment["QUARTERMASTER_BENCH"] = BENCH
        environment.update(changes)
        return {name: value for name, value in environment.items()
                if value is not None}

    def run_program(self, *arguments, stdout=subprocess.PIPE, expect=None,
                    env=None, **options):
        environment = self.environment(**(env or {}))
        if (READY and not options and stdout == subprocess.PIPE
                and all(name in READY_CHANGES and value is not None
                        for name, value in (env or {}).items())):
            if Ready.one is None:
                Ready.one = Ready(environment)
            # The program would look beside itself.
            environment.setdefault("QUARTERMASTER_BENCH", os.path.join(
                os.path.dirname(PROGRAM), "qm-bench"))
            done = Ready.one.run(arguments, environment, self.home)
        else:
            done = subprocess.run([PROGRAM, *arguments],
                                  stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=subprocess.PIPE, env=environment,
                                  cwd=self.home, timeout=400, check=False,
                                  **options)
        result = Result(arguments, done.returncode, done.stdout or b"",
                        done.stderr)
        for word in CRASHES:
            self.assertNotIn(word, result.err, str(result))
        if expect is None:
            self.assertIn(result.code, (0, 1, 2), str(result))
        else:
            self.assertEqual(result.code, expect, str(result))
        return result

    def ask(self, *arguments, expect=0, **options):
        """Runs "advise --json"; nothing may be said on standard error."""
        result = self.run_program("advise", *arguments, "--json",
                                  expect=expect, **options)
        self.assertEqual(result.err, b"", str(result))
        return result.json

    def refuse(self, *arguments, says=(), **options):
        """Runs the program with bad input: exit status 2, nothing on standard
        output, one line on standard error that holds every word of `says`."""
        result = self.run_program(*arguments, expect=2, **options)
        self.assertEqual(result.out, b"", str(result))
        self.assertEqual(result.err.count(b"\n"), 1, str(result))
        self.assertTrue(result.err.endswith(b"\n"), str(result))
        self.assertTrue(result.err.startswith(b"quartermaster: "), str(result))
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, result.complaint, str(result))
        for byte in result.err[:-1]:
            self.assertGreaterEqual(byte, 0x20, str(result))
            self.assertNotEqual(byte, 0x7f, str(result))
        return result


MACHINE_ID = "0123456789abcdef0123456789abcdef"


def pdf_objects(data):
    """The objects of a PDF that can be read, those too that Cairo 1.18 packs
    into streams."""
    packed = re.findall(rb"/Type /ObjStm\b.*?stream\r?\n(.*?)endstream", data,
                        re.DOTALL)
    return b"\n".join([data] + [zlib.decompressobj().decompress(stream)
                                for stream in packed])


def machine():
    """What results of the machine with MACHINE_ID say of it."""
    text = "quartermaster machine " + MACHINE_ID
    return {"id": hashlib.sha256(text.encode()).hexdigest()[:32], "gpus": []}


def main():
    global PROGRAM, CATALOG
    if len(sys.argv) < 3:
        sys.exit("usage: %s PROGRAM CATALOG [UNITTEST ARGUMENT...]"
                 % sys.argv[0])
    module = sys.modules["__main__"]
    harness = sys.modules["harness"]
    harness.PROGRAM = os.path.abspath(sys.argv[1])
    harness.CATALOG = os.path.abspath(sys.argv[2])
    unittest.main(module=module, argv=[sys.argv[0], *sys.argv[3:]])
