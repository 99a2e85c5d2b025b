#!/usr/bin/env python3
"""Other systems' modules on a GPU, where they are timed. Usage: candidates_gpu_test.py RUNNER [unittest's arguments]

What candidates_test.py checks without times is not repeated here.
"""

import sys
import unittest

sys.dont_write_bytecode = True

import worker_gpu_test as gpu  # reads RUNNER from the arguments
from worker_gpu_test import setUpModule, tearDownModule  # noqa: F401 -- one service for all cases

HEADER = gpu.tasks.HEADER
CLASS = """
class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1024, 1024)
{init}
    def forward(self, x):
{forward}
"""
TASK = HEADER + CLASS.format(name="Model", init="", forward="        return torch.relu(self.linear(x)) * 2") + """
def get_inputs():
    return [torch.randn(2048, 1024)]

def get_init_inputs():
    return []
"""
RIGHT = "return torch.relu(self.linear(x)) * 2"
BUFFERS = [{"name": name.replace(".", "_"), "torch_name": name, "dtype": "float32", "shape": shape, "direction": direction}
           for name, shape, direction in (("x", [2048, 1024], "in"), ("linear.weight", [1024, 1024], "in"), ("linear.bias", [1024], "in"),
                                          ("out", [2048, 1024], "out"))]
KERNEL = '''
from torch.utils.cpp_extension import load_inline
SOURCE = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void finish(float *y, long n) { long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) y[i] = fmaxf(y[i], 0.f) * 2; }
torch::Tensor run(torch::Tensor y) {
  finish<<<(y.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), y.numel());
  return y;
}
"""
extension = load_inline("finish", cpp_sources="torch::Tensor run(torch::Tensor y);", cuda_sources=SOURCE, functions=["run"])
'''


def answer(forward, init="", before=""):
    return HEADER + before + CLASS.format(name="ModelNew", init="".join(f"        {line}\n" for line in init.splitlines()),
                                          forward="".join(f"        {line}\n" for line in forward.splitlines()))


@unittest.skipUnless(gpu.GPU, "needs a GPU")
class Timed(unittest.TestCase):
    def judge(self, forward, *options, **parts):
        plan = {"source": "", "steps": [{"module": {"source": answer(forward, **parts)}}]}
        return gpu.verify(TASK, lambda _: plan, "--host-code", *options, buffers=BUFFERS)

    def refuse(self, outcome, part, forward, **parts):
        verdict = self.judge(forward, **parts)
        self.assertEqual(verdict["outcome"], outcome, verdict["message"])
        self.assertIn(part, verdict["message"])
        self.assertNotIn("speedup", verdict)

    def test_the_task_s_own_text_as_an_answer_is_as_fast_as_the_task(self):
        verdict = self.judge(RIGHT, "--baseline", "torch.compile")
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])
        self.assertTrue(verdict["host_code"])
        for speedup in (verdict["speedup"], verdict["as_called"]["speedup"]):
            self.assertGreater(speedup["ratio"], 0.8)
            self.assertLess(speedup["ratio"], 1.25)

    def test_an_extension_is_compiled_in_its_process(self):
        verdict = self.judge("return extension.run(self.linear(x))", before=KERNEL)
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])
        self.assertGreater(verdict["speedup"]["ratio"], 0.9)

    def test_work_on_a_stream_that_nobody_waits_for_is_refused(self):
        self.refuse("suspected_cheat", "", "side = torch.cuda.Stream()\nwith torch.cuda.stream(side):\n    y = torch.relu(self.linear(x)) * 2\nreturn y")

    def test_a_result_that_a_graph_does_not_compute_anew_is_refused(self):
        self.refuse("suspected_cheat", "earlier",
                    "if self.kept is None: self.kept = torch.relu(self.linear(x)) * 2\nreturn self.kept.clone()", init="self.kept = None")

    def test_tf32_where_the_task_has_none_is_refused(self):
        self.refuse("suspected_cheat", "allow_tf32", "torch.backends.cuda.matmul.allow_tf32 = True\n" + RIGHT)

    def test_a_module_with_a_graph_of_its_own_has_as_called_times(self):
        verdict = self.judge("if self.graph is None:\n    self.held = x.clone()\n    for _ in range(3): self.compute()\n"
                             "    torch.cuda.synchronize()\n    self.graph = torch.cuda.CUDAGraph()\n"
                             "    with torch.cuda.graph(self.graph): self.result = self.compute()\n"
                             "self.held.copy_(x)\nself.graph.replay()\nreturn self.result.clone()",
                             init="self.graph = None\nself.compute = lambda: torch.relu(self.linear(self.held)) * 2")
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])
        self.assertIn("as_called", verdict)

    def test_parameters_that_it_makes_in_another_way_under_the_same_seed_are_the_task_s(self):
        # torch.Tensor() makes them on the CPU whatever the default device is, where nn.Linear follows it.
        own = ("class Linear(nn.Module):\n    def __init__(self, n, m):\n        super().__init__()\n"
               "        self.weight, self.bias = nn.Parameter(torch.Tensor(m, n)), nn.Parameter(torch.Tensor(m))\n"
               "        nn.init.kaiming_uniform_(self.weight, a=5 ** 0.5)\n        nn.init.uniform_(self.bias, -n ** -0.5, n ** -0.5)\n"
               "    def forward(self, x):\n        return nn.functional.linear(x, self.weight, self.bias)\n")
        plan = {"source": "", "steps": [{"module": {"source": answer(RIGHT, before=own).replace("nn.Linear(", "Linear(")}}]}
        verdict = gpu.verify(TASK, lambda _: plan, "--host-code", buffers=BUFFERS)
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])

    def test_its_file_is_compiled_before_where_others_use_the_gpu_too_by_a_process_that_cannot_open_it(self):
        before = """
import ctypes, os
os.environ.pop("CUDA_VISIBLE_DEVICES", None)
with open(os.path.join(os.environ["HOME"], "driver"), "a+") as file:
    file.write(f"{ctypes.CDLL('libcuda.so.1').cuInit(0)} ")
    file.seek(0)
    STARTS = file.read().split()
"""
        service, gpu.service = gpu.service, gpu.Service("--workers-per-gpu", "2")
        try:
            # The first start of the driver fails, the second does not, and the extension is there then.
            verdict = self.judge("assert len(STARTS) == 2 and STARTS[0] != '0' and STARTS[1] == '0', STARTS\n"
                                 "return extension.run(self.linear(x))", before=before + KERNEL)
        finally:
            gpu.service.close()
            gpu.service = service
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])


if __name__ == "__main__":
    print("devices:", [device["name"] for device in gpu.DEVICES])
    unittest.main(verbosity=2)
