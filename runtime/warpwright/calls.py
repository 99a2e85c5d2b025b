"""The operator `warpwright::call(Tensor[] inputs, str plan) -> Tensor[]`: a region's verified kernels, or its ATen program.

`plan` is the record's key and the packed program, so that a compiled graph which PyTorch kept in its own cache works without the store.

The program runs wherever the kernels may not: another GPU, other precision flags, a deleted or damaged record, an address that is not
aligned. So the operator always gives the region's result. Calls that the kernels did not answer are counted, and said once.
"""

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
_installed = []
_past, _past_runs = {}, [0]  # of bindings that were forgotten
_lock = threading.Lock()
NO_GPU = "there is no CUDA GPU"


class Bound:
    """One plan on one device."""

    def __init__(self, plan, device):
        key, _, packed = plan.partition(":")
        self.program = module_of(json.loads(zlib.decompress(base64.b64decode(packed))), device)
        self.counts, self.exported, self.why = {}, None, f"its record is not in the store {store()}"
        try:
            record = core.ask("read", store=store(), environment=environment(device), kind="plan", key=key)["record"]
        except core.CoreError as error:
            self.why, record = str(error), None
        if record and "plan" in record:
            self.bind(record, plan, key)

    def bind(self, record, plan, key):
        """Compiles the kernels, and has the operator call them."""
        from warpwright_runtime.exported_plan import ExportedPlan
        from warpwright_runtime.plan_file import plan_of

        try:
            exported = ExportedPlan(dict(plan_of(record), name=f"region {key[:12]}"), "warpwright")
        except ValueError as error:
            self.why = str(error)
            return
        if not exported.functions:
            self.why = exported.why
            return
        install(exported.extension)
        exported.extension.bind_region((plan, exported.functions[0]))
        self.exported = exported

    def otherwise(self, inputs):
        """The program's result. What the kernels refused was counted where they did."""
        if self.exported is None:
            self.counts[self.why] = self.counts.get(self.why, 0) + 1
            if self.counts[self.why] == 1 and self.why != NO_GPU:
                warnings.warn(f"warpwright: a plan's kernels are not used, its ATen program runs: {self.why} (said once; "
                              "warpwright.fallbacks() counts)", RuntimeWarning, stacklevel=4)
        return self.program(*inputs)

    def fallbacks(self):
        return {**self.counts, **(self.exported.fallbacks() if self.exported else {})}

    def runs(self):
        return self.exported.runs() if self.exported else 0


def install(extension):
    """The operator's C++ for GPUs: one for a process."""
    if extension not in _installed:
        extension.install_operator(call)
        _installed.append(extension)


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
    """What the operator's C++ did not answer, and all of it without a GPU."""
    key = (plan, inputs[0].device)
    if key not in _bound and bound(*key).exported is not None:
        return CALL(inputs, plan)
    return bound(*key).otherwise(inputs)


def fake(inputs, plan):
    return bound(plan, inputs[0].device).program(*inputs)


torch.library.impl(LIBRARY, "call", "CompositeExplicitAutograd")(call)
torch.library.register_fake("warpwright::call", fake, lib=LIBRARY)


def reset():
    """Forgets bindings, as after torch._dynamo.reset()."""
    for why, count in fallbacks().items():
        _past[why] = count
    _past_runs[0] = runs()
    _bound.clear()
    for extension in _installed:
        extension.bind_region(())


def fallbacks():
    """{why: how many calls of operators the ATen program answered} in this process."""
    total = dict(_past)
    for one in _bound.values():
        for why, count in one.fallbacks().items():
            total[why] = total.get(why, 0) + count
    return total


def runs():
    """How many calls of operators kernels answered in this process."""
    return _past_runs[0] + sum(one.runs() for one in _bound.values())
