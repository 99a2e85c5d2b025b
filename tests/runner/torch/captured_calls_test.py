"""Every kind of call goes through a capture and its replays as a GPU's host has them, with a graph that captures nothing: what a kind
of call lacks for it shows without a GPU. Usage: captured_calls_test.py FOLDER_OF_HOST_PY
"""

import mmap
import sys
import unittest
import weakref

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

import candidate_calls
import candidate_module
import candidate_timer
import compiled_module
import gpu_host
import module_host

SOURCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = torch.zeros(4)

    def forward(self, x):
        self.seen = self.seen + x
        return x * 2
"""
SPEC = {"language": "python", "source": SOURCE + "\ndef get_inputs():\n    return [torch.zeros(4)]\n", "model": "Model",
        "inputs": "get_inputs", "init_inputs": "get_init_inputs", "mode": "made"}


class NoGraph:
    def capture_end(self):
        pass

    def replay(self):
        pass


def place(tensor, name):
    return {"address": tensor.data_ptr(), "dtype": str(tensor.dtype).replace("torch.", ""), "shape": list(tensor.shape), "strides": [],
            "name": name}


class Candidate:
    """What a candidate's process makes calls of."""

    device, in_device_context, template = torch.device("cpu"), False, [torch.zeros(4)]

    def call(self, function, inputs):
        return function(*inputs)


class EveryKindOfCall(unittest.TestCase):
    def setUp(self):
        self.host = gpu_host.GpuHost("cpu", None)
        self.host.load(SPEC)
        self.x, self.seen, self.y = torch.ones(4), torch.zeros(4), torch.full((4,), -7.0)
        self.places = [place(self.x, "x"), place(self.seen, "seen")]

    def captured(self, call):
        """A graph of a run of the call."""
        self.host.calls[50] = call
        self.host.graphs[60] = gpu_host.Graph(NoGraph())
        self.host.ran = []
        self.host.call(50)
        self.host.end_capture(60, True)
        return 60

    def published(self, call):
        """The graph of the call, replayed."""
        graph = self.captured(call)
        self.host.refresh(50)
        self.host.replay(graph)
        self.host.publish_graph(graph)
        self.host.forget_graph(graph)

    def test_a_module(self):
        self.published(self.host.calls[self.host.bind_module("", self.places, [place(self.y, "y")], False)])
        self.assertEqual((self.y.tolist(), self.seen.tolist()), ([2] * 4, [1] * 4))

    def test_a_module_s_capture_reads_its_memory_whatever_the_runs_before_replaced(self):
        call = self.host.calls[self.host.bind_module("", self.places, [place(self.y, "y")], False)]
        for _ in range(3):  # as a capture's warm-up, which publishes nothing
            self.host.begin_unpublished()
            call.run()
            self.host.end_unpublished()
        self.published(call)
        self.assertEqual(self.seen.tolist(), [1] * 4)

    def test_what_ran_is_let_go_with_its_call(self):
        handle = self.host.bind_module("", self.places, [place(self.y, "y")], False)
        self.host.call(handle)
        self.host.publish(handle)
        result = weakref.ref(self.host.calls[handle].results[0])
        self.assertIsNotNone(result())
        self.host.forget(handle)
        self.assertIsNone(result(), "every run of a job would keep its results until the next job")

    def test_a_module_in_float64(self):
        outputs = [torch.full((4,), -7.0, dtype=torch.float64) for _ in range(2)]
        places = [place(outputs[0], "y"), place(outputs[1], "seen")]
        self.published(self.host.calls[self.host.bind_module("default", self.places, places, True)])
        self.assertEqual([one.tolist() for one in outputs], [[2] * 4, [1] * 4])

    def test_a_compiled_module(self):
        class Compiled:
            model = self.host.loaded.model()
            function, rnns, turn, bound, own = model, [], None, None, {}

            def compile_as_one_graph(self, *_):
                pass

        call = compiled_module.CompiledCall(Compiled(), self.host.loaded, self.places, [place(self.y, "y")], torch.device("cpu"))
        self.published(call)
        self.assertEqual(self.y.tolist(), [2] * 4)

    def test_an_operator(self):
        view = {"tensor": {"buffer": "b", "shape": [4]}}
        step = {"op": "aten::neg", "arguments": [view], "results": [{"buffer": "y", "shape": [4]}]}
        self.published(module_host.OperatorCall(step, [place(self.x, "x"), place(self.y, "y")], torch.device("cpu")))
        self.assertEqual(self.y.tolist(), [-1] * 4)

    def test_a_call_of_nothing(self):
        self.published(candidate_timer.Nothing(torch.device("cpu")))

    def test_another_system_s_module_in_its_process(self):
        memory = mmap.mmap(-1, 4096)
        places = [{"offset": 256 * i, "size": 16, "dtype": "float32", "shape": [4]} for i in range(2)]
        call = candidate_module.Call(Candidate(), lambda x: x + 3, places[:1], places[1:], memory)
        call.tensors[0].fill_(1)
        self.published(call)
        self.assertEqual(call.outputs[0].tolist(), [4] * 4)

    def test_no_kind_of_call_is_without_what_a_capture_needs(self):
        kinds = [module_host.ModuleCall, module_host.ExactCall, module_host.OperatorCall, compiled_module.CompiledCall,
                 candidate_timer.Nothing, candidate_module.Call, candidate_calls.CandidateCall]
        for kind in kinds:
            for method in ("run", "refresh", "given", "publish"):
                self.assertTrue(callable(getattr(kind, method, None)), f"{kind.__name__} lacks {method}()")
            self.assertTrue(issubclass(kind, module_host.BoundCall), kind.__name__)


if __name__ == "__main__":
    unittest.main(verbosity=2)
