"""Other systems' answers to a benchmark's tasks, judged on the CPU. Usage: answers_test.py WARPWRIGHT_KERNELBENCH"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import torch  # noqa: F401 -- the runner's Python is this one
except ImportError:
    print("all cases skipped: this Python has no torch")
    sys.exit(0)

PROGRAM = sys.argv.pop(1)
HEADER = "import torch\nimport torch.nn as nn\n\n"
CLASS = "class {name}(nn.Module):\n    def forward(self, x):\n        return {value}\n\n"
INPUTS = "def get_inputs():\n    return [torch.randn(16, 16)]\n\ndef get_init_inputs():\n    return []\n"


def task(value):
    return HEADER + CLASS.format(name="Model", value=value) + INPUTS


def answer(value, name="ModelNew"):
    return HEADER + CLASS.format(name=name, value=value)


ROWS = [
    {"ref_code": task("torch.relu(x) * 2"), "custom_code": answer("torch.clamp(x, min=0) * 2")},
    {"ref_code": task("torch.relu(x) * 3"), "custom_code": answer("x * 3")},
    {"ref_code": task("torch.relu(x) * 4"), "custom_code": None},
    {"ref_code": task("torch.relu(x) * 5"), "custom_code": answer("torch.relu(x) * 5", "Model")},
    {"ref_code": task("torch.relu(x) * 6"), "custom_code": answer("this is no Python")},
]


class Answers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tasks = self.path("tasks.jsonl")
        with open(self.tasks, "w", encoding="utf-8") as file:
            for number, row in enumerate(ROWS, 1):
                file.write(json.dumps({"level_id": 1, "task_id": number, **row}) + "\n")

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, "--kernelbench", self.tasks, "--device", "cpu", "--results", self.path("results.jsonl"), *arguments],
                              capture_output=True, text=True, env={**os.environ, "WARPWRIGHT_PYTHON": sys.executable})

    def test_every_task_counts_and_every_refusal_has_its_reason(self):
        run = self.run_program("--candidates", self.tasks, "--json", self.path("out.json"), "--html", self.path("out.html"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("4 of 5 tasks have an answer", run.stderr)
        with open(self.path("out.json"), encoding="utf-8") as file:
            document = json.load(file)
        found = {entry["id"]: (entry["state"], entry["reason"]) for entry in document["tasks"]}
        self.assertEqual([found[f"1/{number}"][0] for number in range(1, 6)],
                         ["unmeasured", "no_candidate", "no_candidate", "unmeasured", "no_candidate"], found)
        for number, part in ((2, "wrong_result: "), (3, "there is no answer to it"), (5, "compile_failed: ")):
            self.assertIn(part, found[f"1/{number}"][1])
        self.assertTrue(all(entry["host_code"] for entry in document["tasks"]))
        self.assertEqual(document["summary"]["refused"], {"compile_failed": 1, "no answer": 1, "wrong_result": 1})
        with open(self.path("out.html"), encoding="utf-8") as file:
            self.assertIn("host code", file.read())
        again = self.run_program("--candidates", self.tasks)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("1/1", again.stderr)  # all results are there

    def test_our_own_exports_are_written_and_on_a_cpu_nobody_says_that_their_kernels_ran(self):
        run = self.run_program("--tasks", "1/1", "--max-variants", "1", "--no-measure", "--export", self.path("exports"), "--json", self.path("own.json"))
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.path("own.json"), encoding="utf-8") as file:
            document = json.load(file)
        (entry,) = document["tasks"]
        self.assertEqual(entry["state"], "unmeasured", entry)
        self.assertNotIn("kernels_ran", entry)
        self.assertEqual((document["summary"]["export_failed"], document["summary"]["kernels_ran"]), (0, 0))
        self.assertEqual(sorted(os.listdir(self.path("exports/level1"))), ["1.py", "1.wwplan"])

    def test_a_framework_variant_that_is_not_known_is_refused(self):
        run = self.run_program("--baselines", "torch.compile,fastest")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("max-autotune-no-cudagraphs", run.stderr)

    def test_what_cannot_be_read_is_said(self):
        empty = self.path("empty.jsonl")
        with open(empty, "w", encoding="utf-8") as file:
            file.write('{"level_id": 1, "task_id": 1, "text": ""}\n')
        elsewhere = self.path("elsewhere.jsonl")
        with open(elsewhere, "w", encoding="utf-8") as file:
            file.write('{"level_id": 7, "task_id": 1, "code": "class ModelNew: pass"}\n')
        for path, part in ((self.path("missing"), "no candidates at"), (empty, "--candidate-field"), (elsewhere, "answers none of the tasks")):
            run = self.run_program("--candidates", path)
            self.assertEqual(run.returncode, 2)
            self.assertIn(part, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
