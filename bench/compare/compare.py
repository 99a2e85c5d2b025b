#!/usr/bin/env python3
"""Two builds side by side in one run: is the new one slower than the base? On the CPU; without a GPU.

usage: bench/compare/compare.py BASE_BIN_DIR NEW_BIN_DIR [--edits N] [--opens N] [--rounds N] [--bound R] [--out RESULT.json]

Editing: both language servers run at once and get the same edits and the same opened files in turn,
in random order, so that what else the machine does meets both. An edit's time ends with the last
diagnostics for its version, an opening's with the first. Throughput: both runners run at once and
get the same candidates for the CPU backend in short turns, in random order; a turn's time is from
its first submission to its last verdict. Each candidate is new to every cache. Prints medians, and
the median of the pairs' ratios, new over base, with its 95% interval (bootstrap over pairs). The
two times of a pair are neighbors, so a machine that is slow for a while is slow in both. Exit 1
when the whole interval of a ratio lies above the bound (1.03): slower beyond doubt. "unsure" is an
interval that reaches over it: take more edits or rounds. Standard library only.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
sys.path[:0] = [BENCH, os.path.join(BENCH, "clangd"), os.path.join(BENCH, "throughput")]
import candidates  # noqa: E402
import edit_latency  # noqa: E402
from runner_client import Runner, serve_command, verdict_of  # noqa: E402

SIZES = {"n": 4096, "rows": 16, "cols": 256}  # small: the CPU backend runs every thread one after another
CANDIDATES_A_TURN = 10


def compared(name, unit, base, new, bound):
    """One row. @param base, new: times in pairs, of which less is better"""
    ratio, low, high = edit_latency.interval([ours / theirs for ours, theirs in zip(new, base)], statistics.median)
    verdict = "slower" if low > bound else "unsure" if high > bound else "as fast"
    return {"name": name, "unit": unit, "base": statistics.median(base), "new": statistics.median(new), "pairs": len(base),
            "ratio": ratio, "low": low, "high": high, "verdict": verdict}


def text_of(row):
    return (f"{row['name']:28} base {row['base']:9.2f} {row['unit']:15} new {row['new']:9.2f}  new/base {row['ratio']:.3f} "
            f"[{row['low']:.3f}, {row['high']:.3f}]  {row['pairs']} pairs  {row['verdict']}")


def open_times(servers, folder, name, count):
    """Time in ms from didOpen to the first diagnostics; each opened document is a new one."""
    with open(os.path.join(folder, name)) as file:
        text = file.read()
    times = {server: [] for server in servers}
    for number in range(count + 2):
        path = os.path.join(folder, f"opened_{number}_{name}")
        with open(path, "w") as file:
            file.write(text)
        uri = "file://" + path
        for server in random.sample(servers, len(servers)):
            sent = time.perf_counter()
            server.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "cuda", "version": 1000 + number,
                                                                    "text": text}})
            first = server.answers(1000 + number, sent, 300)[0]
            server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            if number >= 2:  # the first two fill what is filled once
                times[server].append(first)
    return times


def compare_editing(base, new, arguments):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        names = ["plain.cu"]
        if os.path.exists(os.path.join(arguments.cuda, "include/cuda_runtime.h")):
            names.append("with_cub.cu")
            for name in names:
                shutil.copy(os.path.join(BENCH, "clangd", name), folder)
            edit_latency.compile_commands(folder, names, os.path.realpath(arguments.cuda))
        else:
            print(f"skipped: with_cub.cu, since there is no CUDA toolkit at {arguments.cuda}; name one with --cuda")
            shutil.copy(os.path.join(BENCH, "clangd", "plain.cu"), folder)
        for name in names:
            path = os.path.join(folder, name)
            with open(path) as file:
                text = file.read()
            servers = [edit_latency.Server([os.path.join(build, "warpwright"), "lsp"], folder) for build in (base, new)]
            for server in servers:
                server.start(folder)
            opened = open_times(servers, folder, name, arguments.opens)
            _, _, last = edit_latency.measure(servers, path, text, arguments.edits)
            stem = os.path.splitext(name)[0]
            rows.append(compared(f"{stem}: open to facts", "ms", *(opened[server] for server in servers), arguments.bound))
            rows.append(compared(f"{stem}: edit to diagnostics", "ms", *(last[server] for server in servers), arguments.bound))
            for server in servers:
                server.stop()
    return rows


def small_task(family):
    task = candidates.task_of(family)
    task["sizes"] = {size: SIZES[size] if family != "matmul" else 64 for size in task["sizes"]}
    return task


def turn(runner, chosen, salt):
    """Seconds for these candidates, all of them outstanding at once."""
    options = {"device": "cpu", "measure": False, "timeout_ms": 120_000}
    begun = time.perf_counter()
    futures = [runner.send("verify", {"task": small_task(family), "options": options,
                                      "plan": candidates.plan_of(family, block, items, f"{salt} {number}")})
               for number, (family, block, items) in enumerate(chosen)]
    concurrent.futures.wait(futures)
    seconds = time.perf_counter() - begun
    for future in futures:
        verdict = verdict_of(future.result())
        if verdict["outcome"] != "verified":
            sys.exit(f"a candidate was not verified, so nothing is compared: {verdict['outcome']}: {verdict['message']}")
    return seconds


def compare_throughput(base, new, arguments):
    variants, times = candidates.variants(), {}
    with Runner(serve_command(os.path.join(base, "warpwright-runner"))) as one, \
            Runner(serve_command(os.path.join(new, "warpwright-runner"))) as other:
        runners = [one, other]
        times = {runner: [] for runner in runners}
        for number in range(arguments.rounds + 1):
            chosen = [next(variants) for _ in range(CANDIDATES_A_TURN)]
            for runner in random.sample(runners, 2):
                seconds = turn(runner, chosen, f"{time.time_ns()} {number}")
                if number > 0:  # in the first, workers start
                    times[runner].append(1e3 * seconds / CANDIDATES_A_TURN)
    return [compared("CPU backend: a candidate", "ms", times[one], times[other], arguments.bound)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--cuda", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    parser.add_argument("--edits", type=int, default=60)
    parser.add_argument("--opens", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--bound", type=float, default=1.03)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    base, new = os.path.abspath(arguments.base), os.path.abspath(arguments.new)
    for build in (base, new):
        for program in ("warpwright", "warpwright-runner", "warpwright-worker-cpu"):
            if not os.access(os.path.join(build, program), os.X_OK):
                sys.exit(f"{build} has no {program}; name the folder bin of a finished build")
    rows = []
    for part in (compare_editing, compare_throughput):
        for row in part(base, new, arguments):
            print(text_of(row), flush=True)
            rows.append(row)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump({"base": base, "new": new, "bound": arguments.bound, "rows": rows}, file, indent=1)
    sys.exit(any(row["verdict"] == "slower" for row in rows))


if __name__ == "__main__":
    main()
