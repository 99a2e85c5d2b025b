"""The worker as a library in a real Python process, spoken to over its pipes: the protocol, the callbacks, verifying and measuring on the
fake device, whose memory torch works on. Usage: worker_test.py RUNNER LIBRARY
"""

import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
RUNNER, LIBRARY = sys.argv.pop(1), sys.argv.pop(1)

try:
    import torch
except ImportError:
    print(f"{sys.executable} has no torch: all cases skipped")
    sys.exit(0)

import torch_tasks as tasks

SQUARE = tasks.HEADER + """
class Model(nn.Module):
    def forward(self, x):
        return x * x

def get_inputs():
    return [torch.rand(SIZE)]
"""
COUNTING = tasks.HEADER + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        self.count += 1
        return x * x

def get_inputs():
    return [torch.rand(SIZE)]
"""


class Worker:
    def __init__(self, *command, **environment):
        command = command or (RUNNER, "enclose", "host", "--device", "cpu", "--library", LIBRARY)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=dict(os.environ, WARPWRIGHT_PYTHON=sys.executable, **environment))
        self.stages, self.turns, self.last = [], [], 0
        self.told = []  # of each turn asked for, how many stages came before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, method, params=None):
        self.last += 1
        self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})

    def write(self, message):
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("the worker ended: " + self.process.stderr.read().decode()[-2000:])
            if line == b"\r\n":
                return json.loads(self.process.stdout.read(length))
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])

    def ask(self, method, params=None):
        self.send(method, params)
        while True:
            message = self.read()
            if message.get("method") in ("take_turn", "turn_over"):
                self.turns.append(message["method"])
                if "id" in message:
                    self.told.append(len(self.stages))
                    self.write({"jsonrpc": "2.0", "id": message["id"], "result": None})
                continue
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
            self.stages.append(message["params"])

    def verify(self, task, plan, **options):
        return self.ask("verify", {"task": task, "plan": plan, "options": dict({"measure": False, "timeout_ms": 60000}, **options)})["verdict"]


def square_task(source=SQUARE, size=64):
    buffers = [{"name": name, "torch_name": name, "dtype": "float32", "shape": [size], "direction": direction}
               for name, direction in (("x", "in"), ("y", "out"))]
    return tasks.make_task(source.replace("SIZE", str(size)), buffers)


def counting_task(size=64):
    task = square_task(COUNTING, size)
    task["buffers"].insert(1, {"name": "count", "torch_name": "count", "dtype": "float32", "shape": [4], "extent": 4,
                               "direction": "inout", "distribution": {"kind": "module"}})
    return task


def square_plan(kernel="square", size=64):
    return {"source": "int", "steps": [tasks.launch(kernel, size, "x", "y", size)]}


def aten_plan(size=64):
    x = {"buffer": "x", "shape": [size]}
    return {"source": "", "steps": [{"aten": {"op": "aten::mul.Tensor", "arguments": [{"tensor": x}, {"tensor": x}],
                                              "results": [{"buffer": "y", "shape": [size]}]}}]}


class Workers(unittest.TestCase):
    def check(self, verdict, outcome, text=""):
        self.assertEqual(verdict["outcome"], outcome, verdict["message"])
        self.assertIn(text, verdict["message"])

    def test_it_describes_its_device_and_what_holds_it_in(self):
        with Worker() as worker:
            info = worker.ask("info")
            self.assertEqual(info["name"], "Fake")
            self.assertIn("files", [layer["name"] for layer in info["isolation"]])

    def test_one_process_serves_job_after_job_of_one_module_and_of_others(self):
        with Worker() as worker:
            self.check(worker.verify(square_task(), square_plan()), "verified")
            self.check(worker.verify(square_task(), square_plan("inexact")), "wrong_result")
            self.check(worker.verify(square_task(), aten_plan()), "verified")
            self.check(worker.verify(counting_task(), square_plan()), "wrong_result", "count")
            self.check(worker.verify(square_task(), square_plan()), "verified")
            self.assertIn("compiling", [stage["stage"] for stage in worker.stages])

    def test_a_search_may_do_with_one_drawing_and_the_verdict_says_so(self):
        with Worker() as worker:
            runs = []
            for thorough in (True, False):
                worker.stages.clear()
                verdict = worker.verify(square_task(), square_plan(), thorough=thorough)
                self.check(verdict, "verified")
                runs.append(len(worker.stages))
                self.assertEqual("every drawing" in [check["name"] for check in verdict["checks"]], not thorough)
            self.assertGreater(runs[0], 3 * runs[1] - 10)
            self.check(worker.verify(square_task(), square_plan("inexact"), thorough=False), "wrong_result")

    def test_a_verdict_says_which_framework_it_was(self):
        with Worker() as worker:
            framework = worker.verify(square_task(), square_plan())["framework"]
            self.assertEqual(framework["torch"], torch.__version__)
            self.assertIn("backends.cudnn.allow_tf32", framework)

    def test_both_eager_baselines_are_told_and_torch_compile_or_why_not(self):
        with Worker(WARPWRIGHT_FAKE_WORKER="measure") as worker:
            verdict = worker.verify(square_task(), square_plan("fast_square"), measure=True, measure_budget_ms=200,
                                    baselines=["torch.compile"])
            self.check(verdict, "verified")
            found = {baseline["name"]: baseline for baseline in verdict["baselines"]}
            self.assertEqual(list(found), ["eager", "eager+graph", "torch.compile", "torch.compile+graph"])
            self.assertGreater(found["eager+graph"]["speedup"]["ratio"], 5)
            if not hasattr(torch, "compile"):
                self.assertIn("torch.compile", found["torch.compile"]["missing"])

    def compiled(self, function):
        """The task whose file puts a stand-in for torch.compile into torch: the text of a function of the model."""
        task = square_task()
        task["module"]["source"] += f"\ntorch.compile = lambda model, mode, fullgraph=False: {function}\n"
        return task

    def test_a_mode_of_torch_compile_is_a_baseline_of_its_own(self):
        name = "torch.compile max-autotune-no-cudagraphs"
        with Worker(WARPWRIGHT_FAKE_WORKER="measure") as worker:
            task = self.compiled(f"model if mode == '{name.split()[1]}' else None")
            verdict = worker.verify(task, square_plan("fast_square"), measure=True, measure_budget_ms=200, baselines=[name + "+graph"])
            self.check(verdict, "verified")
            found = {baseline["name"]: baseline for baseline in verdict["baselines"]}
            self.assertEqual(list(found), ["eager", "eager+graph", name, name + "+graph"])
            self.assertGreater(found[name + "+graph"]["speedup"]["ratio"], 5)

    def test_a_baseline_that_is_wrong_is_told_as_wrong_and_not_measured(self):
        with Worker(WARPWRIGHT_FAKE_WORKER="measure") as worker:
            for wrong in ("lambda x: model(x) * 1.01", "lambda x: model(x) if x.max() <= 1 else model(x) + 1"):
                verdict = worker.verify(self.compiled(wrong), square_plan("fast_square"), measure=True, measure_budget_ms=200,
                                        baselines=["torch.compile"])
                self.check(verdict, "verified")
                for baseline in verdict["baselines"]:
                    is_compiled = baseline["name"].startswith("torch.compile")
                    self.assertEqual(baseline.get("wrong", False), is_compiled, baseline)
                    self.assertEqual("speedup" in baseline, not is_compiled)
                self.assertIn("its results are wrong", verdict["baselines"][2]["missing"])

    def test_an_export_is_timed_and_each_of_its_calls_is_counted(self):
        source = SQUARE.replace("SIZE", "64") + """
import types
answered = [0, 0]

class ModelNew(Model):
    warpwright_plan = types.SimpleNamespace(runs=lambda: answered[0], fallbacks=lambda: {"late": answered[1]} if answered[1] else {})

    def forward(self, x):
        answered[answered[0] >= LIMIT] += 1
        return x * x
"""
        with Worker(WARPWRIGHT_FAKE_WORKER="measure") as worker:
            for limit, outcome in ((10**9, "verified"), (40, "unsupported")):
                plan = {"source": "", "steps": [{"module": {"source": source.replace("LIMIT", str(limit)), "exported": True}}]}
                verdict = worker.verify(square_task(), plan, host_code=True, measure=True, measure_budget_ms=100)
                self.check(verdict, outcome)
                ran = next(check for check in verdict["checks"] if check["name"] == "its kernels ran")
                self.assertEqual(ran["passed"], outcome == "verified")
                self.assertIn("no fallback" if ran["passed"] else "ran in 40 of", ran["detail"])
                self.assertEqual("speedup" in verdict, outcome == "verified")
                self.assertEqual("baselines" in verdict, outcome == "verified")

    def test_a_verdict_says_how_much_of_the_time_library_steps_take(self):
        with Worker(WARPWRIGHT_FAKE_WORKER="measure") as worker:
            both = dict(square_plan(), temporaries=[{"name": "t", "dtype": "float32", "extent": 64}])
            both["steps"] = [json.loads(json.dumps(aten_plan()["steps"][0]).replace('"y"', '"t"')), *both["steps"]]
            for plan, share in ((square_plan(), 0), (aten_plan(), 1), (both, 0.5)):
                verdict = worker.verify(square_task(), plan, measure=True, measure_budget_ms=100)
                self.check(verdict, "verified")
                self.assertAlmostEqual(verdict["library_share"], share, places=2)
            self.assertNotIn("library_share", worker.verify(square_task(), square_plan()))

    def test_another_system_s_module_is_judged_in_a_process_of_its_own(self):
        source = SQUARE.replace("SIZE", "64").replace("class Model(", "class ModelNew(")
        plan = {"source": "", "steps": [{"module": {"source": source}}]}
        wrong = {"source": "", "steps": [{"module": {"source": source.replace("x * x", "x * 2")}}]}
        with Worker(WARPWRIGHT_FAKE_WORKER="measure") as worker:
            verdict = worker.verify(square_task(), plan, host_code=True, measure=True, measure_budget_ms=100)
            self.check(verdict, "verified")
            self.assertTrue(verdict["host_code"])
            self.check(worker.verify(square_task(), wrong, host_code=True), "wrong_result", "elements are wrong")
            self.check(worker.verify(square_task(), square_plan()), "verified")

    def test_it_asks_for_its_turn_on_a_device_that_others_have_too(self):
        with Worker() as alone, Worker(WARPWRIGHT_SHARED_DEVICE="1") as sharing:
            for worker in (alone, sharing):
                worker.ask("info")
                self.check(worker.verify(square_task(), square_plan()), "verified")
        self.assertEqual(alone.turns, [])
        self.assertEqual(sharing.turns, ["take_turn", "turn_over", "take_turn"])  # at its start, and for the job
        compiled = [stage["activity"] for stage in sharing.stages[:sharing.told[1]]]
        self.assertEqual(compiled, ["compiling the candidate", "compiling the reference", "done"])  # which needs no device

    def test_what_python_says_of_a_module_is_in_the_verdict(self):
        with Worker() as worker:
            broken = dict(square_task(), module={"source": "import no_such_package\n"})
            self.check(worker.verify(broken, square_plan()), "unsupported", "no_such_package")
            raises = dict(square_task(), module={"source": SQUARE.replace("SIZE", "64").replace("return x * x", "raise ValueError('no')")})
            self.check(worker.verify(raises, square_plan()), "unsupported", "ValueError: no")
            self.check(worker.verify(square_task(), square_plan()), "verified")

    def test_what_the_user_s_code_prints_does_not_reach_the_protocol(self):
        with Worker() as worker:
            loud = SQUARE.replace("return x * x", "print('Content-Length: 7')\n        return x * x")
            self.check(worker.verify(square_task(loud), square_plan()), "verified")

    def test_it_ends_with_its_input_whatever_runs(self):
        endless = SQUARE.replace("return x * x", "while True: pass")
        with Worker() as worker:
            worker.send("verify", {"task": square_task(endless), "plan": square_plan(), "options": {"measure": False}})
            while worker.read()["params"]["running"] != "reference":
                pass
            worker.process.stdin.close()
            self.assertEqual(worker.process.wait(20), 0)

    def test_an_interpreter_without_torch_says_so(self):
        run = subprocess.run([sys.executable, "-S", "-I", os.path.join(os.path.dirname(RUNNER), "torch", "host.py"), LIBRARY, "cpu"], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 2)
        self.assertIn("has no torch", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
