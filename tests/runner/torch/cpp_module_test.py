#!/usr/bin/env python3
"""What is said of C++ functions that cannot be compiled or called. Usage: cpp_module_test.py FOLDER_OF_PYTHON [unittest's arguments]"""

import os
import sys
import unittest
from unittest import mock

try:
    import torch
except ImportError:
    print("all cases skipped: this Python has no torch")
    sys.exit(0)

sys.path.insert(0, sys.argv.pop(1))
import cpp_module
from host_errors import HostError
from user_module import UserModule


def spec(source, model="f", inputs="[torch.ones(2)]"):
    return {"language": "cpp", "source": source, "model": model, "inputs": inputs, "init_inputs": "[]", "training": False}


class CppModules(unittest.TestCase):
    def setUp(self):
        try:
            cpp_module.include_folders()
            cpp_module.find_compiler()
        except cpp_module.CppError as error:
            self.skipTest(str(error))

    def refused(self, *arguments):
        with self.assertRaises(HostError) as raised:
            UserModule(spec(*arguments), torch.device("cpu"))
        self.assertEqual(raised.exception.kind, "unsupported")
        return raised.exception.message

    def test_a_mistake_is_told_with_its_line_of_the_file(self):
        message = self.refused("#include <ATen/ATen.h>\nat::Tensor f(at::Tensor x) {\n  return x.no_such_thing();\n}\n")
        self.assertIn("module.cpp:3:", message)
        self.assertIn("no_such_thing", message)

    def test_a_function_of_a_namespace_is_called_registrations_are_not_run(self):
        source = ("#include <ATen/ATen.h>\nnamespace own { at::Tensor f(at::Tensor x, double a) { return x * a; } }\n"
                  "TORCH_LIBRARY(warpwright_test, m) { m.def(\"f\", &own::f); }\nint main() { return 1; }\n")
        module = UserModule(spec(source, "own::f", "[torch.ones(2), 3.5]"), torch.device("cpu"))
        result = module.call(module.model(), module.make_inputs(1))
        self.assertEqual(result.tolist(), [3.5, 3.5])
        self.assertFalse(hasattr(torch.ops.warpwright_test, "f"))

    def test_torch_compile_is_refused(self):
        import module_host
        with self.assertRaises(HostError) as raised:
            module_host.compile_module(cpp_module.CppFunction(len))
        self.assertIn("does not compile C++ functions", raised.exception.message)

    def test_names_that_are_none_and_compilers_that_are_not_there_are_told(self):
        self.assertIn("no name of a C++ function", self.refused("", "f); system(\"true\""))
        with mock.patch.dict(os.environ, {"PATH": "/nowhere", "CXX": ""}):
            self.assertIn("no C++ compiler", self.refused("#include <ATen/ATen.h>\n"))


if __name__ == "__main__":
    unittest.main()
