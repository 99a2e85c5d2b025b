#!/usr/bin/env python3
"""Modules that import other files of their project. Usage: project_files_test.py FOLDER_OF_PYTHON [unittest's arguments]"""

import sys
import unittest

try:
    import torch
except ImportError:
    print("all cases skipped: this Python has no torch")
    sys.exit(0)

sys.path.insert(0, sys.argv.pop(1))
from host_errors import HostError
from trace import trace_module
from user_module import UserModule

MODEL = """import torch
%s
class Model(torch.nn.Module):
    def forward(self, x):
        return %s

def get_inputs():
    return [torch.ones(2)]
"""


def spec(imports, value, files, path):
    return {"language": "python", "source": MODEL % (imports, value), "model": "Model", "inputs": "get_inputs",
            "init_inputs": "get_init_inputs", "mode": "made", "files": files, "path": path}


def called(*arguments):
    module = UserModule(spec(*arguments), torch.device("cpu"))
    return module.call(module.model(), module.make_inputs(1)).tolist()


class ProjectFiles(unittest.TestCase):
    def test_siblings_packages_and_relative_imports_are_found(self):
        files = {"net/__init__.py": "from . import base\n", "net/base.py": "factor = 3\n",
                 "net/parts/gate.py": "from ..base import factor\nimport helpers\ndef gate(x): return helpers.add(x * factor)\n",
                 "helpers.py": "def add(x): return x + 1\n"}
        self.assertEqual(called("from .parts.gate import gate", "gate(x)", files, "net/model.py"), [4, 4])
        self.assertEqual(called("import net.parts.gate as g", "g.gate(x)", files, "model.py"), [4, 4])
        self.assertEqual(called("from layers import *", "twice(x)", {"layers.py": "def twice(x): return x * 2"}, "model.py"), [2, 2])

    def test_the_next_module_has_files_of_its_own(self):
        for factor in (2, 5):
            files = {"layers.py": f"factor = {factor}"}
            self.assertEqual(called("from layers import factor", "x * factor", files, "model.py"), [factor, factor])
        with self.assertRaises(HostError) as raised:
            called("from layers import factor", "x * factor", {}, "")
        self.assertIn("No module named 'layers'", raised.exception.message)

    def test_what_a_call_imports_is_found_too(self):
        self.assertEqual(called("", "__import__('late').value + x", {"late.py": "value = 6"}, "model.py"), [7, 7])

    def test_names_of_the_runners_own_files_are_the_users_to_use(self):
        import tensors
        files = {"tensors.py": "import trace_host\nvalue = trace_host.value", "trace_host.py": "value = 9"}
        self.assertEqual(called("from tensors import value", "x * value", files, "model.py"), [9, 9])
        self.assertIs(sys.modules["tensors"], tensors)

    def test_an_error_says_which_file_is_missing_or_wrong(self):
        with self.assertRaises(HostError) as raised:
            called("from layers import Norm", "x", {"layers.py": "import nowhere_at_all"}, "model.py")
        self.assertIn("No module named 'nowhere_at_all'", raised.exception.message)

    def test_a_trace_sees_them(self):
        one = spec("from .layers import Twice", "Twice()(x)",
                   {"pkg/layers.py": "import torch, inspect\nclass Twice(torch.nn.Module):\n"
                                     "    def forward(self, x):\n        return x * 2\nassert inspect.getsource(Twice)\n"}, "pkg/model.py")
        traced = trace_module(one["source"], files=one["files"], path=one["path"])
        self.assertEqual([node["op"] for node in traced["graph"]["nodes"]], ["input", "constant", "mul"])


if __name__ == "__main__":
    unittest.main()
