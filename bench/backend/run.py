#!/usr/bin/env python3
"""Modules of bench/real under torch.compile(backend="warpwright"): searched, then measured beside plain Inductor, as called.

usage: python3 bench/backend/run.py --out ROWS.jsonl [--modules bench/real] [--dtype bfloat16] [--mode reduce-overhead] [--train]
           [--only 01_llama,04_] [--budget 60s] [--seconds 500] [--shard 0/2]

Each module is in eval mode (or, with --train, in training mode with its backward graph). Printed and kept, a line a module: whether the
compiled module is right (its error against float64 beside plain Inductor's), how many graphs use plans, and the ratio of plain Inductor's time
to ours, both compiled in the same mode and called in pairs in random order in one process, with its interval. A module without plans has
the ratio of the same code twice. Modules that --out holds already are left out, so the same command goes on.
"""
import argparse
import glob
import importlib.util
import json
import os
import random
import sys
import time
import traceback

import torch

sys.path.insert(0, os.environ.get("WARPWRIGHT_PACKAGE", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "bin", "torch")))
import warpwright  # noqa: E402
from warpwright import core, search  # noqa: E402

PAIRS, SAMPLE_NS = 60, 3_000_000


def load(path, dtype):
    spec = importlib.util.spec_from_file_location("bench_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if dtype and hasattr(module, "DTYPE"):
        module.DTYPE = getattr(torch, dtype)
    return module


def moved(value, device, dtype):
    if isinstance(value, torch.Tensor):
        return value.to(device, dtype if value.is_floating_point() and dtype else None)
    return value


def step(model, train):
    """A call as a program makes it."""
    if not train:
        def call(*inputs):
            with torch.no_grad():
                return model(*inputs)
        return call
    parameters = [one for one in model.parameters() if one.requires_grad]

    def call(*inputs):
        outputs = [one for one in torch.utils._pytree.tree_leaves(model(*inputs)) if isinstance(one, torch.Tensor) and one.requires_grad]
        return torch.autograd.grad(sum(one.float().sum() for one in outputs), parameters, allow_unused=True)

    return call


def sample(call, inputs, times):
    torch.cuda.synchronize()
    start = time.perf_counter_ns()
    for _ in range(times):
        call(*inputs)
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - start) / times


def in_pairs(forms, inputs):
    for form in forms:
        sample(form, inputs, 5)
    times_each = int(min(max(SAMPLE_NS / sample(forms[0], inputs, 5), 1), 300))
    times = ([], [])
    for _ in range(PAIRS):
        for which in random.sample((0, 1), 2):
            times[which].append(sample(forms[which], inputs, times_each))
    found = core.ask("decide", reference=times[0], candidate=times[1])
    return {**found, "inductor_us": sorted(times[0])[PAIRS // 2] / 1e3, "ours_us": sorted(times[1])[PAIRS // 2] / 1e3}


def worst(outputs, exact):
    """The largest error over the largest value."""
    errors = [0.0]
    for one, other in zip(torch.utils._pytree.tree_leaves(outputs), torch.utils._pytree.tree_leaves(exact)):
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            scale = other.double().abs().max().clamp_min(1e-30)
            errors.append(float((one.double() - other.double()).abs().max() / scale))
    return max(errors)


def row_of(path, options):
    import copy

    dtype = getattr(torch, options.dtype) if options.dtype else None
    source = load(path, options.dtype)
    torch.manual_seed(0)
    model = source.Model(*source.get_init_inputs()).cuda()
    if dtype:
        model = model.to(dtype)
    model.train(options.train)
    inputs = [moved(one, "cuda", dtype) for one in source.get_inputs()]
    exact_model = copy.deepcopy(model).double()
    wide = [moved(one, "cuda", torch.float64) for one in inputs]
    if hasattr(source, "DTYPE"):
        source.DTYPE = torch.float64
    exact = step(exact_model, options.train)(*wide)
    del exact_model
    plain = copy.deepcopy(model)
    start = time.monotonic()
    warpwright.optimize(model, tuple(inputs), mode=options.mode, train=options.train, budget=options.budget)
    row = {"seconds": time.monotonic() - start, "report": str(warpwright.report(model)),
           "graphs": len(warpwright.report(model).graphs), "bound": sum(bool(one.chosen) for one in warpwright.report(model).graphs),
           "operators": sum(one.operators for one in warpwright.report(model).graphs),
           "covered": sum(one.covered for one in warpwright.report(model).graphs)}
    plain.compile(mode=options.mode)
    forms = (step(plain, options.train), step(model, options.train))
    row["error_inductor"], row["error_ours"] = [worst(form(*inputs), exact) for form in forms]
    row["right"] = row["error_ours"] <= 4 * row["error_inductor"] + 1e-6
    row.update(in_pairs(forms, inputs))
    from warpwright import calls
    row["kernel_calls"], row["fallbacks"] = calls.runs(), warpwright.fallbacks()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--modules", default=os.path.join(os.path.dirname(__file__), "..", "real"))
    for name in ("--dtype", "--mode"):
        parser.add_argument(name)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    done = set()
    if os.path.exists(options.out):
        with open(options.out) as file:
            done = {json.loads(line)["id"] for line in file}
    shard, shards = map(int, options.shard.split("/"))
    paths = sorted(glob.glob(os.path.join(options.modules, "**", "*.py"), recursive=True))
    wanted = [one for one in options.only.split(",") if one]
    for number, path in enumerate(paths):
        name = os.path.basename(path)[:-3]
        ident = f"{name}/{options.dtype or 'own'}/{options.mode or 'default'}/{'train' if options.train else 'eval'}"
        if number % shards != shard or ident in done or wanted and not any(name.startswith(one) for one in wanted) or time.monotonic() > end:
            continue
        print("==", ident, flush=True)
        row = {"id": ident, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "date": time.strftime("%Y-%m-%d")}
        try:
            row.update(row_of(path, options))
        except Exception as error:
            row["failed"] = f"{type(error).__name__}: {error}"[:600]
            traceback.print_exc()
        with open(options.out, "a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps({key: value for key, value in row.items() if key != "report"}), flush=True)
        print(row.get("report", ""), flush=True)
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
