#!/usr/bin/env python3
"""Modules under torch.compile(backend="warpwright"): their plans are searched, then they are measured next to PyTorch's own forms.

usage: python3 bench/backend/run.py --out ROWS.jsonl [--modules kinds] [--dtype bfloat16] [--train] [--only 01_llama,04_] [--phase search --jobs 8]
           [--budget 60s] [--baselines few] [--seconds 500]
       python3 bench/backend/run.py --summary ROWS.jsonl

search: `jobs` processes capture the modules' graphs; then one runner with as many workers, which take turns on the GPU, searches plans
for `jobs` modules at a time. Records go into the store, one line per module into ROWS.jsonl.search.
measure: one process, alone on the GPU, binds plans where they make a whole graph faster, then checks and times all forms (variants.py).
It keeps one line per module: whether ours is right, the times of each form as called ("called"), in a CUDA graph ("graph") and under
reduce-overhead, ratios of the others' times to ours with their intervals, and the device's time inside our plans.
Modules that the files hold already are omitted, so the same command goes on. A process that dies or hangs costs its module alone.
"""
import argparse
import concurrent.futures
import contextlib
import functools
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types

import cases

import torch

import summary
import variants
from warpwright import core, search

MARK = "\x1erow "  # begins a worker's answers, among whatever libraries print


# ---- In a worker

def captured(name, options):
    """Queues the regions of a module's graphs. @return what search_one() needs"""
    model, inputs = cases.made(name, options)
    session = search.Recording()
    search.run_model(model, (), inputs, options.train, session, options.mode)
    return {"graphs": [{"place": one.place, "device": str(one.device), "waiting": one.waiting, "regions": [region["key"] for region in one.regions]}
                       for one in session.graphs.values()]}


def work(options):
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    cases.lift_limits()
    for line in sys.stdin:
        request, start = json.loads(line), time.monotonic()
        try:
            row = {"capture": captured, "measure": variants.measured}[request["do"]](request["name"], options)
        except Exception as error:
            traceback.print_exc()
            row = {"failed": cases.states.first_line(error)}
        row.update(gpu=cases.states.device_name(options.device), torch=torch.__version__, seconds=round(time.monotonic() - start, 1))
        sys.stdout.write("\n" + MARK + json.dumps(row) + "\n")
        sys.stdout.flush()
        torch._dynamo.reset()
        gc.collect()
        if options.device != "cpu":
            torch.cuda.empty_cache()


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


# ---- In the main process

class Worker:
    """A process that answers requests; it starts again where it ended."""

    def __init__(self, options, cache, beside=0):
        self.options, self.process, self.place = options, None, {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}
        if beside:
            self.place["TORCHINDUCTOR_COMPILE_THREADS"] = str(max(os.cpu_count() // (beside + 1), 1))

    def start(self):
        command = [sys.executable, "-B", os.path.abspath(__file__), "--worker"]
        for name in ("modules", "dtype", "mode", "device", "baselines"):
            command += [f"--{name}", getattr(self.options, name)] if getattr(self.options, name) else []
        command += ["--train"] if self.options.train else []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.place, start_new_session=True)

    def ask(self, **request):
        if self.process is None or self.process.poll() is not None:
            self.start()
        start, limit = time.monotonic(), self.options.module_seconds
        timer = threading.Timer(limit, self.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith(MARK):
                    return json.loads(line[len(MARK):])
        except OSError:
            pass
        finally:
            timer.cancel()
        late = "stopped after" if time.monotonic() - start >= limit else "the process ended after"
        return {"failed": f"{late} {time.monotonic() - start:.0f} s, exit code {self.process.wait()}"}

    def kill(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


@contextlib.contextmanager
def shared_runner(options):
    """The URL of a runner whose workers take turns on the GPU. Nothing else computes there meanwhile, which it would refuse to measure beside."""
    path = os.environ.get("WARPWRIGHT_RUNNER") or os.path.join(os.path.dirname(search.program()), "warpwright-runner")

    def stop(*_):
        process.kill()
        os._exit(1)  # the threads that search would be waited for

    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        socket, begun = os.path.join(folder, "socket"), time.monotonic()
        process = subprocess.Popen([path, "serve", "--socket", socket, "--workers-per-gpu", str(min(options.jobs, 16)), "--python", sys.executable])
        before = signal.signal(signal.SIGTERM, stop)
        try:
            while not os.path.exists(socket):
                if process.poll() is not None or time.monotonic() > begun + 60:
                    raise core.CoreError(f"{path} serve does not listen")
                time.sleep(0.1)
            yield "unix:" + socket
        finally:
            signal.signal(signal.SIGTERM, before)
            process.terminate()
            process.wait()


class Outcomes(search.Progress):
    """What a search says of its regions."""

    def __init__(self, name):
        super().__init__()
        self.name, self.changes, self.regions = name, False, []
        self.stages, self.now = {}, {}  # seconds by stage, regions at once counted each; the stage of a region and its start

    def show(self, text, end=False):
        if end:
            print(f"{self.name}: {text}", flush=True)

    def take(self, line, left):
        if line["event"] in ("stage", "region"):
            stage, since = self.now.pop(line["key"], (None, 0))
            if stage:
                self.stages[stage] = round(self.stages.get(stage, 0) + time.monotonic() - since, 2)
        if line["event"] == "stage":
            self.now[line["key"]] = line["stage"], time.monotonic()
        if line["event"] == "region":
            self.regions.append({key: line[key] for key in ("key", "outcome", "ratio", "reason")})
        super().take(line, left)


def search_one(name, found, options, runner, end):
    graphs = [types.SimpleNamespace(place=one["place"], device=torch.device(one["device"]), regions=one["regions"], waiting=one["waiting"],
                                    folder=functools.partial(search.Captured.folder, types.SimpleNamespace(place=one["place"])))
              for one in found["graphs"]]
    outcomes, start, row = Outcomes(name), time.monotonic(), {"regions": sum(len(one.regions) for one in graphs)}
    try:
        search.search(graphs, min(search.seconds_of(options.budget), end - start), outcomes, runner)
    except (core.CoreError, OSError, ValueError) as error:
        row["failed"] = f"{type(error).__name__}: {error}"[:600]
    records = [core.ask("read", kind="job", key=key, **one.place)["record"] for one in graphs for key in one.regions]
    return {**row, "capture_seconds": found["seconds"], "search_seconds": round(time.monotonic() - start, 1), "outcomes": outcomes.regions, "stages": outcomes.stages,
            "unsearched": sum(bool(one) and "searched" not in one for one in records)}


def search_phase(names, options, cache, end):
    """Captures all modules, then searches: a runner measures nothing while other processes compute on its GPU."""
    found, free = {}, [Worker(options, cache, options.jobs - 1) for _ in range(options.jobs)]

    def capture(name):
        if time.monotonic() < end:
            worker = free.pop()
            found[name] = worker.ask(do="capture", name=name)
            free.append(worker)
            print(f"{name}: " + found[name].get("failed", f"captured in {found[name].get('seconds')} s"), flush=True)

    def searched(name):
        if time.monotonic() < end:
            row = keep(options.out + ".search", name, search_one(name, found[name], options, runner, end), options)
            print(f"{name}: {row['regions']} regions, {row['unsearched']} not searched, {row['search_seconds']} s {row.get('failed', '')}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(capture, names))
        for worker in free:
            worker.close()
        for name in found:
            if "failed" in found[name]:
                keep(options.out + ".search", name, found[name], options)
        with shared_runner(options) as runner:
            list(pool.map(searched, [name for name in found if "failed" not in found[name]]))


def measure_phase(names, options, cache, end):
    searches, worker = rows_of(options.out + ".search"), Worker(options, cache)
    for name in names:
        if time.monotonic() > end:
            break
        row = worker.ask(do="measure", name=name)
        row = keep(options.out, name, {**row, "search": searches.get(ident(name, options))}, options)
        print(summary.line_of(row), flush=True)
        if "failed" in row or any("failed" in one for one in row.get("captured", {}).values()):
            worker.close()  # what failed may have left the process unusable
    worker.close()


def ident(name, options):
    return f"{name}/{options.dtype or 'own'}/{options.mode or 'default'}/{'train' if options.train else 'eval'}"


def rows_of(path):
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return {row["id"]: row for row in map(json.loads, file)}


def keep(path, name, row, options):
    row = {"id": ident(name, options), "date": time.strftime("%Y-%m-%d"), **row}
    with open(path, "a") as file:
        file.write(json.dumps(row) + "\n")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases.add_options(parser)
    parser.add_argument("--out")
    parser.add_argument("--summary", metavar="ROWS.jsonl", help="only print a table of these rows")
    parser.add_argument("--phase", choices=("both", "search", "measure"), default="both")
    parser.add_argument("--jobs", type=int, default=4, help="modules that are searched at once")
    parser.add_argument("--mode", choices=("default", variants.AUTOTUNED),
                        help="of ours and of the form `compile`; reduce-overhead is measured anyway")
    parser.add_argument("--baselines", choices=("all", "few", "plain"), default="all",
                        help="few: eager, compile and max-autotune, without reduce-overhead; plain: eager and compile")
    parser.add_argument("--budget", default="60s", help="of a module's search: no region is begun after it")
    parser.add_argument("--seconds", type=float, default=1e9, help="no module is begun after it; a search before a measurement has half of it")
    parser.add_argument("--module-seconds", type=float, default=400, help="a process that takes longer for a module is ended")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    if options.summary:
        return summary.show(rows_of(options.summary).values())
    if not options.out:
        parser.error("--out is needed")
    with tempfile.TemporaryDirectory(prefix="inductor-") as cache:
        run(options, cases.names(options), cache)


def run(options, names, cache):
    start = time.monotonic()
    if options.phase != "measure":
        rows = rows_of(options.out + ".search")
        done = {key for key, row in rows.items() if "failed" not in row and not row["unsearched"]}
        share = 0.5 if options.phase == "both" else 1
        left = [name for name in names if ident(name, options) not in done]
        search_phase(left, options, os.path.join(cache, "search"), start + share * options.seconds)
    if options.phase != "search":  # with a cache of its own: what was tuned while others ran on the GPU is tuned again
        done = rows_of(options.out)
        left = [name for name in names if ident(name, options) not in done]
        measure_phase(left, options, os.path.join(cache, "measure"), start + options.seconds)
        summary.show(rows_of(options.out).values())


if __name__ == "__main__":
    main()
