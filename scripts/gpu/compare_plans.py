#!/usr/bin/env python3
"""Times the kernels of recorded plans before and after a change of the device code, in pairs, on the GPU of this machine.

usage: scripts/gpu/compare_plans.py BEFORE.jsonl AFTER.jsonl --out ROWS.jsonl [--seconds N]

The files are what `plan_hashes GRAPHS --sources` printed (tests/golden). Both texts of a row are
compiled by NVRTC; their launches run over the same buffers of random numbers, each form captured in
a CUDA graph, replayed in random order with the second-level cache overwritten in between. One line
per row: median microseconds of both, the ratio before / after with the interval of its median, and
whether the text changed at all. Operators of torch between launches are omitted. Needs torch and
the package warpwright_runtime.
"""
import argparse
import ctypes
import json
import os
import random
import statistics
import struct
import sys
import time

import torch

sys.path.insert(0, os.environ.get("WARPWRIGHT_PACKAGE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "runtime")))
from warpwright_runtime.driver import Driver  # noqa: E402
from warpwright_runtime.exported_plan import PACKED  # noqa: E402
from warpwright_runtime.nvrtc import compile_kernels  # noqa: E402

PAIRS = 41
MOST_BYTES = 40 << 30


class Form:
    """One text's launches as a CUDA graph."""

    def __init__(self, driver, row, buffers):
        self.driver, self.row, self.buffers = driver, row, buffers
        major, minor = torch.cuda.get_device_capability()
        target = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
        self.functions = driver.load(*compile_kernels(row["source"], row["kernels"], row["options"], target))
        for launch in row["launches"]:
            if launch.get("shared", 0) > 48 * 1024:
                driver.allow_shared(self.functions[launch["kernel"]], launch["shared"])
        self.run(torch.cuda.current_stream())
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.run(torch.cuda.current_stream())

    def run(self, stream):
        for launch in self.row["launches"]:
            if "fill" in launch:
                self.buffers[launch["fill"]].view(torch.uint8).fill_(launch["byte"])
                continue
            values = [self.argument(one) for one in launch["arguments"]]
            pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(value, ctypes.c_void_p) for value in values])
            function = ctypes.c_void_p(self.functions[launch["kernel"]])
            numbers = [*launch["grid"], *launch["block"], launch["shared"]]
            handle = ctypes.c_void_p(stream.cuda_stream)
            library = self.driver.library
            if launch["cooperative"]:
                self.driver.check(library.cuLaunchCooperativeKernel(function, *numbers, handle, pointers))
            else:
                self.driver.check(library.cuLaunchKernel(function, *numbers, handle, pointers, None))

    def argument(self, one):
        if "place" in one:
            buffer = self.buffers[one["place"]]
            return ctypes.create_string_buffer(struct.pack("Q", buffer.data_ptr() + one["offset"] * buffer.element_size()), 8)
        if one["dtype"] == "bfloat16":
            return ctypes.create_string_buffer(struct.pack("f", one["value"])[2:], 2)
        packed = struct.pack(PACKED[one["dtype"]], one["value"])
        return ctypes.create_string_buffer(packed, len(packed))


def buffer_of(place):
    dtype, count = getattr(torch, place["dtype"]), max(place["elements"], 1)
    if dtype.is_floating_point:
        return torch.randn(count, device="cuda").to(dtype)
    return torch.randint(0, 2, (count,), device="cuda").to(dtype)


def sample(form, flush, begin, end):
    flush.zero_()
    begin.record()
    form.graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def interval(ratios):
    """Of the median, from order statistics at 95%."""
    ordered, n = sorted(ratios), len(ratios)
    step = int(0.98 * n ** 0.5) + 1
    return ordered[max(n // 2 - step, 0)], ordered[min(n // 2 + step, n - 1)]


def compared(driver, before, after):
    if sum(place["elements"] for place in before["places"]) * 4 > MOST_BYTES:
        return {"left_out": "its buffers are larger than 40 GiB"}
    torch.manual_seed(0)
    given = [buffer_of(place) for place in before["places"]]
    forms, results = [], []
    for row in (before, after):
        buffers = [one.clone() for one in given]
        if len(row["places"]) != len(given):  # other temporaries
            buffers = (buffers + [buffer_of(place) for place in row["places"][len(given):]])[:len(row["places"])]
        buffers = [one if one.numel() >= place["elements"] else buffer_of(place) for one, place in zip(buffers, row["places"])]
        forms.append(Form(driver, row, buffers))
        results.append(buffers)
    flush, begin, end = torch.empty(256 << 20, dtype=torch.uint8, device="cuda"), *[torch.cuda.Event(enable_timing=True) for _ in range(2)]
    times = ([], [])
    for pair in range(PAIRS + 5):
        for which in random.sample((0, 1), 2):
            took = sample(forms[which], flush, begin, end)
            if pair >= 5:
                times[which].append(took)
    ratios = [one / other for one, other in zip(*times)]
    low, high = interval(ratios)
    return {"before_us": statistics.median(times[0]), "after_us": statistics.median(times[1]), "ratio": statistics.median(ratios), "low": low,
            "high": high, "same_source": before["source"] == after["source"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    end, driver = time.monotonic() + options.seconds, Driver()
    torch.empty(1, device="cuda")
    with open(options.before) as file:
        befores = {row["id"]: row for row in map(json.loads, file)}
    with open(options.after) as file, open(options.out, "w") as out:
        for after in map(json.loads, file):
            before = befores.get(after["id"])
            if before is None or not after["launches"] or time.monotonic() > end:
                continue
            row = {"id": after["id"], "gpu": torch.cuda.get_device_name()}
            try:
                row.update(compared(driver, before, after))
            except (OSError, RuntimeError, torch.OutOfMemoryError) as error:
                row["failed"] = str(error)[:300]
            torch.cuda.empty_cache()
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
