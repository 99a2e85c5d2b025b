"""What exported classes call, on the CPU: descriptions, packing of arguments, the forward that stands in for the user's. The driver
is a fake whose kernels are Python functions. Usage: exported_plan_test.py
"""

import copy
import ctypes
import os
import pickle
import struct
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.path.join(ROOT, "runner", "torch", "python")

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)


sys.path[:0] = [PYTHON, os.path.join(ROOT, "runtime")]
import call_guards  # noqa: E402
from warpwright_runtime import exported_plan, extension, guard_values, nvrtc, plan_file  # noqa: E402, F401
LAUNCH = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p,
                           ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
TOGETHER = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
FILL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p)
ENCODE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64, *[ctypes.POINTER(ctypes.c_uint64)] * 2,
                           *[ctypes.POINTER(ctypes.c_uint32)] * 2, *[ctypes.c_int] * 4)
ENCODE_WINDOW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64,
                                  *[ctypes.POINTER(ctypes.c_uint64)] * 2, *[ctypes.POINTER(ctypes.c_int)] * 2, *[ctypes.c_uint32] * 2,
                                  ctypes.POINTER(ctypes.c_uint32), *[ctypes.c_int] * 4)
SET_CONTEXT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class LaunchAttribute(ctypes.Structure):  # of cuda.h, as what follows
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_char * 4), ("number", ctypes.c_int), ("rest", ctypes.c_char * 60)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


CONFIGURED = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(LaunchConfig), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


class FakeDriver:
    """Kernels get the bytes of their arguments."""

    def __init__(self, kernels):
        self.kernels = list(kernels.values())
        self.functions = {name: index + 1 for index, name in enumerate(kernels)}
        self.launches, self.together, self.shared, self.fail_once = [], 0, {}, False
        self.multiprocessors, self.maps, self.overlapped = 132, [], 0
        self.callbacks = {"cuLaunchKernel": LAUNCH(self.launch), "cuLaunchCooperativeKernel": TOGETHER(self.launch_together),
                          "cuMemsetD8Async": FILL(self.fill), "cuTensorMapEncodeTiled": ENCODE(self.encode),
                          "cuTensorMapEncodeIm2col": ENCODE_WINDOW(self.encode_window),
                          "cuLaunchKernelEx": CONFIGURED(self.launch_configured),
                          "cuCtxSetCurrent": SET_CONTEXT(lambda context: 0)}

    def launch(self, function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra):
        if self.fail_once:
            self.fail_once = False
            return 201
        self.launches.append(((gx, gy, gz), (bx, by, bz), shared_bytes))
        self.kernels[function - 1](arguments)
        return 0

    def launch_together(self, *launch):
        self.together += 1
        return self.launch(*launch, None)

    def launch_configured(self, config, function, arguments, extra):
        config = config.contents
        if [(one.id, one.number) for one in config.attributes[:config.count]] == [(6, 1)]:
            self.overlapped += 1
        return self.launch(function, *config.grid, *config.block, config.shared_bytes, config.stream, arguments, extra)

    def encode(self, target, dtype, rank, address, extents, strides, box, steps, interleave, swizzle, promotion, fill):
        """A map that holds its address, so that kernels find the memory as behind a pointer."""
        self.maps.append((dtype, extents[:rank], strides[:rank - 1], box[:rank], steps[:rank], swizzle))
        ctypes.memset(target, 0, 128)
        ctypes.cast(target, ctypes.POINTER(ctypes.c_uint64))[0] = address
        return 0

    def encode_window(self, target, dtype, rank, address, extents, strides, first, last, channels, positions, steps,
                      interleave, swizzle, promotion, fill):
        window = (first[:rank - 2], last[:rank - 2])
        status = self.encode(target, dtype, rank, address, extents, strides, [channels, positions], steps, interleave,
                             swizzle, promotion, fill)
        self.maps[-1] += window
        return status

    def fill(self, address, byte, size, stream):
        ctypes.memset(address, byte, size)
        return 0

    def address(self, name):
        return ctypes.cast(self.callbacks[name], ctypes.c_void_p).value

    def context(self):
        return 0

    def allow_shared(self, function, size_bytes):
        self.shared[function] = size_bytes

    def own_shared(self, function):
        return 16

    def most_shared(self):
        return 227 * 1024

    def resident_blocks(self, function, threads, shared_bytes):
        return self.multiprocessors * (2048 // threads)


class FakePlan(exported_plan.ExportedPlan):
    device = "cpu"

    def __init__(self, plan, driver, owner=__name__):
        self.driver = driver
        super().__init__(plan, owner)

    def is_available(self):
        return True

    def compile(self):
        return b"", {}

    def prepare(self, index):
        return self.fitting_executor(self.driver, self.driver.functions)


def floats(arguments, index, count):
    address = ctypes.cast(arguments[index], ctypes.POINTER(ctypes.c_uint64))[0]
    return (ctypes.c_float * count).from_address(address)


def add_scaled(arguments):
    """(const float *x, const float *w, float *out, float scale, int count)"""
    scale = struct.unpack("f", ctypes.string_at(arguments[3], 4))[0]
    count = struct.unpack("i", ctypes.string_at(arguments[4], 4))[0]
    x, w, out = (floats(arguments, index, count) for index in range(3))
    for i in range(count):
        out[i] = x[i] * scale + w[i]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Module()
        self.inner.weight = torch.nn.Parameter(torch.arange(8.0))
        self.ran = 0

    def forward(self, x, scale=0.5, *, negate=False):
        self.ran += 1
        y = x * scale + self.inner.weight
        return -y if negate else y


class Plain(Model):
    def forward(self, x, scale=0.5):
        """Of the user."""
        self.ran += 1
        return x * scale + self.inner.weight


def guards_of(model, *inputs, owner=__name__):
    """As the tracer writes them, through a text."""
    reads = call_guards.Reads(model, owner)
    with reads, torch.no_grad():
        model(*inputs)
    return eval(guard_values.literal(call_guards.of_model(model, reads, owner)))


class Silent(Plain):
    """Which does not count its calls: what forward reads and writes must be as it was."""

    def forward(self, x, scale=0.5):
        return x * scale + self.inner.weight


PLAN = {
    "name": "Plain", "guards": [guards_of(Silent(), torch.ones(8))], "multiprocessors": None, "inputs": [...], "outputs": ..., "state": ["inner.weight"],
    "arguments": [("x", "float32", [8]), ("w", "float32", [8])],
    "results": [("output", "float32", [8])],
    "temporaries": [],
    "capability": 90, "target": "sm_90a", "source": "", "options": [],
    "steps": [("launch", "k", (1, 2, 3), (32, 1, 1), 60000,
               [("buffer", "x", 0), ("buffer", "w", 0), ("buffer", "output", 0), ("float32", 0.5), ("int32", 8)])],
}


def make(model=Plain, **changes):
    """(the class's subclass with the plan's forward, the plan, the driver)"""
    driver = FakeDriver({"k": add_scaled})
    plan = FakePlan(dict(PLAN, **changes), driver)
    return new_class(plan, model), plan, driver


def outputs_of(plan, module, inputs):
    outputs = plan.call(module, *inputs)
    return None if outputs is NotImplemented else outputs


def new_class(plan, model=Plain):
    return type("ModelNew", (model,), {"forward": plan.forward_of(model.forward)})


class Calls(unittest.TestCase):
    def setUp(self):
        self.x = torch.arange(8.0) + 1

    def check(self, model, driver, x, launches, *more):
        with torch.no_grad():
            expected = Plain.forward(model, x, *more)
            driver.launches.clear()
            self.assertTrue(torch.equal(model(x, *more), expected))
        self.assertEqual(len(driver.launches), launches)

    def test_kernels_are_launched_as_the_plan_says(self):
        model, _, driver = make()
        self.check(model(), driver, self.x, 1)
        self.assertEqual(driver.launches, [((1, 2, 3), (32, 1, 1), 60000)])
        self.assertEqual(driver.shared, {1: 60000})

    def test_blocks_that_wait_for_each_other_start_together_where_they_fit(self):
        step = PLAN["steps"][0]
        model, _, driver = make(steps=[(*step[:2], (132, 1, 1), (1024, 1, 1), *step[4:], True)])
        driver.multiprocessors = 66  # two blocks of 1024 threads each
        self.check(model(), driver, self.x, 1)
        self.assertEqual(driver.together, 1)
        model, _, driver = make(steps=[(*step[:2], (132, 1, 1), (1024, 1, 1), *step[4:], True)])
        driver.multiprocessors = 49
        model = model()
        with self.assertWarnsRegex(RuntimeWarning, "k needs 132 resident blocks, this device holds 98"):
            self.check(model, driver, self.x, 0)
        self.check(model, driver, self.x, 0)
        self.assertEqual(driver.together, 0)

    def test_shared_memory_that_the_device_lacks_leaves_the_user_s_forward(self):
        step = PLAN["steps"][0]
        model, _, driver = make(steps=[(*step[:4], 227 * 1024, step[5])])
        with self.assertWarnsRegex(RuntimeWarning, "k needs 232464 bytes of shared memory a block, this device has 232448"):
            self.check(model(), driver, self.x, 0)
        self.assertEqual(driver.shared, {})

    def test_what_was_not_verified_goes_to_the_user_s_forward(self):
        model, _, driver = make()
        model = model()
        for x in (self.x.double(), torch.ones(2, 8), torch.arange(16.0)[::2], torch.ones(9)[1:]):
            self.check(model, driver, x, 0)
        self.check(model.eval(), driver, self.x, 0)
        self.check(model.train(), driver, self.x, 1)

    def test_gradients_come_from_the_user_s_forward(self):
        model, _, driver = make()
        model = model()
        model(self.x).sum().backward()
        self.assertEqual(driver.launches, [])
        self.assertTrue(bool((model.inner.weight.grad == 1).all()))

    def test_the_signature_is_the_user_s(self):
        model, _, driver = make()
        self.assertEqual(model.forward.__doc__, "Of the user.")
        model = model()
        self.check(model, driver, self.x, 1, 0.5)
        self.check(model, driver, self.x, 0, 0.25)
        with torch.no_grad():
            self.assertTrue(torch.equal(model(x=self.x, scale=2), Plain.forward(model, self.x, 2)))
        with self.assertRaises(TypeError):
            model(self.x, 1, 2)

    def test_arguments_may_have_any_name(self):
        class Named(Plain):
            def forward(self, outputs, call=0.5):
                return outputs * call + self.inner.weight

        model, _, driver = make(Named)
        model = model()
        self.check(model, driver, self.x, 1)
        self.check(model, driver, self.x.double(), 0)

    def test_a_forward_with_keywords_alone_keeps_them(self):
        model, _, driver = make(Model)
        model = model()
        with torch.no_grad():
            self.assertTrue(torch.equal(model(self.x, negate=True), -(self.x * 0.5 + torch.arange(8.0))))
            self.assertEqual(driver.launches, [])
            model(self.x)
            model(x=self.x)
            model(self.x, scale=0.5)
            self.assertEqual(len(driver.launches), 3)
            self.assertTrue(torch.equal(model(self.x, scale=2.0), self.x * 2 + torch.arange(8.0)))
            with self.assertRaises(TypeError):
                model(scale=2.0)
        self.assertEqual(len(driver.launches), 3)

    def test_parameters_are_whatever_the_module_holds_now(self):
        model, _, driver = make()
        model = model()
        twin = copy.deepcopy(model)
        with torch.no_grad():
            twin.inner.weight.fill_(3)
        self.check(twin, driver, self.x, 1)
        model.load_state_dict(twin.state_dict())
        self.check(model, driver, self.x, 1)
        model.inner.weight = torch.nn.Parameter(torch.ones(8))
        self.check(model, driver, self.x, 1)
        model.inner = torch.nn.Module()
        model.inner.weight = torch.full((8,), 5.0)
        self.check(model, driver, self.x, 1)  # a plain attribute now
        Plain().load_state_dict(twin.state_dict())

    def test_a_plan_object_in_the_class_does_not_hinder_pickling(self):
        global PickledNew
        PickledNew, _, driver = make()
        PickledNew.__qualname__, PickledNew.__module__ = "PickledNew", __name__
        self.check(pickle.loads(pickle.dumps(PickledNew())), driver, self.x, 1)

    def test_autocast_and_modes_go_to_the_user_s_forward(self):
        model, plan, driver = make()
        model = model()
        seen = []

        class Watch(torch.utils._python_dispatch.TorchDispatchMode):
            def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
                seen.append(str(function))
                return function(*arguments, **(keywords or {}))

        with torch.no_grad(), Watch():
            model(self.x)
        self.assertTrue(seen)
        self.assertEqual(driver.launches, [])

    def test_a_thread_without_a_context_gets_one(self):
        model, _, driver = make()
        driver.fail_once = True
        self.check(model(), driver, self.x, 1)

    def test_a_tensor_map_follows_its_memory_and_a_launch_overlaps(self):
        arguments = [("map", "x", 0, (7, [4, 2], [16], [4, 1], 3)), *PLAN["steps"][0][5][1:]]
        model, _, driver = make(steps=[("launch", "k", (1, 1, 1), (32, 1, 1), 0, arguments, "overlapped")])
        one = model()
        self.check(one, driver, self.x, 1)
        self.assertEqual(driver.maps, [(7, [4, 2], [16], [4, 1], [1, 1], 3)])
        self.assertEqual(driver.overlapped, 1)
        with torch.no_grad():
            self.assertTrue(torch.equal(one(self.x), self.x * 0.5 + torch.arange(8.0)))
            self.assertEqual(len(driver.maps), 1)  # the same memory has the same map
            other = self.x.clone() + 1
            self.assertTrue(torch.equal(one(other), other * 0.5 + torch.arange(8.0)))
        self.assertEqual(len(driver.maps), 2)

    def test_a_map_of_a_window(self):
        description = (7, [8, 5, 5, 1], [32, 160, 800], [8, 64], 3, [-1, -1], [-1, 0], [2, 1])
        arguments = [("map", "x", 0, description), *PLAN["steps"][0][5][1:]]
        model, _, driver = make(steps=[("launch", "k", (1, 1, 1), (32, 1, 1), 0, arguments)])
        self.check(model(), driver, self.x, 1)
        self.assertEqual(driver.maps, [(7, [8, 5, 5, 1], [32, 160, 800], [8, 64], [1, 2, 1, 1], 3, [-1, -1], [-1, 0])])

    def test_scratch_memory_fills_and_operators(self):
        driver = FakeDriver({"k": add_scaled})
        plan = dict(PLAN, temporaries=[("t", "float32", [8]), ("u", "float32", [8]), ("v", "float32", [8])], steps=[
            ("fill", "t", 0), ("fill", "u", 0),
            ("launch", "k", (1, 1, 1), (1, 1, 1), 0, [("buffer", "x", 0), ("buffer", "t", 0), ("buffer", "u", 0), ("float32", 2.0),
                                                     ("int32", 8)]),
            ("aten", "aten::add.Tensor", [("view", "u", 0, [2, 4], [4, 1]), ("view", "w", 0, [2, 4], [4, 1])], {"alpha": 3},
             [("v", [2, 4], [4, 1])]),
            ("launch", "k", (1, 1, 1), (1, 1, 1), 0, [("buffer", "v", 0), ("buffer", "t", 0), ("buffer", "output", 0),
                                                     ("float32", 1.0), ("int32", 8)])])
        exported = FakePlan(plan, driver)
        with torch.no_grad():
            value = outputs_of(exported, new_class(exported)(), (self.x,))
        self.assertTrue(torch.equal(value, 2 * self.x + 3 * torch.arange(8.0)))

    def test_operators_update_state_and_give_outputs(self):
        driver = FakeDriver({"k": add_scaled})
        plan = dict(PLAN, outputs=[..., {"twice": ...}], results=[("output", "float32", [8]), ("twice", "float32", [8])], steps=[
            PLAN["steps"][0],
            ("aten", "aten::mul.Tensor", [("view", "output", 0, [8], [1]), ("view", "x", 0, [8], [1])], {}, [("twice", [8], [1])]),
            ("aten", "aten::cat", [[("view", "x", 0, [4], [1]), ("view", "x", 4, [4], [1])], 0], {}, [("w", [8], [1])])])
        exported = FakePlan(plan, driver)
        model = new_class(exported)()
        with torch.no_grad():
            output, more = outputs_of(exported, model, (self.x,))
        self.assertTrue(torch.equal(output, self.x * 0.5 + torch.arange(8.0)))
        self.assertTrue(torch.equal(more["twice"], output * self.x))
        self.assertTrue(torch.equal(model.inner.weight, self.x))

    def test_tensors_may_be_left_out_of_a_list(self):
        plan = dict(PLAN, temporaries=[("i", "int64", [2])], steps=[
            ("aten", "aten::arange.start", [1, 3], {}, [("i", [2], [1])]),
            ("aten", "aten::index_put", [("view", "x", 0, [2, 4], [4, 1]), [None, ("view", "i", 0, [2], [1])],
                                         ("view", "w", 0, [2, 2], [4, 1])], {}, [("output", [2, 4], [4, 1])])],
                    results=[("output", "float32", [2, 4])])
        with torch.no_grad():
            value = self.outputs_of(plan)
        expected, weight = self.x.reshape(2, 4).clone(), torch.arange(8.0).reshape(2, 4)
        expected[:, torch.arange(1, 3)] = weight[:, :2]
        self.assertTrue(torch.equal(value, expected))

    def test_a_factory_makes_its_tensor_on_the_device(self):
        plan = dict(PLAN, steps=[("aten", "aten::full", [[8], 3.0], {"dtype": "float32"}, [("output", [8], [1])])])
        with torch.no_grad():
            value = self.outputs_of(plan)
        self.assertTrue(torch.equal(value, torch.full((8,), 3.0)))

    def outputs_of(self, plan):
        exported = FakePlan(plan, FakeDriver({}))
        return outputs_of(exported, new_class(exported)(), (self.x,))

    def sum_of(self, result):
        """Of x and w seen as 4 times 2, whose sum lies like x."""
        views = [("view", name, 0, [4, 2], [1, 4]) for name in ("x", "w")]
        plan = dict(PLAN, steps=[("aten", "aten::add.Tensor", views, {}, [result])])
        with torch.no_grad():
            return self.outputs_of(plan)

    def test_a_result_with_dimensions_joined_is_returned_as_the_module_s(self):
        plan = dict(PLAN, results=[("output", "float32", [2, 1, 4])], steps=[
            ("aten", "aten::add.Tensor", [("view", name, 0, [8], [1]) for name in ("x", "w")], {}, [("output", [8], [1])])])
        with torch.no_grad():
            value = self.outputs_of(plan)
        self.assertTrue(torch.equal(value, (self.x + torch.arange(8.0)).reshape(2, 1, 4)))

    def test_another_layout_of_an_operator_s_result_is_copied_and_another_shape_an_error(self):
        total = (self.x + torch.arange(8.0)).reshape(2, 4).t()
        for strides, wanted in (([1, 4], total.t().flatten()), ([2, 1], total.flatten())):
            lies = self.sum_of(("output", [4, 2], strides)).as_strided([8], [1])
            self.assertTrue(torch.equal(lies, wanted))
        with self.assertRaisesRegex(RuntimeError, "another tensor"):
            self.sum_of(("output", [2, 4], [4, 1]))

    @unittest.skipIf(torch.cuda.is_available(), "for machines without a GPU")
    def test_without_a_gpu_the_user_s_forward_runs(self):
        plan = exported_plan.ExportedPlan(PLAN)
        model = type("ModelNew", (Plain,), {"forward": plan.forward_of(Plain.forward)})()
        with torch.no_grad():
            model(self.x)
        self.assertEqual(model.ran, 1)


class Compiling(unittest.TestCase):
    def compile(self, source, kernels):
        try:
            return nvrtc.compile_kernels(source, kernels, [], "sm_90a")
        except OSError as error:
            if "no NVRTC" in str(error):
                self.skipTest(str(error))
            raise

    def test_kernels_are_found_by_the_names_of_c_plus_plus_and_kept(self):
        source = "template <int N> __global__ void k(float *x) { x[N] = 0; }\nextern \"C\" __global__ void plain() {}"
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TORCH_EXTENSIONS_DIR"] = folder
            try:
                first = self.compile(source, ["k<3>", "plain"])
                files = os.listdir(folder)
                again = self.compile(source, ["k<3>", "plain"])
            finally:
                del os.environ["TORCH_EXTENSIONS_DIR"]
        self.assertEqual(first, again)
        self.assertEqual(len(files), 1)
        self.assertTrue(first[0].startswith(b"\x7fELF"))
        self.assertEqual(first[1]["plain"], "plain")
        self.assertIn("k", first[1]["k<3>"])

    def test_what_nvrtc_says_is_told(self):
        with self.assertRaisesRegex(OSError, "undefined"):
            self.compile("__global__ void k(float *x) { x[0] = y; }", ["k"])


if __name__ == "__main__":
    try:
        extension.load_once(extension.read_source())
    except OSError as error:
        print(f"{error}: all cases skipped")
        sys.exit(0)
    unittest.main(verbosity=2)
