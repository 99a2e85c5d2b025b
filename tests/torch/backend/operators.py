#!/usr/bin/env python3
"""The operators of PyTorch's own tests (its list op_db with sample inputs) under torch.compile(backend=warpwright.backend), each legal region exchanged.

usage: python3 operators.py BIN [--device cuda] [--only add,nn.functional.] [--samples 3] [--jobs 8] [--seconds 540] [--out ROWS.jsonl] [--plant]

An operator's result is scaled and shifted behind it, so that a region forms around it. Each sample
is compared with eager PyTorch; where they differ plain Inductor decides: what it gets wrong or
refuses alike is counted apart. Random operators are omitted, as Inductor draws other numbers than
eager. --plant makes the results of exchanged regions wrong, which has to be found. Exit code 1:
something was wrong.
"""

import argparse
import collections
import json
import os
import queue
import subprocess
import sys
import threading
import time
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import states  # noqa: E402

TOLERANCE = {"torch.float32": 2e-4, "torch.complex64": 2e-4, "torch.float64": 1e-7, "torch.complex128": 1e-7, "torch.float16": 1e-2, "torch.bfloat16": 2e-2}


def op_db():
    """PyTorch's list. Its test package wants modules for tests of other kinds, which need not be there."""
    for name in ("expecttest", "hypothesis"):
        try:
            __import__(name)
        except ImportError:
            stub = types.ModuleType(name)
            stub.TestCase, stub.assert_expected_inline = unittest.TestCase, None
            sys.modules[name] = stub
    from torch.testing._internal.common_methods_invocations import op_db as found
    return found


def name_of(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def around(op, keywords):
    """The operator, and pointwise work behind it."""
    import torch

    def function(*args):
        return torch.utils._pytree.tree_map(
            lambda one: (one * 2 + 1) * 0.5 if isinstance(one, torch.Tensor) and one.is_floating_point() else one, op(*args, **keywords))

    return function


def result(function, args):
    """The outputs' tensors, or what was raised."""
    import torch
    torch._dynamo.reset()
    copies = torch.utils._pytree.tree_map(lambda one: one.clone() if isinstance(one, torch.Tensor) else one, args)
    try:
        with torch.no_grad():
            return states.leaves(function(*copies))
    except Exception as error:  # of any operator
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def difference(wanted, got):
    import torch
    if isinstance(got, str):
        return got
    if len(wanted) != len(got):
        return f"{len(got)} outputs, wanted {len(wanted)}"
    for index, (one, other) in enumerate(zip(wanted, got)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"output {index} is {other.dtype} {tuple(other.shape)}, wanted {one.dtype} {tuple(one.shape)}"
        tolerance = TOLERANCE.get(str(one.dtype), 0)
        try:
            torch.testing.assert_close(other, one, rtol=tolerance, atol=tolerance, equal_nan=True)
        except AssertionError as error:
            return f"output {index}: " + " ".join(str(error).split())[:160]
    return ""


def row_of(op, options, counts):
    """@param counts of states.compiled_graphs()"""
    import torch
    import warpwright
    row, before = {"name": name_of(op), "samples": 0, "verdict": "no samples"}, counts["calls"]
    torch.manual_seed(0)
    for sample in op.sample_inputs(options.device, torch.float32, requires_grad=False):
        if row["samples"] == options.samples:
            break
        row["samples"] += 1
        args, function = (sample.input, *sample.args), around(op, sample.kwargs)
        wanted = result(function, args)
        if isinstance(wanted, str):
            verdict, why = "eager fails", wanted
        else:
            ours = result(torch.compile(function, backend=warpwright.backend, options={"warpwright.force": True}), args)
            why = difference(wanted, ours)
            verdict = "right" if not why else "wrong"
            if why:
                plain = result(torch.compile(function), args)
                if isinstance(plain, str):
                    verdict = "inductor fails"
                elif not isinstance(ours, str) and not difference(plain, ours):
                    verdict = "as inductor"
        if verdict != "right":
            row["why"] = why
        if row["verdict"] in ("no samples", "right") or verdict == "wrong":
            row["verdict"] = verdict
        if verdict == "wrong":
            break
    row["calls"] = counts["calls"] - before
    return row


def work(options):
    """A worker: names come by its input, rows go by its output."""
    states.prepare(options)
    import torch
    found = {name_of(op): op for op in op_db()}
    if options.list:
        wanted = [one for one in options.only.split(",") if one]
        names = [name for name, op in found.items() if torch.float32 in op.supported_dtypes(options.device)]
        print(json.dumps([name for name in names if not wanted or any(name.startswith(one) for one in wanted)]))
        return
    counts = collections.Counter()
    states.compiled_graphs(counts, options.plant)
    for line in sys.stdin:
        name = line.strip()
        if "nondeterministic_seeded" in tags_of(found[name]):
            row = {"name": name, "verdict": "no samples", "why": "random", "calls": 0}
        else:
            row = row_of(found[name], options, counts)
        print("ROW " + json.dumps(row), flush=True)


def tags_of(op):
    """Of the operator's overloads."""
    import torch
    packet = getattr(torch.ops.aten, (op.aten_name or op.name).split(".")[-1], None)
    names = set()
    for overload in packet.overloads() if packet is not None else ():
        names |= {tag.name for tag in getattr(packet, overload).tags}
    return names


class Worker(threading.Thread):
    """A process of its own for many operators; another one after each that ended it."""

    def __init__(self, names, rows, options, end):
        super().__init__(daemon=True)
        self.names, self.rows, self.options, self.end, self.process = names, rows, options, end, None

    def start_process(self):
        self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), *sys.argv[1:], "--worker"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def run(self):
        while time.monotonic() < self.end:
            try:
                name = self.names.get_nowait()
            except queue.Empty:
                break
            if self.process is None or self.process.poll() is not None:
                self.start_process()
            watch = threading.Timer(self.options.operator_seconds, self.process.kill)
            watch.start()
            row = {"name": name, "verdict": "wrong", "why": "the process ended, or took too long"}
            try:
                self.process.stdin.write(name + "\n")
                self.process.stdin.flush()
                for line in self.process.stdout:
                    if line.startswith("ROW "):
                        row = json.loads(line[4:])
                        break
            except OSError:
                pass
            watch.cancel()
            self.rows.put(row)
        if self.process is not None:
            self.process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--device", default="cpu")
    for name in ("--only", "--out", "--store"):
        parser.add_argument(name, default="")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="no operator is begun later")
    parser.add_argument("--operator-seconds", type=float, default=120)
    for name in ("--plant", "--worker", "--list"):
        parser.add_argument(name, action="store_true")
    options = parser.parse_args()
    if options.worker or options.list:
        work(options)
        return 0
    end = time.monotonic() + options.seconds
    listed = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), *sys.argv[1:], "--list"], text=True, stdout=subprocess.PIPE, check=True)
    waiting, rows = queue.Queue(), queue.Queue()
    for name in json.loads(listed.stdout.splitlines()[-1]):
        waiting.put(name)
    total = waiting.qsize()
    workers = [Worker(waiting, rows, options, end) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    found, reached = collections.Counter(), 0
    while any(worker.is_alive() for worker in workers) or not rows.empty():
        try:
            row = rows.get(timeout=1)
        except queue.Empty:
            continue
        found[row["verdict"]] += 1
        reached += bool(row.get("calls"))
        if options.out:
            with open(options.out, "a") as file:
                file.write(json.dumps(row) + "\n")
        if row["verdict"] not in ("right", "no samples"):
            print(f"{row['name']:40} {row['verdict']}: {row.get('why', '')}"[:220], flush=True)
    print(f"{sum(found.values())} of {total} operators: " + ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
          + f"; regions of {reached} were exchanged")
    return 1 if found["wrong"] or not reached else 0


if __name__ == "__main__":
    sys.exit(main())
