#!/usr/bin/env python3
"""A/A: each kernel against itself. A speedup whose interval excludes 1 is then a false one; at most 5% may be.

usage: bench/honesty/aa.py --runner BIN_DIR/warpwright-runner --out DIR [--device cuda:0] [--pairs 200] [--seconds 170]

Eight families of kernels from 1K to 64M elements, in an order drawn again for each run from --seed;
candidate and reference are the same text. One `serve` process, one job at a time, default options
except that hidden sizes are not tried and the measuring budget is what is left of --seconds over
the pairs that are left. A pair that gave no speedup (wrong result, suspected cheat, no GPU) is
counted apart and never as passed. As-called speedups are judged by themselves. Writes DIR/aa.json
(every pair) and DIR/aa.entries.json. Standard library only.
"""
import argparse
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import entries  # noqa: E402
import kernels  # noqa: E402
from runner_client import RpcError, Runner, serve_command  # noqa: E402

SIZES = [4 ** power for power in range(5, 14)]  # 1K to 64M elements
BUDGET_MS = (150, 2000)
RATE_TARGET = 0.05


def draw_pairs(count, seed):
    """(family, elements, block): every family and size before any comes again."""
    generator = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        round_ = [(family, elements, generator.choice(kind.block_sizes)) for family, kind in kernels.FAMILIES.items()
                  for elements in SIZES if elements <= kind.most]
        generator.shuffle(round_)
        pairs += round_
    return pairs[:count]


def budget_ms(seconds_left, pairs_left, overhead_s):
    """What one pair may measure for, so that all pairs end in time."""
    share = seconds_left / max(pairs_left, 1) - overhead_s
    return int(min(max(share * 1000, BUDGET_MS[0]), BUDGET_MS[1]))


def record_of(pair, verdict, seconds):
    family, elements, block = pair
    record = {"kernel": family, "elements": elements, "block": block, "outcome": verdict["outcome"],
              "message": verdict["message"], "seconds": round(seconds, 3), "ratio": None, "low": None, "high": None,
              "samples": None, "discarded": verdict.get("discarded_samples", 0), "reference_ns": None, "candidate_ns": None,
              "as_called": None}
    for side in ("reference", "candidate"):
        if f"{side}_time" in verdict:
            record[f"{side}_ns"] = verdict[f"{side}_time"]["median_ns"]
    if "speedup" in verdict:
        record.update({key: verdict["speedup"][key] for key in ("ratio", "low", "high", "samples")})
    if "as_called" in verdict:
        record["as_called"] = {key: verdict["as_called"]["speedup"][key] for key in ("ratio", "low", "high", "samples")}
    return record


def is_false(record):
    return not record["low"] <= 1 <= record["high"]


def summarise(records):
    """Over all pairs with a speedup, and by size."""
    measured = [record for record in records if record["ratio"] is not None]
    summary = {"pairs": len(records), "measured": len(measured), "not_measured": len(records) - len(measured)}
    if not measured:
        return summary
    false = [record for record in measured if is_false(record)]
    rate = len(false) / len(measured)
    low, high = entries.wilson(len(false), len(measured))
    away = [abs(record["ratio"] - 1) for record in measured]
    summary.update({"false": len(false), "false_rate": rate, "false_rate_low": low, "false_rate_high": high,
                    "median_distance": entries.median(away), "p95_distance": entries.quantile(away, 0.95),
                    "largest_distance": max(away),
                    "largest_false_distance": max([abs(r["ratio"] - 1) for r in false], default=0.0),
                    "median_ratio": entries.median([r["ratio"] for r in measured]), "by_size": []})
    called = [record["as_called"] for record in records if record.get("as_called")]
    if called:
        false_called = sum(map(is_false, called))
        summary["as_called"] = {"measured": len(called), "false": false_called, "false_rate": false_called / len(called),
                                "median_distance": entries.median([abs(speedup["ratio"] - 1) for speedup in called])}
    for elements in sorted({record["elements"] for record in measured}):
        here = [record for record in measured if record["elements"] == elements]
        summary["by_size"].append({
            "elements": elements, "pairs": len(here), "false": sum(map(is_false, here)),
            "median_ns": entries.median([r["candidate_ns"] for r in here]),
            "median_distance": entries.median([abs(r["ratio"] - 1) for r in here]),
            "largest_distance": max(abs(r["ratio"] - 1) for r in here),
            "median_half_width": entries.median([(r["high"] - r["low"]) / 2 / r["ratio"] for r in here]),
            "median_samples": entries.median([r["samples"] for r in here])})
    return summary


def entries_of(summary, gpu, commit):
    made = entries.Entries("scripts/gpu/honesty.sh: bench/honesty/aa.py", gpu, commit)
    if "false_rate" in summary:
        made.add("honesty.aa_false_rate", summary["false_rate"], f"of {summary['measured']} pairs",
                 f"<= {RATE_TARGET}", summary["false_rate_low"], summary["false_rate_high"])
        made.add("honesty.aa_largest_difference", summary["largest_distance"], "of the ratio from 1")
    if "as_called" in summary:
        called = summary["as_called"]
        made.add("honesty.aa_as_called_false_rate", called["false_rate"], f"of {called['measured']} as-called intervals",
                 f"<= {RATE_TARGET}", *entries.wilson(called["false"], called["measured"]))
    made.add("honesty.aa_pairs", summary["measured"], "pairs with a speedup", ">= 200")
    return made


def print_summary(summary):
    if "false_rate" not in summary:
        print(f"no speedup in {summary['pairs']} pairs: nothing to judge")
        return
    print(f"{summary['false']} of {summary['measured']} intervals exclude 1: {summary['false_rate']:.1%} "
          f"[{summary['false_rate_low']:.1%}, {summary['false_rate_high']:.1%}]; {summary['not_measured']} pairs gave no speedup")
    print(f"|ratio - 1|: median {summary['median_distance']:.3%}, 95% {summary['p95_distance']:.3%}, "
          f"largest {summary['largest_distance']:.3%}")
    if "as_called" in summary:
        called = summary["as_called"]
        print(f"as called: {called['false']} of {called['measured']} intervals exclude 1, |ratio - 1| median "
              f"{called['median_distance']:.3%}")
    print(f"{'elements':>10} {'pairs':>5} {'false':>5} {'time':>10} {'|r-1|':>8} {'largest':>8} {'width/2':>8} {'samples':>7}")
    for row in summary["by_size"]:
        print(f"{row['elements']:>10} {row['pairs']:>5} {row['false']:>5} {row['median_ns'] / 1e3:>8.2f}us "
              f"{row['median_distance']:>8.3%} {row['largest_distance']:>8.3%} {row['median_half_width']:>8.3%} "
              f"{row['median_samples']:>7.0f}")


def measure(arguments):
    pairs, records, device = draw_pairs(arguments.pairs, arguments.seed), [], None
    overhead_s, start = 0.3, time.monotonic()
    with Runner(serve_command(arguments.runner), log=os.path.join(arguments.out, "aa.stderr.txt")) as runner:
        for done, pair in enumerate(pairs):
            left = arguments.seconds - (time.monotonic() - start)
            if left < -0.25 * arguments.seconds:
                print(f"out of time after {done} pairs", flush=True)
                break
            budget = budget_ms(left, len(pairs) - done, overhead_s)
            task = kernels.task_of(pair[0], pair[1], pair[2])
            begun = time.monotonic()
            try:
                verdict = runner.verify(task, task["reference"], limit_s=90, device=arguments.device,
                                        measure_budget_ms=budget, hidden_sizes=False, timeout_ms=60_000)
            except RpcError as error:
                print(f"{pair}: {error}", flush=True)
                verdict = {"outcome": "no verdict", "message": str(error), "device": {}}
            took = time.monotonic() - begun
            device = verdict["device"] or device
            records.append(record_of(pair, verdict, took))
            if records[-1]["ratio"] is None:
                print(f"{pair}: {verdict['outcome']}: {verdict['message']}", flush=True)
            elif is_false(records[-1]):
                print(f"{pair}: FALSE {records[-1]['ratio']:.5f} [{records[-1]['low']:.5f}, {records[-1]['high']:.5f}] "
                      f"after {records[-1]['samples']} pairs, {records[-1]['candidate_ns'] / 1e3:.2f} us", flush=True)
            # What the pair took beyond its budget; a pair that stopped early tells nothing, so the estimate only follows down.
            overhead_s = 0.9 * overhead_s + 0.1 * max(min(took - budget / 1000, 3), 0)
    return records, device, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    records, device, seconds = measure(arguments)
    summary = summarise(records)
    print_summary(summary)
    report = {"device": device, "commit": arguments.commit, "date": entries.now(), "seconds": round(seconds, 1),
              "seed": arguments.seed, "summary": summary, "pairs": records}
    entries.write_results(arguments.out, "aa", report, entries_of(summary, entries.gpu_name(device), arguments.commit))
    return 0 if summary.get("false_rate", 1) <= RATE_TARGET and not summary["not_measured"] else 1


if __name__ == "__main__":
    sys.exit(main())
