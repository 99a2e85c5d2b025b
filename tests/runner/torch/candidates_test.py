#!/usr/bin/env python3
"""Other systems' modules, honest and cheating, through the runner on the CPU. Usage: candidates_test.py RUNNER [unittest's arguments]

Each cheat must be refused, and for its own reason: a refusal for another would let its next
variation through.
"""

import hashlib
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cpu_tasks_test as cpu  # reads RUNNER from the arguments, and ends where there is no torch

INIT = "self.linear = nn.Linear(8, 8)"
TASK = cpu.module("return torch.relu(self.linear(x)) * 2", inputs="torch.randn(4, 8)", init=INIT)
RIGHT = "return torch.relu(self.linear(x)) * 2"


def answer(forward, init=INIT, before="", more=""):
    return (cpu.HEADER + before + "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            + "".join(f"        {line}\n" for line in (init or "pass").splitlines())
            + "    def forward(self, x):\n" + "".join(f"        {line}\n" for line in forward.splitlines()) + more)


def plan(source, **module):
    return {"source": "", "steps": [{"module": {"source": source, **module}}]}


class Candidates(cpu.Case):
    def judge(self, forward, task=TASK, environment=None, **parts):
        return cpu.verify(cpu.task(task), plan(answer(forward, **parts)), 120000, options=("--host-code",), **(environment or {}))

    def refuse(self, outcome, part, forward, **more):
        verdict = self.expect(outcome, part, self.judge(forward, **more))
        self.assertTrue(verdict["host_code"])

    # ---- Honest

    def test_a_right_answer_is_verified_and_marked_as_host_code(self):
        verdict = self.expect("verified", "correct by every check", self.judge(RIGHT))
        self.assertTrue(verdict["host_code"])

    def test_weights_that_the_constructor_puts_into_another_form_are_its_own(self):
        self.expect("verified", "", self.judge(
            "return torch.relu(torch.addmm(self.b, x, self.w)) * 2",
            init="own = nn.Linear(8, 8)\nself.w = nn.Parameter(own.weight.t().contiguous())\nself.b = nn.Parameter(own.bias.clone())"))

    def test_what_only_fits_the_constructor_s_parameters_is_told_beside_the_outcome(self):
        norm = cpu.module("return self.norm(x)", init="self.norm = nn.LayerNorm(8)")
        unread = "return torch.nn.functional.layer_norm(x, (8,))"
        for forward, told in (("return self.norm(x)", ""), (unread, "error against fp64")):
            verdict = self.expect("verified", "", self.judge(forward, task=norm, init="self.norm = nn.LayerNorm(8)"))
            self.assertIn(told, self.detail(verdict, "other parameters loaded into it"))
        verdict = self.expect("verified", "", self.judge(unread, task=norm, init=""))
        self.assertIn("it has no 'norm.weight'", self.detail(verdict, "other parameters loaded into it"))

    def test_no_host_code_runs_unless_it_was_asked_for(self):
        verdict = cpu.verify(cpu.task(TASK), plan(answer(RIGHT)))
        self.expect("unsupported", "does not permit", verdict)

    def test_a_plan_that_mixes_modules_with_other_steps_does_not_fit(self):
        mixed = plan(answer(RIGHT))
        mixed["steps"] *= 2
        self.expect("wrong_result", "only step", cpu.verify(cpu.task(TASK), mixed, options=("--host-code",)))

    # ---- Exports

    def judge_export(self, source, **files):
        return cpu.verify(cpu.task(TASK), plan(source, exported=True, files={name.replace("_", "."): text for name, text in files.items()}),
                          120000, options=("--host-code",))

    def counted(self, condition, get_inputs="torch.randn(4, 8)"):
        """An export that counts calls, and whose kernels answer those with the condition."""
        return answer(f"answered[bool({condition})] += 1\n{RIGHT}", before="import types\nanswered = {False: 0, True: 0}\n",
                      more="ModelNew.warpwright_plan = types.SimpleNamespace(\n    runs=lambda: answered[True],\n"
                           "    fallbacks=lambda: {'other strides': answered[False]} if answered[False] else {})\n"
                           f"def get_inputs():\n    return [{get_inputs}]\n")

    def test_an_export_whose_kernels_answer_every_call_is_verified_with_their_number(self):
        verdict = self.expect("verified", "", self.judge_export(self.counted("True")))
        self.assertRegex(self.detail(verdict, "its kernels ran"), r"^in each of \d\d+ calls, no fallback$")

    def test_an_export_that_answers_one_call_by_its_own_forward_is_refused(self):
        self.refuse_export("2 of", "other strides", self.counted("answered[True] + answered[False] < 2"))

    def test_an_export_is_also_called_on_inputs_as_its_file_makes_them(self):
        self.refuse_export("other strides", "its kernels ran", self.counted("x.is_contiguous()", "torch.randn(8, 4).t()"))

    def refuse_export(self, *parts, **files):
        *told, source = parts
        verdict = self.judge_export(source, **files)
        for part in told:
            self.expect("unsupported", part, verdict)
        self.assertIn(["its kernels ran", False], [[check["name"], check["passed"]] for check in verdict["checks"]])

    def test_the_package_s_own_reason_is_told_where_kernels_cannot_run(self):
        source = answer(RIGHT, before="import warpwright\n@warpwright.plans('model.wwplan')\n") + "def get_inputs():\n    return [torch.randn(4, 8)]\n"
        sha = hashlib.sha256(b"// kernels").hexdigest()
        kept = json.dumps({"plan": [f"{{'name': 'ModelNew', 'sha256': '{sha}', 'inputs': [...]}}"], "source": ["// kernels"]})
        self.refuse_export("0 of", "there is no CUDA GPU", source, model_wwplan=kept)
        self.refuse_export("0 of 0 calls", "No such file", source)

    def test_files_of_an_export_stay_beside_it(self):
        self.expect("wrong_result", "not a plain file name", cpu.verify(cpu.task(TASK), plan(answer(RIGHT), exported=True, files={"../a": ""}),
                                                                     options=("--host-code",)))

    # ---- Wrong

    def test_a_wrong_result(self):
        self.refuse("wrong_result", "elements are wrong", "return self.linear(x) * 2")

    def test_a_wrong_shape_or_dtype(self):
        self.refuse("wrong_result", "float32[8, 4]", RIGHT.replace("return ", "return (") + ").t()")
        self.refuse("wrong_result", "float64[4, 8]", RIGHT.replace("return ", "return (") + ").double()")

    def test_nan(self):
        self.refuse("wrong_result", "nan", RIGHT + " * float('nan')")

    def test_changed_inputs(self):
        self.refuse("suspected_cheat", "changed", "y = torch.relu(self.linear(x)) * 2\nx.zero_()\nreturn y")

    def test_lower_precision(self):
        self.refuse("wrong_result", "fp64", "h = x.bfloat16().float()\n" + RIGHT.replace("(x)", "(h)"))

    def test_a_stage_that_is_skipped_where_inputs_are_small(self):
        self.refuse("wrong_result", "scaled by", "y = self.linear(x)\nreturn (y if x.abs().max() < 0.5 else torch.relu(y)) * 2")

    # ---- Broken

    def test_a_file_that_does_not_import(self):
        self.refuse("compile_failed", "no_such_package", RIGHT, before="import no_such_package\n")
        self.refuse("compile_failed", "has no 'ModelNew'", RIGHT, more="\ndel ModelNew\n")

    def test_a_forward_that_raises(self):
        self.refuse("crash", "ValueError: no", "raise ValueError('no')")

    def test_the_task_s_own_module_is_not_there_to_be_called(self):
        self.refuse("compile_failed", "NameError", "return self.own(x)", init="self.own = Model()")

    def test_a_process_that_ends(self):
        self.refuse("crash", "process ended", "import os\nos._exit(3)")
        self.refuse("crash", "SIGSEGV", "import ctypes\nctypes.string_at(0)")

    def test_a_forward_that_hangs(self):
        self.refuse("timeout", "did not end in time", "while True: pass", environment={"WARPWRIGHT_CANDIDATE_CALL_SECONDS": "3"})

    # ---- Cheats

    def test_a_result_kept_by_the_input_s_address(self):
        self.refuse("suspected_cheat", "earlier call",
                    "key = x.data_ptr()\nif key not in self.kept:\n    self.kept[key] = torch.relu(self.linear(x)) * 2\nreturn self.kept[key]",
                    init=INIT + "\nself.kept = {}")

    def test_the_first_result_for_ever(self):
        self.refuse("suspected_cheat", "earlier call",
                    "if self.first is None: self.first = torch.relu(self.linear(x)) * 2\nreturn self.first",
                    init=INIT + "\nself.first = None")

    def test_framework_flags(self):
        self.refuse("suspected_cheat", "backends.cudnn.benchmark", RIGHT, before="torch.backends.cudnn.benchmark = True\n")
        self.refuse("suspected_cheat", "allow_tf32", "torch.backends.cuda.matmul.allow_tf32 = True\n" + RIGHT)
        self.refuse("suspected_cheat", "default_dtype", RIGHT, init=INIT + "\ntorch.set_default_dtype(torch.float64)")

    def test_replaced_functions(self):
        for what, name in (("torch.allclose = lambda *a, **k: True", "torch.allclose"), ("torch.cuda.synchronize = lambda *a: None", "synchronize"),
                           ("torch.cuda.Event.elapsed_time = lambda *a: 0.001", "elapsed_time"),
                           ("import time\ntime.perf_counter_ns = lambda: 0", "perf_counter_ns"),
                           ("import gpu_host\ngpu_host.GpuHost = None", "gpu_host.GpuHost")):
            self.refuse("suspected_cheat", name, RIGHT, before=what + "\n")

    def test_a_thread_that_goes_on(self):
        for start in ("import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
                      "import _thread, time\n_thread.start_new_thread(time.sleep, (60,))\n"):
            self.refuse("suspected_cheat", "thread", start + RIGHT)

    def test_a_result_that_computes_when_it_is_looked_at(self):
        self.refuse("suspected_cheat", "returns a Lazy", "return (torch.relu(self.linear(x)) * 2).as_subclass(Lazy)",
                    before="class Lazy(torch.Tensor): pass\n")

    def test_the_verifier_s_memory_and_files_are_out_of_reach(self):
        for attempt in ("open(f'/proc/{os.getppid()}/mem', 'rb').close()", "open('/tmp/' + 'left-by-a-candidate', 'w').close()",
                        "import socket\nsocket.create_connection(('127.0.0.1', 9))"):
            self.refuse("crash", "Error", f"import os\n{attempt}\n{RIGHT}")

    def test_answers_forged_on_the_protocol_s_descriptor(self):
        self.refuse("suspected_cheat", "an invalid message",
                    "import os\nfor number in range(3, 64):\n    try: os.write(number, b'{\"id\": 1, \"result\": null}\\n')\n    except OSError: pass\n"
                    + RIGHT)


if __name__ == "__main__":
    unittest.main(verbosity=2)
