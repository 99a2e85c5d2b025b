#!/usr/bin/env python3
"""The graphs that a runner traces of C++ functions and modules compute what the compiled functions do.
Usage: traced_test.py DUMP_PROGRAM FILE [unittest's arguments]

The dump program says how each function and module of the file is called. The file is compiled once
against this Python's LibTorch (about half a minute); each is then traced as a runner does it, and
its graph, run with plain torch operations, is compared with the function.
"""

import json
import os
import subprocess
import sys
import unittest

try:
    import torch
except ImportError:
    print("all cases skipped: this Python has no torch")
    sys.exit(0)

DUMP, FILE = sys.argv[1:3]
del sys.argv[1:3]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "torch"))
import compare  # puts the folder of the runner's Python on the path
import cpp_module
from trace import trace_module
from tracing import source as sources

with open(FILE, encoding="utf-8") as file:
    SOURCE = file.read()
TASKS = {}


def setUpModule():
    TASKS.update(json.loads(subprocess.run([DUMP, FILE], check=True, capture_output=True, text=True).stdout))
    try:
        cpp_module.include_folders()
    except cpp_module.CppError as error:
        raise unittest.SkipTest(str(error))
    modules = [(name[len("struct "):], one["init_inputs"]) for name, one in TASKS.items() if name.startswith("struct ")]
    if modules:
        cpp_module.load_classes(cpp_module.CppFile(SOURCE), modules)
    else:
        cpp_module.load_functions(cpp_module.CppFile(SOURCE), list(TASKS))


class TracedGraphs(unittest.TestCase):
    def test_every_task_is_complete(self):
        self.assertGreaterEqual(len(TASKS), 3)
        for name, one in TASKS.items():
            self.assertNotIn("missing", one, name)

    def test_graph_and_compiled_function_compute_the_same(self):
        for name, one in TASKS.items():
            with self.subTest(name):
                traced = trace_module(SOURCE, name, one["inputs"], one["init_inputs"], one["mode"], "cpp")
                torch.manual_seed(7)
                namespace = sources.load_cpp(SOURCE, name, one["init_inputs"])
                with torch.no_grad():
                    module = sources.make_module(namespace, name, one["init_inputs"], one["mode"])
                    inputs = sources.make_inputs(namespace, one["inputs"])
                compare.expect_same(traced, module, inputs)


if __name__ == "__main__":
    unittest.main()
