#!/usr/bin/env python3
"""How long the runner takes to be back: after a candidate's device fault or endless loop, and from a cold start.

usage: bench/honesty/latency.py --runner BIN_DIR/warpwright-runner --out DIR [--device cuda:0] [--rounds 5]

*Next job*: from the verdict of the bad candidate to the verdict of a good, small one sent at once, not measured. The good
one was verified before, so its code is in the compile cache, as a reference's is. *Warm job*: the same job with nothing
bad before it. *Cold start*: from starting `serve` to its answer to `info`, and to its first verdict.
Writes DIR/latency.json and DIR/latency.entries.json. Standard library only.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import entries  # noqa: E402
from runner_client import RpcError, Runner, serve_command  # noqa: E402

KERNEL = """
extern "C" __global__ void square(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) { y[i] = x[i] * x[i]; EXTRA }
}"""
# What the candidate does besides, and the time limit of its job.
BAD = {"illegal address": ("y[i + (1ll << 40)] = x[i];", 20_000),
       "trap": ("if (i == 6) __trap();", 20_000),
       "endless loop": ("while (x != nullptr) __nanosleep(1000);", 1_500)}
NEXT_TARGET_S = 2


def plan(extra=""):
    return {"source": KERNEL.replace("EXTRA", extra), "steps": [{"launch": {
        "kernel": "square", "grid": ["ceil_div(n, 256)"], "block": [256],
        "arguments": [{"buffer": "x"}, {"buffer": "y"}, {"size": "n", "dtype": "int32"}]}}]}


def task():
    buffers = [{"name": name, "dtype": "float32", "extent": "n", "direction": direction}
               for name, direction in (("x", "in"), ("y", "out"))]
    return {"name": "square", "sizes": {"n": 1 << 16}, "check_sizes": [], "buffers": buffers, "reference": plan()}


def timed(runner, device, candidate, timeout_ms=20_000):
    """(verdict, seconds)"""
    begun = time.monotonic()
    verdict = runner.verify(task(), candidate, limit_s=60, device=device, measure=False, hidden_sizes=False,
                            timeout_ms=timeout_ms)
    return verdict, time.monotonic() - begun


def faults(runner, device, rounds):
    """{fault: [{"outcome", "bad_s", "next_s", "next_outcome"}]} and the times of warm jobs."""
    found, warm = {}, []
    for name, (extra, timeout_ms) in BAD.items():
        found[name] = []
        for _ in range(rounds):
            timed(runner, device, plan())
            warm.append(timed(runner, device, plan())[1])
            bad, bad_s = timed(runner, device, plan(extra), timeout_ms)
            after, next_s = timed(runner, device, plan())
            found[name].append({"outcome": bad["outcome"], "bad_s": bad_s, "next_s": next_s,
                                "next_outcome": after["outcome"]})
    return found, warm


def cold_starts(command, device, rounds, log):
    """[{"info_s", "verdict_s"}]"""
    starts = []
    for _ in range(rounds):
        begun = time.monotonic()
        with Runner(command, log=log) as runner:
            info = runner.call("info", limit_s=60)
            info_s = time.monotonic() - begun
            timed(runner, device, plan())
            starts.append({"info_s": info_s, "verdict_s": time.monotonic() - begun})
    return starts, info


def entries_of(found, warm, starts, gpu, commit):
    made = entries.Entries("scripts/gpu/honesty.sh: bench/honesty/latency.py", gpu, commit)
    rounds = [run["next_s"] for runs in found.values() for run in runs]
    if rounds:
        made.add("fault.next_job_s", max(rounds), f"s, slowest of {len(rounds)} after {len(found)} kinds of fault",
                 f"< {NEXT_TARGET_S}")
        made.add("fault.next_job_median_s", entries.median(rounds), "s, median")
        made.add("runner.warm_job_s", entries.median(warm), "s, verify without measuring, median")
    if starts:
        made.add("runner.cold_start_s", entries.median([start["info_s"] for start in starts]), "s to the answer to info, median")
        made.add("runner.first_verdict_s", entries.median([start["verdict_s"] for start in starts]),
                 "s from start to a first verdict, median")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    log = os.path.join(arguments.out, "latency.stderr.txt")
    found, warm, starts, device, good = {}, [], [], None, True
    try:
        with Runner(serve_command(arguments.runner), log=log) as runner:
            device = timed(runner, arguments.device, plan())[0]["device"]
            found, warm = faults(runner, arguments.device, arguments.rounds)
        starts, _ = cold_starts(serve_command(arguments.runner), arguments.device, arguments.rounds, log)
    except RpcError as error:
        print(f"ended early: {error}")
        good = False
    for name, runs in found.items():
        print(f"{name:16} {runs[0]['outcome'] if runs else '-':16} next job {', '.join('%.3f' % run['next_s'] for run in runs)} s")
        good = good and all(run["next_outcome"] == "verified" and run["outcome"] != "verified" and
                            run["next_s"] < NEXT_TARGET_S for run in runs)
    if warm and starts:
        print(f"warm job {entries.median(warm):.3f} s; cold start {entries.median([s['info_s'] for s in starts]):.3f} s to info, "
              f"{entries.median([s['verdict_s'] for s in starts]):.3f} s to a first verdict")
    report = {"device": device, "commit": arguments.commit, "date": entries.now(), "faults": found, "warm_s": warm,
              "cold_starts": starts}
    entries.write_results(arguments.out, "latency", report,
                          entries_of(found, warm, starts, entries.gpu_name(device), arguments.commit))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
