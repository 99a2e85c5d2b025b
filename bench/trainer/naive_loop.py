#!/usr/bin/env python3
"""Candidates a second of a naive trainer's loop: one at a time, each verified and measured by a separate process.

The same tasks, moves, checks and budget as `warpwright-train`, drawn at random; nothing is compiled
ahead, nothing overlaps, and no worker is kept warm. `warpwright env` is kept, though a naive
trainer would have no such thing. Standard library only.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runner_client import RpcError, Runner  # noqa: E402


def drawn_candidates(arguments, env, drawing):
    """(task, plan), without end: random legal moves on the suite's training tasks."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.bin + "/warpwright-collect", "tasks", "--split", "training", "--at-most", "24", "--write", folder],
                       check=True, stdout=subprocess.DEVNULL)
        sources = [(path.name, path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.cu"))]
    while True:
        name, text = drawing.choice(sources)
        kernels = env.call("tasks", {"path": name, "text": text, "flags": []})["kernels"]
        kernel = next((kernel for kernel in kernels if kernel["inferred"]), None)
        if kernel is None:
            continue
        state = {"path": name, "text": text, "kernel": kernel["name"], "flags": [], "moves": []}
        try:
            for _ in range(drawing.randint(1, 6)):
                moves = env.call("moves", state)["moves"]
                if not moves:
                    break
                move = drawing.choice(moves)["move"]
                state["text"] = env.call("apply", {**state, "move": move})["text"]
                state["moves"] = [*state["moves"], move]
            yield kernel["task"], env.call("plan", {**state, "task": kernel["task"]})
        except RpcError:
            continue


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--budget-ms", type=int, default=50)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    counts, begun = {}, time.monotonic()
    with Runner([arguments.bin + "/warpwright", "env"]) as env:
        for task, plan in drawn_candidates(arguments, env, random.Random(1)):
            if time.monotonic() - begun >= arguments.seconds:
                break
            try:
                with Runner([arguments.bin + "/warpwright-runner", "serve"]) as runner:
                    outcome = runner.verify(task, plan, device=arguments.device, measure_budget_ms=arguments.budget_ms)["outcome"]
            except RpcError as error:
                outcome = "error: " + str(error)[:80]
            counts[outcome] = counts.get(outcome, 0) + 1
    seconds = time.monotonic() - begun
    result = {"seconds": seconds, "outcomes": counts, "candidates_per_s": sum(counts.values()) / seconds,
              "verified_per_s": counts.get("verified", 0) / seconds, "budget_ms": arguments.budget_ms}
    pathlib.Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
