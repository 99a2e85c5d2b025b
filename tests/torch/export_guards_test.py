"""What a call of an exported plan asks of the module: each change of its state after export must lead to the user's own forward, with the
reason counted and said once, and a change back to the kernels. On the CPU; the kernel is a fake that writes what no forward gives.
Usage: export_guards_test.py
"""

import collections
import copy
import functools
import os
import sys
import unittest
import warnings

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

from exported_plan_test import FakeDriver, FakePlan, floats, guards_of, new_class  # noqa: E402

nn = torch.nn
KERNELS = -77.0
Sizes = collections.namedtuple("Sizes", "rows")


class Settings:
    def __init__(self):
        self.gain, self.names = 2.0, ["a", "b"]


class Net(nn.Module):
    shift = 1.0

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.inner = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Dropout(0.5))
        self.act = torch.relu
        self.table = {"relu": nn.functional.relu}
        self.gate = functools.partial(torch.mul, other=2)
        self.scale, self.where, self.extra = 3.0, None, []
        self.settings = Settings()
        self.eval()

    def shifted(self, x):
        return x + self.shift

    def forward(self, x):
        y = self.inner(self.act(self.norm(self.first(x)))) * self.scale * self.settings.gain
        y = self.gate(self.table["relu"](self.shifted(y)))
        return y + len(self.extra) + len(self.settings.names)


def mark(arguments):
    floats(arguments, 0, 12)[:] = [KERNELS] * 12


def tensors(model):
    return [(name, "float32" if value.is_floating_point() else "int64", list(value.shape))
            for name, value in list(model.named_parameters()) + list(model.named_buffers())]


def exported(model, guards, flags=None):
    """(its class with the plan, the plan). @param flags in place of those that the guards have"""
    driver = FakeDriver({"k": mark})
    guards = [dict(one, flags=dict(one["flags"], **(flags or {}))) for one in guards]
    plan = FakePlan({
        "name": type(model).__name__, "guards": guards, "multiprocessors": None, "capability": None, "target": None, "source": "", "options": [],
        "inputs": [...], "outputs": ..., "state": [name for name, _, _ in tensors(model)], "temporaries": [],
        "arguments": [("x", "float32", [3, 4])] + tensors(model), "results": [("output", "float32", [3, 4])],
        "steps": [("launch", "k", (1, 1, 1), (1, 1, 1), 0, [("buffer", "output", 0)])]}, driver)
    return new_class(plan, type(model)), plan


class Wrapped(nn.Module):
    """LoRA on a Linear."""

    def __init__(self, base):
        super().__init__()
        self.base, self.down = base, nn.Linear(4, 1)

    def forward(self, x):
        return self.base(x) + self.down(x)


class Half(nn.Module):
    def forward(self, weight):
        return weight / 2


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(3)
        cls.x = torch.randn(3, 4)
        cls.original = Net()
        cls.guards = [guards_of(cls.original, cls.x)]

    def setUp(self):
        warnings.simplefilter("ignore")
        self.kind, self.plan = exported(self.original, self.guards)
        self.new = copy.deepcopy(self.original)
        self.new.__class__ = self.kind

    def uses_kernels(self):
        """Whether they answer a call; else it is Net's forward that does, to the bit."""
        twin = copy.deepcopy(self.new)
        with torch.no_grad():
            torch.manual_seed(5)  # of dropout
            value = self.new(self.x)
            if bool((value == KERNELS).all()):
                return True
            twin.__class__ = type("Twin", (type(twin),), {"forward": Net.forward})
            torch.manual_seed(5)
            self.assertTrue(torch.equal(value, twin(self.x)))
        return False

    def refused(self, why, change, back=None):
        self.assertTrue(self.uses_kernels())
        self.assertTrue(self.uses_kernels())  # by what was looked at before
        change(self.new)
        self.assertFalse(self.uses_kernels())
        self.assertIn(why, self.plan.fallbacks())
        if back is not None:
            back(self.new)
            self.assertTrue(self.uses_kernels())

    def test_a_lambda_that_holds_another_copys_submodule(self):
        class Holder(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)
                linear = self.linear
                self.call = lambda y: linear(y)

            def forward(self, x):
                return self.call(x)

        original = Holder()
        kind, plan = exported(original, [guards_of(original, self.x)])
        original.__class__ = kind
        with torch.no_grad():
            self.assertTrue(bool((original(self.x) == KERNELS).all()))
            twin = copy.deepcopy(original)  # whose lambda is the original's, and calls the original's Linear
            twin.linear.weight.data.zero_()
            self.assertTrue(torch.equal(twin(self.x), original.linear(self.x)))
            self.assertEqual(plan.fallbacks(), {"another call": 1})
            self.assertTrue(bool((original(self.x) == KERNELS).all()))

    def test_modes_of_the_module_and_of_its_parts(self):
        self.refused("the module is in training mode", lambda m: m.train(), lambda m: m.eval())
        self.refused("norm is in training mode", lambda m: m.norm.train(), lambda m: m.norm.eval())
        self.refused("inner.1 is in training mode", lambda m: m.inner[1].train(), lambda m: m.inner[1].eval())

    def test_attributes_that_forward_reads(self):
        def set_to(name, value):
            return lambda m: setattr(m, name, value)

        self.refused("another scale", set_to("scale", 2.0), set_to("scale", 3.0))
        self.refused("another scale", set_to("scale", 3), set_to("scale", 3.0))
        self.refused("another act", set_to("act", torch.tanh), set_to("act", torch.relu))
        self.refused("another gate", set_to("gate", functools.partial(torch.mul, other=3)),
                     set_to("gate", functools.partial(torch.mul, other=2)))
        self.refused("another shift", set_to("shift", 2.0), lambda m: delattr(m, "shift"))
        self.refused("another shifted", set_to("shifted", lambda y: y), lambda m: delattr(m, "shifted"))
        self.refused("another norm.eps", lambda m: setattr(m.norm, "eps", 0.1), lambda m: setattr(m.norm, "eps", 1e-5))

    def test_values_changed_in_place(self):
        self.refused("another table", lambda m: m.table.update(relu=torch.tanh), lambda m: m.table.update(relu=nn.functional.relu))
        self.refused("another extra", lambda m: m.extra.append(1), lambda m: m.extra.clear())
        self.refused("another settings", lambda m: setattr(m.settings, "gain", 1.0), lambda m: setattr(m.settings, "gain", 2.0))
        self.refused("another settings", lambda m: m.settings.names.append("c"), lambda m: m.settings.names.pop())

    def test_an_attribute_of_the_class(self):
        self.assertTrue(self.uses_kernels())
        Net.shift = 5.0
        try:
            self.assertFalse(self.uses_kernels())
        finally:
            Net.shift = 1.0
        self.assertTrue(self.uses_kernels())

    def test_what_forward_does_not_read_may_change(self):
        self.assertTrue(self.uses_kernels())
        self.new.where, self.new.note = 5, "seen"
        self.assertTrue(self.uses_kernels())

    def test_submodules(self):
        base = self.new.first

        def wrap(m):
            m.first = Wrapped(m.first)

        self.refused("another class of first", wrap, lambda m: setattr(m, "first", base))
        self.refused("another class of inner.1", lambda m: m.inner.__setitem__(1, nn.Identity()))
        self.setUp()
        self.refused("other submodules of inner", lambda m: m.inner.append(nn.ReLU()))
        self.setUp()
        self.refused("another inner.0.bias", lambda m: setattr(m.inner[0], "bias", nn.Parameter(torch.ones(4))),
                     lambda m: setattr(m.inner[0], "bias", None))
        self.refused("another forward of first", lambda m: setattr(m.first, "forward", lambda x: x), lambda m: delattr(m.first, "forward"))

    def test_hooks(self):
        handles = []

        def hook(register):
            return lambda m: handles.append(register(m))

        def remove(_):
            handles.pop().remove()

        self.refused("a hook of first", hook(lambda m: m.first.register_forward_hook(lambda *_: torch.ones(3, 4))), remove)
        self.refused("a hook of norm", hook(lambda m: m.norm.register_forward_pre_hook(lambda *_: (torch.ones(3, 4),))), remove)
        every = torch.nn.modules.module.register_module_forward_hook
        self.refused("there are hooks for all modules", hook(lambda m: every(lambda module, inputs, output: output * 2)), remove)

    def test_hooks_of_the_module_itself_run_around_the_kernels(self):
        seen = []
        self.new.register_forward_hook(lambda *_: seen.append(1))
        self.assertTrue(self.uses_kernels())
        self.assertEqual(len(seen), 1)

    def test_parametrizations(self):
        self.refused("another class of first", lambda m: nn.utils.parametrize.register_parametrization(m.first, "weight", Half()),
                     lambda m: nn.utils.parametrize.remove_parametrizations(m.first, "weight", leave_parametrized=False))

    def test_a_subclass_may_compute_something_else(self):
        self.assertTrue(self.uses_kernels())
        self.new.__class__ = type("Mine", (self.kind,), {"shifted": lambda self, y: y * 5})
        self.assertFalse(self.uses_kernels())
        self.assertIn("the module's class is derived from, or replaced", self.plan.fallbacks())

    def test_flags(self):
        self.kind, self.plan = exported(self.original, self.guards, {"matmul_tf32": True, "cudnn_tf32": True})
        self.new.__class__ = self.kind
        flags = {"matmul": torch.backends.cuda.matmul, "cudnn": torch.backends.cudnn}
        before = {name: backend.allow_tf32 for name, backend in flags.items()}

        def allow(name, allowed):
            return lambda _: setattr(flags[name], "allow_tf32", allowed)

        try:
            allow("matmul", True)(None), allow("cudnn", True)(None)
            self.refused("TF32 is not allowed for matrix products", allow("matmul", False), allow("matmul", True))
            self.refused("TF32 is not allowed for convolutions", allow("cudnn", False), allow("cudnn", True))
            self.refused("deterministic algorithms are requested", lambda _: torch.use_deterministic_algorithms(True),
                         lambda _: torch.use_deterministic_algorithms(False))
            torch.set_default_dtype(torch.float64)
            self.assertFalse(self.uses_kernels())
            self.assertIn("the default dtype is another", self.plan.fallbacks())
        finally:
            torch.set_default_dtype(torch.float32)
            torch.use_deterministic_algorithms(False)
            for name, allowed in before.items():
                allow(name, allowed)(None)

    def test_more_precision_than_verified_is_no_reason(self):
        self.kind, self.plan = exported(self.original, self.guards, {"matmul_tf32": False, "cudnn_tf32": False})
        self.new.__class__ = self.kind
        before = torch.backends.cudnn.allow_tf32
        try:
            for allowed in (True, False):
                torch.backends.cudnn.allow_tf32 = allowed
                self.assertTrue(self.uses_kernels())  # a plan that was verified without TF32
        finally:
            torch.backends.cudnn.allow_tf32 = before

    def test_state_is_whatever_the_module_holds_now(self):
        self.assertTrue(self.uses_kernels())
        self.new.load_state_dict(self.original.state_dict())
        self.new.first.weight = nn.Parameter(torch.ones(4, 4))
        self.assertTrue(self.uses_kernels())
        self.refused("first.bias has another shape", lambda m: setattr(m.first, "bias", nn.Parameter(torch.ones(1))))

    def test_several_modules_in_turn(self):
        other = copy.deepcopy(self.new)
        other.scale = 1.0
        for _ in range(2):
            self.assertTrue(self.uses_kernels())
            with torch.no_grad():
                self.assertFalse(bool((other(self.x) == KERNELS).all()))

    def test_a_plan_verified_in_two_modes(self):
        trained = copy.deepcopy(self.original).train()
        self.kind, self.plan = exported(self.original, self.guards + [guards_of(trained, self.x)])
        self.new.__class__ = self.kind
        self.assertTrue(self.uses_kernels())
        self.new.train()
        self.assertTrue(self.uses_kernels())
        self.new.eval()
        self.assertTrue(self.uses_kernels())
        self.refused("another scale", lambda m: setattr(m, "scale", 1.0), lambda m: setattr(m, "scale", 3.0))
        self.refused("norm is not in training mode", lambda m: (m.train(), m.norm.eval()))

    def test_a_reason_is_said_once_and_counted(self):
        self.new.scale = 1.0
        with warnings.catch_warnings(record=True) as said, torch.no_grad():
            warnings.simplefilter("always")
            for _ in range(3):
                self.new(self.x)
        self.assertEqual(len(said), 1)
        self.assertIn("Net: the verified kernels are not used, its own forward runs: another scale", str(said[0].message))
        self.assertEqual(self.plan.fallbacks(), {"another scale": 3})
        self.assertEqual(self.plan.runs(), 0)

    def test_an_attribute_that_forward_only_writes_is_not_asked_for(self):
        class Keeps(nn.Module):
            def forward(self, x):
                self.last = Sizes(x.shape[0])
                return x * self.last.rows

        model = Keeps()
        kind, plan = exported(model, [guards_of(model, self.x)])
        new = kind()
        with torch.no_grad():
            self.assertTrue(bool((new(self.x) == KERNELS).all()))
            new.last = Sizes(9)
            self.assertTrue(bool((new(self.x) == KERNELS).all()))


if __name__ == "__main__":
    unittest.main(verbosity=1)
