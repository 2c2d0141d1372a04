#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Settings and a page of the recommended machine, taken along by the window.

test-take-away.py PROGRAM QM_BENCH, on a display and a session bus of its own.
"""

import json
import os
import time

import driver
from window_test import WindowTest, main


class TakeAwayTest(WindowTest):

    def save(self, window, button, title, name):
        path = os.path.join(self.home, name)
        window.find("push button", contains=button).press()
        chooser = self.root.find("filler", title)
        driver.wait_for(chooser.focused, "the keyboard in the file chooser")
        driver.press_keys("ctrl+a")
        driver.type_text(path)
        driver.press_keys("Return")
        # GTK 4.8 may crash where a dialog that goes away is looked at.
        time.sleep(1)
        driver.wait_for(lambda: os.path.exists(path)
                        and os.path.getsize(path) > 0, name)
        return path

    def test_settings_and_page(self):
        driver.press_keys("ctrl+k")
        window = self.root.find(None, "Take Away")
        window.find("label", contains="measured with PyTorch 2.1 "
                                       "(arXiv 2410.23261")
        micro = window.find("text", "Micro-batch")
        given = int(micro.text)
        self.assertGreater(given, 0)
        text = window.find("text", "Settings")
        driver.wait_for(lambda: "max_steps" in text.text, "the settings")

        micro.type("none")
        window.find("label", contains="A whole number from 1")
        driver.wait_for(lambda: text.text == "", "no settings")
        micro.type("4")
        driver.wait_for(lambda: '"per_device_train_batch_size": 4'
                        in text.text, "other settings")
        window.find("label", contains="lr_scheduler_type")

        with open(self.save(window, "Save…", "Save Settings", "a.json"),
                  encoding="utf-8") as file:
            saved = json.load(file)
        self.assertEqual(saved["per_device_train_batch_size"], 4)
        self.assertEqual(saved["max_steps"], 143000)
        with open(self.save(window, "PDF…", "Save PDF", "a.pdf"),
                  "rb") as file:
            page = file.read()
        self.assertTrue(page.startswith(b"%PDF-"))
        self.assertGreater(len(page), 10000)


if __name__ == "__main__":
    main()
