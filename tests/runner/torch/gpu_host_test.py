"""The torch host of a GPU's worker: results handed on without copies, calls from Python, graphs. With a GPU all of it runs there, by a
stream of torch's in place of the worker's; without one what needs none runs on the CPU. Usage:
gpu_host_test.py FOLDER_OF_HOST_PY
"""

import copy
import ctypes
import os
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

import compiled_module
import gpu_host
import worker_process
from host_errors import HostError

GPU = torch.cuda.is_available()
DEVICE = "cuda:0" if GPU else "cpu"
SOURCE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))

def get_inputs():
    return [torch.randn(4, 3, 16, 16)]

def get_init_inputs():
    return [3]
"""
REPLACING = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.zeros(4)

    def forward(self, x):
        self.hidden = torch.tanh(self.hidden.to(x.device) + x)
        return self.hidden * 2

def get_inputs():
    return [torch.randn(4)]

def get_init_inputs():
    return []
"""
SPEC = {"language": "python", "source": SOURCE, "model": "Model", "inputs": "get_inputs",
        "init_inputs": "get_init_inputs", "mode": "made"}


class Memory:
    """Tensors in memory that the host is told the addresses of."""

    def __init__(self):
        self.held = []

    def __call__(self, shape, dtype=torch.float32, name=""):
        tensor = torch.full(shape, 7, dtype=dtype, device=DEVICE)
        self.held.append(tensor)
        place = {"address": tensor.data_ptr(), "dtype": str(dtype).replace("torch.", ""), "shape": list(shape),
                 "strides": [], "name": name}
        return tensor, place


START = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_uint64))
EXTENSION = worker_process.load_direct_call(worker_process.direct_call_library())


def make_host(start=None, extension=None):
    host = gpu_host.GpuHost(DEVICE, start and START(start), extension)
    if GPU:
        held = torch.cuda.Stream()
        host.use_stream(0, held.cuda_stream)
        host.kept_stream = held
    return host


def loaded(host, memory, spec=SPEC):
    """(names, tensors, places) of a drawn task."""
    host.load(spec)
    shapes = [("x", (4, 3, 16, 16), torch.float32), ("conv.weight", (8, 3, 3, 3), torch.float32)]
    shapes += [(name, (8,), torch.float32)
               for name in ("conv.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var")]
    shapes.append(("norm.num_batches_tracked", (), torch.int64))
    pairs = [memory(shape, dtype, name) for name, shape, dtype in shapes]
    places = [place for _, place in pairs]
    host.draw((1, 1, True), 1.0, places)
    return [tensor for tensor, _ in pairs], places


def view(place):
    return {"tensor": {"buffer": "b", "shape": place["shape"]}}


class Operators(unittest.TestCase):
    def setUp(self):
        self.host, self.memory = make_host(), Memory()
        self.x, self.x_place = self.memory((4, 8))
        self.x.copy_(torch.arange(32.0).reshape(4, 8) - 16)
        self.t, self.t_place = self.memory((4, 8))
        self.y, self.y_place = self.memory((8, 4))
        transposed = dict(self.t_place, shape=[8, 4], strides=[1, 8])
        self.first = self.host.bind_operator(
            {"op": "aten::relu", "arguments": [view(self.x_place)], "results": [{"buffer": "t", "shape": [4, 8]}]},
            [self.x_place, self.t_place])
        self.second = self.host.bind_operator(
            {"op": "aten::mul.Tensor", "arguments": [view(transposed), view(transposed)],
             "results": [{"buffer": "y", "shape": [8, 4], "strides": [1, 8]}]},
            [transposed, transposed, dict(self.y_place, strides=[1, 8])])

    def test_an_unpublished_result_is_handed_on_and_its_buffer_left_alone(self):
        self.host.begin_unpublished()
        self.host.call(self.first)
        self.assertNotEqual(self.host.results(self.first)[0], self.t.data_ptr())
        self.host.call(self.second)
        self.host.publish(self.second)
        self.host.end_unpublished()
        self.assertTrue((self.t == 7).all())
        expected = torch.relu(self.x) ** 2
        self.assertTrue(torch.equal(self.y.reshape(4, 8), expected))

    def test_a_result_of_another_layout_is_laid_out_as_the_plan_says(self):
        transposed = dict(self.x_place, shape=[8, 4], strides=[1, 8])
        for shape in ([8, 4], [4, 8]):
            call = self.host.bind_operator({"op": "aten::relu", "arguments": [view(transposed)], "results": [{"buffer": "y", "shape": shape}]},
                                           [transposed, dict(self.y_place, shape=shape)])
            if shape == [4, 8]:
                with self.assertRaisesRegex(HostError, "the plan says"):
                    self.host.call(call)
                continue
            self.host.call(call)
            self.host.publish(call)
            self.assertTrue(torch.equal(self.y, torch.relu(self.x).t()))

    def test_tensors_may_be_left_out_of_a_list(self):
        index, place = self.memory((4,), torch.int64)
        index.copy_(torch.tensor([3, 0, 0, 7]))
        out, out_place = self.memory((4, 4))
        nothing = dict(self.x_place, address=0, shape=[])
        call = self.host.bind_operator({"op": "aten::index.Tensor", "results": [{"buffer": "out", "shape": [4, 4]}],
                                        "arguments": [view(self.x_place), {"tensors": [None, {"buffer": "i", "shape": [4]}]}]},
                                       [self.x_place, nothing, place, out_place])
        self.host.call(call)
        self.host.publish(call)
        self.assertTrue(torch.equal(out, self.x[:, index]))

    def test_a_published_result_lies_in_its_buffer(self):
        self.host.call(self.first)
        self.host.publish(self.first)
        self.assertTrue(torch.equal(self.t, torch.relu(self.x)))


class PythonCandidates(unittest.TestCase):
    """The executor here adds 1 to the float32 elements of one place, into another: on the host's memory."""

    extension = None

    def start(self, executor, group, addresses):
        self.started.append((executor, group, addresses[:4]))
        if not GPU:
            count = 32
            source = (ctypes.c_float * count).from_address(addresses[self.source])
            target = (ctypes.c_float * count).from_address(addresses[self.target])
            for i in range(count):
                target[i] = source[i] + 1
        return 0

    def setUp(self):
        self.started = []
        self.host, self.memory = make_host(self.start, self.extension), Memory()
        self.x, self.x_place = self.memory((4, 8))
        self.y, self.y_place = self.memory((4, 8))

    def test_a_call_makes_its_output_and_is_published_after_the_clock(self):
        self.source, self.target = 0, 1
        call = self.host.make_call(0, [{"group": 0, "call": 0}], 5, [self.x_place], [self.y_place], [])
        self.assertGreater(self.host.time_call(call, 10**10), 0)
        self.assertTrue((self.y == 7).all())
        self.host.publish_call(call)
        executor, group, addresses = self.started[0]
        self.assertEqual((executor, group, addresses[0]), (5, 0, self.x.data_ptr()))
        self.assertNotEqual(addresses[1], self.y.data_ptr())
        if not GPU:
            self.assertTrue((self.y == 8).all())

    def test_scratch_memory_is_one_piece_with_a_place_for_each_temporary(self):
        self.source, self.target = 0, 3  # x, y, two temporaries
        temporaries = [{"address": 64 * i, "dtype": "float32", "shape": [100], "strides": []} for i in (1, 9)]
        call = self.host.make_call(0, [{"group": 0, "call": 0}], 5, [self.x_place], [self.y_place], temporaries)
        self.host.time_call(call, 10**10)
        addresses = self.started[0][2]
        self.assertEqual(addresses[3] - addresses[2], 512)

    def test_kernels_read_a_result_of_torch_where_torch_made_it(self):
        t, t_place = self.memory((4, 8))
        relu = self.host.bind_operator(
            {"op": "aten::relu", "arguments": [view(self.x_place)], "results": [{"buffer": "t", "shape": [4, 8]}]},
            [self.x_place, t_place])
        self.source, self.target = 3, 1  # x, y, scratch, relu's result
        scratch = {"address": 64, "dtype": "float32", "shape": [100], "strides": []}
        steps = [{"group": -1, "call": relu}, {"group": 0, "call": 0}]
        call = self.host.make_call(0, steps, 5, [self.x_place], [self.y_place], [scratch])
        self.host.time_call(call, 10**10)
        self.host.publish_call(call)
        addresses = self.started[0][2]
        self.assertNotIn(addresses[3], (t.data_ptr(), self.x.data_ptr(), 0))
        self.assertNotIn(addresses[2], (0, 64))
        self.assertTrue((t == 7).all())
        if not GPU:
            self.assertTrue((self.y == 8).all())

    def test_torch_reads_what_kernels_made_and_its_result_is_the_output(self):
        scratch, scratch_place = self.memory((4, 8))
        relu = self.host.bind_operator(
            {"op": "aten::relu", "arguments": [view(scratch_place)], "results": [{"buffer": "y", "shape": [4, 8]}]},
            [scratch_place, self.y_place])
        self.source, self.target = 0, 2
        steps = [{"group": 0, "call": 0}, {"group": -1, "call": relu}]
        call = self.host.make_call(0, steps, 5, [self.x_place], [self.y_place], [scratch_place])
        self.x.fill_(-3)
        self.host.time_call(call, 10**10)
        self.host.publish_call(call)
        self.assertNotEqual(self.started[0][2][2], scratch.data_ptr())
        if not GPU:
            self.assertTrue((self.y == 0).all())


    def test_a_result_of_torch_with_dimensions_joined_is_the_output(self):
        flat = dict(self.y_place, shape=[32])
        relu = self.host.bind_operator(
            {"op": "aten::relu", "arguments": [view(dict(self.x_place, shape=[32]))], "results": [{"buffer": "y", "shape": [32]}]},
            [dict(self.x_place, shape=[32]), flat])
        call = self.host.make_call(0, [{"group": -1, "call": relu}], 5, [self.x_place], [self.y_place], [])
        self.x.fill_(3)
        self.host.time_call(call, 10**10)
        self.host.publish_call(call)
        self.assertTrue((self.y == 3).all())

    def test_calls_before_the_clock_are_of_another_call_and_once(self):
        self.source, self.target = 0, 1
        other, other_place = self.memory((4, 8))
        calls = [self.host.make_call(0, [{"group": 0, "call": 0}], 5 + i, [place], [self.y_place], [])
                 for i, place in enumerate((self.x_place, other_place))]
        self.host.warm_call(calls[1])
        self.host.time_call(calls[0], 10**10)
        self.host.time_call(calls[0], 10**10)
        self.assertEqual([executor for executor, _, _ in self.started], [6] * gpu_host.WARM_CALLS + [5, 5])
        self.assertIsNone(self.host.timed[calls[1]].value)

    def test_a_result_of_torch_updates_state(self):
        self.source, self.target = 0, 1
        count, count_place = self.memory((2,))
        add = self.host.bind_operator(
            {"op": "aten::add.Tensor", "arguments": [view(count_place), view(count_place)],
             "results": [{"buffer": "count", "shape": [2]}]}, [count_place, count_place, count_place])
        steps = [{"group": -1, "call": add}, {"group": 0, "call": 0}]
        call = self.host.make_call(0, steps, 5, [self.x_place, count_place], [self.y_place], [])
        self.source, self.target = 0, 2
        self.host.time_call(call, 10**10)
        self.assertEqual(count.tolist(), [14, 14])

    @unittest.skipUnless(GPU, "needs torch's caching allocator")
    def test_memory_of_results_is_spoiled_after_they_were_published(self):
        self.source, self.target = 0, 1
        call = self.host.make_call(0, [{"group": 0, "call": 0}], 5, [self.x_place], [self.y_place], [])
        self.host.time_call(call, 10**10)
        address = self.host.timed[call].value.data_ptr()
        self.host.publish_call(call)
        given = torch.empty(4, 8, device=DEVICE)
        self.assertEqual(given.data_ptr(), address)
        self.assertTrue(bool(torch.isnan(given).all()))


@unittest.skipIf(EXTENSION is None, "no compiler for the extension")
class CompiledCandidates(PythonCandidates):
    extension = EXTENSION

    def call_of_a_module(self, source=SOURCE, spec=SPEC):
        tensors, places = loaded(self.host, self.memory, dict(spec, source=source))
        y, y_place = self.memory((4, 8, 14, 14))
        self.source, self.target = 1, 8  # adds 1 to the first 32 weights
        call = self.host.make_call(0, [{"group": 0, "call": 0}], 5, places, [y_place], [])
        return self.host.timed[call], tensors

    def test_the_user_s_class_is_called_with_its_own_tensors(self):
        timed, tensors = self.call_of_a_module()
        self.assertEqual(type(timed.function).__name__, "ModelNew")
        self.assertTrue(issubclass(type(timed.function), type(self.host.loaded.model())))
        self.assertEqual(len(timed.inputs), 1)
        timed.function(*timed.inputs)
        self.assertEqual(self.started[0][2], [one.data_ptr() for one in tensors[:4]])

    def test_a_replaced_parameter_is_the_one_that_is_used(self):
        timed, _ = self.call_of_a_module()
        replaced = copy.deepcopy(timed.function)
        timed.function(*timed.inputs)
        replaced(*timed.inputs)
        self.assertEqual(self.started[1][2][1], replaced.conv.weight.data_ptr())
        self.assertNotEqual(self.started[1][2][1], self.started[0][2][1])

    def test_what_was_not_verified_is_refused(self):
        timed, _ = self.call_of_a_module()
        x, = timed.inputs
        noncontiguous = torch.empty(4, 3, 16, 16, device=DEVICE).transpose(2, 3)
        for other in (x[:2], x.double(), noncontiguous, 3, None, torch.nn.Parameter(x)[:3], x.flatten()[1:]):
            with self.assertRaises(HostError):
                timed.function(other)
        with self.assertRaises(HostError):
            timed.function(x, x)
        timed.function.eval()
        with self.assertRaises(HostError):
            timed.function(x)
        timed.function.train()
        with torch.enable_grad(), self.assertRaises(HostError):
            timed.function(x.detach().requires_grad_())
        timed.function(x)
        self.assertEqual(len(self.started), 1)

    def test_constants_among_the_inputs_must_be_the_same(self):
        source = SOURCE.replace("forward(self, x)", "forward(self, x, options)").replace(
            "return [torch.randn(4, 3, 16, 16)]", "return [torch.randn(4, 3, 16, 16), {'scale': [0.5, None]}]")
        timed, _ = self.call_of_a_module(source)
        x, options = timed.inputs
        self.assertEqual(options, {"scale": [0.5, None]})
        timed.function(x, {"scale": [0.5, None]})
        for other in ({"scale": [0.5, 1]}, {"scale": [0.25, None]}, {}, [0.5, None], {"scale": [0.5]}):
            with self.assertRaises(HostError):
                timed.function(x, other)
        self.assertEqual(len(self.started), 1)


class WithoutACompiler(unittest.TestCase):
    def test_candidates_are_called_from_python(self):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.dict(os.environ, {"CXX": "/no/such/compiler", "TORCH_EXTENSIONS_DIR": folder}):
            self.assertIsNone(worker_process.direct_call_library())
            self.assertEqual(set(os.listdir(folder)) - {"lock"}, set())
        self.assertIsNone(worker_process.load_direct_call(None))
        self.assertEqual(make_host().facts()["candidate_calls"], "python")


class Modules(unittest.TestCase):
    def setUp(self):
        self.host, self.memory = make_host(), Memory()
        self.tensors, self.places = loaded(self.host, self.memory)
        self.y, self.y_place = self.memory((4, 8, 14, 14))

    def expected(self):
        x, weight, bias, scale, shift = self.tensors[:5]
        made = torch.nn.functional.conv2d(x, weight, bias)
        return torch.relu(torch.nn.functional.batch_norm(made, None, None, scale, shift, True))

    def test_a_module_is_timed_as_its_user_calls_it(self):
        handle = self.host.bind_module("", self.places, [self.y_place], False)
        call = self.host.make_call(handle, [], 0, [], [self.y_place], [])
        self.host.time_call(call, 10**11)
        self.host.publish_call(call)
        self.assertTrue(torch.allclose(self.y, self.expected(), atol=1e-3))
        self.assertEqual(int(self.tensors[-1]), 1)

    def test_state_that_a_call_replaces_is_drawn_anew_before_the_next(self):
        self.host.load(dict(SPEC, source=REPLACING))
        (x, x_place), (hidden, hidden_place), (y, y_place) = (self.memory((4,), name=name) for name in ("x", "hidden", "y"))
        handle = self.host.bind_module("", [x_place, hidden_place], [y_place], False)
        call = self.host.make_call(handle, [], 0, [], [y_place], [])
        for begin in (0.25, 0.5):
            x.fill_(0.1)
            hidden.fill_(begin)
            self.host.time_call(call, 10**11)
            self.host.publish_call(call)
            expected = torch.tanh(torch.full((4,), begin + 0.1))
            self.assertTrue(torch.allclose(hidden.cpu(), expected) and torch.allclose(y.cpu(), 2 * expected))

    def test_what_a_capture_replaced_is_what_its_replays_publish(self):
        self.host.load(dict(SPEC, source=REPLACING))
        (x, x_place), (hidden, hidden_place), (y, y_place) = (self.memory((4,), name=name) for name in ("x", "hidden", "y"))
        handle = self.host.bind_module("", [x_place, hidden_place], [y_place], False)
        x.zero_()
        hidden.zero_()
        self.host.call(handle)
        captured = self.host.calls[handle].given()  # as end_capture() keeps it
        self.host.calls[handle].model.hidden = torch.full((4,), 9.0, device=DEVICE)  # as a call that is timed leaves it
        captured[1]["hidden"].fill_(0.75)  # as a replay does
        self.host.calls[handle].publish(captured)
        self.assertTrue(torch.allclose(hidden, torch.full_like(hidden, 0.75)))

    @unittest.skipUnless(hasattr(torch, "compile") and GPU, "needs torch.compile and a GPU")
    def test_torch_compile_compiles_once_for_all_memory(self):
        first = self.host.bind_module("default", self.places, [self.y_place], False)
        self.host.call(first)
        self.host.publish(first)
        torch.cuda.synchronize()
        self.assertTrue(torch.allclose(self.y, self.expected(), atol=1e-3))
        compiled = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        others, places = loaded(self.host, self.memory)
        y, y_place = self.memory((4, 8, 14, 14))
        self.host.draw((2, 3, True), 1.0, places)
        second = self.host.bind_module("default", places, [y_place], False)
        self.host.call(second)
        self.host.publish(second)
        self.tensors = others
        torch.cuda.synchronize()
        self.assertTrue(torch.allclose(y, self.expected(), atol=1e-3))
        self.assertEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"], compiled)
        self.assertEqual(int(others[-1]), 1)
        self.assertEqual(int(self.tensors[-1]), 1)

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_a_captured_module_computes_anew_at_each_replay(self):
        handle = self.host.bind_module("", self.places, [self.y_place], False)
        graph = self.capture(handle)
        for seed in (4, 5):
            self.host.draw((seed, seed, True), 1.0, self.places)
            self.y.fill_(7)
            self.host.replay(graph)
            self.host.publish_graph(graph)
            torch.cuda.synchronize()
            self.assertTrue(torch.allclose(self.y, self.expected(), atol=1e-3))
        self.host.forget_graph(graph)
        self.host.start_job()

    def capture(self, handle):
        for _ in range(3):
            self.host.begin_unpublished()
            self.host.call(handle)
            self.host.end_unpublished()
        torch.cuda.synchronize()
        self.host.begin_unpublished()
        graph = self.host.begin_capture()
        self.host.call(handle)
        self.host.end_capture(graph, True)
        self.host.end_unpublished()
        return graph

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_captures_share_memory_and_a_new_job_gives_it_back(self):
        handles = [self.host.bind_module("", self.places, [self.y_place], False) for _ in range(3)]
        graphs = [self.capture(handle) for handle in handles]
        for graph in graphs + list(reversed(graphs)):
            self.y.fill_(7)
            self.host.replay(graph)
            self.host.publish_graph(graph)
            torch.cuda.synchronize()
            self.assertTrue(torch.allclose(self.y, self.expected(), atol=1e-3))
        for graph in graphs:
            self.host.forget_graph(graph)
        again = self.capture(handles[0])
        self.host.replay(again)
        self.host.publish_graph(again)
        torch.cuda.synchronize()
        self.assertTrue(torch.allclose(self.y, self.expected(), atol=1e-3))

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_a_module_that_waits_for_the_gpu_cannot_be_captured_and_the_next_can(self):
        waits = dict(SPEC, source=SOURCE.replace("return torch.relu", "x.sum().item()\n        return torch.relu"))
        good = self.host.bind_module("", self.places, [self.y_place], False)
        tensors, places = loaded(self.host, self.memory, waits)
        handle = self.host.bind_module("", places, [self.y_place], False)
        self.host.begin_unpublished()
        graph = self.host.begin_capture()
        with self.assertRaises(HostError) as raised:
            self.host.call(handle)
        print("a capture that fails says:", raised.exception.message)
        self.assertEqual(raised.exception.kind, "unsupported")
        self.host.end_capture(graph, False)
        self.host.end_unpublished()
        self.host.forget_graph(graph)
        self.tensors, self.places = loaded(self.host, self.memory)
        graph = self.capture(self.host.bind_module("", self.places, [self.y_place], False))
        self.host.replay(graph)
        self.host.publish_graph(graph)
        torch.cuda.synchronize()
        self.assertTrue(torch.allclose(self.y, self.expected(), atol=1e-3))


if __name__ == "__main__":
    print(f"torch {torch.__version__} on {DEVICE}")
    unittest.main(verbosity=2)
