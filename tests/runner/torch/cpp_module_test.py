#!/usr/bin/env python3
"""C++ functions and objects as modules, and what is said of those that cannot be compiled or called. Usage: cpp_module_test.py FOLDER_OF_PYTHON [unittest's arguments]"""

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
import user_module
from user_module import UserModule


def spec(source, model="f", inputs="[torch.ones(2)]"):
    return {"language": "cpp", "source": source, "model": model, "inputs": inputs, "init_inputs": "[]", "mode": "eval"}


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

    def test_an_object_has_its_tensors_where_the_runner_put_them(self):
        source = """#include <torch/torch.h>
namespace own {
struct Inner : torch::nn::Module {
  Inner() { shift = register_buffer("shift", torch::zeros({2})); }
  torch::Tensor shift;
};
struct Net : torch::nn::Module {
  Net(double factor, std::vector<int64_t> sizes, std::string name) : factor(factor) {
    weight = register_parameter("weight", torch::randn({sizes[0]}));
    inner = register_module("inner", std::make_shared<Inner>());
    TORCH_CHECK(name == "a\\"b");
  }
  torch::Tensor forward(torch::Tensor x) {
    inner->shift += 1;
    return is_training() ? x : x * weight * factor + inner->shift;
  }
  double factor;
  torch::Tensor weight;
  std::shared_ptr<Inner> inner;
};
}
"""
        module = UserModule(dict(spec(source, "struct own::Net"), init_inputs="[2.5, [2], 'a\"b']"), torch.device("cpu"))
        model = module.model()
        self.assertEqual(sorted(model.state_dict()), ["inner.shift", "weight"])
        self.assertIsInstance(model._parameters["weight"], torch.nn.Parameter)
        memory = {"weight": torch.tensor([2.0, 4.0]), "inner.shift": torch.tensor([10.0, 20.0])}
        copy = user_module.on_memory(model, memory)
        self.assertEqual(module.call(copy, [torch.ones(2)]).tolist(), [16.0, 31.0])
        self.assertEqual(memory["inner.shift"].tolist(), [11.0, 21.0])  # changed where it lies
        self.assertEqual(model.state_dict()["inner.shift"].tolist(), [0.0, 0.0])
        user_module.set_state(copy, "inner.shift", torch.zeros(2))
        self.assertEqual(module.call(copy, [torch.ones(2)]).tolist(), [6.0, 11.0])
        double = user_module.on_memory(model, {"weight": torch.ones(2, dtype=torch.float64)}, convert=lambda one: one.to(torch.float64))
        self.assertEqual(module.call(double, [torch.ones(2, dtype=torch.float64)]).dtype, torch.float64)
        self.assertEqual(copy.train().training, True)
        self.assertEqual(module.call(copy, [torch.ones(2)]).tolist(), [1.0, 1.0])
        drawn = module.initialised(3, False).state_dict()["weight"]
        self.assertTrue(torch.equal(drawn, module.construct(3).state_dict()["weight"]))
        self.assertFalse(torch.equal(drawn, module.construct(4).state_dict()["weight"]))

    def test_the_users_headers_are_compiled_with_the_file(self):
        one = spec('#include "../include/own/a.h"\n#include <own/b.h>\n#include "beside.h"\n'
                   "at::Tensor f(at::Tensor x) { return x * kA + kB * kC; }\n")
        one["path"] = "csrc/op.cpp"
        one["files"] = {"include/own/a.h": "#pragma once\n#include <ATen/ATen.h>\n#include \"b.h\"\nconstexpr double kA = 2;\n",
                        "include/own/b.h": "#pragma once\nconstexpr double kB = 3;\n", "csrc/beside.h": "constexpr double kC = 5;\n"}
        module = UserModule(one, torch.device("cpu"))
        self.assertEqual(module.call(module.model(), module.make_inputs(1)).tolist(), [17.0, 17.0])

    def test_torch_compile_is_refused(self):
        import module_host
        with self.assertRaises(HostError) as raised:
            module_host.compile_module(cpp_module.CppFunction(len))
        self.assertIn("does not compile C++ functions", raised.exception.message)

    def test_names_that_are_none_and_compilers_that_are_not_there_are_told(self):
        self.assertIn("not the name of a C++ function", self.refused("", "f); system(\"true\""))
        with mock.patch.dict(os.environ, {"PATH": "/nowhere", "CXX": ""}):
            self.assertIn("no C++ compiler", self.refused("#include <ATen/ATen.h>\n"))


if __name__ == "__main__":
    unittest.main()
