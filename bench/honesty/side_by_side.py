#!/usr/bin/env python3
"""Two builds of the runner in one run on one GPU: are A/A rates and candidates per minute of the new one as good?

usage: bench/honesty/side_by_side.py --before OLD/warpwright-runner --after NEW/warpwright-runner --out DIR [--device cuda:0]
       [--seconds 170]

One `serve` process of each build. Every job goes to both, one after the other, in random order, so
clocks, heat and neighbors are the same for both. Half of the time goes to kernels against
themselves (bench/honesty/aa.py's), half to candidates with an fp64 reference
(bench/throughput/candidates.py), each a text that neither has compiled before. With --device cpu
nothing is timed, and what is compared is the time that checking takes. Prints where the workers'
time went by their logs. Writes DIR/side_by_side.json. Exit code 1: the new build is slower by more
than 3%, has a false rate above 5%, or refused what the old one verified. Standard library only.
"""
import argparse
import contextlib
import itertools
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "throughput"))
import aa  # noqa: E402
import candidates  # noqa: E402
import entries  # noqa: E402
import kernels  # noqa: E402
from runner_client import RpcError, Runner, serve_command  # noqa: E402

MOST_SLOWER = 0.03


def aa_jobs(seed):
    for family, elements, block in itertools.cycle(aa.draw_pairs(200, seed)):
        task = kernels.task_of(family, elements, block)
        yield f"{family} of {elements}", task, task["reference"], {"hidden_sizes": False, "measure_budget_ms": 500}


def candidate_jobs(seed):
    for number, (family, block, items) in enumerate(candidates.variants()):
        plan = candidates.plan_of(family, block, items, f"side by side {seed} {number}")
        yield f"{family}, {block} threads, {items} elements", candidates.task_of(family), plan, {}


def run_both(kind, jobs, runners, arguments, seconds, generator):
    """One record a job: for each build seconds, outcome and, where there is one, the speedup."""
    records, start = [], time.monotonic()
    for name, task, plan, options in jobs:
        if time.monotonic() - start > seconds:
            return records
        record = {"kind": kind, "job": name}
        for which in generator.sample(sorted(runners), 2):
            begun = time.monotonic()
            try:
                verdict = runners[which].verify(task, plan, limit_s=90, device=arguments.device, timeout_ms=60_000, **options)
            except RpcError as error:
                verdict = {"outcome": "no verdict", "message": str(error)}
            record[which] = {"seconds": time.monotonic() - begun, "outcome": verdict["outcome"], "message": verdict["message"],
                             **{key: verdict["speedup"][key] for key in ("ratio", "low", "high", "samples") if "speedup" in verdict}}
        records.append(record)
    return records


def summarise(records):
    """The first job of a kind starts workers, and is left out."""
    summary = {}
    for kind in ("aa", "candidates"):
        here = [record for record in records if record["kind"] == kind][1:]
        if not here:
            continue
        ratios = [record["after"]["seconds"] / record["before"]["seconds"] for record in here]
        total = {which: sum(record[which]["seconds"] for record in here) for which in ("before", "after")}
        summary[kind] = {"jobs": len(here), "slower": total["after"] / total["before"] - 1, "median_ratio": entries.median(ratios),
                         **{f"{which}_a_minute": 60 * len(here) / total[which] for which in total}}
        for which in ("before", "after"):
            measured = [record[which] for record in here if "ratio" in record[which]]
            if kind == "aa" and measured:
                summary[kind][f"{which}_false"] = sum(map(aa.is_false, measured))
                summary[kind][f"{which}_measured"] = len(measured)
                summary[kind][f"{which}_median_samples"] = entries.median([one["samples"] for one in measured])
                summary[kind][f"{which}_median_distance"] = entries.median([abs(one["ratio"] - 1) for one in measured])
    summary["lost"] = [record for record in records
                       if record["before"]["outcome"] == "verified" and record["after"]["outcome"] != "verified"]
    return summary


def seconds_by_activity(log):
    """Of all jobs of a runner, from its log: {activity: seconds}, longest first."""
    seconds = {}
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # what a worker printed itself
            if isinstance(entry, dict) and entry.get("message") == "job's time":
                for part in filter(None, entry["seconds"].split(", ")):
                    activity, _, spent = part.rpartition(" ")
                    seconds[activity] = seconds.get(activity, 0) + float(spent)
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))


def print_activities(before, after):
    print(f"{'seconds of workers':<48} {'before':>8} {'after':>8}")
    for activity in sorted({*before, *after}, key=lambda one: before.get(one, 0) - after.get(one, 0)):
        if max(before.get(activity, 0), after.get(activity, 0)) >= 0.1:
            print(f"{activity:<48} {before.get(activity, 0):8.2f} {after.get(activity, 0):8.2f}")


def is_as_good(summary):
    kinds = [summary[kind] for kind in ("aa", "candidates") if kind in summary]
    rates = [one["after_false"] / one["after_measured"] for one in kinds if one.get("after_measured")]
    return bool(kinds) and not summary["lost"] and all(rate <= aa.RATE_TARGET for rate in rates) and \
        all(one["slower"] <= MOST_SLOWER for one in kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--seed", type=int, default=17)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    generator = random.Random(arguments.seed)
    with contextlib.ExitStack() as stack:
        logs = {which: os.path.join(arguments.out, which + ".stderr.txt") for which in ("before", "after")}
        runners = {which: stack.enter_context(Runner(
            [*serve_command(getattr(arguments, which)), "--log-level", "debug", "--log-format", "json"],
            {"WARPWRIGHT_ALLOW_BUSY_GPU": "1"}, log)) for which, log in logs.items()}  # each is the other's neighbour
        records = []
        for kind, jobs in (("aa", aa_jobs(arguments.seed)), ("candidates", candidate_jobs(arguments.seed))):
            records += run_both(kind, jobs, runners, arguments, arguments.seconds / 2, generator)
    summary = summarise(records)
    summary["activities"] = {which: seconds_by_activity(log) for which, log in logs.items()}
    print_activities(**summary["activities"])
    for kind, one in summary.items():
        if kind in ("aa", "candidates"):
            print(f"{kind}: " + ", ".join(f"{key} {value:.4g}" for key, value in one.items()))
    for record in summary["lost"]:
        print(f"lost: {record['job']}: {record['after']['outcome']}: {record['after']['message']}")
    entries.write_json(os.path.join(arguments.out, "side_by_side.json"), {"date": entries.now(), "summary": summary, "jobs": records})
    return 0 if is_as_good(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
