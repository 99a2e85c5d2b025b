#!/usr/bin/env python3
"""Runs the CUDA programs a to m of HeCBench through Warpwright, on a machine with a GPU, nvcc and make.

usage: bench/programs/run.py HECBENCH --bin build/release/bin --out OUT [--for 9m] [--only adam,bfs] [--whole]

HECBENCH is a checkout, or what bench/programs/pack.py packed and tar unpacked. It is copied to
--work once, and built there. In a fixed random order, each program is analyzed, built and captured,
and the kernels with the most GPU time are optimized. With --whole, `warpwright optimize --program`
does that and proves the changed program against the original in whole runs. Builds run ahead on the
other CPU cores; with --whole they are made first, so that they do not disturb the runs.
OUT/programs.jsonl gets a line for each result. A later run with the same OUT skips programs that
are done; --for ends a run in time. The table at the end (also OUT/table.md) counts every failure as
1.0.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import table  # noqa: E402

SEED = 21
LAUNCH_ROOM_S = 15  # of a search beside its budget: connecting, compiling, the last candidate


def seconds(text):
    number, unit = re.fullmatch(r"([0-9.]+)(s|m|h|)", text).groups()
    return float(number) * {"s": 1, "": 1, "m": 60, "h": 3600}[unit]


def run(command, folder, limit_s, environment=None):
    """@return (exit code, stdout, stderr, seconds); the code is None if the command was ended at its limit"""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, **(environment or {})}, start_new_session=True)
    code = 0
    try:
        out, err = process.communicate(timeout=limit_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        code = None
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                out, err = process.communicate(timeout=5)
                break
            except (subprocess.TimeoutExpired, ProcessLookupError):
                out, err = b"", b""
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), time.monotonic() - start


def tail(text, most=1500):
    return text[-most:]


class Bench:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + seconds(options.limit)
        self.warpwright = os.path.join(os.path.abspath(options.bin), "warpwright")
        self.work = os.path.abspath(options.work)
        self.source = os.path.join(self.work, "src")
        self.environment = {"XDG_CACHE_HOME": os.path.join(self.work, "cache"), "XDG_STATE_HOME": os.path.join(self.work, "state"),
                            "NO_COLOR": "1"}
        os.makedirs(options.out, exist_ok=True)
        self.path = os.path.join(options.out, "programs.jsonl")
        self.lines = table.read(self.path)
        if not os.path.isdir(self.source):
            os.makedirs(self.work, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.work) as folder:
                copy = os.path.join(folder, "src")
                shutil.copytree(os.path.join(options.hecbench, "src"), copy, symlinks=True,
                                ignore=lambda folder, names: [name for name in names if folder.endswith("/src")
                                                              and name[0] > "m" and name != "include"])
                with contextlib.suppress(OSError):  # another run was first
                    os.rename(copy, self.source)

    def left(self):
        return self.end - time.monotonic()

    def note(self, kind, program, **facts):
        line = {"kind": kind, "program": program, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **facts}
        self.lines.append(line)
        with open(self.path, "a") as file:
            file.write(json.dumps(line) + "\n")

    def known(self, kind, program):
        return [line for line in self.lines if line["kind"] == kind and line["program"] == program]

    def folder(self, program):
        return os.path.join(self.source, program + "-cuda")

    def programs(self):
        names = sorted(name[:-5] for name in os.listdir(self.source) if re.match(r"[a-m].*-cuda$", name))
        random.Random(SEED).shuffle(names)
        part, parts = map(int, self.options.part.split("/"))
        names = names[part::parts]
        if self.options.only:
            wanted = self.options.only.split(",")
            missing = [name for name in wanted if name not in names]
            if missing:
                sys.exit(f"not among the programs a to m: {', '.join(missing)}")
            names = [name for name in names if name in wanted]
        return names

    # The steps of one program. The first two need no GPU.

    def analyzed(self, program):
        """@return the kernels of the program as `analyze --json` gives them, and the number of files that failed"""
        code, out, err, took = run([self.warpwright, "analyze", "--json", "."], self.folder(program), 120, self.environment)
        try:
            document = json.loads(out)
        except json.JSONDecodeError:
            return [], 1, took, tail(err)
        kernels = [{**kernel, "file": file["path"]} for file in document["files"] for kernel in file["kernels"]]
        return kernels, len(document.get("failures", [])), took, tail(err)

    def prepare(self, program):
        """Analyzes the text and builds. @return facts of the two lines"""
        kernels, failures, took, _ = self.analyzed(program)
        text = {"kernels": len(kernels), "inferred": sum(kernel["task"]["inferred"] for kernel in kernels),
                "failures": failures, "seconds": took}
        if self.left() < 30:
            return text, None
        code, out, err, took = run(["make", f"ARCH={self.options.arch}"], self.folder(program), min(300, self.left()))
        if code is None and self.left() < 5:
            return text, None
        return text, {"ok": code == 0, "seconds": took, "log": "" if code == 0 else tail(out + err)}

    def captured(self, program):
        """@return whether launches with GPU times were recorded"""
        out_folder = os.path.join(self.work, "cache", "warpwright", "captures", f"{program}")
        shutil.rmtree(out_folder, ignore_errors=True)
        os.makedirs(os.path.dirname(out_folder), exist_ok=True)
        command = [self.warpwright, "capture", "--contents", "--out", out_folder, "--", "make", f"ARCH={self.options.arch}", "run"]
        code, out, err, took = run(command, self.folder(program), self.options.run_limit, self.environment)
        gpu_ns, launches, gpus = 0, 0, []
        for folder, _, names in os.walk(out_folder):
            if "capture.json" in names:
                with open(os.path.join(folder, "capture.json")) as file:
                    process = json.load(file)
                gpu_ns += process["totals"]["gpu_ns"]
                launches += process["totals"]["launches"]
                gpus += [gpu["name"] for gpu in process["gpus"]]
        self.note("capture", program, status=code, seconds=took, gpu_ns=gpu_ns, launches=launches, gpu=gpus[:1],
                  output=tail(out, 400), log=tail(err, 3000))
        return gpu_ns > 0

    def optimize(self, program, kernel, budget_s):
        share = kernel["run"]
        facts = {"file": kernel["file"], "kernel": kernel["qualified_name"], "share": share["share"], "launches": share["runs"],
                 "total_ns": share["total_ns"], "launch_ns": share.get("launch_ns")}
        if not kernel["task"]["inferred"]:
            why = kernel.get("slice_error") or "asks for " + ", ".join(one["name"] for one in kernel["task"]["missing"])
            return self.note("kernel", program, **facts, outcome="no task", why=why)
        command = [self.warpwright, "optimize", kernel["file"], "--kernel", kernel["qualified_name"], "--json", "--device",
                   self.options.device, "--budget", f"{budget_s:.0f}s", "--ledger", os.path.join(self.work, "ledger.sqlite")]
        if self.options.max_variants:
            command += ["--max-variants", str(self.options.max_variants)]
        code, out, err, took = run(command, self.folder(program), budget_s + 120, self.environment)
        try:
            found = json.loads(out)["kernels"][0]
        except (json.JSONDecodeError, IndexError, KeyError):
            return self.note("kernel", program, **facts, outcome="failed", why=f"exit {code}: {tail(err)}", seconds=took)
        self.note("kernel", program, **facts, **table.outcome_of(found), seconds=took)

    def whole(self, program):
        """The program from its run to a report and a patch. @return whether it is done, or the time was over"""
        needed_s = (seconds(self.options.budget) + 20 * self.known("capture", program)[-1]["seconds"]
                    + 4 * self.known("build", program)[-1]["seconds"] + LAUNCH_ROOM_S)
        if self.left() < needed_s:
            return False
        make = f"make ARCH={self.options.arch}"
        command = [self.warpwright, "optimize", "--program", make + " run", "--build", make, "--json", "--device", self.options.device,
                   "--budget", self.options.budget, "--ledger", os.path.join(self.work, "ledger.sqlite"),
                   "--patch", os.path.join(os.path.abspath(self.options.out), "patches", program + ".patch")]
        if self.options.max_variants:
            command += ["--max-variants", str(self.options.max_variants)]
        os.makedirs(os.path.dirname(command[command.index("--patch") + 1]), exist_ok=True)
        code, out, err, took = run(command, self.folder(program), needed_s + 300, self.environment)
        try:
            document = json.loads(out)
            whole = document["program"]
        except (json.JSONDecodeError, KeyError):
            self.note("program", program, outcome="failed", why=f"exit {code}: {tail(err)}", seconds=took)
            return True
        kernels = {kernel["name"]: kernel for kernel in document["kernels"]}
        for kernel in whole["kernels"]:
            facts = {"file": kernel["file"], "kernel": kernel["name"], "share": kernel["gpu_share"], "launches": kernel["launches"],
                     "total_ns": kernel["total_ns"], "state": kernel["state"], "changed_total_ns": kernel["changed_total_ns"]}
            searched = table.outcome_of(kernels[kernel["name"]]) if kernel["name"] in kernels else {"outcome": kernel["state"]}
            if kernel["why"]:
                searched["why"] = kernel["why"]
            if kernel["gpu_share"] >= self.options.least_share:
                self.note("kernel", program, **facts, **searched)
        failures = "; ".join(failure["message"] for failure in document["failures"])
        self.note("whole", program, **{key: whole[key] for key in ("gpu_ns", "changed_gpu_ns", "first_runs_s", "original_s", "changed_s",
                                                                   "ratio", "outcome", "tests", "not_compared")}, seconds=took)
        self.note("program", program, outcome="failed" if code else "done", why=tail(failures))
        return True

    def measure(self, program):
        """All that needs the GPU. @return whether the program is done, or the time was over"""
        if not self.captured(program):
            self.note("program", program, outcome="nothing captured")
            return True
        kernels, _, _, _ = self.analyzed(program)
        run_s = self.known("capture", program)[-1]["seconds"]
        if self.options.whole and run_s > self.options.longest_whole:
            self.note("program", program, outcome=f"its run takes over {self.options.longest_whole:.0f} s")
            return True
        launched = sorted((kernel for kernel in kernels if kernel.get("run")), key=lambda kernel: -kernel["run"]["share"])
        distinct = list({kernel["name"]: kernel for kernel in reversed(launched)}.values())[::-1]
        self.note("kernels", program, launched=[{"kernel": kernel["name"], "share": kernel["run"]["share"], "task": kernel["task"]["inferred"]}
                                                for kernel in distinct])
        if self.options.whole:
            return self.whole(program)
        own = sum(kernel["run"]["share"] for kernel in distinct) or 1  # copies and libraries can have most of the GPU time
        chosen = [kernel for kernel in distinct if kernel["run"]["share"] / own >= self.options.least_share][:self.options.most_kernels]
        weight = sum(kernel["run"]["share"] for kernel in chosen if kernel["task"]["inferred"]) or 1
        done = {line["kernel"] for line in self.known("kernel", program)}
        for kernel in chosen:
            if kernel["qualified_name"] in done:
                continue
            budget_s = max(seconds(self.options.budget) * kernel["run"]["share"] / weight, self.options.least_budget)
            if kernel["task"]["inferred"] and self.left() < budget_s + LAUNCH_ROOM_S:
                return False
            self.optimize(program, kernel, budget_s)
        self.note("program", program, outcome="done" if chosen else "no kernel with source and enough GPU time")
        return True

    def run_all(self):
        done = {line["program"] for line in self.lines if line["kind"] == "program"}
        wanted = [program for program in self.programs() if program not in done]
        jobs = self.options.jobs or max((os.cpu_count() or 2) - 2, 1)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            prepared = [(program, pool.submit(self.prepare, program)) for program in wanted]
            if self.options.whole:
                concurrent.futures.wait([future for _, future in prepared], timeout=max(self.left() / 3, 1))
            for program, future in prepared:
                if self.left() < LAUNCH_ROOM_S:
                    break
                text, build = future.result()
                if not self.known("analyze", program):
                    self.note("analyze", program, **text)
                if build is None:
                    break
                self.note("build", program, **build)
                print(f"{program}: {text['inferred']} of {text['kernels']} tasks from the text, "
                      f"{'built' if build['ok'] else 'does not build'}", flush=True)
                if not build["ok"]:
                    self.note("program", program, outcome="does not build")
                elif not self.measure(program):
                    break
                for line in self.known("kernel", program):
                    print("  " + table.kernel_text(line), flush=True)
            pool.shutdown(wait=True, cancel_futures=True)
        outcomes = collections.Counter(line["outcome"] for line in self.lines if line["kind"] == "program")
        print(f"{sum(outcomes.values())} of {len(self.programs())} programs: {dict(outcomes)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hecbench")
    parser.add_argument("--bin", required=True, help="folder of Warpwright's programs")
    parser.add_argument("--out", required=True)
    parser.add_argument("--work", default="build/programs", help="copy of HeCBench, captures, ledger")
    parser.add_argument("--for", dest="limit", default="24h", help="begin nothing that would end after this time")
    parser.add_argument("--only", default="", help="names of programs, without -cuda")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="each N-th program from the I-th: for several GPUs, a command each")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--budget", default="60s", help="of a program's searches, divided by GPU time")
    parser.add_argument("--least-budget", type=float, default=10, help="seconds of one search")
    parser.add_argument("--least-share", type=float, default=0.05, help="of the GPU time of kernels with source, for a kernel to be optimized")
    parser.add_argument("--most-kernels", type=int, default=3, help="of one program")
    parser.add_argument("--max-variants", type=int, default=0)
    parser.add_argument("--run-limit", type=float, default=60, help="seconds of a captured run; its record is kept when it is ended")
    parser.add_argument("--whole", action="store_true", help="optimize, change and compare whole programs")
    parser.add_argument("--longest-whole", type=float, default=15, help="seconds of a recorded run, for --whole")
    parser.add_argument("--jobs", type=int, default=0, help="builds at a time")
    options = parser.parse_args()
    bench = Bench(options)
    bench.run_all()
    text = table.render(bench.lines)
    with open(os.path.join(options.out, "table.md"), "w") as file:
        file.write(text)
    print(text)


if __name__ == "__main__":
    main()
