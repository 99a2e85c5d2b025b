#!/usr/bin/env python3
"""Makes every module of this folder in evaluation mode and calls it once.

usage: python3 bench/real/check.py [--device cpu|cuda|meta] [--dtype bfloat16] [--only 01_,13_llama] [--jobs 4] [--one-graph]

A line a module: its parameters, the shapes of its outputs and seconds, or the error's first line. On "meta" nothing is stored or computed.
--one-graph calls it under torch.compile, which must capture it as one graph. Exit code 1: a module failed.
"""
import argparse
import concurrent.futures
import contextlib
import multiprocessing
import os
import sys
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "backend"))
import cases  # noqa: E402

import torch  # noqa: E402


def checked(name, options):
    """@return (whether it went well, the line)"""
    torch.set_num_threads(max((os.cpu_count() or 1) // options.jobs, 1))
    torch._dynamo.reset()
    start, place = time.monotonic(), torch.device("meta") if options.device == "meta" else contextlib.nullcontext()
    try:
        with place:
            model, inputs = cases.made(name, options)
        called = torch.compile(model, backend="eager", fullgraph=True) if options.one_graph else model
        with torch.no_grad():
            outputs = cases.states.leaves(called(**inputs))
        strange = options.device != "meta" and not all(bool(one.isfinite().all()) for one in outputs)
    except Exception as error:
        return False, f"{name}: {cases.states.first_line(error)}"
    count, shapes = sum(one.numel() for one in model.parameters()), ", ".join("x".join(map(str, one.shape)) for one in outputs)
    text = f"{name}: {count / 1e6:.1f} M parameters, {shapes}, {time.monotonic() - start:.1f} s"
    return not strange, text + (", not all finite" if strange else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda", "meta"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), help="of weights and inputs; default: float32")
    parser.add_argument("--only", default="", help="modules whose names begin so, by commas")
    parser.add_argument("--jobs", type=int, default=0, help="modules at once; default: 1, or a core each on meta")
    parser.add_argument("--one-graph", action="store_true", help="fails where torch.compile would break the graph")
    options = types.SimpleNamespace(**vars(parser.parse_args()), modules=HERE, train=False, part="0/1")
    options.jobs = options.jobs or (os.cpu_count() if options.device == "meta" else 1)
    names, failed = cases.names(options), 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        for right, line in pool.map(checked, names, [options] * len(names)):
            failed += not right
            print(line, flush=True)
    print(f"{len(names) - failed} of {len(names)} modules are right")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
