#!/usr/bin/env python3
"""Torch tasks through the real runner: traced, verified, timed. Usage: worker_gpu_test.py RUNNER [unittest's arguments]
On a machine without a GPU the same tasks go to the CPU worker where its torch is found, and what is
said of times is omitted.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch_tasks as tasks

RUNNER = sys.argv.pop(1)
DEVICES = json.loads(subprocess.run([RUNNER, "devices"], capture_output=True, text=True).stdout or "{}").get("devices", [])
GPU = bool(DEVICES)


class Service:
    """One runner for all cases, so that its Python worker lives on from one to the next."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.url = "unix:" + self.folder.name + "/socket"
        self.log = open(self.folder.name + "/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([RUNNER, "serve", "--socket", self.folder.name + "/socket", *options], stdin=subprocess.DEVNULL,
                                        stderr=self.log)
        while not os.path.exists(self.folder.name + "/socket") and self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.05)

    def errors(self):
        self.log.flush()
        with open(self.folder.name + "/log", encoding="utf-8") as file:
            return file.read()

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


def setUpModule():
    global service
    service = Service()


def tearDownModule():
    service.close()


def trace(source):
    return tasks.trace(RUNNER, source, "--runner", service.url)


def verify(source, plan, *options, buffers=None):
    """The verdict of a plan for the module; `plan` makes it from the buffers, which are traced where they are not given."""
    buffers = buffers or trace(source)["buffers"]
    with tempfile.TemporaryDirectory() as folder:
        for name, document in (("task", tasks.make_task(source, buffers)), ("plan", plan(buffers))):
            with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
                json.dump(document, file)
        run = subprocess.run([RUNNER, "verify", folder + "/task.json", folder + "/plan.json", "--json", "--timeout", "120000",
                              "--runner", service.url, *options],
                             capture_output=True, text=True)
    if not run.stdout.startswith("{"):
        raise RuntimeError(run.stderr)
    verdict = json.loads(run.stdout)
    print(f"\n   {verdict.get('outcome')}: {verdict.get('message') or verdict}")
    for key in ("speedup", "as_called"):
        if key in verdict:
            print(f"   {key}: {json.dumps(verdict[key])[:400]}")
    for baseline in verdict.get("baselines", []):
        times = {side: baseline[side]["median_ns"] for side in ("reference_time", "candidate_time") if side in baseline}
        print(f"   {baseline['name']}: {baseline.get('speedup', {}).get('ratio', baseline.get('missing'))} {times}")
    if verdict.get("outcome") != "verified":
        print("   stderr:", run.stderr[-1000:], service.errors()[-3000:])
    return verdict


def sized(source, gpu, cpu):
    return source.replace("SIZE", str(gpu if GPU else cpu))


class Tracing(unittest.TestCase):
    def test_a_module_gives_its_graph_and_buffers(self):
        traced = trace(sized(tasks.LINEAR, 64, 8))
        self.assertEqual([buffer["torch_name"] for buffer in traced["buffers"]][:3], ["x", "linear.weight", "linear.bias"])
        self.assertIn("matmul", [node["op"] for node in traced["graph"]["nodes"]])

    def test_a_module_without_a_graph_is_refused_in_one_sentence(self):
        for source in ("import no_such_package\n", tasks.HEADER + "class Model(nn.Module):\n    def forward(self, x):\n"
                       "        return x if x.sum() > 0 else -x\ndef get_inputs():\n    return [torch.rand(4)]\n"):
            with self.assertRaises(RuntimeError) as raised:
                trace(source)
            print("\n   ", raised.exception)
            self.assertLess(len(str(raised.exception).strip().splitlines()[-1]), 600)

    def test_an_interpreter_without_torch_is_named(self):
        with self.assertRaises(RuntimeError) as raised:
            tasks.trace(RUNNER, tasks.LINEAR, "--python", "/no/such/python")
        self.assertIn("/no/such/python", str(raised.exception))


class Verifying(unittest.TestCase):
    def check_measured(self, verdict):
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])
        if not GPU:
            return
        self.assertIn("speedup", verdict)
        self.assertIn("as_called", verdict)
        self.assertIn("torch", verdict["framework"])
        names = [baseline["name"] for baseline in verdict["baselines"]]
        self.assertEqual(names[:2], ["eager", "eager+graph"])
        # A call from Python cannot take less than its kernels.
        for side in ("reference_time", "candidate_time"):
            kernels_ns = verdict[side].get("kernel_ns", 0)
            self.assertGreater(verdict["as_called"][side]["median_ns"], kernels_ns * 0.9)

    def test_a_fused_linear_layer(self):
        self.check_measured(verify(sized(tasks.LINEAR, 512, 8), tasks.linear_plan))

    def test_a_product_by_aten_and_a_kernel_on_its_result(self):
        self.check_measured(verify(sized(tasks.LINEAR, 512, 8), tasks.linear_aten_plan))

    def test_a_convolution_by_aten_and_a_kernel_on_its_result(self):
        self.check_measured(verify(sized(tasks.CONVOLUTION, 16, 2), tasks.convolution_plan))

    def test_batch_norm_changes_its_state(self):
        self.check_measured(verify(sized(tasks.NORM, 512, 16), tasks.norm_plan))

    def test_a_wrong_candidate_is_refused(self):
        def wrong(buffers):
            plan = tasks.linear_plan(buffers)
            plan["source"] = plan["source"].replace("y[i] = fmaxf(sum, 0.0f);", "y[i] = sum;", 1)
            return plan

        self.assertEqual(verify(sized(tasks.LINEAR, 512, 8), wrong)["outcome"], "wrong_result")

    def test_state_that_is_not_updated_is_refused(self):
        def wrong(buffers):
            plan = tasks.norm_plan(buffers)
            plan["source"] = plan["source"].replace("if (c == 0) *count += 1;", "")
            return plan

        self.assertIn(verify(sized(tasks.NORM, 512, 16), wrong)["outcome"], ("wrong_result", "suspected_cheat"))

    def test_lesser_precision_than_the_module_s_is_refused(self):
        verdict = verify(sized(tasks.LINEAR, 512, 8), lambda buffers: tasks.linear_plan(buffers, "ww_linear_tf32"))
        self.assertEqual(verdict["outcome"], "wrong_result")

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_torch_compile_is_measured_beside_eager(self):
        verdict = verify(sized(tasks.CONVOLUTION, 16, 2), tasks.convolution_plan, "--baseline", "torch.compile")
        self.check_measured(verdict)
        compiled = {baseline["name"]: baseline for baseline in verdict["baselines"]}
        for name in ("torch.compile", "torch.compile+graph"):
            self.assertIn("speedup", compiled[name], compiled[name])

    @unittest.skipUnless(GPU, "needs a GPU")
    def test_a_module_that_waits_for_the_gpu_has_no_device_time(self):
        buffers = [{"name": "x", "torch_name": "x", "dtype": "float32", "shape": [512, 256], "direction": "in"},
                   {"name": "output", "torch_name": "output", "dtype": "float32", "shape": [512, 256], "direction": "out"}]
        verdict = verify(sized(tasks.WAITS, 512, 8), tasks.relu_plan, buffers=buffers)
        self.assertEqual(verdict["outcome"], "verified", verdict["message"])
        self.assertNotIn("speedup", verdict)
        self.assertIn("as_called", verdict)
        self.assertTrue(verdict["baselines"][1].get("missing"))


if __name__ == "__main__":
    python = os.environ.get("WARPWRIGHT_PYTHON", "python3")
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        print(f"{python} has no torch: all cases skipped")
        sys.exit(0)
    print("devices:", [device["name"] for device in DEVICES])
    unittest.main(verbosity=2)
