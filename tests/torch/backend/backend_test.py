"""torch.compile(backend=warpwright.backend) without a GPU: regions, the exchange, the operator, options, the package. argv[1]: the build's
bin folder."""

import os
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

from backend_case import BIN, Case  # first: it names the folders of what follows

import torch
import torch.nn as nn
import torch.nn.functional as F

import changes
import warpwright
from warpwright import calls, core, dynamo, search


class Constants(nn.Module):
    """A tensor made from numbers in forward, which the graph holds as a constant."""

    def forward(self, x):
        return (x * torch.tensor([1.0, 2.0, 3.0, 4.0])).exp() + 1


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.scale, self.act = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), 2.0, F.relu

    def forward(self, x):
        return self.act(self.bn(self.conv(x))) * self.scale


class Tied(nn.Module):
    """Outputs that share memory, one that is an input, and a view."""

    def forward(self, x):
        y = x.relu() * 2
        return y, y[1:], x, y.view(-1)

class Odd(nn.Module):
    def forward(self, x):
        spectrum = torch.view_as_real(torch.fft.rfft(x))
        return spectrum.sum() + torch.nonzero(x > 0).sum() + x.softmax(-1).log().mean()




class Regions(Case):
    """Every legal region exchanged for its ATen program through the operator."""

    def test_modules_in_evaluation(self):
        image = torch.randn(2, 3, 16, 16)
        for model, inputs in ((nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU()), (torch.randn(4, 8),)),
                              (Norms(), (image,)), (Norms().to(memory_format=torch.channels_last), (image.to(memory_format=torch.channels_last),)),
                              (nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (torch.randn(2, 10, 32),)),
                              (nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0), (torch.randn(2, 10, 32),)),
                              (Tied(), (torch.randn(3, 4),)), (Constants(), (torch.randn(3, 4),)), (Odd(), (torch.randn(4, 16),)), (nn.LSTM(8, 8), (torch.randn(3, 2, 8),))):
            with self.subTest(type(model).__name__):
                torch._dynamo.reset()
                before, graphs = self.calls, self.graphs
                self.same(model, *inputs)
                if self.graphs > graphs:  # Dynamo leaves some modules to eager mode, and PyTorch's caches know some graphs
                    self.assertGreater(self.calls, before)
        self.assertGreaterEqual(self.graphs, 5)

    def test_inputs_that_lie_otherwise_in_memory(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))
        base = torch.randn(16, 16)
        for x in (base[:8, :8].t(), base[::2, ::2], base.flatten()[1:65].view(8, 8), torch.randn(1, 8).expand(8, 8)):
            self.same(model, x)

    def test_a_list_of_one_tensor(self):
        class Split(nn.Module):
            def forward(self, x):
                (only,) = x.sigmoid().split(8, dim=1)
                return only * 2 + 1

        self.same(Split(), torch.randn(4, 8))
        self.assertGreater(self.calls, 0)

    def test_gradients(self):
        model, x = Norms(), torch.randn(2, 3, 8, 8)
        compiled = self.compiled(model, force=True)
        grads = []
        for form in (model, compiled):
            model.bn.reset_running_stats()
            outputs = form(x)
            grads.append(torch.autograd.grad(outputs.square().sum(), list(model.parameters())) + (model.bn.running_var.clone(),))
        for one, other in zip(*grads):
            torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)
        self.assertGreaterEqual(self.calls, 2)

    def test_changed_states_of_a_compiled_module(self):
        model, x = Norms(), torch.randn(2, 3, 8, 8)
        compiled = self.compiled(model.train(), force=True)
        changes = (lambda: model.eval(), lambda: model.bn.train(), lambda: model.bn.eval(), lambda: setattr(model, "scale", 3.0),
                   lambda: setattr(model, "act", F.gelu), lambda: model.conv.weight.data.mul_(2),
                   lambda: model.load_state_dict({key: value * 0.5 if value.is_floating_point() else value for key, value in model.state_dict().items()}),
                   lambda: setattr(model, "conv", nn.Conv2d(3, 8, 1)))
        for number, change in enumerate(changes):
            change()
            with torch.no_grad(), self.subTest(number):
                statistics = {key: value.clone() for key, value in model.bn.state_dict().items()}
                wanted = model(x)
                model.bn.load_state_dict(statistics)
                torch.testing.assert_close(wanted, compiled(x), atol=1e-4, rtol=1e-4)
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            model.eval()
            torch.testing.assert_close(model(x), compiled(x), atol=3e-2, rtol=3e-2)

    def test_a_dynamic_batch_is_right(self):
        model = nn.Sequential(nn.Linear(8, 16), nn.GELU())
        compiled = torch.compile(model, backend=warpwright.backend, dynamic=True, options={"warpwright.force": True})
        for batch in (2, 3, 7, 64):
            self.same(model, torch.randn(batch, 8), compiled=compiled)


class Exchange(Case):
    """Graphs made by hand, exchanged."""

    @staticmethod
    def exchanged(build, *values):
        """The names of operators in the graph that `build` makes, after its regions were exchanged."""
        graph = torch.fx.Graph()

        def made(target, *args, **kwargs):
            node = graph.call_function(target, args, kwargs)
            node.meta["val"] = target(*[one.meta["val"] if isinstance(one, torch.fx.Node) else one for one in args], **kwargs)
            return node

        given = [graph.placeholder(f"x{index}") for index in range(len(values))]
        for node, one in zip(given, values):
            node.meta["val"] = one
        graph.output(build(made, *given))
        gm = torch.fx.GraphModule(nn.Module(), graph)
        found = dynamo.look(gm, "default")
        return gm, dynamo.with_plans(gm, found["regions"], found["ordered"])

    def test_random_operators_keep_their_order(self):
        ops = torch.ops.aten

        def build(made, x):
            late = made(ops.rand_like.default, made(ops.exp.default, made(ops.neg.default, x)))
            early = made(ops.randn_like.default, x)
            return made(ops.add.Tensor, made(ops.mul.Tensor, late, 2.0), early),

        gm, changed = self.exchanged(build, torch.randn(4))
        names = [str(node.target) for node in changed.graph.nodes]
        self.assertIn("warpwright.call.default", names)
        self.assertLess(names.index("aten.rand_like.default"), names.index("aten.randn_like.default"))
        x, results = torch.randn(4), []
        for form in (gm, changed):
            torch.manual_seed(3)
            results.append(form(x)[0])
        torch.testing.assert_close(*results)

    def test_nothing_passes_a_node_that_writes(self):
        ops = torch.ops.aten

        def build(made, x, y):
            doubled = made(ops.mul.Tensor, made(ops.rand_like.default, x), 0.0)
            before = made(ops.add.Tensor, made(ops.exp.default, made(ops.add.Tensor, x, doubled)), 1.0)
            written = made(ops.copy_.default, x, y)
            after = made(ops.add.Tensor, made(ops.exp.default, x), 1.0)
            return before, after, written

        gm, changed = self.exchanged(build, torch.randn(4), torch.randn(4))
        x, y, results = torch.randn(4), torch.randn(4), []
        for form in (gm, changed):
            results.append(form(x.clone(), y))
        for one, other in zip(*results):
            torch.testing.assert_close(one, other)
        self.assertFalse(torch.equal(results[0][0], results[0][1]))

    def test_cudnns_sampler_is_described_as_that_of_all_devices(self):
        graph, ops = torch.fx.Graph(), torch.ops.aten
        node = graph.call_function(ops.cudnn_grid_sampler.default, (graph.placeholder("x"), graph.placeholder("grid")))
        node.meta["val"] = torch.randn(1, 2, 3, 3)
        found = dynamo.graphs.node_json(node, {})
        self.assertEqual((found["op"], list(found["args"][2:])), ("aten.grid_sampler_2d.default", [0, 0, True]))
        name = dynamo.graphs.function_of(found["op"])
        self.assertEqual(len(name._schema.arguments), len(found["args"]))

    def test_a_view_of_what_lies_otherwise_in_memory(self):
        """A region's input with gaps is copied, so what is computed from it is contiguous, where the graph's is not."""
        ops = torch.ops.aten

        def build(made, x):
            y = made(ops.exp.default, made(ops.neg.default, x))
            return made(ops.add.Tensor, made(ops.view.default, made(ops.permute.default, y, [1, 0]), [-1]), 1.0),

        x = torch.randn(6, 8).t()[:5]
        gm, changed = self.exchanged(build, x)
        torch.testing.assert_close(gm(x)[0], changed(x)[0])


class Randomness(Case):
    def test_masks_of_dropout_are_inductors_and_stay_outside_regions(self):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.4), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 8), nn.Dropout(0.2)).train()
        x, programs, results, look = torch.randn(16, 8), [], [], dynamo.look

        def looked(*given):
            answer = look(*given)
            programs.extend(region["program"] for region in answer["regions"])
            return answer

        dynamo.look = looked
        self.addCleanup(setattr, dynamo, "look", look)
        for form in (torch.compile(model), self.compiled(model, force=True)):
            for seed in (3, 4):
                torch.manual_seed(seed)
                y = form(x)
                results.append((y.detach(), *torch.autograd.grad(y.square().sum(), list(model.parameters()))))
        for one, other in zip(results[0] + results[1], results[2] + results[3]):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
        self.assertFalse(torch.equal(results[2][0] == 0, results[3][0] == 0))  # other masks by another seed
        self.assertGreaterEqual(self.calls, 4)
        drawn = {one["op"] for program in programs for one in program["operators"]
                 if "rand" in one["op"] or "dropout" in one["op"] or "bernoulli" in one["op"]}
        self.assertEqual(drawn, set())


class Operator(Case):
    """PyTorch's own checks of a custom operator: its schema, its fake tensors, and its use in graphs."""

    def calls_of(self, model, *inputs):
        """(inputs, plan) of each call that the compiled model makes."""
        found, original = [], calls.CALL
        program = calls.Bound.otherwise

        def noted(bound, given, sizes):
            plan = next(plan for (plan, _), one in calls._bound.items() if one is bound)
            found.append(([one.detach().clone() for one in given], plan))
            return program(bound, given, sizes)

        calls.Bound.otherwise = noted
        with torch.no_grad():
            self.compiled(model.eval(), force=True)(*inputs)
        calls.Bound.otherwise = program
        self.assertTrue(found and original is calls.CALL)
        return found

    def test_it_passes_opcheck_however_its_inputs_lie_in_memory(self):
        image = torch.randn(2, 3, 8, 8)
        models = ((nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU()), torch.randn(4, 8)), (Norms(), image),
                  (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), torch.randn(2, 5, 16)))
        for model, x in models:
            torch._dynamo.reset()
            for given, plan in self.calls_of(model, x):
                for layout in (lambda one: one, changes.permuted, changes.offset, changes.expanded, changes.gapped, changes.channels_last):
                    with self.subTest((type(model).__name__, getattr(layout, "__name__", ""))):
                        changed = [layout(one) for one in given]
                        checks = ["test_schema", "test_autograd_registration", "test_faketensor"]
                        checks += ["test_aot_dispatch_dynamic"] if layout is changes.offset and type(model) is nn.Sequential else []
                        torch.library.opcheck(calls.CALL, (changed, [], plan), test_utils=checks)
                        for one, other in zip(calls.CALL(changed, [], plan), calls.CALL([one.contiguous() for one in changed], [], plan)):
                            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
                            self.assertTrue(one.is_contiguous())


class FirstCalls(Case):
    """The option warpwright.check, with kernels that a function stands for."""

    def bound_to(self, kernels):
        """(inputs, plan, its binding, which names the operator runs by kernels)"""
        (inputs, plan), *_ = Operator.calls_of(self, nn.Sequential(nn.Linear(8, 16), nn.GELU()), torch.randn(4, 8))
        bound, ran, names = calls.bound(plan, inputs[0].device), [], []
        extension = types.SimpleNamespace(bind_region=lambda binding: names.append(binding[0].removeprefix(plan)))
        bound.kernels[()] = types.SimpleNamespace(functions=[None], extension=extension, runs=lambda: len(ran), fallbacks=dict)
        bound.left = 2

        def operator(given, sizes, name):
            self.assertEqual((sizes, name), ((), plan + calls.CHECKED))
            ran.append(name)
            return kernels(bound.run(given, sizes))

        self.addCleanup(setattr, calls, "CALL", calls.CALL)
        calls.CALL = operator
        return inputs, plan, bound, names

    def test_right_kernels_answer_alone_afterwards(self):
        inputs, plan, bound, names = self.bound_to(lambda outputs: outputs)
        for _ in range(2):
            self.assertEqual(names, [])
            torch.testing.assert_close(calls.call(inputs, [], plan), bound.run(inputs, ()))
        self.assertEqual(names, [""])

    def test_wrong_kernels_are_quarantined_and_never_answer(self):
        inputs, plan, bound, names = self.bound_to(lambda outputs: [2 * one for one in outputs])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(3):
                torch.testing.assert_close(calls.call(inputs, [], plan), bound.run(inputs, ()))
        self.assertEqual(names, [])
        self.assertEqual([one.category for one in said], [RuntimeWarning])
        self.assertIn("differed from its ATen program", str(said[0].message))
        calls.reset()
        self.assertRegex(calls.bound(plan, inputs[0].device).why, "quarantined: output 0 differed")


class Choices(Case):
    def test_an_unknown_option_is_named(self):
        with self.assertRaisesRegex(Exception, "no option warpwright.serch"):
            self.compiled(nn.Linear(2, 2), serch="off")(torch.randn(1, 2))

    def test_a_value_that_an_option_does_not_take_is_answered_with_those_that_it_takes(self):
        for text, option in (("search is 'later', and takes 'off', 'queue', 'background', 'now'", {"search": "later"}),
                             ("check is 'all', and takes a number of calls", {"check": "all"}), ("'soon' is not a time", {"budget": "soon"})):
            with self.assertRaisesRegex(Exception, text):
                self.compiled(nn.Linear(2, 2), **option)(torch.randn(1, 2))

    def test_without_records_inductor_gets_the_graph_as_it_is(self):
        seen = []
        original = dynamo.inductor.compile_fx_inner
        dynamo.inductor.compile_fx_inner = lambda gm, *given, **more: seen.append(gm) or original(gm, *given, **more)
        self.addCleanup(setattr, dynamo.inductor, "compile_fx_inner", original)
        self.same(nn.Sequential(nn.Linear(8, 8), nn.GELU()), torch.randn(4, 8), compiled=None)
        torch._dynamo.reset()
        model = nn.Sequential(nn.Linear(8, 8), nn.GELU()).eval()
        with torch.no_grad():
            self.compiled(model)(torch.randn(4, 8))
        targets = {str(node.target) for node in seen[-1].graph.nodes}
        self.assertNotIn("warpwright.call.default", targets)

    def test_a_region_nobody_searched_is_queued_once(self):
        with tempfile.TemporaryDirectory() as store:
            for _ in range(2):
                torch._dynamo.reset()
                with torch.no_grad():
                    self.compiled(nn.Sequential(nn.Linear(6, 6), nn.GELU()).eval(), store=store)(torch.randn(4, 6))
            found = [name for _, _, names in os.walk(store) for name in names if name != "environment.json"]
            self.assertEqual(len(found), 1)

    def test_a_fault_of_ours_leaves_the_graph_to_inductor(self):
        del os.environ["WARPWRIGHT_RAISE"]
        self.addCleanup(os.environ.__setitem__, "WARPWRIGHT_RAISE", "1")
        original = core.ask
        core.ask = lambda name, **_: (_ for _ in ()).throw(core.CoreError("broken")) if name == "regions" else original(name, **_)
        self.addCleanup(setattr, core, "ask", original)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.same(nn.Linear(8, 8), torch.randn(4, 8), compiled=self.compiled(nn.Linear(8, 8).eval()) and None)
        self.assertTrue(any("Inductor's alone" in str(one.message) for one in said))

    def test_deterministic_algorithms_leave_the_graph_to_inductor(self):
        model, x = nn.Sequential(nn.Linear(4, 4), nn.GELU()), torch.randn(3, 4)
        self.addCleanup(os.environ.__setitem__, "WARPWRIGHT_RAISE", os.environ.pop("WARPWRIGHT_RAISE"))
        self.addCleanup(torch.use_deterministic_algorithms, False)
        compiled = self.compiled(model, force=True)
        self.same(model, x, compiled=compiled)
        self.assertEqual(self.calls, 1)
        torch.use_deterministic_algorithms(True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.same(model, x, compiled=compiled)
        self.assertEqual(self.calls, 1)
        self.assertIn("deterministic algorithms are requested", " ".join(str(one.message) for one in said))

    def test_budgets(self):
        self.assertEqual([search.seconds_of(one) for one in (5, "90s", "10min", "1 h")], [5, 90, 600, 3600])
        with self.assertRaisesRegex(ValueError, "not a time"):
            search.seconds_of("soon")

    def test_example_inputs_that_are_no_tuple(self):
        with self.assertRaisesRegex(TypeError, r"optimize\(model, \(x,\)\)"):
            warpwright.optimize(nn.Linear(2, 2), torch.randn(1, 2))

class Modules(unittest.TestCase):
    """A sample of states.py and training.py; what is not installed here counts as skipped."""

    def script(self, name, *arguments):
        command = [sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), name), BIN, *arguments]
        place = {key: value for key, value in os.environ.items() if key != "WARPWRIGHT_STORE"}
        done = subprocess.run(command, capture_output=True, text=True, env=place)
        return done.returncode, done.stdout + done.stderr

    def test_states_of_plain_modules(self):
        code, text = self.script("states.py", "--only", "perceptron,conv_norm,faster_rcnn",
                                 "--states", "eval,submodule_trains,attribute,lora_in,lora_out,weights_in_place,train")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, "[23] right")

    def test_training_of_plain_modules(self):
        code, text = self.script("training.py", "--only", "gin", "--steps", "10")
        self.assertEqual(code, 0, text)

    def test_wrong_results_are_found(self):
        code, text = self.script("states.py", "--only", "dit_block", "--states", "eval", "--plant")
        self.assertEqual((code, "dit_block" in text and "1 wrong" in text), (1, True), text)


class Package(unittest.TestCase):
    def test_importing_it_imports_no_torch(self):
        code = f"import sys; sys.path.insert(0, {os.path.join(BIN, 'torch')!r}); import warpwright; print('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip(), "False")


if __name__ == "__main__":
    unittest.main()
