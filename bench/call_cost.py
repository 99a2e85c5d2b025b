#!/usr/bin/env python3
"""Host time of one call of an exported plan before anything is launched: what looking at the module costs. On the CPU, with a plan
without steps; prints microseconds per call while nothing is written to, and where an attribute is written before each call.
Usage: call_cost.py
"""

import os
import sys
import time
import warnings

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "torch"))

import torch  # noqa: E402
from exported_plan_test import FakeDriver, FakePlan, guards_of, new_class  # noqa: E402

nn = torch.nn
ROUNDS, CALLS = 30, 300


class Activation(nn.Module):
    def forward(self, x):
        return x.relu()


class Around(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


def block():
    return nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)


def deep():
    return nn.Sequential(*[nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()) for _ in range(100)])


def time_of(call, model, x, writes):
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for i in range(CALLS):
            if writes:
                model.written = i
            call(model, x)
        best = min(best, (time.perf_counter_ns() - begin) / CALLS / 1000)
    return best


def measure(name, model, x):
    model.eval()
    state = list(model.named_parameters()) + list(model.named_buffers())
    plan = FakePlan({
        "name": name, "guards": [guards_of(model, x, owner=__name__)], "multiprocessors": None, "capability": None, "source": "", "options": [],
        "inputs": [...], "outputs": ..., "state": [one for one, _ in state], "temporaries": [], "steps": [],
        "arguments": [("x", "float32", list(x.shape))] + [(one, str(value.dtype)[6:], list(value.shape)) for one, value in state],
        "results": [("output", "float32", [8])]}, FakeDriver({}), __name__)
    model.__class__ = new_class(plan, type(model))
    with torch.no_grad():
        found = [time_of(plan.call, model, x, writes) for writes in (False, True)]
    assert plan.fallbacks() == {}, plan.fallbacks()
    print(f"{name}: {sum(1 for _ in model.modules())} modules, {len(state)} tensors: {found[0]:.2f} us, {found[1]:.2f} us after a write")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    measure("activation", Activation(), torch.randn(8))
    measure("linear", Around(nn.Linear(8, 8)), torch.randn(8))
    measure("transformer layer", Around(block()), torch.randn(1, 16, 64))
    measure("100 convolutions", Around(deep()), torch.randn(1, 8, 4, 4))
