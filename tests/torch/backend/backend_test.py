"""torch.compile(backend=warpwright.backend) and warpwright.optimize, without a GPU: regions, the operator, the store, the search on the CPU
backend. Needs torch 2.6 or later (scripts/torch2-root.sh). argv[1]: the build's bin folder."""

import io
import json
import os
import shutil
import sys
import tempfile
import unittest
import warnings

BIN = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BIN, "torch"))
STORE = tempfile.mkdtemp(prefix="warpwright-store-")
os.environ.update(WARPWRIGHT_STORE=STORE, WARPWRIGHT_RAISE="1", TORCHINDUCTOR_CACHE_DIR=tempfile.mkdtemp(prefix="inductor-"))

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import warpwright  # noqa: E402
from warpwright import calls, core, dynamo, environment, search  # noqa: E402


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


def leaves(value):
    return [one for one in torch.utils._pytree.tree_leaves(value) if isinstance(one, torch.Tensor)]


class Case(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.calls = 0
        original = calls.Bound.otherwise

        def counted(bound, inputs):
            self.calls += 1
            return original(bound, inputs)

        calls.Bound.otherwise = counted
        self.graphs = 0
        look = dynamo.look

        def looked(*given):
            self.graphs += 1
            return look(*given)

        dynamo.look = looked
        self.addCleanup(setattr, dynamo, "look", look)
        self.addCleanup(setattr, calls.Bound, "otherwise", original)

    def compiled(self, model, **options):
        return torch.compile(model, backend=warpwright.backend, options={"warpwright." + key: value for key, value in options.items()})

    def same(self, model, *inputs, compiled=None, train=False):
        model.train(train)
        compiled = compiled or self.compiled(model, force=True)
        with torch.set_grad_enabled(train):
            wanted, got = leaves(model(*inputs)), leaves(compiled(*inputs))
        self.assertEqual(len(wanted), len(got))
        for one, other in zip(wanted, got):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
            self.assertEqual(one.stride(), other.stride())
        return wanted, got


class Regions(Case):
    """Every legal region exchanged for its ATen program through the operator."""

    def test_modules_in_evaluation(self):
        image = torch.randn(2, 3, 16, 16)
        for model, inputs in ((nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU()), (torch.randn(4, 8),)),
                              (Norms(), (image,)), (Norms().to(memory_format=torch.channels_last), (image.to(memory_format=torch.channels_last),)),
                              (nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (torch.randn(2, 10, 32),)),
                              (nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0), (torch.randn(2, 10, 32),)),
                              (Tied(), (torch.randn(3, 4),)), (Odd(), (torch.randn(4, 16),)), (nn.LSTM(8, 8), (torch.randn(3, 2, 8),))):
            with self.subTest(type(model).__name__):
                torch._dynamo.reset()
                before, graphs = self.calls, self.graphs
                self.same(model, *inputs)
                self.assertEqual(self.calls > before, self.graphs > graphs)  # Dynamo leaves some modules to eager mode
        self.assertGreaterEqual(self.graphs, 5)

    def test_inputs_that_lie_otherwise_in_memory(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))
        base = torch.randn(16, 16)
        for x in (base[:8, :8].t(), base[::2, ::2], base.flatten()[1:65].view(8, 8), torch.randn(1, 8).expand(8, 8)):
            self.same(model, x)

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


class Choices(Case):
    def test_an_unknown_option_is_named(self):
        with self.assertRaisesRegex(Exception, "no option warpwright.serch"):
            self.compiled(nn.Linear(2, 2), serch="off")(torch.randn(1, 2))

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

    def test_budgets(self):
        self.assertEqual([search.seconds_of(one) for one in (5, "90s", "10min", "1 h")], [5, 90, 600, 3600])
        with self.assertRaisesRegex(ValueError, "no time"):
            search.seconds_of("soon")

    def test_example_inputs_that_are_no_tuple(self):
        with self.assertRaisesRegex(TypeError, r"optimize\(model, \(x,\)\)"):
            warpwright.optimize(nn.Linear(2, 2), torch.randn(1, 2))


class Search(Case):
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
        self.gone(model, x, wanted)

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

    def test_a_model_that_was_not_optimised_has_no_report(self):
        with self.assertRaisesRegex(ValueError, "call warpwright.optimize"):
            warpwright.report(nn.Linear(2, 2))


class Package(unittest.TestCase):
    def test_importing_it_imports_no_torch(self):
        import subprocess
        code = f"import sys; sys.path.insert(0, {os.path.join(BIN, 'torch')!r}); import warpwright; print('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip(), "False")


if __name__ == "__main__":
    unittest.main()
