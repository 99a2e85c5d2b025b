"""What a worker that shares its GPU tells about its turn while torch compiles. Usage: shared_gpu_test.py FOLDER_OF_HOST_PY"""

import os
import sys
import types
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from gpu_host_test import DEVICE, Memory, compiled_module, loaded, make_host, torch


class SharedGpu(unittest.TestCase):
    """What the worker tells about its turn while torch compiles; the compiler is a stand-in."""

    def setUp(self):
        self.told = []
        self.turn = compiled_module.GpuTurn(lambda: self.told.append("give"), lambda: self.told.append("take"),
                                            lambda: self.told.append("wait"))

    def compiler_with(self, call, **benchmarking):
        """An Inductor of this call, prepared."""
        compiler = type("Compiler", (), {"__call__": call})
        modules = {"torch._inductor.compile_fx": types.ModuleType("compile_fx"),
                   "torch._inductor.runtime.benchmarking": types.SimpleNamespace(**benchmarking)}
        with unittest.mock.patch.object(torch, "_TorchCompileInductorWrapper", compiler, create=True), \
                unittest.mock.patch.dict(sys.modules, modules):
            self.turn.prepare_compiler()
        return compiler()

    def test_others_have_the_gpu_while_it_compiles_but_not_while_it_times(self):
        told, benchmarker = self.told, types.SimpleNamespace(benchmark_gpu=lambda work: self.told.append(work))

        def call(_, graph, inputs):
            told.append("compile")
            benchmarker.benchmark_gpu("time")
            told.append("compile")
            return graph + inputs

        self.assertEqual(self.compiler_with(call, benchmarker=benchmarker)("graph", "inputs"), "graphinputs")
        self.assertEqual(told, ["wait", "give", "compile", "take", "time", "wait", "give", "compile", "take"])
        told.clear()
        benchmarker.benchmark_gpu("later")
        self.assertEqual(told, ["later"])

    def test_the_turn_is_taken_back_after_an_error(self):
        def call(*_):
            raise ValueError("no such operator")

        with self.assertRaises(ValueError):
            self.compiler_with(call, benchmarker=types.SimpleNamespace(benchmark_gpu=None))("graph", "inputs")
        self.assertEqual(self.told, ["wait", "give", "take"])

    def test_a_torch_that_cannot_be_told_keeps_the_gpu(self):
        self.assertEqual(self.compiler_with(lambda *_: "compiled")("graph", "inputs"), "compiled")
        self.assertEqual(self.told, [])

    def compiled(self, compile_graph):
        """(what it was compiled with, the module after its first call) of a torch.compile that is a stand-in"""
        told, asked = self.told, []
        compiler = self.compiler_with(compile_graph, benchmarker=types.SimpleNamespace(benchmark_gpu=None))

        def compile_model(model, mode, fullgraph=False):
            asked.append(fullgraph)

            def function(x):
                compiler(fullgraph, x)
                told.append("run")
                return model(x)

            return function

        host, memory = make_host(), Memory()
        _, places = loaded(host, memory)
        with unittest.mock.patch.object(torch, "compile", compile_model, create=True), \
                unittest.mock.patch.object(torch, "_dynamo", types.SimpleNamespace(reset=lambda: told.append("reset")), create=True):
            module = compiled_module.CompiledModule(host._module(), turn=self.turn)
            call = compiled_module.CompiledCall(module, host._module(), places, [memory([4, 8, 14, 14])[1]], torch.device(DEVICE))
            call.run()
        return asked, module

    def test_a_module_of_one_graph_is_compiled_with_the_gpu_let_go_and_runs_without(self):
        asked, _ = self.compiled(lambda *_: self.told.append("compile"))
        self.assertEqual(asked, [False, True])
        self.assertEqual(self.told[:5], ["wait", "give", "compile", "take", "run"])

    def test_a_module_that_breaks_into_graphs_is_compiled_as_torch_does_it(self):
        def compile_graph(_, fullgraph, inputs):
            if fullgraph:
                raise RuntimeError("graph break")
            self.told.append("compile")

        self.compiled(compile_graph)
        self.assertEqual(self.told, ["wait", "give", "take", "reset", "wait", "give", "compile", "take", "run"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
