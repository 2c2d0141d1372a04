#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The user guide, which opens in whichever browser there is.

test-guide.py PROGRAM, on a display and a session bus of its own.
"""

import os

import driver
from window_test import WindowTest, main

BROWSER = """[Desktop Entry]
Type=Application
Name=Browser
Exec={program} %u
MimeType=text/html;
"""


class GuideTest(WindowTest):

    def prepare(self):
        """A browser that notes what it is asked for."""
        self.seen = os.path.join(self.home, "seen")
        program = os.path.join(self.home, "browser")
        with open(program, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\necho "$1" >{self.seen}.new\n'
                       f'mv {self.seen}.new {self.seen}\n')
        os.chmod(program, 0o755)
        folder = os.path.join(self.home, "data", "applications")
        os.makedirs(folder)
        with open(os.path.join(folder, "browser.desktop"), "w",
                  encoding="ascii") as file:
            file.write(BROWSER.format(program=program))
        with open(os.path.join(folder, "mimeapps.list"), "w",
                  encoding="ascii") as file:
            file.write("[Default Applications]\ntext/html=browser.desktop\n")

    def opened(self):
        driver.wait_for(lambda: os.path.exists(self.seen), "the browser")
        with open(self.seen, encoding="utf-8") as file:
            return file.read().strip()

    def test_key(self):
        driver.press_keys("F1")
        address = self.opened()
        self.assertTrue(address.endswith("guide/en/index.html"), address)
        path = address.removeprefix("file://")
        with open(path, encoding="utf-8") as file:
            self.assertIn("User Guide", file.read())

    def test_menu(self):
        driver.press_keys("F10")
        self.root.find_menu_item("Help").press()
        self.assertTrue(self.opened().endswith("guide/en/index.html"))

    def test_term(self):
        """What a word means leads to its place in the guide, by keyboard."""
        terms = "Measured, Reported, Predicted, Interval"
        self.root.tab_to("push button", terms, most=120)
        driver.press_keys("space")
        self.root.tab_to("push button", "Predicted in the user guide")
        driver.press_keys("Return")
        address = self.opened()
        self.assertTrue(address.endswith("guide/en/glossary.html#predicted"),
                        address)
        path, _, place = address.removeprefix("file://").partition("#")
        with open(path, encoding="utf-8") as file:
            self.assertIn(f'id="{place}"', file.read())


class WithoutGuideTest(WindowTest):

    def prepare(self):
        """A catalog without a guide, as one of another place is."""
        self.catalog = os.environ["QUARTERMASTER_DATA_DIR"]
        os.environ["QUARTERMASTER_DATA_DIR"] = os.environ["QM_BARE_DATA_DIR"]
        self.addCleanup(os.environ.__setitem__, "QUARTERMASTER_DATA_DIR",
                        self.catalog)

    def test_missing(self):
        driver.press_keys("F1")
        self.root.find("label", "The user guide is not installed")


if __name__ == "__main__":
    main()
