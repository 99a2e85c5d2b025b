#!/usr/bin/env python3
"""What the verifier says of torch tasks, on the CPU worker and its child. Usage: cpu_tasks_test.py RUNNER [unittest's arguments]"""

import inspect
import json
import os
import socket
import subprocess
import sys
import tempfile
import types
import unittest

try:
    import torch
except ImportError:
    print("all cases skipped: this Python has no torch")
    sys.exit(0)

RUNNER = sys.argv.pop(1)
HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def module(forward, inputs="torch.randn(4, 8)", init="", **extra):
    """Text of a file by KernelBench's conventions. extra: `before`, lines of the file; `get_inputs`, its whole body."""
    return (HEADER + extra.get("before", "") + "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            + "".join(f"        {line}\n" for line in init.splitlines())
            + "    def forward(self, x):\n" + "".join(f"        {line}\n" for line in forward.splitlines())
            + f"def get_inputs():\n    {extra.get('get_inputs', f'return [{inputs}]')}\ndef get_init_inputs():\n    return []\n")


def buffer(name, tensor, direction, torch_name):
    return {"name": name.replace(".", "_"), "torch_name": torch_name, "dtype": str(tensor.dtype)[len("torch."):],
            "extent": tensor.numel(), "shape": list(tensor.shape), "direction": direction, "distribution": {"kind": "module"}}


def buffers_of(source, training=True):
    """A torch task's buffers, by running the module here; no trace is needed."""
    namespace = types.ModuleType("task")
    exec(source, namespace.__dict__)
    model = namespace.Model(*namespace.get_init_inputs()).train(training)
    inputs = namespace.get_inputs()
    state = dict(list(model.named_parameters()) + list(model.named_buffers()))
    before = {name: tensor.detach().clone() for name, tensor in state.items()}
    with torch.no_grad():
        outputs = model(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    after = dict(list(model.named_parameters()) + list(model.named_buffers()))
    names = list(inspect.signature(model.forward).parameters)
    made = [buffer(name, tensor, "in", name) for name, tensor in zip(names, inputs)]
    made += [buffer(name, tensor, "in" if torch.equal(tensor, after[name]) else "inout", name) for name, tensor in before.items()]
    return made + [buffer(f"out{i}", tensor, "out", f"out{i}") for i, tensor in enumerate(outputs)]


def task(source, buffers=None, training=True, **members):
    return {"name": "Model", "sizes": {}, "module": {"source": source, "training": training},
            "buffers": buffers if buffers is not None else buffers_of(source, training),
            "reference": {"source": "", "steps": [{"module": {}}]}, **members}


def kernel_plan(text, arguments, threads):
    """One kernel of one block that gets buffers."""
    return {"source": f'extern "C" __global__ void candidate({text.partition("|")[0]}) {{ int i = threadIdx.x; '
                      f'if (i >= {threads}) return; {text.partition("|")[2]} }}',
            "steps": [{"launch": {"kernel": "candidate", "block": [-(-threads // 32) * 32],
                                  "arguments": [{"buffer": name} for name in arguments]}}]}


def view(name, *shape, **more):
    return {"tensor": {"buffer": name, "shape": list(shape), **more}}


def aten(op, arguments, result, *shape, **keywords):
    return {"aten": {"op": op, "arguments": arguments, "keywords": keywords, "results": [{"buffer": result, "shape": list(shape)}]}}


def verify(task_document, plan, timeout_ms=60000, options=(), **environment):
    with tempfile.TemporaryDirectory() as folder:
        for name, document in (("task", task_document), ("plan", plan)):
            with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
                json.dump(document, file)
        run = subprocess.run([RUNNER, "verify", folder + "/task.json", folder + "/plan.json", "--device", "cpu", "--json",
                              "--timeout", str(timeout_ms), "--seed", "7", *options], capture_output=True, text=True,
                             env={**os.environ, "WARPWRIGHT_PYTHON": sys.executable, **environment})
    if not run.stdout.startswith("{"):
        return {"outcome": "refused", "message": run.stderr, "checks": []}
    return json.loads(run.stdout)


COPY = kernel_plan("const float *x, float *out|out[i] = x[i];", ["x", "out0"], 32)


class Case(unittest.TestCase):
    def expect(self, outcome, part, verdict):
        self.assertEqual(verdict["outcome"], outcome, verdict["message"])
        self.assertIn(part, verdict["message"])
        return verdict

    def detail(self, verdict, name):
        return next(check.get("detail", "") for check in verdict["checks"] if check["name"] == name)


class RightAndWrong(Case):
    RELU = module("return torch.relu(x * 2)")

    def test_a_right_kernel_is_verified_and_the_verdict_says_what_was_not_tried(self):
        verdict = verify(task(self.RELU), kernel_plan("const float *x, float *out|out[i] = fmaxf(x[i] * 2, 0.0f);", ["x", "out0"], 32))
        self.expect("verified", "correct by every check", verdict)
        self.assertIn("traced at these shapes", self.detail(verdict, "sizes that the task does not name"))
        self.assertIn("torch", self.detail(verdict, "the module loads"))

    def test_a_missing_relu_is_wrong(self):
        self.expect("wrong_result", "expected 0", verify(task(self.RELU), kernel_plan(
            "const float *x, float *out|out[i] = x[i] * 2;", ["x", "out0"], 32)))

    def test_half_precision_for_float_is_wrong(self):
        self.expect("wrong_result", "error against fp64", verify(task(self.RELU), kernel_plan(
            "const float *x, float *out|unsigned b = __float_as_uint(fmaxf(x[i] * 2, 0.0f)); out[i] = __uint_as_float(b & 0xffffe000u);",
            ["x", "out0"], 32)))

    def test_a_reference_in_lesser_precision_accepts_that_and_better_but_not_worse(self):
        keep = "if x.dtype == torch.float32:\n    x = (x.view(torch.int32) & -8192).view(torch.float32)\nreturn x * 3"
        for mask in ("ffffff", "ffe000"):
            plan = kernel_plan(f"const float *x, float *out|out[i] = __uint_as_float(__float_as_uint(x[i]) & 0xff{mask}u) * 3;",
                               ["x", "out0"], 32)
            self.expect("verified", "", verify(task(module(keep)), plan))
        worse = kernel_plan("const float *x, float *out|out[i] = __uint_as_float(__float_as_uint(x[i]) & 0xffff0000u) * 3;",
                            ["x", "out0"], 32)
        self.expect("wrong_result", "times the reference's own", verify(task(module(keep)), worse))

    def test_a_module_that_asks_for_float32_inside_has_float64_beside_it(self):
        for text in ("return x.float() * 3", "return torch.add(x.to(torch.float32), x.type(torch.float32), alpha=2)",
                     "return x.double().to(dtype=torch.float32) * 3"):
            half = "const float *x, float *out|out[i] = __uint_as_float(__float_as_uint(x[i]) & 0xffffe000u) * 3;"
            self.expect("wrong_result", "error against fp64", verify(task(module(text)), kernel_plan(half, ["x", "out0"], 32)))
            self.expect("verified", "", verify(task(module(text)), kernel_plan("const float *x, float *out|out[i] = x[i] * 3;", ["x", "out0"], 32)))

    def test_where_float64_fails_what_is_wrong_says_so(self):
        source = module("if x.dtype == torch.float64:\n    raise RuntimeError('not for me')\nreturn x * 3")
        half = "const float *x, float *out|out[i] = __uint_as_float(__float_as_uint(x[i]) & 0xffffe000u) * 3;"
        self.expect("wrong_result", "the reference's own error, but failed: the module in float64: RuntimeError: not for me",
                    verify(task(source), kernel_plan(half, ["x", "out0"], 32)))
        self.expect("verified", "", verify(task(source), kernel_plan("const float *x, float *out|out[i] = x[i] * 3;", ["x", "out0"], 32)))

    MAGNIFYING = module("y = 0.5 + 0.4 * torch.sin(x)\nfor _ in range(25):\n    y = 3.9 * y * (1 - y)\nreturn y", "torch.randn(32, 32)")

    def test_a_module_that_magnifies_rounding_accepts_other_rounding_but_not_another_result(self):
        text = ("const float *x, float *out|float y = 0.5f + 0.4f * sinf(x[i]); for (int k = 0; k < 25; ++k) y = 3.9f * (y * (1 - y)); "
                "out[i] = y + %sf;")
        self.expect("verified", "", verify(task(self.MAGNIFYING), kernel_plan(text % "0.0", ["x", "out0"], 1024)))
        # The module's own largest error is more than that, but seldom.
        self.expect("wrong_result", "expected", verify(task(self.MAGNIFYING), kernel_plan(text % "0.2", ["x", "out0"], 1024)))

    def test_state_that_is_rounding_error_leaves_the_task_its_speedup(self):
        source = module("c = x - x.mean(0)\nself.seen.copy_(c.mean(0))\nreturn c * 2", init="self.register_buffer('seen', torch.ones(8))")
        plan = kernel_plan("const float *x, float *seen, float *out|float mean = (x[i] + x[i + 8] + x[i + 16] + x[i + 24]) / 4, rest = 0; "
                           "for (int r = 3; r >= 0; --r) { float c = x[i + r * 8] - mean; rest += c / 4; out[i + r * 8] = c * 2; } seen[i] = rest;",
                           ["x", "seen", "out0"], 8)
        verdict = self.expect("verified", "", verify(task(source), plan))
        self.assertEqual([check["passed"] for check in verdict["checks"] if check["name"] == "the task is not degenerate"], [True])
        self.assertNotIn("degenerate", verdict["message"])

    def test_an_output_that_is_left_out_is_unwritten(self):
        self.expect("wrong_result", "unwritten", verify(task(self.RELU), kernel_plan(
            "const float *x, float *out|if (i != 5) out[i] = fmaxf(x[i] * 2, 0.0f);", ["x", "out0"], 32)))

    def test_an_input_that_is_changed_is_a_suspected_cheat(self):
        self.expect("suspected_cheat", "changed 1 elements of the input x", verify(task(self.RELU), kernel_plan(
            "float *x, float *out|out[i] = fmaxf(x[i] * 2, 0.0f); if (i == 3) x[i] = 1;", ["x", "out0"], 32)))

    def test_weights_that_the_constructor_makes_ones_must_be_read(self):
        source = module("return self.norm(x)", init="self.norm = nn.LayerNorm(8)")
        text = """const float *x, const float *w, const float *b, float *out|
            const float *row = x + i / 8 * 8; float mean = 0, var = 0;
            for (int k = 0; k < 8; ++k) mean += row[k] / 8;
            for (int k = 0; k < 8; ++k) var += (row[k] - mean) * (row[k] - mean) / 8;
            out[i] = (x[i] - mean) * rsqrtf(var + 1e-5f)%s;"""
        names = ["x", "norm_weight", "norm_bias", "out0"]
        self.expect("verified", "", verify(task(source), kernel_plan(text % " * w[i % 8] + b[i % 8]", names, 32)))
        self.expect("wrong_result", "", verify(task(source), kernel_plan(text % "", names, 32)))

    def test_integer_inputs_stay_what_they_are(self):
        source = module("return self.table(x)", "torch.randint(0, 10, (32,))", "self.table = nn.Embedding(10, 1)")
        text = "const long long *x, const float *table, float *out|out[i] = table[x[i]];"
        self.expect("verified", "", verify(task(source), kernel_plan(text, ["x", "table_weight", "out0"], 32)))

    def test_integer_outputs_are_exact(self):
        source = module("return torch.argmax(x, dim=1)")
        text = "const float *x, long long *out|int best = 0; for (int k = 1; k < 8; ++k) if (x[i * 8 + k] > x[i * 8 + best]) best = k; out[i] = best%s;"
        self.expect("verified", "", verify(task(source), kernel_plan(text % "", ["x", "out0"], 4)))
        self.expect("wrong_result", "", verify(task(source), kernel_plan(text % " + (i == 3)", ["x", "out0"], 4)))


class State(Case):
    NORM = module("return self.norm(x)", "torch.randn(16, 2)", "self.norm = nn.BatchNorm1d(2)")
    TEXT = """const float *x, const float *w, const float *b, float *mean, float *var, long long *count, float *out|
        float m = 0, v = 0; for (int k = 0; k < 16; ++k) m += x[k * 2 + i] / 16;
        for (int k = 0; k < 16; ++k) v += (x[k * 2 + i] - m) * (x[k * 2 + i] - m) / 16;
        for (int k = 0; k < 16; ++k) out[k * 2 + i] = (x[k * 2 + i] - m) * rsqrtf(v + 1e-5f) * w[i] + b[i];
        UPDATE if (i == 0) *count += 1;"""
    NAMES = ["x", "norm_weight", "norm_bias", "norm_running_mean", "norm_running_var", "norm_num_batches_tracked", "out0"]

    def plan(self, update):
        return kernel_plan(self.TEXT.replace("UPDATE", update), self.NAMES, 2)

    def test_running_statistics_must_come_out_right(self):
        update = "mean[i] = mean[i] * 0.9f + m * 0.1f; var[i] = var[i] * 0.9f + v * 16 / 15 * 0.1f;"
        self.expect("verified", "", verify(task(self.NORM), self.plan(update)))
        self.expect("wrong_result", "norm_running", verify(task(self.NORM), self.plan("")))
        self.expect("wrong_result", "norm_running_var", verify(task(self.NORM), self.plan(update.replace(" * 16 / 15", ""))))

    def test_state_that_the_module_puts_elsewhere_is_found(self):
        source = module("self.steps = self.steps + 1\nreturn x * 2", init='self.register_buffer("steps", torch.zeros(1))')
        text = "const float *x, float *steps, float *out|out[i] = x[i] * 2; if (i == 0) *steps += 1;"
        self.expect("verified", "", verify(task(source), kernel_plan(text, ["x", "steps", "out0"], 32)))

    def test_a_recurrent_layer_sees_the_weights_of_each_drawing(self):
        source = module("return self.rnn(x)[0]", "torch.randn(1, 4, 3)", "self.rnn = nn.GRU(3, 2, batch_first=True)")
        weights = [("rnn_weight_ih_l0", 6, 3), ("rnn_weight_hh_l0", 6, 2), ("rnn_bias_ih_l0", 6), ("rnn_bias_hh_l0", 6)]
        plan = {"source": "", "temporaries": [{"name": "zero", "dtype": "float32", "extent": 2}], "steps": [
            {"fill": {"buffer": "zero", "byte": 0}},
            {"aten": {"op": "aten::gru.input", "arguments": [
                view("x", 1, 4, 3), view("zero", 1, 1, 2), {"tensors": [view(*one)["tensor"] for one in weights]},
                True, 1, 0.0, False, False, True], "results": [{"buffer": "out0", "shape": [1, 4, 2]}]}}]}
        self.expect("verified", "", verify(task(source), plan))


class Operators(Case):
    def test_a_convolution_by_aten_and_a_kernel_behind_it(self):
        source = module("return torch.relu(self.conv(x))", "torch.randn(1, 2, 6, 6)", "self.conv = nn.Conv2d(2, 3, 3)")
        call = aten("aten::convolution", [view("x", 1, 2, 6, 6), view("conv_weight", 3, 2, 3, 3), view("conv_bias", 3),
                                          [1, 1], [0, 0], [1, 1], False, [0, 0], 1], "product", 1, 3, 4, 4)
        plan = kernel_plan("const float *x, float *out|out[i] = fmaxf(x[i], 0.0f);", ["product", "out0"], 48)
        plan["temporaries"] = [{"name": "product", "dtype": "float32", "extent": 48}]
        plan["steps"].insert(0, call)
        self.expect("verified", "", verify(task(source), plan))
        call["aten"]["arguments"][2] = None
        self.expect("wrong_result", "", verify(task(source), plan))
        call["aten"]["arguments"][3] = [2, 2]
        self.expect("wrong_result", "gives float32[1, 3, 2, 2]", verify(task(source), plan))

    def test_an_operator_may_write_the_output_itself_and_take_an_enumeration(self):
        source = module("return F.gelu(x, approximate='tanh').to(torch.float64)")
        plan = {"source": "", "temporaries": [{"name": "t", "dtype": "float32", "extent": 32}],
                "steps": [aten("aten::gelu", [view("x", 4, 8)], "t", 4, 8, approximate="tanh"),
                          aten("aten::to.dtype", [view("t", 4, 8), "float64"], "out0", 4, 8)]}
        self.expect("verified", "", verify(task(source), plan))

    def test_operators_that_are_not_pure_are_refused_before_anything_runs(self):
        for op in ("aten::relu_", "aten::from_file", "aten::rand"):
            plan = {"source": "", "steps": [aten(op, [view("x", 4, 8)], "out0", 4, 8)]}
            self.expect("wrong_result", "not among the operators", verify(task(module("return x * 1")), plan))

    def test_a_candidate_may_not_call_the_module(self):
        self.expect("wrong_result", "only the reference", verify(task(module("return x * 1")), {"source": "", "steps": [{"module": {}}]}))


class NoReference(Case):
    def test_dropout_in_training_is_named(self):
        verdict = self.expect("unsupported", "two calls of the module", verify(task(module("return F.dropout(x, 0.5, self.training)")), COPY))
        self.assertIn("dropout", verdict["message"])

    def test_dropout_in_evaluation_is_none(self):
        source = module("return F.dropout(x, 0.5, self.training)")
        self.expect("verified", "", verify(task(source, training=False), COPY))

    def test_nan_is_named(self):
        self.expect("unsupported", "gives NaN", verify(task(module("return torch.sqrt(-x.abs() - 1)")), COPY))

    def test_scaled_inputs_outside_of_the_module_s_domain_are_left_out(self):
        source = module("assert x.abs().max() < 2\nreturn x * 1", "torch.rand(4, 8)")
        verdict = self.expect("verified", "", verify(task(source), COPY))
        self.assertIn("AssertionError", self.detail(verdict, "inputs of other magnitudes"))

    def test_what_does_not_depend_on_the_inputs_is_degenerate(self):
        verdict = verify(task(module("return x * 0 + 3")), kernel_plan("float *out|out[i] = 3;", ["out0"], 32))
        self.assertIn("same value in every element", self.detail(verdict, "the task is not degenerate"))
        source = module("return self.w + x * 0", init="self.w = nn.Parameter(torch.randn(4, 8))")
        verdict = verify(task(source), kernel_plan("const float *w, float *out|out[i] = w[i];", ["w", "out0"], 32))
        self.assertIn("does not depend on its inputs", self.detail(verdict, "the task is not degenerate"))

    def test_broken_source_is_named_by_its_line(self):
        good = module("return x * 1")
        for broken, part in ((good.replace("return x * 1", "return x *"), "SyntaxError"),
                             (good.replace("return x * 1", "return x.no_such()"), "line 8 of the module's file"),
                             (good.replace("class Model", "class Other"), "no 'Model'"),
                             (good + "raise SystemExit(3)\n", "SystemExit"),
                             (good.replace("torch.randn(4, 8)", "torch.randn(4, 9)"), "float32[4, 9]"),
                             (good.replace("import torch\n", "import no_such_package\n"), "no_such_package")):
            self.expect("unsupported", part, verify(task(broken, buffers_of(good)), COPY))

    def test_a_module_that_ends_its_process_is_an_outcome_of_the_task(self):
        good = module("return x * 1")
        ends = good.replace("return x * 1", "import os; os._exit(1)")
        verdict = verify(task(ends, buffers_of(good)), COPY)
        self.expect("unsupported", "has ended", verdict)

    def test_a_module_that_never_returns_runs_into_its_deadline(self):
        good = module("return x * 1")
        hangs = good.replace("return x * 1", "import time; time.sleep(600)")
        self.expect("unsupported", "deadline", verify(task(hangs, buffers_of(good)), COPY, timeout_ms=5000))

    def test_a_module_sees_no_file_of_the_user_s_no_other_process_and_no_socket(self):
        good = module("return x * 1")
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
            os.chmod(folder, 0o777)
            secret, place = os.path.join(folder, "secret"), os.path.join(folder, "socket")
            with open(secret, "w", encoding="ascii") as file:
                file.write("secret")
            server.bind(place)
            os.chmod(place, 0o777)
            server.listen()
            for act in (f"open('{secret}')", f"open('{folder}/new', 'w')", f"os.sched_setaffinity({os.getpid()}, [0])",
                        f"socket.socket(socket.AF_UNIX).connect('{place}')"):
                with self.subTest(act):
                    spy = good.replace("return x * 1", f"import os, socket\n        try:\n            {act}\n        except OSError:\n"
                                       "            return x * 1\n        return x * 2")
                    self.expect("verified", "", verify(task(spy, buffers_of(good)), COPY))
                    self.expect("wrong_result", "", verify(task(spy, buffers_of(good)), COPY, WARPWRIGHT_ISOLATION="off"))

    def test_a_module_may_print(self):
        self.expect("verified", "", verify(task(module("print('Content-Length: 3')\nreturn x * 1")), COPY))

    def test_an_interpreter_without_torch_is_named(self):
        self.expect("unsupported", "WARPWRIGHT_PYTHON", verify(task(module("return x * 1")), COPY, WARPWRIGHT_PYTHON="/no/such/python"))


if __name__ == "__main__":
    unittest.main()
