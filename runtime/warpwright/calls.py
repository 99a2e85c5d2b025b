"""The operator `warpwright::call(Tensor[] inputs, str plan) -> Tensor[]`: a region's verified kernels, or its ATen program.

`plan` is the record's key and the packed program, so that a compiled graph which PyTorch kept in its own cache works without the store.

The program runs wherever the kernels may not: another GPU, other precision flags, a deleted or damaged record, an address that is not
aligned. So the operator always gives the region's result. Calls that the kernels did not answer are counted, and said once.
"""

import ast
import base64
import json
import threading
import warnings
import zlib

import torch

from . import core
from .environment import environment, store
from .graphs import module_of

LIBRARY = torch.library.Library("warpwright", "FRAGMENT")
LIBRARY.define("call(Tensor[] inputs, str plan) -> Tensor[]")
CALL = torch.ops.warpwright.call.default

_bound = {}  # (plan, device) -> Bound
_lock = threading.Lock()


class Bound:
    """One plan on one device."""

    def __init__(self, plan, device):
        key, _, packed = plan.partition(":")
        self.program = module_of(json.loads(zlib.decompress(base64.b64decode(packed))), device)
        self.counts, self.kernels, self.why = {}, None, f"its record is not in the store {store()}"
        try:
            record = core.ask("read", store=store(), environment=environment(device), kind="plan", key=key)["record"]
        except core.CoreError as error:
            self.why, record = str(error), None
        if record and "plan" in record:
            self.kernels = self.compiled(record, key)

    def compiled(self, record, plan):
        from warpwright_runtime.exported_plan import ExportedPlan

        class RegionPlan(ExportedPlan):
            def is_root(self, kind):
                return True

        literal = dict(ast.literal_eval(record["plan"]), source=record["source"], name=f"region {plan[:12]}")
        exported = RegionPlan(literal, "warpwright")
        if not exported.functions:
            self.why = exported.why
            return None
        stand_in, call = torch.nn.Module(), exported.call  # guards ask a module for its mode and nothing else
        stand_in.training = "T" in literal["guards"][0]["training"] if literal["guards"] else True
        self.exported = exported
        return lambda inputs: call(stand_in, *inputs)

    def __call__(self, inputs):
        outputs = self.kernels(inputs) if self.kernels else self.refused()
        if outputs is NotImplemented:
            return self.program(*inputs)
        return list(outputs) if isinstance(outputs, tuple) else [outputs]

    def refused(self):
        self.counts[self.why] = self.counts.get(self.why, 0) + 1
        if self.counts[self.why] == 1 and not self.why.startswith("there is no CUDA GPU"):
            warnings.warn(f"warpwright: a plan's kernels are not used, its ATen program runs: {self.why} (said once; "
                          "warpwright.fallbacks() counts)", RuntimeWarning, stacklevel=4)
        return NotImplemented

    def fallbacks(self):
        return {**self.counts, **(self.exported.fallbacks() if self.kernels else {})}

    def runs(self):
        return self.exported.runs() if self.kernels else 0


def named(key, program):
    """The operator's `plan`."""
    packed = zlib.compress(json.dumps(program, separators=(",", ":")).encode(), 9)
    return key + ":" + base64.b64encode(packed).decode()


def bound(plan, device):
    """Loads a plan: when a graph is compiled, since loading in a call would break the capture of a CUDA graph."""
    key = (plan, device)
    if key not in _bound:
        with _lock:
            if key not in _bound:
                _bound[key] = Bound(plan, device)
    return _bound[key]


def call(inputs, plan):
    return bound(plan, inputs[0].device)(inputs)


def fake(inputs, plan):
    return bound(plan, inputs[0].device).program(*inputs)


torch.library.impl(LIBRARY, "call", "CompositeExplicitAutograd")(call)
torch.library.register_fake("warpwright::call", fake, lib=LIBRARY)


def reset():
    """Forgets bindings, as after torch._dynamo.reset()."""
    _bound.clear()


def fallbacks():
    """{why: how many calls of operators the ATen program answered} in this process."""
    total = {}
    for one in _bound.values():
        for why, count in one.fallbacks().items():
            total[why] = total.get(why, 0) + count
    return total


def runs():
    """How many calls of operators kernels answered in this process."""
    return sum(one.runs() for one in _bound.values())
