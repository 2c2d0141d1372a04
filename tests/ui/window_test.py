# SPDX-License-Identifier: Apache-2.0
"""What tests of the whole window have in common."""

import os
import shutil
import sys
import tempfile
import unittest

import driver


class Headline:
    """What a window, at `root`, recommends."""

    def headline(self):
        return self.root.find("label", contains=":",
                              inside=("panel", "Recommendation")).name

    def expect_headline(self, *words):
        text = ""

        def look():
            nonlocal text
            text = self.headline()
            return text if all(word in text for word in words) else None

        try:
            return driver.wait_for(look, f"a headline with {words}")
        except driver.NotFound as error:
            raise driver.NotFound(f"{error}; it is “{text}”") from None


class WindowTest(Headline, unittest.TestCase):
    """The program in a home of its own; it may complain of nothing."""

    BENCH = None  # qm-bench, where the test has it beside the program
    PROGRAM = None
    arguments = ()  # that it is started with
    first_start = False  # whether it may ask what the very first one asks
    maxDiff = None

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="qm-test-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.data = os.path.join(self.home, "data", "quartermaster")
        self.prepare()
        self.start()

    def start(self):
        self.program = driver.Program(
            self.PROGRAM, *self.arguments, home=self.home,
            first_start=self.first_start,
            environment=self.BENCH and {"QUARTERMASTER_BENCH": self.BENCH})
        self.root = self.program.root
        self.root.find("panel", "Recommendation", visible=False)
        # Until the window has the keyboard, keys go nowhere.
        driver.wait_for(self.focus, "the keyboard in the window")

    def restart(self):
        """Ends the program and starts it with what it has kept."""
        self.program.close()
        self.start()

    def prepare(self):
        """What is there before the program starts."""

    def tearDown(self):
        if self._outcome.result.failures or self._outcome.result.errors:
            print("\n".join(self.program.root.dump()), file=sys.stderr)
        self.program.close()
        path = os.path.join(self.home, "log")
        with open(path, encoding="utf-8", errors="replace") as log:
            complaints = driver.complaints(log.read())
        self.assertEqual(complaints, [])

    def focus(self):
        driver.press_keys("Tab")
        return self.root.focused()


def main():
    """Runs the tests of the script that was called with PROGRAM and, where it
    needs it, BENCH."""
    if len(sys.argv) > 2:
        WindowTest.BENCH = os.path.abspath(sys.argv.pop(2))
    WindowTest.PROGRAM = sys.argv.pop(1)
    unittest.main(module="__main__", verbosity=2)
