#!/usr/bin/env python3
"""Candidates a minute: Warpwright against KernelBench's own evaluation, on the same GPU, in one run.

usage: bench/throughput/kernelbench.py --runner BIN_DIR/warpwright-runner --kernelbench DIR --out DIR [--seconds 40]
                                       [--kernelbench-seconds 60] [--precompiled 6] [--python python3]

Both get the same five tasks (relu, gelu, softmax, rms_norm on 4096x4096; matmul 1024^3; float32)
and the same device text in variants of block size and elements a thread. A candidate counts when it
was found correct and timed.

KernelBench, a candidate: a process with torch, load_inline (host and device compiler, linker), 5
correctness trials at 1e-4 on one size, 100 timings of the candidate and 100 of the eager reference.
See kernelbench_side.py. Warpwright, a candidate: NVRTC, trials at the task's and at small, odd and
hidden sizes, twice each, in guarded and misaligned buffers, compared with the reference and with an
fp64 twin, then candidate and reference timed in pairs with a cold L2 until the ratio's 95% interval
is within 0.5% or --budget-ms is spent (at least 21 pairs), verified again. Everything through one
`serve`, compiled ahead while the GPU measures, from an empty compile cache; its start is in its
time. Writes DIR/kernelbench.json and DIR/kernelbench.entries.json. Standard library only (the other
half needs torch).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pump  # noqa: E402  (sets the path of the modules below)
import entries  # noqa: E402
from runner_client import RpcError, Runner, serve_command  # noqa: E402

TARGET = 50


def ours(arguments):
    """Everything from the start of `serve` to the last verdict."""
    with tempfile.TemporaryDirectory() as cache:
        begun = time.monotonic()
        with Runner(serve_command(arguments.runner), {"XDG_CACHE_HOME": cache},
                    log=os.path.join(arguments.out, "kernelbench.stderr.txt")) as runner:
            records = pump.pump(runner, "ours", arguments.device, arguments.outstanding, arguments.seconds,
                                arguments.budget_ms, limit=arguments.limit)
            seconds = time.monotonic() - begun
            device = first_device(runner)
    counted = [record for record in records if record["counts"]]
    pump.tell_failures(records)
    return {"seconds": seconds, "submitted": len(records), "counted": len(counted),
            "a_minute": 60 * len(counted) / seconds, "budget_ms": arguments.budget_ms,
            "median_pairs": entries.median([r["samples"] for r in counted]) if counted else None,
            "records": records}, device


def first_device(runner):
    try:
        devices = runner.call("info", limit_s=30)["devices"]
        return devices[0] if devices else None
    except (RpcError, KeyError):
        return None


def theirs(arguments, mode, count, seconds):
    """The other half in a process of its own; None where it cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "result.json")
        side = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernelbench_side.py")
        try:
            subprocess.run([arguments.python, side, "--kernelbench", arguments.kernelbench, "--out", out, "--mode", mode,
                            "--count", str(count), "--seconds", str(seconds)], timeout=seconds + 200, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"KernelBench ({mode}) did not run: {error}", flush=True)
            return None
        with open(out, encoding="utf-8") as file:
            result = json.load(file)
    result["counted"] = sum(1 for record in result["records"] if record["correct"] and record.get("runtime_ms", 0) > 0)
    # With precompilation the share of the compile time that belongs to the candidates that were evaluated.
    used = result["seconds"] - result["compile_s"] * (1 - len(result["records"]) / result["chosen"])
    result["a_minute"] = 60 * result["counted"] / used
    return result


def entries_of(report, gpu, commit):
    made = entries.Entries("scripts/gpu/honesty.sh: bench/throughput/kernelbench.py", gpu, commit)
    mine, sequential, ahead = report["warpwright"], report["kernelbench"], report["kernelbench_precompiled"]
    made.add("throughput.candidates_a_minute", mine["a_minute"], f"candidates/min, one GPU, {mine['counted']} candidates")
    if sequential and sequential["counted"]:
        made.add("throughput.kernelbench_a_minute", sequential["a_minute"],
                 f"candidates/min, its script's defaults, {sequential['counted']} candidates")
        made.add("throughput.vs_kernelbench", mine["a_minute"] / sequential["a_minute"], "x KernelBench's evaluation",
                 f">= {TARGET}")
    if ahead and ahead["counted"]:
        made.add("throughput.kernelbench_precompiled_a_minute", ahead["a_minute"],
                 f"candidates/min, its build_cache option, {ahead['counted']} candidates")
        made.add("throughput.vs_kernelbench_precompiled", mine["a_minute"] / ahead["a_minute"],
                 "x KernelBench's evaluation with its parallel compile")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--kernelbench", help="a checkout; without it only our half runs")
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=40, help="of submitting to Warpwright")
    parser.add_argument("--limit", type=int, help="candidates for Warpwright at most")
    parser.add_argument("--outstanding", type=int, default=48)
    parser.add_argument("--budget-ms", type=int, default=300)
    parser.add_argument("--kernelbench-seconds", type=float, default=60)
    parser.add_argument("--precompiled", type=int, default=6, help="candidates with its parallel compile; 0: leave out")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    mine, device = ours(arguments)
    print(f"Warpwright: {mine['counted']} candidates in {mine['seconds']:.1f} s: {mine['a_minute']:.0f} a minute", flush=True)
    sequential = ahead = None
    if arguments.kernelbench:
        sequential = theirs(arguments, "sequential", 10, arguments.kernelbench_seconds)
        if arguments.precompiled:
            ahead = theirs(arguments, "precompiled", arguments.precompiled, 2 * arguments.kernelbench_seconds)
    for name, result in (("its defaults", sequential), ("its parallel compile", ahead)):
        if result:
            ratio = mine["a_minute"] / result["a_minute"] if result["a_minute"] else float("nan")
            print(f"KernelBench, {name}: {result['counted']} candidates, {result['a_minute']:.2f} a minute; "
                  f"Warpwright {ratio:.0f} times")
    report = {"device": device, "commit": arguments.commit, "date": entries.now(), "warpwright": mine,
              "kernelbench": sequential, "kernelbench_precompiled": ahead}
    entries.write_results(arguments.out, "kernelbench", report, entries_of(report, entries.gpu_name(device), arguments.commit))
    good = sequential and sequential["counted"] and mine["a_minute"] >= TARGET * sequential["a_minute"]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
