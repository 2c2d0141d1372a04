# SPDX-License-Identifier: Apache-2.0
"""The advice once more, straight from the shipped files and the formulas, to
hold the program's answers against.  Shares nothing with the program."""

import csv
import json
import math
import os


def number(cell):
    return float(cell) if cell else math.nan


class Catalog:
    def __init__(self, directory):
        self.gpus = self.rows(directory, "gpus.csv")
        self.prices = self.rows(directory, "prices.csv")
        self.machines = [row for row in self.rows(directory, "machines.csv")
                         if row["name"]]
        self.measurements = self.rows(directory, "measurements/published.csv")
        self.models = {}
        folder = os.path.join(directory, "models")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                model = json.load(file)
            self.models[model["id"]] = model

    @staticmethod
    def rows(directory, name):
        with open(os.path.join(directory, name), encoding="utf-8",
                  newline="") as file:
            return list(csv.DictReader(file))

    def published_price(self, item):
        prices = [float(row["price"]) for row in self.prices
                  if row["item"] == item and row["kind"] == "published"]
        assert len(prices) == 1, item
        return prices[0]

    def machine(self, gpus, kinds):
        fitting = [row for row in self.machines
                   if int(row["gpus"]) >= gpus and row["kind"] in kinds]
        return min(fitting, default=None,
                   key=lambda row: self.published_price(row["machine"]))

    @staticmethod
    def name(machine, paper):
        """The platforms of the tests' catalog cost what the paper's machines
        do, "desktop-1" what "desktop-1gpu" does."""
        return machine["machine"] if paper else machine["machine"][:-3]

    def peak(self, gpu, precision, settings):
        row = next(row for row in self.gpus if row["id"] == gpu)
        if precision == "fp32":
            tf32 = number(row["tf32_tflops"])
            if settings == "optimal" and tf32 > 0:
                return tf32
            return number(row["fp32_tflops"])
        if precision == "bf16" and row["bf16"] == "no":
            return math.nan
        return number(row["fp16_tflops"])


def transformer(layers, tokens, hidden, inner, attention):
    """Layers of a transformer: four projections, two of the feed-forward
    network, and attention's two products."""
    return layers * (2 * tokens * (4 * hidden ** 2 + 2 * hidden * inner)
                     + attention * 4 * tokens ** 2 * hidden)


def forward_flops(model):
    """Of one sample; a multiply and an add count as two."""
    config, recipe = model["config"], model["recipe"]
    kind = config["model_type"]
    tokens = recipe.get("sequence_length", 0)
    if kind == "gpt_neox":
        h = config["hidden_size"]
        return (transformer(config["num_hidden_layers"], tokens, h,
                            config["intermediate_size"], 0.5)
                + 2 * tokens * h * config["vocab_size"])
    if kind == "gpt2":
        h = config["n_embd"]
        return (transformer(config["n_layer"], tokens, h, 4 * h, 0.5)
                + 2 * tokens * h * config["vocab_size"])
    if kind in ("llama", "qwen3", "olmo2", "olmoe", "smollm3"):
        return llama_flops(config, tokens)
    if kind == "starcoder2":
        return starcoder2_flops(config, tokens)
    if kind == "modernbert":
        return modernbert_flops(config, tokens)
    if kind in ("bert", "roberta", "esm"):
        h = config["hidden_size"]
        return (transformer(config["num_hidden_layers"], tokens, h,
                            config["intermediate_size"], 1)
                + 2 * tokens * h * h + 2 * tokens * h * config["vocab_size"])
    if kind == "vit":
        h = config["hidden_size"]
        patches = (config["image_size"] // config["patch_size"]) ** 2
        pixels = config["num_channels"] * config["patch_size"] ** 2
        return (2 * patches * pixels * h
                + transformer(config["num_hidden_layers"], patches + 1, h,
                              config["intermediate_size"], 1)
                + 2 * h * classes(config))
    if kind == "convnext":
        return convnext_flops(config)
    if kind == "mamba":
        return mamba_flops(config, tokens)
    if kind == "mamba2":
        return mamba2_flops(config, tokens)
    raise AssertionError(kind)


def llama_flops(config, tokens):
    """Heads of a size of their own that share keys, and gates: three products
    where others have two, of experts those that a token goes through."""
    h, heads = config["hidden_size"], config["num_attention_heads"]
    size = config.get("head_dim", h // heads)
    keys = config["num_key_value_heads"] * size
    queries = heads * size
    inner = 3 * config["intermediate_size"]
    if "num_experts" in config:
        inner = inner * config["num_experts_per_tok"] + config["num_experts"]
    layer = (2 * tokens * h * (2 * queries + 2 * keys + inner)
             + 0.5 * 4 * tokens ** 2 * queries)
    return (config["num_hidden_layers"] * layer
            + 2 * tokens * h * config["vocab_size"])


def starcoder2_flops(config, tokens):
    """Heads that share keys, no gates, and in every layer the same window."""
    h, seen = config["hidden_size"], config["sliding_window"] or tokens
    keys = h // config["num_attention_heads"] * config["num_key_value_heads"]
    share = min(seen / tokens, 1)
    layer = (2 * tokens * h * (2 * h + 2 * keys
                               + 2 * config["intermediate_size"])
             + share * (1 - share / 2) * 4 * tokens ** 2 * h)
    return (config["num_hidden_layers"] * layer
            + 2 * tokens * h * config["vocab_size"])


def modernbert_flops(config, tokens):
    """Gates; all layers but each third see so many tokens to each side, with
    the token itself, as data/flops.h counts what a window lets through."""
    h = config["hidden_size"]
    each = config["global_attn_every_n_layers"]
    reach = config["local_attention"] // 2 + 1
    pairs = reach * (2 * tokens - reach)
    total = 2 * tokens * h * (h + config["vocab_size"])
    for layer in range(config["num_hidden_layers"]):
        total += (2 * tokens * (4 * h ** 2 + 3 * h * config["intermediate_size"])
                  + 4 * h * (pairs if layer % each else tokens ** 2))
    return total


def classes(config):
    return config["num_labels"] if "num_labels" in config \
        else len(config["id2label"])


def convnext_flops(config):
    side = config["image_size"] // config["patch_size"]
    widths = config["hidden_sizes"]
    total = 2 * side ** 2 * config["num_channels"] \
        * config["patch_size"] ** 2 * widths[0]
    for stage, (depth, width) in enumerate(zip(config["depths"], widths)):
        if stage > 0:
            side //= 2
            total += 2 * side ** 2 * 4 * widths[stage - 1] * width
        total += depth * 2 * side ** 2 * (49 * width + 8 * width ** 2)
    return total + 2 * widths[-1] * classes(config)


def mamba_flops(config, tokens):
    h, n = config["hidden_size"], config["state_size"]
    d = config.get("intermediate_size", 2 * h)
    rank = config["time_step_rank"]
    if rank == "auto":
        rank = math.ceil(h / 16)
    layer = (2 * h * d + config["conv_kernel"] * d + d * (rank + 2 * n)
             + rank * d + 3 * d * n + d * h)
    return (config["num_hidden_layers"] * 2 * tokens * layer
            + 2 * tokens * h * config["vocab_size"])


def mamba2_flops(config, tokens):
    """One product for all but the way out; of each state a multiply by what is
    left, one by the step's input, the sums of both, and the product with C."""
    h, heads = config["hidden_size"], config["num_heads"]
    d = heads * config["head_dim"]
    both = d + 2 * config["n_groups"] * config["state_size"]
    layer = (2 * h * (d + both + heads) + 2 * config["conv_kernel"] * both
             + 5 * d * config["state_size"] + 2 * d * h)
    return tokens * (config["num_hidden_layers"] * layer
                     + 2 * h * config["vocab_size"])


def training_flops(model):
    recipe = model["recipe"]
    return 3 * forward_flops(model) * recipe["batch_size"] * recipe["steps"]


def utilization(catalog, model, gpu, gpus, settings, days):
    peak = catalog.peak(gpu, model["recipe"]["precision"], settings)
    return training_flops(model) / (days * 86400 * gpus * peak * 1e12)


def verdict(catalog, model, row):
    if row["feasibility"] == "infeasible":
        return "infeasible"
    days = number(row["days"])
    if math.isnan(days):
        return "unknown"
    used = utilization(catalog, model, row["gpu"], int(row["gpus"]),
                       row["settings"], days + number(row["rounding_days"]))
    if math.isnan(used):
        return "unknown"
    # Nothing is predicted for this catalog.
    return "impossible" if used > 1 else "possible"


def candidates(catalog, model_id, settings="optimal", paper=False, lifetime=5,
               gpu=None, gpus=None, kinds=("desktop", "server"), factor=1.1):
    """As dictionaries with the keys of the program's JSON."""
    model = catalog.models[model_id]
    found = []
    for row in catalog.measurements:
        count = int(row["gpus"])
        if (row["model"] != model_id or row["settings"] != settings
                or (gpu and row["gpu"] not in gpu)
                or (gpus and count not in gpus)):
            continue
        machine = catalog.machine(count, kinds)
        if not machine and len(kinds) == 1:  # none of that kind carries it
            continue
        steps = number(row["days"])
        days = round(steps * (1 if paper else factor), 6)
        cost = math.nan
        if machine:
            cost = (catalog.published_price(machine["machine"])
                    + count * catalog.published_price(row["gpu"]))
        judged = verdict(catalog, model, row)
        used = math.nan
        if not math.isnan(days):
            used = utilization(catalog, model, row["gpu"], count, settings,
                               steps)
        allowed = {"possible", "unknown"}
        if paper:
            allowed.add("impossible")
        found.append({
            "gpu": row["gpu"], "gpus": count,
            "machine": machine and catalog.name(machine, paper),
            "cost_usd": cost,
            "days": days,
            "experiment_cost_usd": cost * days / (lifetime * 365),
            "implied_utilization": used, "verdict": judged,
            "source": row["source"],
            "eligible": judged in allowed and days == days and cost == cost,
        })
    return found


def rank(candidate):
    return (candidate["days"], candidate["cost_usd"], candidate["gpus"])


def recommend(found, budget=math.inf, deadline=math.inf):
    """The best, or None."""
    return min((one for one in found if one["eligible"]
                and one["cost_usd"] <= budget and one["days"] <= deadline),
               default=None, key=rank)


def frontier(found):
    """Nothing else is at most as dear and as slow, and better in one."""
    eligible = [one for one in found if one["eligible"]]
    kept = []
    for one in eligible:
        if not any(other["cost_usd"] <= one["cost_usd"]
                   and other["days"] <= one["days"]
                   and (other["cost_usd"], other["days"])
                   != (one["cost_usd"], one["days"]) for other in eligible):
            kept.append(one)
    return sorted(kept, key=lambda one: one["cost_usd"])
