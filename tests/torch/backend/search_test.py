"""warpwright.optimize and the searches of warpwright.search="now" and "background", on the CPU backend. argv[1]: the build's bin folder."""

import contextlib
import copy
import fcntl
import hashlib
import io
import json
import operator
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import warnings

from backend_case import STORE, Case, leaves  # first: it names the folders of what follows

import torch
import torch.nn as nn
import torch.nn.functional as F

import warpwright
from warpwright import calls, core, dynamo, environment, jobs, search, trial


class Broken(nn.Module):
    def forward(self, x):
        x = x.relu().exp()
        torch._dynamo.graph_break()
        return x.sigmoid() * 2

class Search(Case):
    def test_a_slower_host_is_accepted_only_where_the_gpu_has_enough_work(self):
        self.assertFalse(trial.waits_for_host(plain_us=100, plain_host_us=60, host_us=61))
        self.assertTrue(trial.waits_for_host(plain_us=100, plain_host_us=60, host_us=90))
        self.assertFalse(trial.waits_for_host(plain_us=151, plain_host_us=60, host_us=90))

    def test_a_model_is_searched_confirmed_and_compiled_in_place(self):
        model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU()).eval()
        x, keys, line = torch.randn(4, 8), list(model.state_dict()), io.StringIO()
        with torch.no_grad():
            wanted = model(x)
        before, sys.stderr = sys.stderr, line
        try:
            found = warpwright.optimize(model, (x,), budget="200s")
        finally:
            sys.stderr = before
        self.assertIs(found, model)
        self.assertEqual(keys, list(model.state_dict()))
        self.assertIn("1 of 1 graphs use plans", str(warpwright.report(model)), line.getvalue())
        self.assertIn("region 1/1: verified", line.getvalue())
        self.calls = 0
        with torch.no_grad():
            torch.testing.assert_close(wanted, model(x), atol=1e-4, rtol=1e-4)
        self.assertEqual(self.calls, 1)
        self.assertIn("1 of 1 graphs use plans", warpwright.explain(model, (x,)))
        self.assertIn("there is no CUDA GPU", warpwright.fallbacks())
        self.runs_inductor_while_captured(model, x, wanted)
        self.gone(model, x, wanted)

    def runs_inductor_while_captured(self, model, x, wanted):
        """Where the kernels of Inductor are faster, a capture of a CUDA graph takes them, once a first call has prepared both."""
        (graph,) = warpwright.report(model).graphs
        self.assertEqual(graph.captured, graph.chosen)
        record = core.ask("read", kind="binding", key=graph.key, **graph.place)["record"]
        core.ask("write", kind="binding", key=graph.key, record=dict(record, captured=[]), **graph.place)
        self.assertIn("in CUDA graphs Inductor alone", warpwright.explain(model, (x,)))
        compiled = torch.compile(model, backend=warpwright.backend)
        captures, self.calls = [False], 0
        with unittest.mock.patch("torch.cuda.is_current_stream_capturing", lambda: captures[0]), torch.no_grad():
            for captures[0], calls_so_far in ((False, 0), (False, 1), (True, 1), (False, 2)):
                torch.testing.assert_close(wanted, compiled(x), atol=1e-4, rtol=1e-4)
                self.assertEqual(self.calls, calls_so_far)
        core.ask("write", kind="binding", key=graph.key, record=record, **graph.place)
        torch._dynamo.reset()

    def test_what_a_trial_copies_lies_as_before(self):
        whole = torch.arange(96.0).reshape(2, 4, 12)
        for value in (whole, whole.transpose(0, 2), whole.split(4, 2)[1], whole[:, :1].expand(2, 4, 12), whole[1:, ::2], torch.ones(()), whole[:0]):
            with self.subTest(stride=value.stride()):
                copy = trial.copied(value)
                self.assertEqual(copy.stride(), value.stride())
                self.assertTrue(torch.equal(copy, value))
                self.assertNotEqual(copy.untyped_storage().data_ptr(), value.untyped_storage().data_ptr())

    def gone(self, model, x, wanted):
        """Without the record the graph is Inductor's; a call that was compiled before runs the program."""
        place = {"store": STORE, "environment": environment.environment(torch.device("cpu"))}
        for graph in warpwright.report(model).graphs:
            for region in graph.regions:
                record = core.ask("read", kind="plan", key=region["key"], **place)["record"]
                self.assertEqual(record["outcome"], "verified")
                self.assertEqual(record["program"], region["program"])
        calls.reset()
        shutil.rmtree(STORE)
        with torch.no_grad():
            torch.testing.assert_close(wanted, model(x), atol=1e-4, rtol=1e-4)

    def trial(self, plain, *values, gm=None):
        if gm is None:
            gm = torch.fx.Graph()
            gm.output((gm.placeholder("x"),))
            gm = torch.fx.GraphModule(nn.Module(), gm)
        graph = types.SimpleNamespace(gm=gm, device=torch.device("cpu"), changed=set())
        return trial.Trial(plain, graph, {f"x{index}": one for index, one in enumerate(values)})

    def test_an_output_of_roundings_alone_may_have_others(self):
        def cancelling(values):  # 0 without roundings
            return [values[0] @ values[1] - values[2]]

        def exact(values):
            return [cancelling([one.double() for one in values])[0].float()]

        x, y = torch.randn(50, 1000), torch.randn(1000)
        values = (x, y, (x.double() @ y.double()).float())
        trial = self.trial(cancelling, *values)
        self.assertFalse(calls.alike(cancelling(values)[0], exact(values)[0]))
        self.assertEqual(trial.difference(exact), "")
        self.assertEqual(trial.difference(lambda values: [exact(values)[0] + 0.01]), "output 0 differs with plans")
        x = torch.randn(1000)
        doubled = self.trial(lambda values: [values[0] * 2], x)
        self.assertEqual(doubled.difference(lambda values: [values[0] * 2.1]), "output 0 differs with plans")
        self.assertEqual(doubled.difference(lambda values: [values[0] * torch.nan]), "output 0 differs with plans")
        greatest = self.trial(lambda values: [values[0].argmax(0)], x.reshape(10, 100))
        self.assertEqual(greatest.difference(lambda values: [values[0].argmin(0)]), "output 0 differs with plans")

    def test_the_random_state_of_an_attention_is_not_compared(self):
        graph, state = torch.fx.Graph(), []
        x = graph.placeholder("x")
        attention = graph.call_function(torch.ops.aten._scaled_dot_product_efficient_attention.default, (x, x, x, None, True))
        for index, value in ((0, torch.ones(2)), (2, torch.ones(2, dtype=torch.int64))):
            state.append(graph.call_function(operator.getitem, (attention, index)))
            state[-1].meta["val"] = value
        graph.output(tuple(state))
        gm = torch.fx.GraphModule(nn.Module(), graph)
        results = lambda first, second: lambda values: [torch.full((2,), first), torch.full((2,), second)]
        trial = self.trial(results(1.0, 1), torch.ones(2), gm=gm)
        self.assertEqual(trial.difference(results(1.0, 7)), "")
        self.assertEqual(trial.difference(results(2.0, 1)), "output 0 differs with plans")

    def test_a_report_for_editors_is_kept_by_class_and_file(self):
        model, x, looking = Broken(), torch.randn(4, 8), search.Looking()
        for _ in range(2):  # breaks of earlier calls are not counted
            search.run_model(model, (x,), {}, False, looking, None)
        found = search.Report(looking.graphs.values(), None)
        found.keep(model)
        folder = os.path.join(found.graphs[0].place["store"], core.ask("folder", **found.graphs[0].place)["folder"], "reports")
        names = os.listdir(folder)
        self.assertEqual(len(names), 1)
        with open(os.path.join(folder, names[0])) as file:
            record = json.load(file)
        with open(__file__, "rb") as file:
            text_hash = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(names[0], hashlib.sha256(f"Broken\n{os.path.realpath(__file__)}".encode()).hexdigest() + ".json")
        self.assertEqual((record["class"], record["file_hash"], record["device"]), ("Broken", text_hash, "cpu"))
        self.assertEqual((record["graphs"], record["breaks"], record["plans"], record["gains"]), (2, 1, 0, []))
        self.assertGreater(record["covered"], 0)
        self.assertLessEqual(record["covered"], record["operators"])

    def test_a_model_that_was_not_optimized_has_no_report(self):
        with self.assertRaisesRegex(ValueError, "call warpwright.optimize"):
            warpwright.report(nn.Linear(2, 2))


class Block(nn.Module):
    """A class of this file: Dynamo compiles its forward."""

    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(16, 32), nn.Linear(32, 16), nn.LayerNorm(16)

    def forward(self, x):
        return self.norm(x + self.down(F.gelu(self.up(x))))


class Fixed(Block):
    def forward(self, x):
        return super().forward(x).reshape(-1, 12, 16)


class Ranges(Case):
    """Sizes that differ from call to call."""

    def optimized(self, model, x, dynamic):
        before, sys.stderr = sys.stderr, io.StringIO()
        try:
            return warpwright.optimize(model.eval(), (x,), dynamic=dynamic, budget="300s")
        finally:
            sys.stderr = before

    def test_one_plan_serves_a_range_and_inductor_the_sizes_outside(self):
        model = Block()
        eager = copy.deepcopy(model).eval()
        self.optimized(model, torch.randn(3, 12, 16), {"x": {0: (2, 16), 1: (2, 40)}})
        (graph,) = warpwright.report(model).graphs
        (region,) = graph.regions
        self.assertEqual(graph.chosen, [region["key"]], graph.why)
        self.assertEqual(region["limits"], {"low": [2, 2], "high": [16, 40]})
        record = core.ask("read", kind="plan", key=region["key"], **environment.place_of(torch.device("cpu")))["record"]
        self.assertGreater(record["sizes_verified"], 8)
        self.calls = 0
        with torch.no_grad():
            for number, (batch, length) in enumerate(((2, 2), (16, 40), (7, 13), (5, 40)), 1):
                x = torch.randn(batch, length, 16)
                torch.testing.assert_close(eager(x), model(x), atol=1e-4, rtol=1e-4)
                self.assertEqual(self.calls, number)
        found = core.ask("instance", range=record["range"], sizes=[7, 13])
        self.assertIn("[7, 13, 16]", found["plan"])
        with self.assertRaisesRegex(core.CoreError, "no plan was verified for these sizes"):
            core.ask("instance", range=record["range"], sizes=[17, 13])

    def test_a_graph_leaves_sizes_outside_its_plans_to_inductor(self):
        gm = torch.fx.symbolic_trace(lambda n, x: x)
        size = next(iter(gm.graph.nodes))
        region = {"symbols": ["s0"], "limits": {"low": [2], "high": [8]}}
        call = dynamo.dynamic.served(gm, [region], {"s0": size}, lambda values: "plans", lambda values: "inductor")
        self.assertEqual([call([n, None]) for n in (1, 2, 8, 9)], ["inductor", "plans", "plans", "inductor"])

    def test_a_dimension_that_the_model_fixes_is_named_and_left(self):
        model = Fixed()
        eager = copy.deepcopy(model).eval()
        self.optimized(model, torch.randn(3, 12, 16), {"x": {1: (2, 40)}})
        self.assertIn("x's dimension 1 is fixed by the model", str(warpwright.report(model)))
        with torch.no_grad():
            for batch in (3, 6):
                x = torch.randn(batch, 12, 16)
                torch.testing.assert_close(eager(x), model(x), atol=1e-4, rtol=1e-4)

    def test_wrong_dimensions_are_named(self):
        for dynamic, said in (({"y": {0: (2, 8)}}, "forward has the parameters x"), ({"x": {0: (1, 8)}}, "2 <= low < high"), ({"x": {0: (2, 8, 2)}}, "takes")):
            with self.subTest(said), self.assertRaisesRegex(ValueError, said):
                warpwright.optimize(Block(), (torch.randn(2, 3, 16),), dynamic=dynamic)


class Online(Case):
    """The options warpwright.search="now" and "background"."""

    def setUp(self):
        super().setUp()
        self.store = tempfile.mkdtemp(prefix="warpwright-store-")
        self.addCleanup(shutil.rmtree, self.store, ignore_errors=True)
        self.place = {"store": self.store, "environment": environment.environment(torch.device("cpu"))}
        self.folder = pathlib.Path(core.ask("folder", **self.place)["folder"])

    def records(self, kind):
        return {path.stem: json.loads(path.read_text()) for path in (self.folder / kind).glob("*.json")}

    def calls_of(self, model, *inputs, **options):
        """(what the first call wrote to stderr, how many calls of the operator the second one makes), of the model compiled anew"""
        torch._dynamo.reset()
        compiled, line = self.compiled(model, store=self.store, **options), io.StringIO()
        with contextlib.redirect_stderr(line), torch.set_grad_enabled(model.training):
            compiled(*inputs)
            self.calls = 0
            second = leaves(compiled(*inputs))
        found = self.calls
        if not model.training:
            with torch.no_grad():
                for one, other in zip(leaves(model(*inputs)), second):
                    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
        return line.getvalue(), found

    def wait_for(self, what):
        deadline = time.monotonic() + 300
        while not what():
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.05)

    def log(self):
        return (self.folder / "search.log").read_text() if (self.folder / "search.log").exists() else "there is no log"

    def is_free(self):
        """Whether no background search works in the folder."""
        with open(self.folder / "search.lock", "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def background(self, *more):
        """The last line of a background search that was asked for by hand."""
        command = [search.program(), "--store", str(self.folder), "--device", "cpu", "--background", *more]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=search.surroundings())
        return json.loads(done.stdout.splitlines()[-1])["event"]

    def test_now_searches_and_confirms_in_the_first_call(self):
        model, x = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU()).eval(), torch.randn(4, 8)
        line, count = self.calls_of(model, x, search="now", budget="200s")
        self.assertIn("region 1/1: verified", line)
        self.assertEqual(count, 1)
        (key, binding), = self.records("graphs").items()
        self.assertEqual(binding["regions"], binding["tried"])
        self.assertIsNotNone(next(iter(self.records("jobs").values()))["profile"])
        self.assertEqual(self.calls_of(model, x, search="now"), ("", 1))
        for binding, count in (({"regions": [], "tried": binding["tried"]}, 0), ({"regions": [], "tried": ["0" * 64]}, 1)):
            core.ask("write", kind="binding", key=key, record=binding, **self.place)  # plans lost before, all of these or another
            self.assertEqual(self.calls_of(model, x, search="now"), ("", count))
        core.ask("write", kind="binding", key=key, record={"regions": []}, **self.place)
        self.assertEqual(self.calls_of(model, x), ("", 0))
        self.assertEqual(self.calls_of(model, x, search="background"), ("", 1))
        self.assertFalse((self.folder / "search.log").exists())  # nothing waited

    def test_background_searches_beside_the_program(self):
        model, x = nn.Sequential(nn.Linear(8, 12), nn.GELU()).eval(), torch.randn(4, 8)
        self.assertEqual(self.calls_of(model, x), ("", 0))
        (key, job), = self.records("jobs").items()
        self.assertIsNone(job["profile"])  # queued before any call
        self.assertEqual(self.calls_of(model, x, search="background"), ("", 0))
        self.wait_for(self.is_free)
        self.assertEqual(self.records("jobs")[key]["searched"]["outcome"], "verified", self.log())
        self.assertIn('"event":"end"', self.log())
        self.assertEqual(self.records("graphs"), {})
        self.assertEqual(self.calls_of(model, x, search="background"), ("", 1))
        self.assertEqual([one["tried"] for one in self.records("graphs").values()], [[key]])

    def test_one_background_search_works_in_a_folder(self):
        self.calls_of(nn.Sequential(nn.Linear(8, 10), nn.GELU()).eval(), torch.randn(4, 8))
        with open(self.folder / "search.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(self.background(), "busy")
        self.assertFalse((self.folder / "search.log").exists())
        self.assertEqual(self.background(), "background")
        self.wait_for(self.is_free)  # at once: what the job's inputs are like is not known
        self.assertEqual(self.records("plans"), {})

    def test_a_background_search_ends_with_its_parent_or_by_a_signal(self):
        model = nn.Sequential(nn.Linear(8, 14), nn.GELU()).eval()
        self.calls_of(model, torch.randn(4, 8))
        (key, job), = self.records("jobs").items()
        job = dict(job, profile=[None] * len(job["program"]["inputs"]), program=dict(job["program"], operators=[]))
        core.ask("write", kind="job", key=key, record=job, **self.place)
        runner = self.folder / "runner"  # stands for one that never answers
        runner.write_text("#!/bin/sh\nexec sleep 1000\n")
        runner.chmod(0o755)
        for end in ("parent", "signal"):
            with subprocess.Popen(["sleep", "1000"]) as parent, self.subTest(end):
                try:
                    self.assertEqual(self.background("--parent", str(parent.pid), "--runner", f"stdio:{runner}"), "background")
                    self.wait_for(lambda: "pid" in self.log())
                    self.assertFalse(self.is_free())
                    if end == "signal":
                        os.kill(json.loads(self.log().splitlines()[0])["pid"], signal.SIGTERM)
                    else:
                        parent.kill()
                        parent.wait()
                    self.wait_for(self.is_free)
                finally:
                    parent.kill()
            self.assertNotIn("searched", self.records("jobs")[key])

    def test_training_is_as_without_a_search(self):
        def trained(form, model):
            model.load_state_dict(start)
            torch.manual_seed(5)
            found = []
            for _ in range(2):
                y = form(x)
                found += [y.detach(), *torch.autograd.grad(y.square().sum(), list(model.parameters()))]
            return found + [one.clone() for one in model.buffers()] + [torch.get_rng_state()]

        model, x = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU(), nn.Dropout(0.3)).train(), torch.randn(2, 3, 8, 8)
        start = {key: value.clone() for key, value in model.state_dict().items()}
        wanted = trained(torch.compile(model), model)
        torch._dynamo.reset()
        with contextlib.redirect_stderr(io.StringIO()):
            got = trained(self.compiled(model, store=self.store, search="now", budget="200s"), model)
        for one, other in zip(wanted, got):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
        self.assertTrue(any(one["regions"] for one in self.records("graphs").values()), self.records("graphs"))

    def test_a_fault_leaves_the_graph_to_inductor(self):
        del os.environ["WARPWRIGHT_RAISE"]
        self.addCleanup(os.environ.__setitem__, "WARPWRIGHT_RAISE", "1")
        self.addCleanup(setattr, search, "program", search.program)
        search.program = lambda: "/nonexistent/warpwright-search"
        model, x = nn.Sequential(nn.Linear(8, 18), nn.GELU()).eval(), torch.randn(4, 8)
        for mode in dynamo.ONLINE:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                self.assertEqual(self.calls_of(model, x, search=mode), ("", 0))
            self.assertLessEqual(sum("Inductor's alone" in str(one.message) for one in said), 1)  # once for both
        self.assertTrue(any("nonexistent" in text for text in dynamo._said))

    def test_a_region_inside_a_graph_draws_values_like_those_of_the_call(self):
        class Counter(nn.Module):
            def forward(self, x, state):
                doubled = torch.ops.aten.mul.Tensor(torch.ops.aten.exp.default(x), 2)
                torch.ops.aten.copy_.default(state, doubled)
                return doubled

        gm = torch.fx.symbolic_trace(Counter())
        captured = types.SimpleNamespace(gm=gm, device=torch.device("cpu"), regions=[{"inputs": [{"name": "x"}, {"name": "mul_tensor"}]}])
        x, state = torch.randn(4, 8), torch.zeros(4, 8)
        found = search.Captured.profiles(captured, {"x": x, "state": state})
        self.assertEqual(found, {"x": jobs.profile_of(x), "mul_tensor": jobs.profile_of(2 * x.exp())})
        self.assertEqual(float(state.abs().max()), 0)  # the run wrote nothing
        captured.gm = torch.fx.symbolic_trace(lambda x, state: torch.ops.aten.add_.Tensor(torch.ops.aten.mul.Tensor(x, 2), 1))
        with self.assertWarnsRegex(RuntimeWarning, "1 values inside a graph are not known"):
            captured.regions = [{"inputs": [{"name": "x"}, {"name": "add__tensor"}]}]
            self.assertEqual(search.Captured.profiles(captured, {"x": x, "state": state}), {"x": jobs.profile_of(x)})
        captured.gm = torch.fx.symbolic_trace(lambda x, state: torch.ops.aten.add_.Tensor(torch.ops.aten.mul.Tensor(x, 2), torch.ops.aten.exp.default(state)))
        captured.regions = [{"inputs": [{"name": "exp_default"}, {"name": "add__tensor"}]}]
        with self.assertWarnsRegex(RuntimeWarning, "1 values inside a graph are not known: .*add_.* writes"):
            self.assertEqual(search.Captured.profiles(captured, {"x": x, "state": state}), {"exp_default": jobs.profile_of(state.exp())})

    def test_a_profile_says_along_which_dimension_integers_ascend(self):
        offsets = torch.tensor([[0, 2, 2, 5], [0, 0, 1, 3]])
        self.assertEqual(jobs.profile_of(offsets), {"low": 0, "high": 5, "ascending": 1})
        self.assertEqual(jobs.profile_of(offsets.T)["ascending"], 0)
        for value in (torch.tensor([3, 1, 2]), torch.tensor([200, 100], dtype=torch.uint8), torch.tensor(3), torch.tensor([[3]])):
            self.assertNotIn("ascending", jobs.profile_of(value))

    def test_a_profile_keeps_a_negative_number_that_stands_for_no_index(self):
        targets = torch.tensor([5, -100, 2, 7])
        self.assertEqual(jobs.profile_of(targets), {"low": 2, "high": 7, "mark": {"value": -100, "share": 0.25}, "distinct": -1})
        for value in (torch.tensor([3, -1, -2]), torch.tensor([-1, -1]), torch.tensor([4, 1])):
            self.assertNotIn("mark", jobs.profile_of(value))
        few = jobs.profile_of(torch.tensor([0, -100, 1, 2]))  # four numbers, and three to draw from
        self.assertEqual(few, {"low": 0, "high": 2, "mark": {"value": -100, "share": 0.25}})

    def test_a_profile_says_which_integers_of_a_range_occur_and_where_none_occurs_twice(self):
        labels = torch.tensor([[0, 1, 255, 1], [0, 0, 0, 0], [1, 1, 1, 255]])
        self.assertEqual(jobs.profile_of(labels), {"low": 0, "high": 255, "values": [0, 1, 255], "shares": [5 / 12, 5 / 12, 2 / 12]})
        experts = torch.tensor([[2, 0], [0, 2], [1, 2]])
        self.assertEqual(jobs.profile_of(experts), {"low": 0, "high": 2, "distinct": 1})
        self.assertEqual(jobs.profile_of(torch.tensor([[7, 3], [1, 4]]))["distinct"], -1)
        self.assertEqual(jobs.profile_of(torch.tensor([True, False, True, True])), {"share": 0.75})

    def test_a_region_that_only_the_values_of_a_call_keep_finite_is_searched(self):
        class Decay(nn.Module):
            def forward(self, w, labels, scores):
                seen = torch.where(labels == 255, 0, labels)
                return torch.exp(torch.cumsum(torch.exp(w), -1)) * torch.exp(-torch.cumsum(torch.exp(w), -1)), torch.gather(scores, 1, seen)

        w, labels = torch.linspace(-6, -1, 32).expand(8, 32).clone(), torch.randint(0, 4, (8, 32))
        labels[:, ::5] = 255
        line, count = self.calls_of(Decay().eval(), w, labels, torch.randn(8, 4), search="now", budget="200s")
        self.assertNotIn("no plan", line)

    def test_offsets_of_bags_are_drawn_so_that_the_region_runs(self):
        class Bags(nn.Module):
            def __init__(self):
                super().__init__()
                self.bag = nn.EmbeddingBag(20, 8, mode="sum")

            def forward(self, indices, offsets):
                return F.gelu(self.bag(indices[1], offsets[1])) * 2

        offsets = torch.randint(0, 30, (2, 12)).sort(1).values
        offsets[:, 0] = 0
        model, inputs = Bags().eval(), (torch.randint(0, 20, (2, 30)), offsets)
        line, count = self.calls_of(model, *inputs, search="now", budget="200s")
        self.assertIn("region 1/1: verified", line)
        self.assertEqual(count, 1)

    def test_a_graph_that_cannot_run_one_by_one_is_compiled_for_its_capture(self):
        def fails(*_):
            raise RuntimeError("no kernel")

        model, x, session = nn.Sequential(nn.Linear(8, 8), nn.GELU()).eval(), torch.randn(4, 8), search.Recording()
        copied, first = dynamo.graphs.copied, [fails]
        with unittest.mock.patch.object(dynamo.graphs, "copied", lambda gm: first.pop() if first else copied(gm)):
            with self.assertWarnsRegex(RuntimeWarning, "one by one: no kernel"):
                outputs = search.run_model(model, (x,), {}, False, session, None)
        torch.testing.assert_close(outputs, model(x))
        self.assertEqual([len(graph.waiting) for graph in session.graphs.values()], [1])

    def test_a_job_keeps_the_first_profile(self):
        region = {"key": "a" * 64, "has_plan": False, "program": {}, "sizes": {}, "inputs": [{"name": "x"}, {"name": "inner"}]}
        for value, low in ((None, None), (torch.tensor([3, 4]), 3), (torch.tensor([5]), 3)):
            profiles = None if value is None else lambda: {"x": jobs.profile_of(value)}
            self.assertEqual(jobs.queue([region], self.place, profiles), [region["key"]])
            profile = self.records("jobs")[region["key"]]["profile"]
            self.assertEqual(low, profile and profile[0]["low"])


if __name__ == "__main__":
    unittest.main()
