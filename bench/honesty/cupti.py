#!/usr/bin/env python3
"""Agreement with CUPTI: device times of verdicts against the kernel durations of CUPTI's activity records, cold cache.

usage: bench/honesty/cupti.py --runner BIN_DIR/warpwright-runner --out DIR --library cupti_trace.so [--libcupti PATH]
                              [--device cuda:0] [--ncu ncu] [--seconds 75]

Kernels from under 3 us to about 1 ms, one launch each. Each is measured three times: by a plain `serve`, by a worker
process of its own into which cupti_trace.so was injected, and by a plain `serve` again. Compared are two clocks that
saw the same launches: the verdict's candidate_time.kernel_ns under CUPTI (median_ns where it has no kernel_ns), and the
median of CUPTI's durations of that process's cold launches. CUPTI itself slows launches down; the plain verdicts (mean
of the two) stand next to them and show by how much, and with --ncu also gpu__time_duration of Nsight Compute with
--cache-control all --clock-control none, a second witness that serializes and rounds in its own way.
Writes DIR/cupti.json and DIR/cupti.entries.json. Standard library only.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cupti_records  # noqa: E402
import entries  # noqa: E402
import kernels  # noqa: E402
from runner_client import RpcError, Runner, serve_command, worker_command  # noqa: E402

CASES = [("scale", 1 << 14), ("scale", 1 << 16), ("scale", 1 << 18), ("scale", 1 << 20), ("scale", 1 << 22), ("scale", 1 << 24),
         ("scale", 1 << 26), ("saxpy", 1 << 18), ("saxpy", 1 << 22), ("gelu", 1 << 20), ("stencil", 1 << 20),
         ("stencil", 1 << 24), ("row_sum", 1 << 18), ("row_sum", 1 << 22), ("softmax", 1 << 18), ("softmax", 1 << 22),
         ("transpose", 1 << 20), ("transpose", 1 << 24), ("matmul", 1 << 14), ("matmul", 1 << 16), ("matmul", 1 << 18),
         ("matmul", 1 << 20)]
SHORTEST_NS = 3_000
DIFFERENCE_TARGET = 0.02
BUDGET_MS = (250, 1500)
# A worker closes itself in; a library from elsewhere that writes a file needs it open.
OPEN = {"WARPWRIGHT_ISOLATION": "off"}


def case_name(case):
    return f"{case[0]}_{case[1]}"


def job_of(case):
    """Task and plan of the same text under two names, so that a trace tells the sides apart."""
    name = case_name(case)
    return kernels.task_of(case[0], case[1], name="ref_" + name), kernels.plan_of(case[0], 256, "cand_" + name)


def times_of(verdict):
    """{"ns", "raw_ns", "samples"} of the candidate, or None: device time alone, and the median between the stamps."""
    found = verdict.get("candidate_time")
    if not found:
        return None
    return {"ns": found.get("kernel_ns", found["median_ns"]), "raw_ns": found["median_ns"], "samples": found["samples"]}


def measure(runner, device, seconds, measure_=True, cases=None):
    """({case: times or None}, device info) of one process."""
    found, info, start, cases = {}, None, time.monotonic(), cases or CASES
    for done, case in enumerate(cases):
        left = seconds - (time.monotonic() - start)
        budget = int(min(max(1000 * (left / (len(cases) - done) - 0.25), BUDGET_MS[0]), BUDGET_MS[1]))
        task, plan = job_of(case)
        try:
            verdict = runner.verify(task, plan, limit_s=90, device=device, measure=measure_, measure_budget_ms=budget,
                                    hidden_sizes=False, timeout_ms=60_000)
        except RpcError as error:
            print(f"{case_name(case)}: {error}", flush=True)
            found[case_name(case)] = None
            if runner.ended:
                break
            continue
        info = verdict["device"]
        found[case_name(case)] = times_of(verdict)
        if measure_ and not found[case_name(case)]:
            print(f"{case_name(case)}: {verdict['outcome']}: {verdict['message']}", flush=True)
    return found, info


def wait_until_written(path, limit_s=5):
    """The library asks CUPTI five times a second: a trace that has not grown for a second is whole."""
    size, since, start = -1, time.monotonic(), time.monotonic()
    while time.monotonic() - start < limit_s and time.monotonic() - since < 1:
        now = os.path.getsize(path) if os.path.exists(path) else 0
        if now != size:
            size, since = now, time.monotonic()
        time.sleep(0.1)


def probe_environment(arguments):
    """What `serve` tells its workers: CUPTI's duration of the runner's probe kernel."""
    run = subprocess.run([arguments.runner, "probe", "--device", arguments.device], capture_output=True, text=True, check=False)
    try:
        told = json.loads(run.stdout)
    except ValueError:
        told = {"error": run.stderr.strip() or run.stdout.strip()}
    if "probe_ns" not in told:
        print(f"no duration of the probe kernel: {told}", flush=True)
        return {}
    return {"WARPWRIGHT_PROBE_NS": str(told["probe_ns"])}


def trace_one(arguments, case, folder, seconds):
    """(times or None, durations, device info) of one case in a process of its own: CUPTI's names of kernels do not outlive
    their module, so a trace of many kernels cannot tell them apart."""
    path = os.path.join(folder, case_name(case) + ".txt")
    environment = {**OPEN, **arguments.probe, "CUDA_INJECTION64_PATH": os.path.abspath(arguments.library), "WARPWRIGHT_TRACE": path}
    if arguments.libcupti:
        environment["WARPWRIGHT_CUPTI"] = arguments.libcupti
    with Runner(worker_command(arguments.runner, arguments.device), environment,
                log=os.path.join(arguments.out, "cupti.stderr.txt")) as runner:
        found, info = measure(runner, arguments.device, seconds, cases=[case])
        wait_until_written(path)
    if not os.path.exists(path):
        print(f"{case_name(case)}: no trace was written: see cupti.stderr.txt", flush=True)
        return found[case_name(case)], [], info
    with open(path, encoding="utf-8", errors="replace") as file:
        events = cupti_records.read_trace(file)
    return found[case_name(case)], cupti_records.cold_durations(events, (info or {}).get("l2_bytes") or 1 << 20), info


def measure_with_cupti(arguments, seconds):
    """({case: times}, {case: durations}, device info)"""
    times, durations, info = {}, {}, None
    arguments.probe = probe_environment(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            name = case_name(case)
            times[name], durations[name], told = trace_one(arguments, case, folder, seconds / len(CASES))
            info = info or told
    return times, durations, info


def parse_ncu(lines):
    """{kernel: [ns, ...]} of `ncu --csv --page raw --print-units base`."""
    lines = list(lines)
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    durations = {}
    for row in csv.DictReader(lines[head:]) if head is not None else []:
        value = (row.get("gpu__time_duration.sum") or "").replace(",", "")
        try:
            duration = float(value)
        except ValueError:  # the row of units
            continue
        durations.setdefault(row["Kernel Name"].split("(")[0], []).append(duration)
    return durations


def measure_with_ncu(arguments):
    """Third to sixth launch of each candidate while it is verified, at the task's sizes; no trial has other sizes here."""
    log = os.path.join(arguments.out, "ncu.csv")
    command = [arguments.ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", log, "--cache-control", "all",
               "--clock-control", "none", "--metrics", "gpu__time_duration.sum", "--kernel-id", "::regex:^cand_:[3456]"]
    try:
        with Runner(command + worker_command(arguments.runner, arguments.device), OPEN,
                    log=os.path.join(arguments.out, "ncu.stderr.txt")) as runner:
            measure(runner, arguments.device, arguments.seconds, measure_=False)
        with open(log, encoding="utf-8", errors="replace") as file:
            return parse_ncu(file)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"Nsight Compute was not asked: {error}", flush=True)
        return {}


def rows_of(plain, again, under_cupti, durations, ncu):
    """One row a case; what is missing is None."""
    rows = []
    for case in CASES:
        name = case_name(case)
        verdicts = [found for found in (plain.get(name), again.get(name)) if found]
        cold = durations.get(name, [])
        witness = ncu.get("cand_" + name, [])
        row = {"kernel": name, "reported_ns": sum(found["ns"] for found in verdicts) / len(verdicts) if verdicts else None,
               "raw_ns": sum(found["raw_ns"] for found in verdicts) / len(verdicts) if verdicts else None,
               "runs_ns": [found["ns"] for found in verdicts],
               "under_cupti_ns": under_cupti[name]["ns"] if under_cupti.get(name) else None,
               "under_cupti_raw_ns": under_cupti[name]["raw_ns"] if under_cupti.get(name) else None,
               "cupti_ns": entries.median(cold) if cold else None, "cupti_launches": len(cold),
               "cupti_p10_ns": entries.quantile(cold, 0.1) if cold else None,
               "cupti_p90_ns": entries.quantile(cold, 0.9) if cold else None,
               "ncu_ns": entries.median(witness) if witness else None, "difference": None, "difference_ns": None}
        if row["under_cupti_ns"] is not None and row["cupti_ns"]:
            row["difference_ns"] = row["under_cupti_ns"] - row["cupti_ns"]
            row["difference"] = row["difference_ns"] / row["cupti_ns"]
        rows.append(row)
    return rows


def summarise(rows):
    """Over the kernels that CUPTI puts at 3 us or more."""
    judged = [row for row in rows if row["difference"] is not None and row["cupti_ns"] >= SHORTEST_NS]
    away = [abs(row["difference"]) for row in judged]
    return {"kernels": len(judged), "worst": max(away, default=None), "median": entries.median(away) if away else None,
            "within": sum(value <= DIFFERENCE_TARGET for value in away),
            "worst_kernel": max(judged, key=lambda row: abs(row["difference"]))["kernel"] if judged else None,
            "median_difference_ns": entries.median([row["difference_ns"] for row in judged]) if judged else None,
            "stamps_ns": stamps_cost(judged)}


def stamps_cost(judged):
    """What lies between the stamps beyond CUPTI's duration, ns: what the runner's own bracket_ns must be near."""
    costs = [row["under_cupti_raw_ns"] - row["cupti_ns"] for row in judged]
    return {"median": entries.median(costs), "smallest": min(costs), "largest": max(costs)} if costs else None


def entries_of(summary, gpu, commit):
    made = entries.Entries("scripts/gpu/honesty.sh: bench/honesty/cupti.py", gpu, commit)
    if summary["worst"] is not None:
        made.add("honesty.cupti_difference", summary["worst"], f"largest of {summary['kernels']} kernels from 3 us",
                 f"<= {DIFFERENCE_TARGET}")
        made.add("honesty.cupti_median_difference", summary["median"], f"median of {summary['kernels']} kernels")
    return made


def print_rows(rows, summary, device):
    def us(value):
        return "-" if value is None else f"{value / 1e3:.3f}"
    print(f"probe {(device or {}).get('probe_ns', 'not told')} ns, plain bracket {(device or {}).get('bracket_ns', 'not told')} ns")
    print(f"{'kernel':20} {'CUPTI':>9} {'ours':>9} {'+-':>6} {'%':>7} {'stamps':>9} {'launches':>8} {'plain':>9} "
          f"{'ncu':>9}   (us; +- in ns; the first two saw the same launches)")
    for row in rows:
        difference = ("-", "-") if row["difference"] is None else (f"{row['difference_ns']:+.0f}", f"{row['difference']:+.2%}")
        print(f"{row['kernel']:20} {us(row['cupti_ns']):>9} {us(row['under_cupti_ns']):>9} {difference[0]:>6} "
              f"{difference[1]:>7} {us(row['under_cupti_raw_ns']):>9} {row['cupti_launches']:>8} "
              f"{us(row['reported_ns']):>9} {us(row['ncu_ns']):>9}")
    if summary["worst"] is None:
        print("nothing could be compared")
    else:
        print(f"{summary['within']} of {summary['kernels']} kernels from 3 us within {DIFFERENCE_TARGET:.0%}; worst "
              f"{summary['worst']:.2%} ({summary['worst_kernel']}), median {summary['median']:.2%}, "
              f"median difference {summary['median_difference_ns']:+.0f} ns")
        cost = summary["stamps_ns"]
        print(f"between the stamps beyond CUPTI: median {cost['median']:.0f} ns [{cost['smallest']:.0f}, {cost['largest']:.0f}]; "
              f"without CUPTI the runner's bracket_ns is {(device or {}).get('bracket_ns', 'not told')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--library", required=True, help="cupti_trace.so")
    parser.add_argument("--libcupti", help="libcupti.so.13, where the loader does not find it")
    parser.add_argument("--ncu")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=75, help="for the three runs together, without ncu")
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)

    def plainly():
        with Runner(serve_command(arguments.runner), log=os.path.join(arguments.out, "cupti.stderr.txt")) as runner:
            return measure(runner, arguments.device, arguments.seconds / 3)
    plain, info = plainly()
    under_cupti, durations, traced = measure_with_cupti(arguments, arguments.seconds / 3)
    again, _ = plainly()
    ncu = measure_with_ncu(arguments) if arguments.ncu else {}
    rows = rows_of(plain, again, under_cupti, durations, ncu)
    summary = summarise(rows)
    print_rows(rows, summary, info or traced)
    report = {"device": info or traced, "commit": arguments.commit, "date": entries.now(), "summary": summary, "kernels": rows}
    entries.write_results(arguments.out, "cupti", report,
                          entries_of(summary, entries.gpu_name(info or traced), arguments.commit))
    return 0 if summary["worst"] is not None and summary["worst"] <= DIFFERENCE_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
