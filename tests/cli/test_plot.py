# SPDX-License-Identifier: Apache-2.0
"""quartermaster plot: complete files of every format, or none at all."""

import datetime
import json
import os
import re
import struct
import subprocess
import unittest
import xml.etree.ElementTree
import zlib

import harness

# Fontconfig keeps what it has read, as tests/lsan.supp says; to name the functions
# that asked for it takes most of a second in each command.
if "ASAN_OPTIONS" in os.environ:
    os.environ["ASAN_OPTIONS"] += ":symbolize=0"

FORMATS = ("png", "svg", "pdf")
ASK = ("plot", "--model", "pythia-1b")


def png_size(data):
    """Width and height of a whole PNG; checks every chunk."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, kinds, size = 8, [], None
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        crc, = struct.unpack_from(">I", data, at + 8 + length)
        assert crc == zlib.crc32(kind + body), kind
        kinds.append(kind)
        if kind == b"IHDR":
            size = struct.unpack_from(">II", body)
        at += 12 + length
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND", kinds
    return size


def svg_size(data):
    root = xml.etree.ElementTree.fromstring(data)
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    return tuple(round(float(re.match(r"[\d.]+", root.get(key)).group()))
                 for key in ("width", "height"))


def pdf_size(data):
    assert data[:5] == b"%PDF-" and data.rstrip().endswith(b"%%EOF")
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]",
                    harness.pdf_objects(data))
    return tuple(round(float(side)) for side in box.groups())


SIZES = {"png": png_size, "svg": svg_size, "pdf": pdf_size}


class PlotTest(harness.CommandLineTest):
    def draw(self, name, *arguments, command=ASK, **options):
        """Draws into a file and returns its bytes."""
        result = self.run_program(*command, *arguments, "-o", name, expect=0,
                                  **options)
        self.assertEqual(result.out, b"")
        self.assertEqual(result.err, b"")
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_words(self):
        """A figure tells where it is from, of which day, by which assumptions,
        and who does not see it what it shows."""
        limits = ("--budget", "40k", "--time-factor", "1.25")
        headline = json.loads(self.run_program(
            "advise", *ASK[1:], *limits, "--json").text)["recommendation"][
                "headline"]
        words = {}
        data = self.draw("words.svg", *limits)
        root = xml.etree.ElementTree.fromstring(data)
        name = "{http://www.w3.org/2000/svg}"
        words["svg"] = root.findtext(name + "desc")
        self.assertEqual(root.findtext(name + "title"), "Pythia (1B)")
        told = " ".join(" ".join("".join(one.itertext())
                                 for one in root.iter(name + "text")).split())
        today = datetime.datetime.now(datetime.timezone.utc).date()
        for part in ("Source: Quartermaster", "Budget $40,000;",
                     "time factor 1.25;", "%d %s" % (
                         today.day, today.strftime("%B %Y"))):
            self.assertIn(part, told)
        data = self.draw("words.png", *limits)
        png_size(data)
        words["png"] = re.search(rb"Description\0\0\0\0\0(.*?)....bKGD|"
                                 rb"Description\0\0\0\0\0(.*?)....IDAT",
                                 data, re.DOTALL)
        words["png"] = next(filter(None, words["png"].groups())).decode(
            errors="replace")
        for form, summary in words.items():
            with self.subTest(form=form):
                self.assertIn("Overall cost (USD), Pythia (1B): ", summary)
                self.assertIn(headline, summary)
        self.assertIn(b"/Subject", harness.pdf_objects(self.draw("words.pdf",
                                                         *limits)))

    def files(self):
        return sorted(name for name in os.listdir(self.home)
                      if name not in ("data", "cache", "machine-id"))


class FormatTest(PlotTest):
    def test_formats(self):
        for form in FORMATS:
            for kind in ("overall", "experiment"):
                for log in ((), ("--log",)):
                    with self.subTest(form=form, kind=kind, log=log):
                        data = self.draw("plot." + form, "--kind", kind, *log,
                                         "--budget", "40k", "--deadline", "60")
                        self.assertGreater(len(data), 2000)
                        self.assertEqual(SIZES[form](data), (960, 640))

    def test_size(self):
        for form in FORMATS:
            for size in ((16, 16), (333, 777), (2000, 500)):
                with self.subTest(form=form, size=size):
                    data = self.draw("plot." + form, "--size", "%dx%d" % size)
                    self.assertEqual(SIZES[form](data), size)

    def test_ending(self):
        self.assertEqual(png_size(self.draw("a.PNG")), (960, 640))
        self.assertEqual(svg_size(self.draw("a", "--format", "svg")),
                         (960, 640))
        self.assertEqual(pdf_size(self.draw("a.png", "--format=pdf")),
                         (960, 640))

    def test_same_bytes_twice(self):
        for form in FORMATS:
            first = self.draw("one." + form)
            self.assertEqual(first, self.draw("two." + form))
            self.assertEqual(first, self.run_program(
                *ASK, "-o", "-", "--format", form, expect=0).out)

    def test_question_matters(self):
        """Each of these draws something else."""
        drawn = {}
        for arguments in ((), ("--kind", "experiment"), ("--log",),
                          ("--budget", "40k"), ("--deadline", "60"),
                          ("--gpu", "a6000"), ("--gpus", "8"),
                          ("--machine", "desktop"), ("--theme", "dark"),
                          ("--budget", "40k", "--as-in-the-paper"),
                          ("--any-price",), ("--settings", "naive"),
                          ("--kind", "experiment", "--lifetime", "2")):
            data = self.draw("plot.svg", *arguments)
            self.assertNotIn(data, drawn, (arguments, drawn.get(data)))
            drawn[data] = arguments
        runs = self.draw("plot.svg", "--runs", "pythia-1b=3",
                         command=("plot",))
        self.assertNotIn(runs, drawn)

    def test_without_a_point(self):
        self.draw("plot.png", "--gpu", "rtx4090")

    def test_several_models(self):
        models = "pythia-160m,pythia-410m,pythia-1b,pythia-2.8b"
        for form in FORMATS:
            data = self.draw("plot." + form, "--model", models,
                             command=("plot",))
            width, height = SIZES[form](data)
            self.assertGreater(width, 960)
            self.assertGreater(height, 640)
            again = self.draw("plot." + form, "--model", "pythia-160m",
                              "--model=pythia-410m,pythia-1b,pythia-2.8b",
                              command=("plot",))
            self.assertEqual(data, again)
        alone = self.draw("plot.svg", "--model", "pythia-1b,pythia-1b",
                          command=("plot",))
        self.assertEqual(svg_size(alone), (960, 640))

    def test_replaces(self):
        with open(self.path("plot.svg"), "w", encoding="utf-8") as file:
            file.write("<svg>" + "x" * 1000000)
        self.assertEqual(svg_size(self.draw("plot.svg")), (960, 640))
        self.assertEqual(self.files(), ["plot.svg"])

    def test_odd_names(self):
        for name in ("a b.svg", "-.svg", "ä日.svg", "'\".svg", "%s.svg"):
            self.draw(name)
        self.assertEqual(len(self.files()), 5)
        self.run_program(*ASK, b"-o", b"\xff.svg", expect=0)
        self.assertTrue(os.path.exists(os.fsencode(self.home) + b"/\xff.svg"))

    def test_problems_do_not_spoil_it(self):
        self.user_file("prices.csv", "nonsense\n")
        result = self.run_program(*ASK, "-o", "-", "--format", "png",
                                  expect=0)
        self.assertEqual(png_size(result.out), (960, 640))
        self.assertRegex(result.complaint, "^warning: .*prices.csv:1:")


class FailureTest(PlotTest):
    def test_no_directory(self):
        self.refuse(*ASK, "-o", "missing/plot.png",
                    says=("'missing/plot.png'", "No such file"))
        self.assertEqual(self.files(), [])

    def test_directory_in_the_way(self):
        os.mkdir(self.path("plot.png"))
        self.refuse(*ASK, "-o", "plot.png", says=("'plot.png'", "no file"))
        self.assertEqual(os.listdir(self.path("plot.png")), [])
        self.assertEqual(self.files(), ["plot.png"])

    def test_full_disk(self):
        os.symlink("/dev/full", self.path("plot.png"))
        self.refuse(*ASK, "-o", "plot.png", says="'plot.png'")
        self.assertEqual(self.files(), ["plot.png"])

    def test_no_space_for_all_of_it(self):
        """A limit on the file size stops the writing half way."""
        script = 'ulimit -f 8; trap "" XFSZ; exec "$@"'
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", harness.PROGRAM, *ASK, "-o",
             "plot.svg", "--size", "2000x2000"], stdin=subprocess.DEVNULL,
            capture_output=True, env=self.environment(), cwd=self.home,
            timeout=120, check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count(b"\n"), 1, done)
        self.assertNotIn("plot.svg", self.files())

    def test_bad_input_writes_nothing(self):
        self.refuse(*ASK, "-o", "plot.png", "--budget", "x", says="--budget")
        self.refuse("plot", "--model", "x", "-o", "plot.png", says="'x'")
        self.assertEqual(self.files(), [])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_unwritable_directory(self):
        os.mkdir(self.path("closed"), 0o555)
        self.refuse(*ASK, "-o", "closed/plot.png",
                    says=("'closed/plot.png'", "Permission denied"))


if __name__ == "__main__":
    harness.main()
