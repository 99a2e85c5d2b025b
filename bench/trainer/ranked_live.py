#!/usr/bin/env python3
"""Live, on a GPU: the learned cost model against the search, at equal measured candidates, on held-out kernels of the suite.

  ranked_live.py --bin build/release/bin --out ranked_live.json [--at-most 75] [--k 1,4] [--policies ranked,search]

Each kernel is optimized once for each policy and k, with a ledger of its own, so that nothing is
learned from one run to the next. The best of k starts at 1, the unchanged source; failures count.
Standard library only.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile
import time

from summarise import interval


def sources(arguments, folder):
    subprocess.run([arguments.bin + "/warpwright-collect", "tasks", "--split", "held-out", "--at-most", str(arguments.at_most), "--write", folder], check=True,
                   stdout=subprocess.DEVNULL)
    return sorted(pathlib.Path(folder).glob("*.cu"))


def optimized(arguments, source, policy, k, folder):
    """(log of the best verified speedup, what proposed, seconds); None: no kernel of the file could be measured."""
    begun = time.monotonic()
    run = subprocess.run([arguments.bin + "/warpwright", "optimize", str(source), "--policy", policy, "--max-variants", str(k), "--no-learn", "--json", "--budget",
                          "120s", "--device", arguments.device, "--ledger", f"{folder}/{source.stem}.{policy}.{k}.sqlite"], capture_output=True, text=True)
    kernels = [kernel for kernel in json.loads(run.stdout)["kernels"] if kernel["variants"]] if run.stdout else []
    if not kernels:
        return None
    ratios = [variant["speedup"]["ratio"] for variant in kernels[0]["variants"] if variant["outcome"] == "verified" and variant["speedup"]]
    return math.log(max([1.0, *ratios])), kernels[0]["policy"], time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--at-most", type=int, default=75)
    parser.add_argument("--k", default="1,4")
    parser.add_argument("--policies", default="ranked,search")
    parser.add_argument("--device", default="cuda:0")
    arguments = parser.parse_args()
    policies, results = arguments.policies.split(","), []
    with tempfile.TemporaryDirectory() as folder:
        for source in sources(arguments, folder):
            for k in map(int, arguments.k.split(",")):
                found = {policy: optimized(arguments, source, policy, k, folder) for policy in policies}
                if all(found.values()):
                    results.append({"source": source.name, "k": k, **{policy: {"log_best": log, "proposed": by, "seconds": seconds}
                                                                      for policy, (log, by, seconds) in found.items()}})
    summary = []
    for k in sorted({result["k"] for result in results}):
        rows = [result for result in results if result["k"] == k]
        differences = sorted((row[policies[0]]["log_best"] - row[policies[1]]["log_best"] for row in rows), key=abs)
        summary.append({"k": k, **{policy: interval([row[policy]["log_best"] for row in rows]) for policy in policies},
                        "ratio": interval(differences), "without_six": interval(differences[:-6] or differences),
                        "median_task": math.exp(sorted(differences)[len(differences) // 2])})
        print(json.dumps(summary[-1]))
    pathlib.Path(arguments.out).write_text(json.dumps({"summary": summary, "runs": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
