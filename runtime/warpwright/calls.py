"""The operator `warpwright::call(Tensor[] inputs, str plan) -> Tensor[]`: a region's verified kernels, or its ATen program.

`plan` is the record's key and the packed program, so that a compiled graph which PyTorch kept in its own cache works without the store.

With the option warpwright.check the first calls of a plan are compared with its program, and a plan that was wrong is quarantined.
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
from .environment import place_of, store
from .graphs import module_of

LIBRARY = torch.library.Library("warpwright", "FRAGMENT")
LIBRARY.define("call(Tensor[] inputs, str plan) -> Tensor[]")
CALL = torch.ops.warpwright.call.default

_bound = {}  # (plan, device) -> Bound
_installed = []
_past, _past_runs = {}, [0]  # of bindings that were forgotten
_lock = threading.Lock()
NO_GPU = "there is no CUDA GPU"
CHECKED = "#"  # behind a plan's name: the kernels of a plan whose calls are still compared
WORST_ERROR = {torch.float16: 2e-2, torch.bfloat16: 5e-2, torch.float32: 5e-3, torch.float64: 1e-6}  # of the largest value
checks = 0  # how many first calls of each plan are compared


def alike(one, other):
    """Whether two results differ by no more than rounding."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype not in WORST_ERROR:
        return bool(torch.equal(one, other))
    one, other, most = one.double(), other.double(), WORST_ERROR[one.dtype]
    if not torch.equal(one.isfinite(), other.isfinite()):
        return False
    finite = one.isfinite()
    largest = one[finite].abs().max() if bool(finite.any()) else 0
    return bool(((one - other)[finite].abs() <= most * largest).all())


class Bound:
    """One plan on one device."""

    def __init__(self, plan, device):
        key, _, packed = plan.partition(":")
        self.plan, self.key, self.left = plan, key, 0
        self.place = place_of(device)
        self.program = module_of(json.loads(zlib.decompress(base64.b64decode(packed))), device)
        self.counts, self.exported, self.why = {}, None, f"its record is not in the store {store()}"
        try:
            record = core.ask("read", kind="plan", key=key, **self.place)["record"]
            bad = core.ask("read", kind="quarantine", key=key, **self.place)["record"]
            if bad:
                self.why, record = f"it is quarantined: {bad['why']}", None
        except core.CoreError as error:
            self.why, record = str(error), None
        if record and "plan" in record:
            self.bind(record)

    def bind(self, record):
        """Compiles the kernels, and has the operator call them."""
        from warpwright_runtime.exported_plan import ExportedPlan
        from warpwright_runtime.plan_file import plan_of

        try:
            exported = ExportedPlan(dict(plan_of(record), name=f"region {self.key[:12]}"), "warpwright")
        except ValueError as error:
            self.why = str(error)
            return
        if not exported.functions:
            self.why = exported.why
            return
        install(exported.extension)
        self.exported, self.left = exported, checks
        self.let_run(CHECKED if self.left else "")

    def let_run(self, mark):
        self.exported.extension.bind_region((self.plan + mark, self.exported.functions[0]))

    def checked(self, inputs):
        """One of the first calls: the program's result, and whether the kernels give the same."""
        wanted = self.program(*inputs)
        if inputs[0].is_cuda and torch.cuda.is_current_stream_capturing():
            return wanted
        before = self.exported.runs()
        got = CALL(inputs, self.plan + CHECKED)
        if self.exported.runs() == before:  # they refused this call
            return wanted
        different = [index for index, pair in enumerate(zip(got, wanted)) if not alike(*pair)]
        if different:
            self.left, self.exported, self.why = 0, None, f"output {different[0]} differed from its ATen program's"
            core.ask("write", kind="quarantine", key=self.key, record={"why": self.why}, **self.place)
            self.say()
            return wanted
        self.left -= 1
        if not self.left:
            self.let_run("")
        return wanted

    def otherwise(self, inputs):
        """The program's result. What the kernels refused was counted where they did."""
        if self.left:
            return self.checked(inputs)
        if self.exported is None:
            self.say()
        return self.program(*inputs)

    def say(self):
        self.counts[self.why] = self.counts.get(self.why, 0) + 1
        if self.counts[self.why] == 1 and self.why != NO_GPU:
            warnings.warn(f"warpwright: a plan's kernels are not used, its ATen program runs: {self.why} (said once; "
                          "warpwright.fallbacks() counts)", RuntimeWarning, stacklevel=5)

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
    key = (plan.removesuffix(CHECKED), inputs[0].device)
    if plan.endswith(CHECKED):
        return bound(*key).program(*inputs)
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
