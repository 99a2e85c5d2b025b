#!/usr/bin/env python3
"""Layers of bench/real with batch and length that differ from call to call: searched once, compared with eager at random sizes, timed.

usage: python3 bench/backend/ranges.py --out ROWS.jsonl [--only 01_,05_] [--budget 40s] [--sizes 20] [--dtype bfloat16]

The searches run one after the other; then each module is called at `sizes` random sizes of its
ranges, and timed at a few next to torch.compile with the same dimensions marked, in pairs. One line
per module: sizes that were right by their error against float64 (at most 4 times eager's), calls of
kernels and of fallbacks, ranges of its plans, and ratios to Inductor's code with their intervals.
"""
import argparse
import copy
import glob
import json
import os
import random
import subprocess
import sys
import time
import traceback

import torch

import cases  # first: it names the folders of what follows
import variants
import warpwright
from warpwright import calls, core, search
from warpwright.environment import place_of

BATCH, LENGTH, MOST_TOKENS = (2, 64), (16, 2048), 16384
TIMED = ((2, 512), (4, 200), (8, 128), (16, 512))


class Layer:
    def __init__(self, path, dtype):
        self.source = cases.loaded(path, getattr(torch, dtype or "", None))
        torch.manual_seed(0)
        self.model = self.source.Model(*self.source.get_init_inputs()).cuda().eval()
        if dtype:
            self.model.to(getattr(torch, dtype))
        self.example = [one.cuda() for one in self.source.get_inputs()]
        self.dtype = self.example[0].dtype

    def dynamic(self):
        found = {"x": {0: BATCH, 1: LENGTH}}
        if hasattr(self.source, "rotations"):
            found.update(cos={1: LENGTH}, sin={1: LENGTH})
        return found

    def inputs(self, batch, length):
        x = torch.randn(batch, length, self.example[0].shape[-1], device="cuda").to(self.dtype)
        rest = self.source.rotations(self.example[1].shape[-1], length) if hasattr(self.source, "rotations") else ()
        return [x, *(one.cuda().to(self.dtype) for one in rest)]


def worst(outputs, exact):
    """The largest error over the largest value."""
    return float((outputs.double() - exact).abs().max() / exact.abs().max().clamp_min(1e-30))


def form(model, inputs):
    return variants.Form(lambda: model(*inputs))


def searched(path, options):
    layer = Layer(path, options.dtype)
    with torch.no_grad():
        warpwright.optimize(layer.model, tuple(layer.example), dynamic=layer.dynamic(), budget=options.budget)
    print(warpwright.report(layer.model), flush=True)


def ranges_of(place):
    folder, found = core.ask("folder", **place)["folder"], []
    for path in sorted(glob.glob(os.path.join(folder, "plans", "*.json"))):
        with open(path) as file:
            record = json.load(file)
        if "range" in record:
            found.append({"low": record["range"]["low"], "high": record["range"]["high"], "sizes": record.get("sizes_verified", 1)})
    return found


def reasons_of(place):
    folder, found = core.ask("folder", **place)["folder"], []
    for path in sorted(glob.glob(os.path.join(folder, "jobs", "*.json"))):
        with open(path) as file:
            found.append(json.load(file).get("searched"))
    return found


def measured(path, options):
    layer = Layer(path, options.dtype)
    place = place_of(torch.device("cuda", 0))
    row = {"plans": ranges_of(place), "searched": reasons_of(place)}
    plain, exact = copy.deepcopy(layer.model), copy.deepcopy(layer.model).double()
    eager = copy.deepcopy(plain)
    with torch.no_grad():
        warpwright.optimize(layer.model, tuple(layer.example), dynamic=layer.dynamic(), budget=1)
        row["report"] = str(warpwright.report(layer.model))
        plain.compile()
        mark = search.Dimensions(plain, layer.dynamic())
        mark.mark(layer.example, {})
        for model in (plain, layer.model):  # both are compiled at these sizes, on which Inductor's choices depend
            model(*layer.example)
        sizes, right = random.Random(5), 0
        wrong = []
        for number in range(options.sizes):
            while True:
                batch, length = sizes.randint(*BATCH), sizes.randint(*LENGTH)
                if batch * length <= MOST_TOKENS:
                    break
            inputs = layer.inputs(batch, length)
            if hasattr(layer.source, "DTYPE"):
                layer.source.DTYPE = torch.float64
            wanted = exact(*[one.double() for one in inputs])
            if hasattr(layer.source, "DTYPE"):
                layer.source.DTYPE = layer.dtype
            ours, theirs = worst(layer.model(*inputs), wanted), worst(eager(*inputs), wanted)
            if ours <= 4 * theirs + 1e-6:
                right += 1
            else:
                wrong.append([batch, length, ours, theirs])
        row.update(sizes=options.sizes, right=right, wrong=wrong, kernel_calls=calls.runs(), fallbacks=warpwright.fallbacks())
        for batch, length in TIMED:
            inputs = layer.inputs(batch, length)
            mark.mark(inputs, {})
            row[f"{batch}x{length}"] = variants.compared({variants.PLAIN: form(plain, inputs), variants.OURS: form(layer.model, inputs)}, variants.OURS)
    row["calls_after"] = calls.runs()
    return row


def one(path, options):
    name = os.path.basename(path)[:-3]
    os.environ["WARPWRIGHT_STORE"] = os.path.join(options.folder, name)
    if options.phase == "search":
        return searched(path, options)
    row = {"id": f"{name}/{options.dtype or 'own'}/dynamic", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
           "date": time.strftime("%Y-%m-%d")}
    try:
        row.update(measured(path, options))
    except Exception as error:
        row["failed"] = f"{type(error).__name__}: {error}"[:600]
        traceback.print_exc()
    with open(options.out, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--modules", default=os.path.join(os.path.dirname(__file__), "..", "real", "level1"))
    parser.add_argument("--only", default=",".join(f"{number:02}_" for number in range(1, 13)), help="names' beginnings; forward's x has both sizes")
    parser.add_argument("--dtype")
    parser.add_argument("--budget", default="40s")
    parser.add_argument("--sizes", type=int, default=20)
    parser.add_argument("--folder", default="/tmp/warpwright_ranges")
    parser.add_argument("--phase")
    parser.add_argument("--path")
    options = parser.parse_args()
    if options.path:
        return one(options.path, options)
    wanted = [name for name in options.only.split(",") if name]
    paths = [path for path in sorted(glob.glob(os.path.join(options.modules, "*.py")))
             if not wanted or any(os.path.basename(path).startswith(name) for name in wanted)]
    for path in paths:
        for phase in ("search", "measure"):  # a process each: nothing else may use the GPU while times are taken
            subprocess.run([sys.executable, *sys.argv, "--phase", phase, "--path", path], check=False)


if __name__ == "__main__":
    main()
