#!/usr/bin/env python3
"""With an empty store, the code that Inductor emits under our backend is plain Inductor's. Also printed: the ratio of compile times.

usage: python3 bench/backend/empty_store.py [--modules kinds] [--dtype bfloat16] [--train] [--only bert,resnet] [--out ROWS.jsonl]

Each form is compiled with caches of its own, in random order, after a small module that warms
PyTorch up. Code is compared byte by byte after two changes: the folder of Inductor's cache and the
running number of an AOT graph become fixed words. What follows the folder in a path is a hash of
code; where the code holds the folder's name itself, as in C++, hashes differ too and become a fixed
word. Exit code 1: some code differs, or a module failed.
"""
import argparse
import difflib
import json
import os
import random
import re
import sys
import tempfile
import time

os.environ["WARPWRIGHT_STORE"] = tempfile.mkdtemp(prefix="warpwright-store-")
import cases  # noqa: E402

import torch  # noqa: E402
from torch._inductor.utils import fresh_inductor_cache, run_and_get_code  # noqa: E402
from warpwright import dynamo  # noqa: E402


def compiled(model, inputs, options, **backend):
    """(code of each graph, seconds of the first call)"""
    call = cases.step(torch.compile(model, **backend), options.train)
    with fresh_inductor_cache():
        start = time.monotonic()
        _, codes = run_and_get_code(lambda: call(**inputs))
        seconds, folder = time.monotonic() - start, os.environ["TORCHINDUCTOR_CACHE_DIR"]
    return [normalized(code, folder) for code in codes], seconds


def normalized(code, folder):
    code = re.sub(re.escape(folder) + r"/\w\w/\w+", "CACHE", code).replace(folder, "CACHE")
    return re.sub(r"AOT ID: \['\d+_", "AOT ID: ['N_", code)


def row_of(name, options):
    model, inputs = cases.made(name, options)
    found, forms = {}, {"inductor": {}, "ours": {"backend": dynamo.backend}}
    for form in random.sample(list(forms), 2):
        found[form] = compiled(model, inputs, options, **forms[form])
    (codes, seconds), (ours, our_seconds) = found["inductor"], found["ours"]
    difference = list(difflib.unified_diff("\n".join(codes).splitlines(), "\n".join(ours).splitlines(), lineterm="", n=0))
    return {"graphs": len(codes), "bytes": sum(map(len, codes)), "identical": codes == ours, "difference": difference[:20],
            "inductor_seconds": round(seconds, 2), "our_seconds": round(our_seconds, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases.add_options(parser)
    parser.add_argument("--out")
    options, rows = parser.parse_args(), []
    cases.lift_limits()
    warm = torch.nn.Linear(8, 8).to(options.device)
    compiled(warm, {"input": torch.randn(4, 8, device=options.device)}, argparse.Namespace(train=options.train))
    for name in cases.names(options):
        try:
            rows.append({"module": name, **row_of(name, options)})
        except Exception as error:
            rows.append({"module": name, "failed": cases.states.first_line(error)})
        print(json.dumps(rows[-1]), flush=True)
        if options.out:
            with open(options.out, "a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    good = [row for row in rows if "failed" not in row]
    ratios = sorted(row["our_seconds"] / row["inductor_seconds"] for row in good)
    identical = sum(row["identical"] for row in good)
    print(f"{len(rows)} modules, {len(rows) - len(good)} failed, {identical} of {len(good)} with identical code, "
          f"{sum(not row['graphs'] for row in good)} of them without any"
          + (f"; compile time, ours over Inductor's: median {ratios[len(ratios) // 2]:.3f}, {ratios[0]:.3f} to {ratios[-1]:.3f}" if ratios else ""))
    return 0 if rows and identical == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
