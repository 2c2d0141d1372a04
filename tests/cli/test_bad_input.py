# SPDX-License-Identifier: Apache-2.0
"""Every kind of bad input: one line, what was wrong, what would be right."""

import random

import harness

HOSTILE = (b"", b" ", b",", b",,", b"=", b"-", b"--", b"-1", b"+5", b"0",
           b"-0", b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"1e5",
           b"1e400", b"0x10", b"1,5", b"1.5.5", b"1.", b".5", b"5k5", b"kk",
           b"k", b"M", b"5kk", b"5m", b"9" * 400, b"0." + b"0" * 400 + b"1",
           b"9223372036854775807", b"9223372036854775808", b"99999999999999M",
           b"18446744073709551617", b"4294967297", b"%s%n%s%n", b"%",
           b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
           b"a\nb", b"\x1b[31m", b"\x7f", b"\r", b"\t",
           "\u202epythia".encode(), "\u200b".encode(), "日本".encode(),
           b"x" * 10000, b"," * 10000, b"pythia-1b=" * 1000, b"../../etc",
           b"pythia-1b\x01")

VALUE_OPTIONS = ("--model", "--runs", "--at-once", "--budget", "--deadline",
                 "--gpu", "--gpus", "--machine", "--times-of", "--room",
                 "--settings", "--lifetime", "--deadline-per-run",
                 "--currency", "--tax", "--machine-least", "--machine-most")


class CommandTest(harness.CommandLineTest):
    def test_unknown_command(self):
        self.refuse("advice", says=("'advice'", "'advise'"))
        self.refuse("Plot", says=("'Plot'", "'plot'"))
        self.refuse("frobnicate", says=("'frobnicate'", "quartermaster help"))
        self.refuse("", says=("''", "quartermaster help"))
        self.refuse("help", "catalogue", says=("'catalogue'", "'catalog'"))

    def test_unknown_option(self):
        self.refuse("advise", "--modle", "pythia-1b",
                    says=("'--modle'", "'--model'"))
        self.refuse("advise", "--model", "pythia-1b", "--budgt=5",
                    says=("'--budgt'", "'--budget'"))
        self.refuse("advise", "--model", "pythia-1b", "-q",
                    says=("'-q'", "help advise"))
        self.refuse("catalog", "gpus", "--jsno", says=("'--jsno'", "'--json'"))
        self.refuse("plot", "--widht", "5", says=("'--widht'", "help plot"))

    def test_missing_value(self):
        for option in VALUE_OPTIONS:
            self.refuse("advise", option, says=(option, "needs a value"))
        self.refuse("plot", "--model", "pythia-1b", "-o",
                    says=("-o", "needs a value"))

    def test_value_where_none_belongs(self):
        self.refuse("advise", "--model", "pythia-1b", "--json=yes",
                    says=("--json", "no value"))

    def test_stray_argument(self):
        self.refuse("advise", "pythia-1b", says=("'pythia-1b'", "--model"))
        self.refuse("advise", "--model", "pythia-1b", "--", "--json",
                    says="'--json'")

    def test_given_twice(self):
        for option in ("--budget", "--deadline", "--lifetime", "--slack",
                       "--time-factor"):
            self.refuse("advise", "--model", "pythia-1b", option, "5",
                        option + "=5", says=(option, "more than once"))
        self.refuse("advise", "--model", "pythia-1b", "--times-of", "pytorch",
                    "--times-of", "pytorch",
                    says=("--times-of", "more than once"))


class QuestionTest(harness.CommandLineTest):
    def bad(self, *arguments, says):
        self.refuse("advise", *arguments, says=says)
        self.refuse("advise", *arguments, "--json", says=says)

    def bad_value(self, option, value, says):
        self.bad("--model", "pythia-1b", option, value,
                 says=("'%s'" % value, *says))

    def test_model(self):
        self.bad(says=("--model", "pythia-1b", "catalog models"))
        self.bad("--model", "pythia-1B",
                 says=("unknown model 'pythia-1B'", "'pythia-1b'"))
        self.bad("--model", "pythia-16m", says=("'pythia-16m'",
                                                "'pythia-160m'"))
        self.bad("--model", "nonesuch", says=("'nonesuch'", "catalog models"))
        self.bad("--model", "", says=("--model", "empty"))
        self.bad("--model", "pythia-1b,vit-large", says=("--model", "one"))
        self.bad("--model", "pythia-1b", "--model", "vit-large",
                 says=("--model", "one"))

    def test_runs(self):
        self.bad("--model", "pythia-1b", "--runs", "pythia-1b=3",
                 says=("--model", "--runs"))
        self.bad("--runs", "pythia-1=3", says=("'pythia-1'", "'pythia-1b'"))
        for value in ("pythia-1b", "pythia-1b=", "pythia-1b=0", "=3",
                      "pythia-1b=-1", "pythia-1b=x", "pythia-1b=nan"):
            self.bad("--runs", value, says=("'%s'" % value, "pythia-1b=3"))
        self.bad("--runs", "pythia-1b=3,,vit-large=1",
                 says=("--runs", "empty"))
        self.bad("--model", "pythia-1b", "--at-once", "2",
                 says=("--at-once", "--runs"))
        for value in ("0", "-1", "1.5", "x", "1001"):
            self.bad("--runs", "pythia-1b=3", "--at-once", value,
                     says=("'%s'" % value, "1 to 1000"))

    def test_budget(self):
        for value in ("40,000", "$40k", "-5", "0", "0.001", "1e5", "nan",
                      "inf", "abc", "40 k", "9" * 30, "5m", "1.1234567",
                      "99999999999999M"):
            self.bad_value("--budget", value, ("--budget", "40000", "40k",
                                               "1.5M"))
        self.bad("--model", "pythia-1b", "--budget", "", says=("--budget",
                                                               "empty"))

    def test_deadline(self):
        for value in ("0", "-1", "nan", "inf", "1e3", "60d", "1,5", "1000001"):
            self.bad_value("--deadline", value, ("--deadline", "days"))

    def test_lifetime(self):
        for value in ("0", "-1", "101", "five", "1e1"):
            self.bad_value("--lifetime", value, ("--lifetime", "years"))

    def test_time_factor(self):
        for value in ("0", "-1", "0.99", "10.01", "nan", "inf", "1,1", "10 %"):
            self.bad_value("--time-factor", value, ("--time-factor", "1 to 10"))

    def test_slack(self):
        for value in ("-1", "100.1", "five", "nan", "1e1", "5 %"):
            self.bad_value("--slack", value, ("--slack", "0 to 100"))

    def test_gpu(self):
        self.bad_value("--gpu", "rtx3900", ("unknown GPU", "'rtx3090'"))
        self.bad_value("--gpu", "A6000", ("'a6000'",))
        self.bad_value("--gpu", "abacus", ("catalog gpus",))
        self.bad("--model", "pythia-1b", "--gpu", "rtx3090,",
                 says=("--gpu", "empty"))

    def test_gpus(self):
        for value in ("0", "-1", "1.5", "two", "1025", "+1"):
            self.bad_value("--gpus", value, ("--gpus", "1,2,4,8"))

    def test_choices(self):
        for option, near, right, words in (
                ("--machine", "servr", "'server'", "all, desktop or server"),
                ("--times-of", "PyTorch", "'pytorch'",
                 "pytorch or quartermaster"),
                ("--settings", "naiv", "'naive'", "optimal, naive or eager")):
            self.bad_value(option, near, (option, right))
            self.bad_value(option, "qwxyz", (option, words))

    def test_room(self):
        for value in ("garage", "0", "-1", "nan", "1e10", "three phases"):
            self.bad_value("--room", value, ("--room", "three-phases"))

    def test_use(self):
        for value in ("a6000", "4a6000", "x", "0xa6000", "-1xa6000", "4xa6000@",
                      "4xa6000@-1", "4xa6000@1/", "4xa6000@1/0", "4xa6000/24@1",
                      "1025xa6000", "4xa6000@1e3", "4 x a6000"):
            self.bad_value("--use", value, ("--use",))
        self.bad("--model", "pythia-1b", "--use", "4xa600",
                 says=("unknown GPU", "'a6000'"))

    def test_paper(self):
        """What the paper settles cannot be asked for beside it."""
        for more in (("--times-of", "pytorch"), ("--predictions", "all"),
                     ("--link", "pcie"), ("--any-price",), ("--room", "any"), ("--lifetime", "3"),
                     ("--time-factor", "1"), ("--slack", "0"),
                     ("--costs", "total"), ("--ownership", "none"),
                     ("--expired-quotes",), ("--store", "quotes.db")):
            self.bad("--model", "pythia-1b", "--as-in-the-paper", *more,
                     says=("--as-in-the-paper", more[0]))


class PlotTest(harness.CommandLineTest):
    def bad(self, *arguments, says):
        self.refuse("plot", "--model", "pythia-1b", *arguments, says=says)

    def test_output(self):
        self.bad(says=("-o", "plot.pdf"))
        self.bad("-o", "x.gif", says=("'x.gif'", ".png, .svg or .pdf"))
        self.bad("-o", "x", says=("'x'", ".png, .svg or .pdf"))
        self.bad("-o", "-", says=("-o -", "--format"))
        self.bad("-o", "", says="empty")
        self.bad("-o", "a.png", "-o", "b.png", says="more than once")

    def test_choices(self):
        for option, near, right in (("--kind", "overal", "'overall'"),
                                    ("--format", "pgn", "'png'"),
                                    ("--theme", "lihgt", "'light'")):
            self.bad("-o", "x.png", option, near,
                     says=("'%s'" % near, right))

    def test_size(self):
        for value in ("15x100", "100x15", "16385x100", "100x16385", "100",
                      "x", "100x", "x100", "100x100x100", "-100x100",
                      "1e3x100", "100 x 100", "100X100", "9" * 30 + "x100"):
            self.bad("-o", "x.png", "--size", value,
                     says=("'%s'" % value, "960x640"))

    def test_model(self):
        self.refuse("plot", "-o", "x.png", says="--model")
        self.refuse("plot", "-o", "x.png", "--model", "pythia-1b,vit-lagre",
                    says=("'vit-lagre'", "'vit-large'"))
        self.refuse("plot", "-o", "x.png", "--model", "pythia-1b,",
                    says="empty")


class CatalogTest(harness.CommandLineTest):
    def test_topic(self):
        self.refuse("catalog", says=("gpus", "machines", "models", "prices",
                                     "measurements"))
        self.refuse("catalog", "gpu", says=("'gpu'", "'gpus'"))
        self.refuse("catalog", "qwxyz", says=("'qwxyz'", "choose"))
        self.refuse("catalog", "gpus", "models", says="one part")

    def test_no_catalog(self):
        missing = self.path("missing")
        for arguments in (("advise", "--model", "pythia-1b"),
                          ("catalog", "gpus"),
                          ("plot", "--model", "pythia-1b", "-o", "x.png")):
            self.refuse(*arguments, says=missing,
                        env={"QUARTERMASTER_DATA_DIR": missing})


class HostileTest(harness.CommandLineTest):
    def test_values(self):
        """No value of any option brings more than a refusal."""
        rng = random.Random(1)
        for option in VALUE_OPTIONS:
            base = [] if option in ("--model", "--runs") \
                else ["--runs", "pythia-1b=1"]
            values = HOSTILE if option in ("--model", "--budget") \
                else rng.sample(HOSTILE, 8)
            for value in values:
                self.try_it("advise", *base, option, value)

    def test_plot_values(self):
        rng = random.Random(2)
        for option in ("--kind", "--size", "--format", "--theme"):
            for value in rng.sample(HOSTILE, 8):
                self.try_it("plot", "--model", "pythia-1b", "-o", "x.png",
                            option, value)

    def test_words(self):
        for word in HOSTILE:
            self.try_it(word)
            self.try_it("advise", b"--" + word)
        for word in random.Random(3).sample(HOSTILE, 8):
            self.try_it(b"help", word)
            self.try_it("catalog", word)
            self.try_it("advise", word)
            self.try_it("advise", b"-" + word)

    def test_heaps(self):
        """Arguments thrown together, the same each time."""
        rng = random.Random(20240921)
        words = [option.encode() for option in VALUE_OPTIONS]
        words += [b"--json", b"--help", b"-o", b"--size", b"--", b"advise",
                  b"pythia-1b", b"40k", b"5", b"rtx3090", b"audited",
                  *HOSTILE]
        for _ in range(60):
            self.try_it("advise", *rng.choices(words, k=rng.randrange(8)))

    def test_many(self):
        self.try_it("advise", *["--gpu=rtx3090"] * 3000, "--model=pythia-1b")
        self.try_it("advise", *["--json"] * 3000, "--model=pythia-1b")

    def try_it(self, *arguments):
        result = self.run_program(*arguments)
        if result.code != 2:
            return
        self.assertEqual(result.out, b"", str(result))
        self.assertEqual(result.err.count(b"\n"), 1, str(result))
        self.assertLess(len(result.err), 400, str(result))
        self.assertFalse([byte for byte in result.err[:-1]
                          if byte < 0x20 or byte == 0x7f], str(result))
        result.err.decode("utf-8")


if __name__ == "__main__":
    harness.main()
