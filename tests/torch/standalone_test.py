"""The launcher of exports that stand alone (server/export/standalone.py), on the CPU: torch's compiler of kernels is a fake whose kernel gives
what no forward gives. Which calls it answers, that all others are the own forward's, counted.
Usage: standalone_test.py
"""

import copy
import os
import pickle
import sys
import types
import unittest
import unittest.mock
import warnings

sys.dont_write_bytecode = True

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "server", "export", "standalone.py")
KERNELS = -77.0
compiled = []


def compile_kernel(source, name, *, compute_capability, nvcc_options):
    compiled.append((source, name, compute_capability, nvcc_options))
    if source == "damaged":
        raise RuntimeError("Kernel compilation failed")

    def kernel(*, grid, block, args, shared_mem):
        assert (grid, block, shared_mem) == ((3, 1, 1), (8, 1, 1), 0) and args[3] == 24 and args[1].shape == (22,), (grid, block, args)
        args[2].fill_(KERNELS)

    return kernel


def guards(training, **changes):
    return {"modules": [(-1, "", "", 0)], "training": training, "attributes": [(0, "scale", 0.5), (0, "shift", ("constant", 1.0)),
                                                                              (0, "scaled", ("class",))],
            "flags": {"deterministic": False, "default_dtype": "float32", **changes}}


PLAN = {"guards": [guards("F"), guards("T")], "outputs": ..., "state": ["w"], "arguments": [("x", "float32", [3, 8]), ("w", "float32", [3, 8])],
        "results": [("output", "float32", [3, 8])], "temporaries": [], "capability": 90, "target": "sm_90a", "multiprocessors": 100,
        "options": ["-std=c++17"],
        "steps": [("launch", "k", (3, 1, 1), (8, 1, 1), 0, [("buffer", "x", 0), ("buffer", "w", 2), ("buffer", "output", 0), ("int32", 24)])]}


def plans(source="text", **changes):
    """As on a GPU, which is the CPU here."""
    with open(PATH, encoding="utf-8") as file:
        text = file.read()
    wanted = 'torch.device("cuda", torch.cuda.current_device())'
    assert wanted in text
    space = {}
    exec(compile(text.replace(wanted, 'torch.device("cpu")'), PATH, "exec"), space)
    return space["_warpwright_plans"](source, dict(PLAN, **changes))


class Plain(torch.nn.Module):
    shift = 1.0

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3, 8))
        self.scale = 0.5

    def scaled(self, x):
        return x * self.scale

    def forward(self, x, flip=False):
        return (-1 if flip else 1) * (self.scaled(x) + self.w + self.shift)


@plans()
class Applied(Plain):
    pass


GPU = types.SimpleNamespace(major=9, minor=0, multi_processor_count=132)


@unittest.skipUnless(hasattr(torch, "compile"), "needs torch 2")
class Calls(unittest.TestCase):
    def setUp(self):
        self.x = torch.arange(24.0).reshape(3, 8)
        self.gpu = types.SimpleNamespace(**vars(GPU))
        for name, value in (("is_available", lambda: True), ("get_device_properties", lambda device: self.gpu), ("_compile_kernel", compile_kernel)):
            patch = unittest.mock.patch.object(torch.cuda, name, value, create=True)
            patch.start()
            self.addCleanup(patch.stop)
        warnings.simplefilter("ignore")

    def uses_kernels(self, model, *inputs, **keywords):
        """Else the own forward answers, and is counted."""
        plan, inputs = type(model).warpwright_plan, inputs or (self.x,)
        before = plan.runs(), sum(plan.fallbacks().values())
        with torch.no_grad():
            found = model(*inputs, **keywords)
            self.assertEqual((plan.runs() - before[0], sum(plan.fallbacks().values()) - before[1]),
                             (1, 0) if bool((found == KERNELS).all()) else (0, 1))
            if bool((found == KERNELS).all()):
                return True
            self.assertTrue(torch.equal(found, Plain.forward(model, *inputs, **keywords)))
        return False

    def test_kernels_are_compiled_once_for_the_verified_gpu(self):
        compiled.clear()
        kind = plans()(type("Other", (Plain,), {}))
        self.assertTrue(self.uses_kernels(kind()) and self.uses_kernels(kind()))
        self.assertEqual(compiled, [("text", "k", "90a", ["-std=c++17"])])

    def test_copies_and_pickles_use_the_kernels(self):
        model = Applied()
        for twin in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertTrue(self.uses_kernels(twin) and self.uses_kernels(twin.eval()))
        model.load_state_dict(Plain().state_dict())
        self.assertTrue(self.uses_kernels(model))

    def test_what_was_not_verified_is_the_own_forward_s(self):
        def changed(name, value):
            model = Applied()
            setattr(model, name, value)
            return model

        for model in (changed("scale", 0.25), changed("scale", 1), changed("shift", 1.0), changed("scaled", lambda x: x), changed("more", torch.nn.ReLU()),
                      changed("w", torch.nn.Parameter(torch.ones(8))), type("Derived", (Applied,), {})()):
            self.assertFalse(self.uses_kernels(model), vars(model))
        model = Applied()
        wide = torch.ones(3, 16)
        for x in (self.x[:1], self.x.double(), wide[:, :8], torch.ones(25)[1:].view(3, 8), torch.nn.Parameter(self.x).as_subclass(Tagged)):
            self.assertFalse(self.uses_kernels(model, x))
        self.assertFalse(self.uses_kernels(model, self.x, True))
        self.assertFalse(self.uses_kernels(model, self.x, flip=True))
        self.assertTrue(self.uses_kernels(model))

    def test_gradients_flags_and_modes(self):
        model = Applied()
        self.assertTrue(model(self.x).requires_grad)
        with torch.autocast("cpu", dtype=torch.bfloat16), unittest.mock.patch.object(torch, "is_autocast_enabled", lambda: True):
            self.assertFalse(self.uses_kernels(model))
        torch.use_deterministic_algorithms(True)
        try:
            self.assertFalse(self.uses_kernels(model))
        finally:
            torch.use_deterministic_algorithms(False)
        with torch.no_grad():
            for watched in (torch.vmap(lambda _: model(self.x))(torch.ones(2)), torch.jit.trace(model, (self.x,), check_trace=False)(self.x)):
                self.assertFalse(bool((watched == KERNELS).any()))
        strict = plans(guards=[guards("T", matmul_tf32=True)])(type("Strict", (Plain,), {}))()
        before = torch.backends.cuda.matmul.allow_tf32
        try:
            for allowed in (False, True):
                torch.backends.cuda.matmul.allow_tf32 = allowed
                self.assertEqual(self.uses_kernels(strict), allowed)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before

    def test_another_gpu_and_kernels_that_do_not_compile(self):
        for change, source in (({"minor": 9}, "text"), ({"multi_processor_count": 99}, "text"), ({}, "damaged")):
            vars(self.gpu).update(vars(GPU), **change)
            compiled.clear()
            kind = plans(source)(type("Other", (Plain,), {}))
            self.assertFalse(self.uses_kernels(kind()) or self.uses_kernels(kind()))
            self.assertEqual(len(compiled), int(source == "damaged"))

    def test_torch_compile_traces_the_own_forward_once(self):
        graphs = []

        def backend(graph, _):
            graphs.append(graph)
            return graph

        fast = torch.compile(Applied(), backend=backend, fullgraph=True)
        with torch.no_grad(), unittest.mock.patch.object(torch.cuda, "is_available", lambda: False):
            for _ in range(2):
                self.assertTrue(torch.equal(fast(self.x), Plain()(self.x)))
        self.assertEqual(len(graphs), 1)


class Tagged(torch.Tensor):
    pass


@unittest.skipIf(torch.cuda.is_available(), "for machines without a GPU")
class WithoutGpu(unittest.TestCase):
    def test_the_own_forward_runs_and_says_why_once(self):
        with open(PATH, encoding="utf-8") as file:
            space = {}
            exec(file.read(), space)
        kind = space["_warpwright_plans"]("text", PLAN)(type("Other", (Plain,), {}))
        with warnings.catch_warnings(record=True) as said, torch.no_grad():
            warnings.simplefilter("always")
            for _ in range(3):
                self.assertTrue(torch.equal(kind()(torch.ones(3, 8)), Plain()(torch.ones(3, 8))))
        self.assertEqual(len([one for one in said if "its own forward runs" in str(one.message)]), 1)
        self.assertEqual(list(kind.warpwright_plan.fallbacks().values()), [3])


if __name__ == "__main__":
    unittest.main(verbosity=1)
