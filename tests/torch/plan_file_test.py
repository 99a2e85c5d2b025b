"""Classes that plan files are for, as the editor and `warpwright optimize` write them, on the CPU with a fake driver: what answers a call,
copies and pickles, torch.compile around it, and what is said where a file is damaged. Usage:
plan_file_test.py
"""

import copy
import hashlib
import io
import json
import os
import pickle
import sys
import tempfile
import unittest
import unittest.mock
import warnings

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

import exported_plan_test as fakes  # noqa: E402
import warpwright  # noqa: E402
from warpwright_runtime import exported_plan, plan_file  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
PATH = os.path.join(FOLDER.name, "model.wwplan")
SOURCE = "// of\n// two lines\n"


def write(path=PATH, **changes):
    """The fakes' plan as a plan file."""
    plan = dict(fakes.PLAN, sha256=hashlib.sha256(SOURCE.encode()).hexdigest(), guards=[
        fakes.guards_of(Whole(), torch.ones(8)), fakes.guards_of(Whole().eval(), torch.ones(8))])
    del plan["source"]
    document = {"plan": repr(plan).replace("Ellipsis", "...").split("\n"), "source": SOURCE.split("\n"), **changes}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Module()
        self.inner.weight = torch.nn.Parameter(torch.arange(8.0))

    def forward(self, x, scale=0.5):
        return x * scale + self.inner.weight


class WithFakes:
    """An ExportedPlan whose kernels are the fakes'."""

    def __new__(cls, plan, owner):
        return fakes.FakePlan(plan, fakes.FakeDriver({"k": fakes.add_scaled}), owner)


write()
with unittest.mock.patch.object(exported_plan, "ExportedPlan", WithFakes):

    @warpwright.plans(PATH)
    class WholeNew(Whole):
        pass

    @warpwright.plans(PATH)
    class InPlace(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Module()
            self.inner.weight = torch.nn.Parameter(torch.arange(8.0))

        def forward(self, x, scale=0.5):
            return x * scale + self.inner.weight


class Applied(unittest.TestCase):
    def setUp(self):
        self.x = torch.arange(8.0) + 1

    def answers(self, model, runs, x=None):
        """The right result, and as many more runs of the kernels."""
        x = self.x if x is None else x
        before = type(model).warpwright_plan.runs()
        with torch.no_grad():
            self.assertTrue(torch.equal(model(x), Whole.forward(model, x)))
        self.assertEqual(type(model).warpwright_plan.runs() - before, runs)

    def test_both_forms_run_the_kernels_and_own_forward_where_they_do_not_fit(self):
        for kind in (WholeNew, InPlace):
            self.answers(kind(), 1)
            self.answers(kind(), 0, torch.ones(2, 8))
            self.answers(kind(), 0, self.x.double())
            self.assertIn("x has another shape", kind.warpwright_plan.fallbacks())

    def test_copies_pickles_and_state_dicts_run_the_kernels(self):
        for kind in (WholeNew, InPlace):
            model = kind()
            self.assertEqual(list(model.state_dict()), ["inner.weight"])
            with torch.no_grad():
                model.inner.weight.fill_(3)
            file = io.BytesIO()
            torch.save(model, file)
            file.seek(0)
            loaded = torch.load(file, **({"weights_only": False} if torch.__version__ >= "2" else {}))
            restored = kind()
            restored.load_state_dict(model.state_dict())
            for twin in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loaded, restored):
                self.assertIs(type(twin), kind)
                self.assertEqual(twin.inner.weight[0], 3)
                self.answers(twin, 1)

    def test_a_derived_class_is_its_own(self):
        class Derived(InPlace):
            def forward(self, x):
                return super().forward(x) + 1

        with torch.no_grad():
            before = InPlace.warpwright_plan.runs()
            self.assertTrue(torch.equal(Derived()(self.x), self.x * 0.5 + torch.arange(8.0) + 1))
            self.assertEqual(InPlace.warpwright_plan.runs(), before)

    @unittest.skipUnless(hasattr(torch, "compile"), "needs torch.compile")
    def test_a_compiled_or_exported_class_is_traced_once_through_its_own_forward(self):
        graphs = []

        def backend(graph, _):
            graphs.append(graph)
            return graph

        for kind in (WholeNew, InPlace):
            torch._dynamo.reset()
            graphs.clear()
            model, before = kind(), kind.warpwright_plan.runs()
            compiled = torch.compile(model, backend=backend, fullgraph=True)
            with torch.no_grad():
                for _ in range(3):
                    self.assertTrue(torch.equal(compiled(self.x), Whole.forward(model, self.x)))
                program = torch.export.export(model, (self.x,)).module()
                self.assertTrue(torch.equal(program(self.x), Whole.forward(model, self.x)))
            self.assertEqual((len(graphs), kind.warpwright_plan.runs() - before), (1, 0))
            self.answers(model, 1)


class Files(unittest.TestCase):
    def decorated(self, path):
        """What was said; the class computes as its own forward does."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            kind = plan_file.plans(path)(type("Mine", (Whole,), {}))
        x = torch.ones(8)
        with torch.no_grad():
            self.assertTrue(torch.equal(kind()(x), Whole()(x)))
        return [str(one.message) for one in said]

    def test_a_file_that_is_not_there_or_damaged_is_said_once_and_the_own_forward_runs(self):
        other = os.path.join(FOLDER.name, "other.wwplan")
        self.assertRegex("".join(self.decorated(other)), "Mine: the verified kernels are not used, its own forward runs: .*No such file")
        for changes, why in (({"source": ["// another"]}, "not the text that was verified"), ({"plan": ["{"]}, "damaged"),
                             ({"plan": None}, "not a plan file"), ({"plan": ["__import__('os').abort()"]}, "literals only")):
            write(other, **changes)
            said = self.decorated(other)
            self.assertEqual(len(said), 1)
            self.assertIn(why, said[0])
        with open(other, "w", encoding="utf-8") as file:
            file.write("{")
        self.assertEqual(len(self.decorated(other)), 1)

    def test_a_path_is_beside_the_file_of_the_class(self):
        folder = tempfile.mkdtemp(dir=FOLDER.name)
        write(os.path.join(folder, "m.wwplan"))
        path = os.path.join(folder, "module_beside.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import warpwright\nfrom plan_file_test import Whole\n\n\n@warpwright.plans('m.wwplan')\nclass New(Whole):\n    pass\n")
        sys.modules.setdefault("plan_file_test", sys.modules[__name__])
        sys.path.insert(0, folder)
        try:
            with unittest.mock.patch.object(exported_plan, "ExportedPlan", WithFakes):
                import module_beside
        finally:
            sys.path.remove(folder)
        self.assertEqual(module_beside.New.warpwright_plan.owner, "module_beside")

    def test_numbers_that_are_no_literals(self):
        text = '{"sha256": "' + hashlib.sha256(b"").hexdigest() + '", "n": [float("nan"), float("-inf"), (1+2j)], "inputs": [...]}'
        plan = plan_file.plan_of({"plan": text, "source": ""})
        self.assertNotEqual(plan["n"][0], plan["n"][0])
        self.assertEqual(plan["n"][1:], [-float("inf"), 1 + 2j])
        self.assertEqual(plan["inputs"], [...])


if __name__ == "__main__":
    unittest.main(verbosity=1)
