"""export_check.py on exports whose kernels are fakes on the CPU: a right one passes, and one that lacks a guard, or never runs its
kernels, is found. Usage: export_check_test.py
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))

try:
    import torch  # noqa: F401
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

TEXT = """
import sys
sys.path.insert(0, {here!r})
import torch
import exported_plan_test as fakes


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5
        self.inner = torch.nn.Linear(8, 8)
        self.w = torch.nn.Parameter(torch.randn(8))

    def forward(self, x):
        return x * self.scale + self.w


def get_inputs():
    return [torch.randn(8)]


_guards = fakes.guards_of(Model(), torch.ones(8), owner=__name__)
{change}
fakes.plan_file.read = lambda path: dict(fakes.PLAN, name="Model", guards=[_guards], state=["w"])
fakes.exported_plan.ExportedPlan = lambda plan, owner: fakes.FakePlan(plan, fakes.FakeDriver({{"k": fakes.add_scaled}}), owner)


# A comment.
try:
    import warpwright
except ImportError:
    raise
{more}@warpwright.plans("export.wwplan")
class ModelNew(Model):
    pass
"""


class Checks(unittest.TestCase):
    def report(self, change="", *options, more=""):
        with tempfile.TemporaryDirectory() as folder:
            path, found = os.path.join(folder, "export.py"), os.path.join(folder, "found.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(TEXT.format(here=HERE, change=change, more=more))
            subprocess.run([sys.executable, "-B", os.path.join(HERE, "export_check.py"), "--device", "cpu", "--json", found, *options, path],
                           stdout=subprocess.DEVNULL, check=False)
            with open(found, encoding="utf-8") as file:
                return json.load(file)[0]

    def test_a_right_export(self):
        report = self.report()
        self.assertNotIn("wrong", report)
        self.assertEqual((report["runs"], report["fallbacks"]), (4, {}))
        self.assertEqual((report["form"], report["lines"]), ("package", 8))
        states = report["states"]
        self.assertEqual({states[name] for name in ("other_mode", "numbers", "forward_hook", "own_forward", "lora", "default_dtype")},
                         {"own forward"})
        self.assertEqual({states[name] for name in ("weights_in_place", "weights_replaced")}, {"kernels"})

    def test_an_export_of_too_many_lines(self):
        self.assertEqual(self.report(more="#\n" * 13)["wrong"], "the package form has 21 lines, more than 20")
        self.assertEqual(self.report(more="#\n" * 12)["lines"], 20)

    def test_a_guard_that_is_lacking(self):
        self.assertRegex(self.report("_guards['attributes'] = []")["wrong"], "numbers: .* from float64, Model ")

    def test_an_export_that_never_runs_its_kernels(self):
        report = self.report("", "--mode", "eval")
        self.assertIn("the kernels are not used for the inputs that they were verified for", report["wrong"])
        self.assertIn("the module is not in training mode", report["wrong"])

    def test_a_folder_that_another_process_writes_into(self):
        with tempfile.TemporaryDirectory() as folder:
            exports, found = os.path.join(folder, "exports"), os.path.join(folder, "found.json")
            os.mkdir(exports)
            check = [sys.executable, "-B", os.path.join(HERE, "export_check.py"), "--device", "cpu", "--json", found, exports]
            with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as writer:
                with subprocess.Popen([*check, "--follow", str(writer.pid)], stdout=subprocess.PIPE, text=True) as checker:
                    for name in ("a.py", "b.py"):
                        with open(os.path.join(folder, "part"), "w", encoding="utf-8") as file:
                            file.write(TEXT.format(here=HERE, change="", more=""))
                        os.rename(os.path.join(folder, "part"), os.path.join(exports, name))
                        self.assertIn(name + ": package", checker.stdout.readline())
                    self.assertIsNone(checker.poll())
                    writer.communicate(b"\n")
                    self.assertEqual(checker.stdout.readline(), "2 files: 2 right, 0 wrong, 0 skipped\n")
            os.remove(os.path.join(exports, "a.py"))
            with open(os.path.join(exports, "b.py"), "w", encoding="utf-8") as file:
                file.write("an error")  # it was checked, and is not checked again
            again = subprocess.run(check, stdout=subprocess.PIPE, text=True, check=False).stdout
            self.assertEqual(again, "2 files: 2 right, 0 wrong, 0 skipped\n")


if __name__ == "__main__":
    unittest.main(verbosity=1)
