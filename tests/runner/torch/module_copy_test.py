"""Modules copied on other memory: whatever they hold works on the copy. Usage: module_copy_test.py FOLDER_OF_HOST_PY"""

import functools
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

import user_module


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight


class Model(torch.nn.Module):
    """@param hold puts what calls `layer` into the model, and says how forward calls it"""

    def __init__(self, hold):
        super().__init__()
        self.layer = Scale()
        self.call = hold(self)

    def forward(self, x):
        return self.call(x)


def by_lambda(model):
    layer = model.layer
    return lambda x: layer(x) + 1


def by_self(model):
    return lambda x: model.layer(x) + 1


def by_default(model):
    return lambda x, layer=model.layer, *, one=torch.ones(1): layer(x) + one


def by_partial(model):
    return functools.partial(lambda layer, x: layer(x) + 1, model.layer)


def by_functions_in_containers(model):
    model.calls = {"all": [(lambda x: model.layer(x),), lambda x: x + 1]}
    return lambda x: model.calls["all"][1](model.calls["all"][0][0](x))


def by_nested_functions(model):
    layers = [model.layer]

    def inner(x, depth=1):
        return inner(x, depth - 1) if depth else layers[0](x)

    return lambda x: inner(x) + 1


def by_method(model):
    return functools.partial(torch.add, 1) if model is None else Adding(model.layer).add


def by_hook(model):
    model.register_forward_hook(lambda module, inputs, output: model.layer(output) + 1)
    return lambda x: x


def by_tensor_of_its_own(model):
    shift = torch.ones(2)
    return lambda x: model.layer(x) + shift


class Adding:
    def __init__(self, layer):
        self.layer = layer

    def add(self, x):
        return self.layer(x) + 1


HOLDERS = (by_lambda, by_self, by_default, by_partial, by_functions_in_containers, by_nested_functions, by_method, by_hook,
           by_tensor_of_its_own)


class Copies(unittest.TestCase):
    def test_functions_that_a_module_holds_call_the_copy(self):
        for hold in HOLDERS:
            with self.subTest(hold.__name__):
                model, memory = Model(hold), {"layer.weight": torch.tensor([3.0, 4.0])}
                copied = user_module.on_memory(model, memory)
                with torch.no_grad():
                    self.assertEqual(copied(torch.ones(2)).tolist(), [4, 5])
                    memory["layer.weight"].fill_(7)
                    self.assertEqual(copied(torch.ones(2)).tolist(), [8, 8])
                    self.assertEqual(model(torch.ones(2)).tolist(), [2, 2])

    def test_a_copy_of_another_type_holds_nothing_of_the_first(self):
        for hold in HOLDERS:
            with self.subTest(hold.__name__):
                memory = {"layer.weight": torch.tensor([1 + 1e-9, 1], dtype=torch.float64)}
                copied = user_module.on_memory(Model(hold), memory, convert=lambda one: one.to(torch.float64))
                with torch.no_grad():
                    y = copied(torch.ones(2, dtype=torch.float64))
                self.assertEqual(y.tolist(), [2 + 1e-9, 2])

    def test_what_holds_nothing_of_the_module_stays_as_it_is(self):
        model = Model(lambda _: torch.nn.functional.relu)
        model.factor = lambda x, count=[0]: x * count[0]
        copied = user_module.on_memory(model, {})
        self.assertIs(copied.call, torch.nn.functional.relu)
        self.assertIs(copied.factor, model.factor)


if __name__ == "__main__":
    unittest.main()
