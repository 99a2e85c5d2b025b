#!/usr/bin/env python3
"""Repeatability: the same pairs of different kernels, measured in fresh runner processes, must give the same ratios.

usage: bench/honesty/repeat.py --runner BIN_DIR/warpwright-runner --out DIR [--device cuda:0] [--processes 6] [--seconds 60]

The spread of a pair is (largest - smallest reported ratio) / median over the processes; for kernels
over 20 us (both sides) it must be within 1%. Each process is a new `serve` with a new worker, so a
new context, new addresses and new drawings. Writes DIR/repeat.json (every verdict's numbers) and
DIR/repeat.entries.json. Standard library only.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import entries  # noqa: E402
import kernels  # noqa: E402
from runner_client import RpcError, Runner, serve_command  # noqa: E402

# family, elements, block of the reference, whether the reference is the naive text; the candidate has 256 threads.
CASES = [("saxpy", 1 << 24, 32, False), ("gelu", 1 << 24, 32, False), ("row_sum", 1 << 24, 32, False),
         ("softmax", 1 << 24, 32, False), ("stencil", 1 << 24, 32, False), ("transpose", 1 << 24, 256, True),
         ("matmul", 1 << 18, 256, True), ("matmul", 1 << 20, 256, True)]
LONG_NS = 20_000
SPREAD_TARGET = 0.01
BUDGET_MS = (300, 2000)


def case_name(case):
    return f"{case[0]} {case[1]}"


def summarise(runs):
    """runs: {case name: [record, ...]}. One row a case, and the worst over the long ones that were measured twice or more."""
    rows = []
    for name, records in runs.items():
        measured = [record for record in records if record["ratio"] is not None]
        row = {"case": name, "processes": len(records), "measured": len(measured), "spread": None}
        if len(measured) >= 2:
            ratios = [record["ratio"] for record in measured]
            row.update({"median_ratio": entries.median(ratios), "smallest": min(ratios), "largest": max(ratios),
                        "spread": (max(ratios) - min(ratios)) / entries.median(ratios),
                        "shortest_ns": min(min(r["reference_ns"], r["candidate_ns"]) for r in measured),
                        "median_half_width": entries.median([(r["high"] - r["low"]) / 2 / r["ratio"] for r in measured])})
            row["long"] = row["shortest_ns"] > LONG_NS
        rows.append(row)
    long = [row["spread"] for row in rows if row["spread"] is not None and row["long"]]
    return {"cases": rows, "long_cases": len(long), "worst_spread": max(long, default=None),
            "median_spread": entries.median(long) if long else None}


def entries_of(summary, processes, gpu, commit):
    made = entries.Entries("scripts/gpu/honesty.sh: bench/honesty/repeat.py", gpu, commit)
    if summary["worst_spread"] is not None:
        made.add("honesty.repeatability", summary["worst_spread"],
                 f"widest spread of {summary['long_cases']} ratios over {processes} processes", f"<= {SPREAD_TARGET}")
    return made


def print_summary(summary):
    for row in summary["cases"]:
        if row["spread"] is None:
            print(f"{row['case']:20} measured {row['measured']} of {row['processes']} times")
        else:
            print(f"{row['case']:20} {row['median_ratio']:8.4f}x [{row['smallest']:.4f}, {row['largest']:.4f}] "
                  f"spread {row['spread']:.3%}, own half width {row['median_half_width']:.3%}, from "
                  f"{row['shortest_ns'] / 1e3:.1f} us{'' if row['long'] else ' (short, not counted)'}")
    worst = summary["worst_spread"]
    print("nothing long enough was measured" if worst is None else f"widest spread {worst:.3%}")


def measure(arguments):
    runs, device = {case_name(case): [] for case in CASES}, None
    start, jobs = time.monotonic(), len(CASES) * arguments.processes
    done = 0
    for _ in range(arguments.processes):
        with Runner(serve_command(arguments.runner), log=os.path.join(arguments.out, "repeat.stderr.txt")) as runner:
            for case in CASES:
                family, elements, block, naive = case
                left = arguments.seconds - (time.monotonic() - start)
                budget = int(min(max(1000 * (left / (jobs - done) - 0.4), BUDGET_MS[0]), BUDGET_MS[1]))
                done += 1
                task = kernels.task_of(family, elements, block, naive=naive)
                record = {"outcome": "no verdict", "message": "", "ratio": None}
                try:
                    verdict = runner.verify(task, kernels.plan_of(family, 256), limit_s=90, device=arguments.device,
                                            measure_budget_ms=budget, hidden_sizes=False, timeout_ms=60_000)
                    device = verdict["device"]
                    record.update({"outcome": verdict["outcome"], "message": verdict["message"]})
                    if "speedup" in verdict:
                        record.update({key: verdict["speedup"][key] for key in ("ratio", "low", "high", "samples")})
                        record.update({f"{side}_ns": verdict[f"{side}_time"]["median_ns"]
                                       for side in ("reference", "candidate")})
                except RpcError as error:
                    record["message"] = str(error)
                if record["ratio"] is None:
                    print(f"{case_name(case)}: {record['outcome']}: {record['message']}", flush=True)
                runs[case_name(case)].append(record)
    return runs, device


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    runs, device = measure(arguments)
    summary = summarise(runs)
    print_summary(summary)
    report = {"device": device, "commit": arguments.commit, "date": entries.now(), "processes": arguments.processes,
              "summary": summary, "runs": runs}
    entries.write_results(arguments.out, "repeat", report,
                          entries_of(summary, arguments.processes, entries.gpu_name(device), arguments.commit))
    worst = summary["worst_spread"]
    return 0 if worst is not None and worst <= SPREAD_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
