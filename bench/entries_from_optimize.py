#!/usr/bin/env python3
"""Turns the JSON of `warpwright optimize --json` into entries for bench/summary.py.

usage: bench/entries_from_optimize.py REPORT.json COMMIT > ENTRIES.json

One entry per kernel with a verified, measured variant (its speedup and interval), the number of
such kernels, and the geometric mean over all kernels with those that were left as they are counted
as 1. Without a GPU: no entry.
"""
import json
import math
import os
import sys

# The kernels that must get faster; the others are shown without a target.
TARGETS = {"matmul": "> 1", "transpose": "> 1", "reduce_sum": "> 1"}


def best_speedup(kernel):
    return kernel["variants"][kernel["best"]]["speedup"] if kernel["best"] is not None else None


def entries(report, commit):
    device = report["device"]
    if not device or device["kind"] != "cuda":
        return []
    shared = {"command": "scripts/gpu/bench_examples.sh", "gpu": f"{device['name']}, {device['driver']}", "commit": commit,
              "date": report["date"]}
    found, logarithms = [], []
    for kernel in report["kernels"]:
        speedup = best_speedup(kernel)
        logarithms.append(math.log(speedup["ratio"]) if speedup else 0)
        if speedup:
            stem = os.path.splitext(os.path.basename(kernel["file"]))[0]
            key = f"optimize {stem}" + ("" if kernel["name"] == stem else f" / {kernel['name']}")
            found.append({"key": key, "value": round(speedup["ratio"], 3), "low": round(speedup["low"], 3),
                          "high": round(speedup["high"], 3), "unit": "x", "target": TARGETS.get(kernel["name"])} | shared)
    total = len(report["kernels"])
    if total:
        found.append({"key": "optimize examples, geometric mean", "value": round(math.exp(sum(logarithms) / total), 3),
                      "low": None, "high": None, "unit": "x", "target": "> 1"} | shared)
        improved = sum(1 for kernel in report["kernels"] if best_speedup(kernel))
        found.append({"key": "optimize examples, kernels made faster", "value": improved, "low": None, "high": None,
                      "unit": f"of {total}", "target": ">= 3"} | shared)
    return found


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        json.dump(entries(json.load(file), sys.argv[2]), sys.stdout, indent=1)
