#!/usr/bin/env python3
"""The builtin policy against the search on the examples, at equal budgets, in one run on one GPU.

usage: policy_against_search.py WARPWRIGHT OUT [--variants 4] [--budget 15s] [FILE.cu ...]

Runs `warpwright optimize --json` once for each policy and file, in turns so that both meet the same
machine, and writes OUT/results.json and OUT/table.md: the best verified speedup whose interval lies
above 1 of each kernel (1 where there is none), geometric means, and the policy over the search
kernel by kernel with a 95% interval over kernels. What failed is named.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

POLICIES = ["search", "builtin"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/trainer"))

from summarise import interval  # noqa: E402


def optimized(warpwright, file, policy, options, state):
    command = [warpwright, "optimize", file, "--policy", policy, "--max-variants", str(options.variants), "--budget", options.budget, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"XDG_STATE_HOME": str(state)})
    try:
        return json.loads(run.stdout)["kernels"]
    except ValueError:
        print(f"{file} with {policy}: {run.stderr.strip()[-300:]}", file=sys.stderr)
        return []


def best_of(kernel):
    ratios = [v["speedup"]["ratio"] for v in kernel["variants"]
              if v["outcome"] == "verified" and v["speedup"] and v["speedup"]["low"] > 1]
    return max(ratios, default=1.0)


def row_of(kernel):
    return {"best": best_of(kernel), "tried": len(kernel["variants"]), "seconds": kernel["seconds"], "by": kernel["policy"],
            "verified": sum(v["outcome"] == "verified" for v in kernel["variants"]), "analysis": kernel["analysis"]}


def table(results):
    lines = ["| kernel | " + " | ".join(f"{p}, best | tried" for p in POLICIES) + " |", "|---" * (1 + 2 * len(POLICIES)) + "|"]
    whole = {name: rows for name, rows in results.items() if all(p in rows for p in POLICIES)}
    for name, rows in whole.items():
        lines.append(f"| {name} | " + " | ".join(f"{rows[p]['best']:.2f}x | {rows[p]['tried']}" for p in POLICIES) + " |")
    if whole:
        means = [math.exp(sum(math.log(rows[p]["best"]) for rows in whole.values()) / len(whole)) for p in POLICIES]
        lines.append(f"| geometric mean of {len(whole)} | " + " | ".join(f"{mean:.3f}x |" for mean in means) + " |")
        ratio = interval([math.log(rows["builtin"]["best"] / rows["search"]["best"]) for rows in whole.values()])
        lines += ["", f"builtin / search, kernel by kernel: {ratio['value']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warpwright")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--budget", default="15s")
    options = parser.parse_intermixed_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results = {}
    for file in options.files or sorted(str(path) for path in (ROOT / "examples").glob("*.cu")):
        for policy in POLICIES:
            for kernel in optimized(options.warpwright, file, policy, options, options.out / "state"):
                if not kernel["error"]:
                    results.setdefault(kernel["name"], {})[policy] = row_of(kernel)
        (options.out / "results.json").write_text(json.dumps(results, indent=1))
        (options.out / "table.md").write_text(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
