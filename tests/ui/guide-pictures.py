#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of data/guide and data/screenshots, made anew.

    tests/with-display.sh /usr/bin/python3 tests/ui/guide-pictures.py \\
        build/app/quartermaster build/app/qm-bench tests/ui/stand-in-gpus.py

Takes the window in each language, and for the README in both themes, with some
quotes and, on the page of this machine, GPUs that are made up; needs ImageMagick.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import driver

HERE = os.path.dirname(os.path.abspath(__file__))
GUIDE = os.path.join(HERE, "..", "..", "data", "guide")
DATA = os.path.join(HERE, "..", "..", "data")
SCREENSHOTS = os.path.join(DATA, "screenshots")
WIDTH, HEIGHT = 1180, 800
LARGE = (1280, 860)
LANGUAGES = {"en": "C.UTF-8", "de": "de_DE.UTF-8"}

# Of the whole window: width, height, and where they begin.
WHOLE = f"{WIDTH}x{HEIGHT}+0+0"
CROPS = {"advice": WHOLE, "question": f"346x{HEIGHT}+0+0", "quotes": WHOLE,
         "machine": WHOLE}


def offer(number, vendor, words, price, currency):
    return {"vendor": vendor, "number": number, "currency": currency,
            "issued_on": "2026-11-02", "valid_until": "2027-01-31",
            "tax_included": False,
            "lines": [{"role": "quoted", "quantity": "1", "description": words,
                       "price": price}]}


QUOTES = {"format": "quartermaster-quotes", "schema": 1, "quotes": [
    offer("A-1042", "Rechenwerk GmbH", "GPU server, 2 x EPYC, 512 GB, "
          "4 x NVIDIA RTX 6000 Ada 48GB", "38900", "EUR"),
    offer("Q-77", "Example Systems", "Workstation, 256 GB, 2 x NVIDIA RTX PRO "
          "6000 Blackwell Max-Q 96GB", "27500", "USD")]}


def settings(home, size=(WIDTH, HEIGHT), scheme="light"):
    folder = os.path.join(home, "config", "glib-2.0", "settings")
    os.makedirs(folder)
    with open(os.path.join(folder, "keyfile"), "w", encoding="utf-8") as file:
        file.write("[org/quartermaster/Quartermaster]\n"
                   f"window-width={size[0]}\nwindow-height={size[1]}\n"
                   f"color-scheme='{scheme}'\n")


def take(path):
    subprocess.run(["import", "-window", "root", path], check=True)
    with open(path, "rb") as file:
        return file.read()


def settled(path, least):
    """Takes the screen once it has stopped changing."""
    time.sleep(least)
    before = None
    for _ in range(30):
        now = take(path)
        if now == before:
            return
        before = now
        time.sleep(1)


def crop(path, part):
    subprocess.run(["convert", path, "-crop", part, "+repage", "-strip",
                    "+dither", "-colors", "128", "PNG8:" + path], check=True)


def shoot(folder, name, least):
    path = os.path.join(folder, name + ".png")
    settled(path, least)
    crop(path, CROPS[name])


def start(program, bench, home, language, **environment):
    return driver.Program(program, home=home, environment={
        "QUARTERMASTER_BENCH": bench, "QUARTERMASTER_DATA_DIR": DATA,
        "LC_ALL": LANGUAGES[language], **environment})


def click(x, y):
    subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", "1",
                    "mousemove", str(WIDTH - 20), str(HEIGHT - 20)], check=True)


def store_quotes(program, home):
    path = os.path.join(home, "quotes.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(QUOTES, file)
    subprocess.run(
        [program, "quotes", "import", path], check=True,
        env=dict(os.environ, QUARTERMASTER_DATA_DIR=DATA, HOME=home,
                 XDG_DATA_HOME=os.path.join(home, "data")))


def make(program, bench, gpus, language):
    folder = os.path.join(GUIDE, language)
    with tempfile.TemporaryDirectory() as home:
        settings(home)
        window = start(program, bench, home, language)
        shoot(folder, "advice", 8)
        shoot(folder, "question", 1)
        window.close()
        store_quotes(program, home)
        window = start(program, bench, home, language)
        driver.press_keys("alt+2")
        time.sleep(4)
        click(240, 240)  # the second quote of the list
        shoot(folder, "quotes", 2)
        window.close()
        window = start(program, gpus, home, language, QM_REAL_BENCH=bench)
        driver.press_keys("alt+3")
        shoot(folder, "machine", 8)
        window.close()


def make_readme(program, bench, gpus, scheme):
    """The answer, and a benchmark that runs and so is never settled."""
    whole = "%dx%d+0+0" % LARGE
    with tempfile.TemporaryDirectory() as home:
        settings(home, LARGE, scheme)
        path = os.path.join(SCREENSHOTS, scheme + ".png")
        window = start(program, bench, home, "en")
        settled(path, 8)
        crop(path, whole)
        window.close()
        path = os.path.join(SCREENSHOTS, f"machine-{scheme}.png")
        window = start(program, gpus, home, "en", QM_REAL_BENCH=bench)
        driver.press_keys("alt+3")
        settled(path, 8)
        driver.press_keys("ctrl+Return")
        time.sleep(12)
        take(path)
        crop(path, whole)
        window.close()


if __name__ == "__main__":
    PATHS = [os.path.abspath(path) for path in sys.argv[1:4]]
    for one in LANGUAGES:
        make(*PATHS, one)
    for one in ("light", "dark"):
        make_readme(*PATHS, one)
