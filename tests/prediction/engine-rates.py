#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""engine-rates.py DATA [--write]: brings what DATA/rates.csv has of our own
engine up to what DATA/measurements has of the GPU that levels are fitted on.

Each configuration that was measured alone on one such GPU, with all that is for
free, whole or with checkpointing, and since kernels are what they are, has a
row with its newest result.  A row of the same configuration that is older gets
the newer figures and keeps its id; a new one goes behind all others.  Rows of
other software, settings, lengths and GPUs stay as they are: nothing here is
the source of them.  Other GPUs than that one are left to check what is
predicted of GPUs that no rate of ours is of.

Without --write it says whether the file is so, and what is not."""

import csv
import glob
import io
import json
import os
import sys

GPU = "h200-141gb-sxm"

# Kernels and plans changed up to that morning: what was measured before is the
# rate of another engine, of whole models by 1 to 8 %.
SINCE = "2026-11-28T08"


def is_of_engine(result):
    return (result.get("status") == "measured"
            and result.get("engine") == "quartermaster"
            and result["gpu"] == GPU and result["gpus"] == 1
            and result["settings"] == "free-lunch"
            and result["sharding"] == "none" and not result["offloading"]
            and not result["deterministic"] and result["time"] >= SINCE)


def configuration(result):
    return (result["model"], str(result["micro_batch"]),
            "yes" if result["checkpointing"] else "")


def newest(data):
    """The newest result of each configuration, with the file that has it."""
    found = {}
    for path in sorted(glob.glob(os.path.join(data, "measurements",
                                              "*.jsonl"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                result = json.loads(line)
                if not is_of_engine(result):
                    continue
                key = configuration(result)
                if key not in found or found[key][0]["time"] < result["time"]:
                    found[key] = (result, os.path.basename(path))
    return found


def key_of(row):
    """A row's configuration; None of one that results here do not tell of."""
    if (row["level"] != "engine" or row["gpu"] != GPU or row["gpus"] != "1"
            or row["config"] or row["settings"]):
        return None
    return (row["model"], row["micro_batch"], row["checkpointing"])


def figures(data, result, file):
    """What a row says of a result."""
    with open(os.path.join(data, "models", result["model"] + ".json"),
              encoding="utf-8") as model:
        recipe = json.load(model)["recipe"]
    clock = (result.get("watch") or {}).get("sm_mhz", {}).get("mean")
    day = result["time"][:10]
    watts = result["watch"]["watts_limit"]
    device = result["device"]
    return {
        "provenance": "measured", "model": result["model"],
        "sequence": recipe.get("sequence_length", ""),
        "image": recipe.get("image_size", ""),
        "batch": recipe["batch_size"], "precision": result["precision"],
        "gpu": GPU, "gpus": 1,
        "software": "Quartermaster " + result["version"].rpartition(".")[0],
        "level": "engine", "micro_batch": result["micro_batch"],
        "checkpointing": "yes" if result["checkpointing"] else "",
        "samples_per_s": f"{recipe['batch_size'] / result['step']['mean_s']:.8g}",
        "sm_mhz": f"{clock:.0f}" if clock else "",
        "measured_on": day,
        "source": f"measured on {day} (data/measurements/{file}); "
                  f"{device['name']} of {watts:.0f} W, driver "
                  f"{device['driver']}",
        "defect": "",
    }


def bring_up(data, rows, names):
    """The rows as they ought to be."""
    found = newest(data)
    made = []
    for row in rows:
        result = found.pop(key_of(row), None)
        if result and row["measured_on"] <= result[0]["time"][:10]:
            row = dict(row, **figures(data, *result))
        made.append(row)
    last = max((int(row["id"][1:]) for row in rows if row["id"][0] == "e"),
               default=0)
    for _, result in sorted(found.items()):
        last += 1
        made.append(dict(dict.fromkeys(names, ""), id=f"e{last:03}",
                         **figures(data, *result)))
    return made


def as_text(names, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def main():
    data = sys.argv[1]
    path = os.path.join(data, "rates.csv")
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    reader = csv.DictReader(io.StringIO(text))
    rows = list(reader)
    made = as_text(reader.fieldnames, bring_up(data, rows, reader.fieldnames))
    if sys.argv[2:] == ["--write"]:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(made)
        return 0
    there, ought = set(text.splitlines()), set(made.splitlines())
    for line in sorted(ought - there):
        print(f"{path}: not there: {line[:160]}", file=sys.stderr)
    if made == text:
        return 0
    print(f"{path} is not what measurements say: run {sys.argv[0]} {data} "
          "--write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
