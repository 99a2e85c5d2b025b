#!/usr/bin/env python3
"""Candidates a minute on one GPU and on all GPUs of a host, in one run: four must give at least 3.6 times one.

usage: bench/throughput/multi_gpu.py --runner BIN_DIR/warpwright-runner --out DIR [--seconds 45]

Each half starts its own `serve` with an empty compile cache, waits until every GPU it will use has
answered once, then keeps the queue full and counts the verdicts that come back in a window. The
first half asks for cuda:0, the second for "cuda", any GPU; both run the same sequence of candidates
(see candidates.py and pump.py), each new to the caches. Writes DIR/multi_gpu.json and
DIR/multi_gpu.entries.json. Standard library only.
"""
import argparse
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import candidates  # noqa: E402
import pump  # noqa: E402  (sets the path of the modules below)
import entries  # noqa: E402
from runner_client import Runner, serve_command  # noqa: E402

SHARE_TARGET = 0.9  # of one GPU's rate times the number of GPUs: 3.6 of 4
FILL_S = 5          # at most: while the pipeline fills nothing is counted


def warm_up(runner, names):
    """One candidate on each GPU: its context exists then, and its rates are known."""
    plan = candidates.plan_of("relu", 256, 2)
    futures = [runner.send("verify", {"task": candidates.task_of("relu"), "plan": plan,
                                      "options": {"device": name, "measure": False}}) for name in names]
    for future in futures:
        future.result(120)


def half(arguments, label, device, count):
    with tempfile.TemporaryDirectory() as cache:
        with Runner(serve_command(arguments.runner), {"XDG_CACHE_HOME": cache},
                    log=os.path.join(arguments.out, "multi_gpu.stderr.txt")) as runner:
            info = runner.call("info", limit_s=60)
            names = [name for name in info["names"] if name.startswith(arguments.prefix)]
            used = names[:1] if count == 1 else names
            warm_up(runner, used)
            records = pump.pump(runner, label, names[0] if count == 1 else device, arguments.outstanding * len(used),
                                arguments.seconds, arguments.budget_ms)
    pump.tell_failures(records)
    result = {"gpus": len(used), "a_minute": pump.rate_in_window(records, min(FILL_S, arguments.seconds / 4), arguments.seconds),
              "counted": sum(record["counts"] for record in records), "records": records,
              "by_gpu": dict(collections.Counter(record.get("gpu", "") for record in records if record["counts"]))}
    print(f"{len(used)} GPU(s): {result['a_minute']:.0f} candidates a minute, {result['counted']} in all, "
          f"by GPU {list(result['by_gpu'].values())}", flush=True)
    return result, info["devices"][0] if info["devices"] else None


def entries_of(one, all_, gpu, commit):
    made = entries.Entries("scripts/gpu/multi.sh", gpu, commit)
    made.add("throughput.one_of_many_a_minute", one["a_minute"], f"candidates/min, 1 of {all_['gpus']} GPUs")
    made.add(f"throughput.{all_['gpus']}_gpus_a_minute", all_["a_minute"], f"candidates/min, {all_['gpus']} GPUs")
    if one["a_minute"]:
        key = "throughput.four_gpus" if all_["gpus"] == 4 else f"throughput.{all_['gpus']}_gpus"
        made.add(key, all_["a_minute"] / one["a_minute"], "x one GPU", f">= {SHARE_TARGET * all_['gpus']:g}")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=45, help="of each half")
    parser.add_argument("--outstanding", type=int, default=32, help="a GPU")
    parser.add_argument("--budget-ms", type=int, default=300)
    parser.add_argument("--prefix", default="cuda:", help="of the names of the devices to use")
    parser.add_argument("--any", default="cuda", help="what stands for any of them")
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    one, device = half(arguments, "one", None, 1)
    all_, _ = half(arguments, "all", arguments.any, 0)
    ratio = all_["a_minute"] / one["a_minute"] if one["a_minute"] else 0.0
    print(f"{ratio:.2f} times on {all_['gpus']} GPUs")
    report = {"device": device, "commit": arguments.commit, "date": entries.now(), "one": one, "all": all_, "ratio": ratio,
              "budget_ms": arguments.budget_ms, "outstanding_a_gpu": arguments.outstanding}
    entries.write_results(arguments.out, "multi_gpu", report,
                          entries_of(one, all_, entries.gpu_name(device), arguments.commit))
    return 0 if ratio >= SHARE_TARGET * all_["gpus"] else 1


if __name__ == "__main__":
    sys.exit(main())
