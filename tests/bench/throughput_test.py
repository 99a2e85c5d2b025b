#!/usr/bin/env python3
"""Tests of bench/throughput: the counting, the candidates, and both scripts against fake_worker.py. Run by CTest.

KernelBench's half runs against a package of that name made here, whose evaluation computes nothing:
what is tested is how it is called. With WARPWRIGHT_RUNNER set, every candidate also passes the
service's own validation.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "bench")
sys.path[:0] = [BENCH, os.path.join(BENCH, "throughput")]
import candidates  # noqa: E402
import pump  # noqa: E402
import summary  # noqa: E402
from runner_client import Runner, serve_command  # noqa: E402

FAKE = os.path.join(HERE, "fake_worker.py")
FAKE_TORCH = """
float32 = "float32"
def device(name):
    return name
class cuda:
    def get_device_capability(number):
        return (9, 0)
"""
FAKE_EVALUATION = """
import os
import openai, litellm, dotenv
from pydantic import BaseModel
class KernelExecResult(BaseModel):
    compiled: bool = False
    correctness: bool = False
    metadata: dict = {}
    runtime: float = -1.0
    ref_runtime: float = -1.0
def eval_kernel_against_ref(original_model_src, custom_model_src, build_dir, num_correct_trials, num_perf_trials, **options):
    assert os.environ["TORCH_CUDA_ARCH_LIST"] == "9.0" and os.path.isdir(build_dir)
    assert (num_correct_trials, num_perf_trials, options["measure_performance"]) == (5, 100, True)
    assert "class ModelNew" in custom_model_src and "class Model(" in original_model_src
    result = KernelExecResult(compiled=True, correctness=True)
    result.runtime, result.ref_runtime = 0.1, 0.2
    return result
def build_compile_cache(custom_model_src, verbose, build_dir):
    return True, "", None
"""


class CountingTest(unittest.TestCase):
    def test_only_what_came_back_in_the_window_and_was_measured_counts(self):
        records = [{"end_s": end, "counts": counts} for end, counts in ((1, True), (6, True), (8, True), (9, False), (40, True))]
        self.assertEqual(pump.rate_in_window(records, 5, 35), 4.0)

    def test_a_correct_candidate_without_a_speedup_does_not_count(self):
        self.assertFalse(pump.is_evaluated({"outcome": "verified"}))
        self.assertFalse(pump.is_evaluated({"outcome": "wrong_result", "speedup": {}}))
        self.assertTrue(pump.is_evaluated({"outcome": "verified", "speedup": {}}))


class CandidatesTest(unittest.TestCase):
    def test_both_sides_compile_the_same_device_text(self):
        for family in candidates.FAMILIES:
            text = candidates.device_text(family, 96, 3, "note")
            self.assertIn(text, candidates.torch_candidate(family, 96, 3, "note"))
            self.assertEqual(text, candidates.plan_of(family, 96, 3, "note")["source"])

    def test_the_python_of_kernelbenchs_side_is_python(self):
        for family in candidates.FAMILIES:
            compile(candidates.torch_candidate(family, 96, 3), family, "exec")
            compile(candidates.torch_reference(family), family, "exec")

    def test_300_variants_are_300_texts(self):
        every = candidates.variants()
        texts = {candidates.device_text(*next(every)) for _ in range(300)}
        self.assertEqual(len(texts), 300)

    @unittest.skipUnless(os.environ.get("WARPWRIGHT_RUNNER"), "WARPWRIGHT_RUNNER names no built runner")
    def test_the_service_takes_every_task_and_plan(self):
        with Runner(serve_command(os.environ["WARPWRIGHT_RUNNER"]), {"WARPWRIGHT_CPU_WORKER": FAKE}) as runner:
            for family in candidates.FAMILIES:
                verdict = runner.verify(candidates.task_of(family), candidates.plan_of(family, 96, 3, "note"), device="cpu")
                self.assertTrue(pump.is_evaluated(verdict), verdict["message"])


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, content):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def run_script(self, name, *arguments):
        script = os.path.join(BENCH, "throughput", name)
        done = subprocess.run([sys.executable, "-B", script, "--runner", FAKE, "--out", self.folder.name, *arguments],
                              capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PYTHONPATH": os.path.join(self.folder.name, "fake")})
        stem = os.path.join(self.folder.name, name.removesuffix(".py"))
        made = summary.load(stem + ".entries.json")
        with open(stem + ".json", encoding="utf-8") as file:
            return done, json.load(file), {entry["key"]: entry["value"] for entry in made}

    def test_kernelbench_is_called_as_its_own_script_calls_it(self):
        self.write("fake/torch.py", FAKE_TORCH)
        self.write("checkout/src/kernelbench/__init__.py", "")
        self.write("checkout/src/kernelbench/eval.py", FAKE_EVALUATION)
        done, report, made = self.run_script(
            "kernelbench.py", "--limit", "40", "--kernelbench", os.path.join(self.folder.name, "checkout"),
            "--kernelbench-seconds", "0", "--precompiled", "2")
        self.assertIn("40 candidates", done.stdout)
        self.assertEqual(report["kernelbench"]["counted"], 2, done.stdout + done.stderr)
        self.assertEqual(report["kernelbench_precompiled"]["counted"], 2, done.stdout + done.stderr)
        self.assertEqual([one["compiled"] for one in report["kernelbench_precompiled"]["compiled"]], [True, True])
        self.assertAlmostEqual(made["throughput.vs_kernelbench"] * report["kernelbench"]["a_minute"],
                               report["warpwright"]["a_minute"], delta=0.001 * report["warpwright"]["a_minute"])

    def test_without_kernelbench_nothing_is_claimed_about_it(self):
        _, report, made = self.run_script("kernelbench.py", "--limit", "5")
        self.assertIsNone(report["kernelbench"])
        self.assertEqual(list(made), ["throughput.candidates_a_minute"])

    def test_all_gpus_are_compared_with_one(self):
        _, report, made = self.run_script("multi_gpu.py", "--seconds", "1")
        self.assertEqual((report["one"]["gpus"], report["all"]["gpus"]), (1, 2))
        self.assertIn("throughput.2_gpus", made)


if __name__ == "__main__":
    unittest.main()
