#!/usr/bin/env python3
"""What a call of warpwright::call costs the host over the launches of its kernels.

usage: python3 bench/backend/operator_cost.py --out FILE.json

The feed-forward block of a transformer is searched; its region is then called in short loops, so
that the host's time counts. Printed and kept, in microseconds per call: the operator by the
dispatcher (as Inductor's code calls it), Inductor's own kernel for the same module in its compiled
wrapper, an operator of PyTorch with one output, and the ATen program of the region.
"""
import argparse
import base64
import json
import os
import sys
import time
import zlib

import torch

sys.path.insert(0, os.environ.get("WARPWRIGHT_PACKAGE", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "bin", "torch")))
import warpwright  # noqa: E402
from warpwright import calls  # noqa: E402


class Block(torch.nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(width), torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def microseconds(call, times=100, rounds=41):
    """The median over rounds of the host's time for a call. Few calls a round: the queue of launches must not fill."""
    samples = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(times):
            call()
        samples.append((time.perf_counter_ns() - start) / times / 1e3)
    torch.cuda.synchronize()
    return sorted(samples)[rounds // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget", default="20s")
    options = parser.parse_args()
    model, x = Block().cuda().eval(), torch.randn(64, 768, device="cuda")
    with torch.no_grad():
        plain = torch.compile(Block().cuda().eval())
        plain(x)
        print(warpwright.report(warpwright.optimize(model, (x,), budget=options.budget)))
        forced = torch.compile(Block().cuda().eval(), backend=warpwright.backend, options={"warpwright.force": True})
        forced(x)
        rows = {"compiled with the operator": microseconds(lambda: forced(x)), "compiled by Inductor": microseconds(lambda: plain(x))}
        for (plan, device), bound in list(calls._bound.items()):
            program = json.loads(zlib.decompress(base64.b64decode(plan.partition(":")[2])))
            inputs = [torch.randn(one["shape"], device=device) for one in program["inputs"]]
            found = rows.setdefault("region of " + ", ".join(one["op"] for one in program["operators"]), {"characters": len(plan)})
            found["the operator"] = microseconds(lambda: calls.CALL(inputs, [], plan))
            found["the ATen program"] = microseconds(lambda: bound.run(inputs, ()))
        rows["aten.relu"] = microseconds(lambda: torch.ops.aten.relu.default(x))
        rows["runs"], rows["fallbacks"] = calls.runs(), warpwright.fallbacks()
    print(json.dumps(rows, indent=1))
    with open(options.out, "w") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
