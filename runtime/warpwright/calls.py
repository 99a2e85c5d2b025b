"""The operator `warpwright::call(Tensor[] inputs, SymInt[] sizes, str plan) -> Tensor[]`: a region's verified
kernels, or its ATen program.

`plan` contains the record's key and the packed program, so that a compiled graph in PyTorch's own
cache works without the store.

With the option warpwright.check, the first calls of a plan are compared with its program, and a
plan with wrong results is quarantined. The program runs whenever the kernels cannot: another GPU,
other precision flags, a deleted or damaged record, a misaligned address. The operator therefore
always gives the region's result. Calls that the program answers are counted, and each reason is
reported once.
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
SCHEMA = "call(Tensor[] inputs, SymInt[] sizes, str plan) -> Tensor[]"  # of calls in graphs that PyTorch's caches hold
LIBRARY.define(SCHEMA)
CALL = torch.ops.warpwright.call.default

_bound = {}  # (plan, device) -> Bound
_installed = []
_past, _past_runs = {}, [0]  # counts of forgotten bindings
_lock = threading.Lock()
NO_GPU = "there is no CUDA GPU"
CHECKED = "#"  # suffix of a plan's name for its kernels while its calls are still compared
# Tolerances relative to the largest value.
WORST_ERROR = {torch.float16: 2e-2, torch.bfloat16: 5e-2, torch.float32: 5e-3, torch.float64: 1e-6}
MOST_SIZES = 512  # of one plan: each has its own copy of the kernels
checks = 0  # number of first calls of each plan that are compared


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


def within(one, other, moved):
    """Whether a result differs from another by at most four times what a rounding of the inputs changes."""
    if one.shape != other.shape or one.dtype != other.dtype or not torch.equal(one.isfinite(), other.isfinite()):
        return False
    if one.dtype not in WORST_ERROR:
        return int((one != other).sum()) <= 4 * int((one != moved).sum())
    finite = one.isfinite() & moved.isfinite()
    apart = [float((one.double() - two.double())[finite].abs().max()) if bool(finite.any()) else 0.0 for two in (other, moved)]
    return apart[0] <= 4 * apart[1]


class Bound:
    """One plan on one device: for each combination of sizes its kernels, or the reason why there are none."""

    def __init__(self, plan, device):
        key, _, packed = plan.partition(":")
        self.plan, self.key, self.left = plan, key, checks
        self.place = place_of(device)
        self.program = module_of(json.loads(zlib.decompress(base64.b64decode(packed))), device)
        self.counts, self.kernels, self.record = {}, {}, None
        self.why = f"its record is not in the store {store()}"
        try:
            record = core.ask("read", kind="plan", key=key, **self.place)["record"]
            bad = core.ask("read", kind="quarantine", key=key, **self.place)["record"]
            if bad:
                self.why = f"it is quarantined: {bad['why']}"
            elif record and "plan" in record:
                self.record = record
        except core.CoreError as error:
            self.why = str(error)

    def bind(self, sizes):
        """Loads the kernels for these sizes, and makes the operator call them. @return whether there are any"""
        if sizes not in self.kernels:
            with _lock:
                self.kernels[sizes] = self.loaded(sizes)
            if not isinstance(self.kernels[sizes], str):
                self.let_run(sizes, CHECKED if self.left else "")
        return not isinstance(self.kernels[sizes], str)

    def loaded(self, sizes):
        """An ExportedPlan, or the reason why there is none."""
        from warpwright_runtime.exported_plan import ExportedPlan
        from warpwright_runtime.plan_file import plan_of

        if self.record is None:
            return self.why
        if len(self.kernels) >= MOST_SIZES:
            return f"it has run at {MOST_SIZES} sizes already"
        try:
            found = dict(plan=self.record["plan"], constants=())
            if "range" in self.record:
                found = core.ask("instance", range=self.record["range"], sizes=list(sizes))
            plan = dict(plan_of({"plan": found["plan"], "source": self.record["source"]}), name=f"region {self.key[:12]}")
            exported = ExportedPlan(plan, "warpwright", found["constants"])
        except (ValueError, core.CoreError) as error:
            return str(error)
        if not exported.functions:
            return exported.why
        install(exported.extension)
        return exported

    def let_run(self, sizes, mark):
        exported = self.kernels[sizes]
        exported.extension.bind_region((self.plan + mark, sizes, exported.functions[0]))

    def run(self, inputs, sizes):
        """The ATen program's result."""
        return self.program(*inputs, {f"n{index}": size for index, size in enumerate(sizes)})

    def checked(self, inputs, sizes):
        """One of the first calls: compares the kernels with the program. @return the program's
        result"""
        wanted = self.run(inputs, sizes)
        if is_capturing(inputs):
            return wanted
        exported = self.kernels[sizes]
        before = exported.runs()
        got = CALL(inputs, sizes, self.plan + CHECKED)
        if exported.runs() == before:  # the kernels refused this call
            return wanted
        different = [index for index, pair in enumerate(zip(got, wanted)) if not alike(*pair)]
        if different:
            self.left, self.record, self.why = 0, None, f"output {different[0]} differed from its ATen program's"
            self.kernels = {one: self.why for one in self.kernels}
            core.ask("write", kind="quarantine", key=self.key, record={"why": self.why}, **self.place)
            self.say(self.why)
            return wanted
        self.left -= 1
        if not self.left:
            for one, found in self.kernels.items():
                if not isinstance(found, str):
                    self.let_run(one, "")
        return wanted

    def otherwise(self, inputs, sizes):
        """The result of a call that the operator's C++ did not answer."""
        if sizes not in self.kernels and not is_capturing(inputs) and self.bind(sizes) and not self.left:
            return CALL(inputs, sizes, self.plan)
        found = self.kernels.get(sizes, "its kernels for these sizes were not loaded before the capture of a CUDA graph")
        if isinstance(found, str):
            self.say(found)
        elif self.left:
            return self.checked(inputs, sizes)
        return self.run(inputs, sizes)  # calls that the kernels refused are already counted there

    def say(self, why):
        self.counts[why] = self.counts.get(why, 0) + 1
        if self.counts[why] == 1 and why != NO_GPU:
            warnings.warn(f"warpwright: a plan's kernels are not used, its ATen program runs: {why} (said once; "
                          "warpwright.fallbacks() counts)", RuntimeWarning, stacklevel=5)

    def exported(self):
        return [one for one in self.kernels.values() if not isinstance(one, str)]

    def fallbacks(self):
        total = dict(self.counts)
        for one in self.exported():
            for why, count in one.fallbacks().items():
                total[why] = total.get(why, 0) + count
        return total

    def runs(self):
        return sum(one.runs() for one in self.exported())


def is_capturing(inputs):
    return inputs[0].is_cuda and torch.cuda.is_current_stream_capturing()


def install(extension):
    """Installs the operator's C++ implementation for GPUs, once per process."""
    if extension not in _installed:
        extension.install_operator(call)
        _installed.append(extension)


def named(key, program):
    """The operator's argument `plan`."""
    packed = zlib.compress(json.dumps(program, separators=(",", ":")).encode(), 9)
    return key + ":" + base64.b64encode(packed).decode()


def bound(plan, device):
    """The Bound of a plan, loaded if needed. Plans are loaded when a graph is compiled, because
    loading during a call would break the capture of a CUDA graph."""
    key = (plan, device)
    if key not in _bound:
        with _lock:
            if key not in _bound:
                _bound[key] = Bound(plan, device)
    return _bound[key]


def call(inputs, sizes, plan):
    """The operator in Python: calls that its C++ did not answer, and all calls without a GPU."""
    one, sizes = bound(plan.removesuffix(CHECKED), inputs[0].device), tuple(sizes)
    return one.run(inputs, sizes) if plan.endswith(CHECKED) else one.otherwise(inputs, sizes)


def fake(inputs, sizes, plan):
    return bound(plan, inputs[0].device).run(inputs, sizes)


torch.library.impl(LIBRARY, "call", "CompositeExplicitAutograd")(call)
torch.library.register_fake("warpwright::call", fake, lib=LIBRARY)


def reset():
    """Forgets all bindings, for torch._dynamo.reset()."""
    for why, count in fallbacks().items():
        _past[why] = count
    _past_runs[0] = runs()
    _bound.clear()
    for extension in _installed:
        extension.bind_region(())


def fallbacks():
    """{reason: number of the operator's calls that the ATen program answered} in this process."""
    total = dict(_past)
    for one in _bound.values():
        for why, count in one.fallbacks().items():
            total[why] = total.get(why, 0) + count
    return total


def runs():
    """Number of the operator's calls that kernels answered in this process."""
    return _past_runs[0] + sum(one.runs() for one in _bound.values())
