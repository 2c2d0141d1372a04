# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page of quotes share: the program with a home of its
own, started for each test."""

import os
import sqlite3
import subprocess
import sys

import driver
from window_test import WindowTest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             os.pardir, "cli"))

CHEAP = """Vendor,Quote,Issued,Valid until,Description,Part number,Quantity,Price,Currency
Delta Computers,Q-17,2026-01-10,2199-12-31,NVIDIA H100 SXM5 80GB GPU,900-1,4,7000.00,USD
Delta Computers,Q-17,2026-01-10,2199-12-31,Rack rails,R-1,2,50.00,USD
"""

EXPIRED = """Vendor,Quote,Issued,Valid until,Description,Part number,Quantity,Price,Currency
Nordsee,A-88,2026-01-05,2026-02-01,NVIDIA H100 SXM5 80GB GPU,900-1,4,6500.00,USD
Nordsee,A-88,2026-01-05,2026-02-01,NVIDIA A100 GPU,900-2,2,9500.00,USD
"""

UNKNOWN = """foo,bar,baz
GeForce RTX 3090 24GB,2,1300
Rack shelf,1,200
"""


class QuotesWindowTest(WindowTest):

    def set_settings(self, **values):
        """Settings, as texts of GVariant."""
        folder = os.path.join(self.home, "config", "glib-2.0", "settings")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "keyfile"), "w",
                  encoding="utf-8") as file:
            file.write("[org/quartermaster/Quartermaster]\n")
            for name, value in values.items():
                file.write(f"{name.replace('_', '-')}={value}\n")

    def headline(self):
        lines = self.root.matches("label", contains=":", visible=False,
                                  inside=("panel", "Recommendation"))
        if lines:
            return lines[0].name
        # From GTK 4.10 on what is on another page cannot be seen from here.
        driver.press_keys("alt+1")
        text = super().headline()
        driver.press_keys("alt+2")
        return text

    def file(self, name, text):
        path = os.path.join(self.home, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def command(self, *arguments):
        environment = dict(os.environ)
        environment["XDG_DATA_HOME"] = os.path.join(self.home, "data")
        environment["LC_ALL"] = "C.UTF-8"
        done = subprocess.run([self.PROGRAM, "quotes", *arguments],
                              env=environment, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def change(self, sql):
        """As a later version, or damage, would change the store."""
        base = sqlite3.connect(os.path.join(self.home, "data", "quartermaster",
                                            "quotes.sqlite"))
        base.execute(sql)
        base.commit()
        base.close()

    def choose_file(self, chooser_name, path):
        """Types a path into the file chooser that has just been opened."""
        driver.choose_file(self.root, chooser_name, path)

    def open_import(self, path):
        driver.press_keys("ctrl+o")
        self.choose_file("Import Quotes", path)
        return self.root

    def rows(self):
        return self.root.matches("table row", contains=", ",
                                 inside=("tree table", "Quotes"))

    def expect_rows(self, n):
        def look():
            rows = self.rows()
            return rows if len(rows) == n else None
        return driver.wait_for(look, f"{n} quotes in the list")
