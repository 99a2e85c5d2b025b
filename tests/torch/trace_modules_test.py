"""Whole modules: recurrent, transformers, state, writes in place through views, several inputs and outputs."""
import unittest

from trace_cases import TraceCase, compare, source

TRANSFORMER = """
import math, torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass

@dataclass
class Settings:
    width: int = 16
    heads: int = 4

class Attention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.qkv, self.out = nn.Linear(s.width, 3 * s.width), nn.Linear(s.width, s.width)
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = (part.view(b, t, self.s.heads, -1).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, c))

class Block(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.one, self.two = nn.LayerNorm(settings.width), nn.LayerNorm(settings.width)
        self.attention = Attention(settings)
        self.mlp = nn.ModuleDict({"up": nn.Linear(settings.width, 64), "down": nn.Linear(64, settings.width)})

    def forward(self, x):
        x = x + self.attention(self.one(x))
        return x + self.mlp["down"](F.gelu(self.mlp["up"](self.two(x)), approximate="tanh"))

Model = Block
def get_inputs():
    return [torch.randn(2, 8, 16)]
def get_init_inputs():
    return [Settings()]
"""


NESTED = """
import torch
class Model(torch.nn.Module):
    def forward(self, x, factor, rest):
        y, name = rest["y"]
        return x * factor, [x + y, {"z": y}]
def get_inputs():
    return [torch.randn(2), 3.5, {"y": (torch.randn(2), "a'b")}]
"""


class Modules(TraceCase):
    def test_how_it_is_called_is_told_with_constants(self):
        call = self.check(NESTED)["call"]
        self.assertEqual(eval(call["inputs"]), [..., 3.5, {"y": (..., "a'b")}])
        self.assertEqual(eval(call["outputs"]), (..., [..., {"z": ...}]))

    def test_a_transformer_block_has_no_opaque_node(self):
        traced = self.check(TRANSFORMER)
        self.assertNotIn("aten", {node["op"] for node in traced["graph"]["nodes"]})

    def test_torchs_own_transformer_layer(self):
        init = "self.f = nn.TransformerEncoderLayer(8, 2, 16, dropout=%s, batch_first=True)"
        self.check(source("self.f(x)", "torch.randn(2, 5, 8)", init % "0.0"))
        self.check(source("self.f(x)", "torch.randn(2, 5, 8)", init % "0.1"), mode="eval")

    def test_recurrent_layers_are_one_node(self):
        for name in ("LSTM", "GRU", "RNN"):
            with self.subTest(name):
                init = "self.f = nn.%s(4, 6, 2, batch_first=True, bidirectional=True)" % name
                traced = self.check(source("self.f(x)[0]", "torch.randn(2, 5, 4)", init))
                self.assertEqual([n["op"] for n in traced["graph"]["nodes"]].count("aten"), 1)
        self.check(source("self.f(x)", "torch.randn(5, 2, 4)", "self.f = nn.LSTM(4, 6)"))
        self.check(source("self.f(x, (x * 2)[:, :3])", "torch.randn(2, 4)", "self.f = nn.GRUCell(4, 3)"))
        self.check(source("self.f(x)", "torch.randn(2, 4)", "self.f = nn.LSTMCell(4, 3)"))

    def test_state_is_updated(self):
        init = "self.register_buffer('count', torch.zeros(()))\nself.register_buffer('last', torch.zeros(4))"
        traced = self.check(source("self.count += 1\nself.last = x.mean(0)\nreturn x * self.count", init=init))
        self.assertEqual([u["parameter"] for u in traced["graph"]["updates"]], ["count", "last"])
        self.assertEqual([b["direction"] for b in traced["buffers"]], ["in", "inout", "inout", "out"])

    def test_a_plain_attribute_that_is_read_is_a_leaf(self):
        traced = self.check(source("self.h = torch.tanh(x + self.h)\nreturn self.h", init="self.h = torch.randn(3, 4)\nself.unused = torch.ones(2)"))
        self.assertEqual([(b["torch_name"], b["direction"]) for b in traced["buffers"]], [("x", "in"), ("h", "inout"), ("output", "out")])

    def test_an_input_may_have_an_attributes_name(self):
        traced = self.check(source("h * 2", "torch.randn(4)", "self.h = torch.randn(4)", "h"))
        self.assertEqual([(b["name"], b["direction"]) for b in traced["buffers"]], [("h", "in"), ("output", "out")])
        traced = self.check(source("h + self.h", "torch.randn(4)", "self.h = nn.Parameter(torch.randn(4))", "h"))
        self.assertEqual([b["name"] for b in traced["buffers"]], ["h", "h_v1", "output"])

    def test_tensors_in_lists_are_constants(self):
        self.check(source("x + self.parts[0] + self.parts[1]", init="self.parts = [torch.ones(4), torch.tensor([1., 2., 3., 4.])]"))
        self.refused(source("x + self.parts[0]", init="self.parts = [torch.randn(4)]"), "draws at random")

    def test_inputs_may_be_written_to(self):
        traced = self.check(source("x.relu_()\nreturn x + 1"))
        self.assertEqual(traced["buffers"][0]["direction"], "inout")

    def test_writes_through_views(self):
        for body in ("y = x.clone()\ny[:, 1] = 5\nreturn y * 2", "y = x.clone()\ny[1:, ::2] += 1\nreturn y",
                     "y = x * 1\nz = y.view(4, 3)\ny[0].mul_(2)\nreturn z, y", "y = x.clone().t()\ny[1].zero_()\nreturn y",
                     "y = torch.zeros(3, 4)\ny[0] = x[1]\ny[2] = x[0]\nreturn y", "y = x.clone()\ny.diagonal().fill_(2)\nreturn y",
                     "y = x.clone()\na, b = y.chunk(2, 1)\na.add_(b)\nb.copy_(a)\nreturn y", "y = x.clone()\ny.unsqueeze(0).sub_(1)\nreturn y",
                     "y = x.clone()\nz = y[1]\ny += 1\nreturn z", "y = x.clone()\ny.clamp_(0, 1).pow_(2)\nreturn y", "y = x > 0\ny &= x < 1\ny |= x < -1\ny ^= x < -2\nreturn y",
                     "y = torch.empty(3, 4)\ntorch.add(x, x, out=y)\nreturn y", "y = x.clone()\ntorch.div(x, 2, out=y[0:3])\nreturn y", "y = x.clone()\ny.unbind(0)[1].neg_()\nreturn y",
                     "y = x.clone()\ny[:, 1:].masked_fill_(x[:, 1:] > 0, 0.0)\nreturn y", "y = x.clone()\ny.diagonal(1).add_(3)\nreturn y",
                     "y = x.clone()\ny.unfold(1, 2, 2).mul_(3)\nreturn y", "y = x.clone()\ny.index_fill_(1, torch.tensor([0, 2]), 7.0)\nreturn y"):
            with self.subTest(body):
                self.check(source(body))

    def test_writes_to_one_slice_after_another_are_one_concatenation(self):
        body = "h = x[:, 0]\nout = torch.zeros(3, 4, 2)\nfor t in range(4):\n    h = torch.tanh(h + x[:, t])\n    out[:, t] = h\nreturn out"
        traced = self.check(source(body, "torch.randn(3, 4, 2)"))
        self.assertEqual([n["op"] for n in traced["graph"]["nodes"]].count("cat"), 1)

    def test_compiled_and_custom_functions_are_traced_through(self):
        text = source("fast(x) + Double.apply(x)").replace("class Model", """@torch.jit.script
def fast(x):
    return torch.relu(x) * 2

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

class Model""")
        self.check(text, "relu mul mul add")

    def test_layouts_of_inputs_and_weights_are_contiguous(self):
        traced = self.check(source("self.f(x)", "torch.randn(2, 4, 6, 5).permute(0, 3, 1, 2)",
                                   "self.f = nn.Conv2d(5, 4, 3).to(memory_format=torch.channels_last)"))
        self.assertNotIn("strides", traced["graph"]["nodes"][0]["types"][0])

    def test_dtypes_of_ranges_and_full_tensors(self):
        for body in ("x * torch.arange(4.)", "torch.arange(0, 4.)", "torch.full((2,), 1)", "torch.full((2,), True)", "torch.full((2,), 0.5)",
                     "torch.arange(4), torch.arange(0, 1, 0.25)", "self.b"):
            with self.subTest(body):
                self.check(source(body, init="self.register_buffer('b', torch.arange(4.).expand(2, 4))"))

    def test_devices_that_the_source_names_do_not_matter(self):
        self.check(source("x + self.t + torch.zeros(4, device=x.device)",
                          init="self.t = torch.ones(4, device='cpu')\nself.to(torch.device('cpu'))"))
        for init in ("self.t = torch.ones(4, device='cuda')", "self.t = torch.ones(4).to('cuda')", "self.t = torch.ones(4).cuda()"):
            traced = compare.tracer.trace_module(source("x.to('cuda') + self.t + torch.zeros(4, device='cuda')", init=init))
            self.assertEqual([n["op"] for n in traced["graph"]["nodes"]].count("add"), 2)

    def test_masks_choose(self):
        self.check(source("y = x.clone()\ny[x > 0] = 2.0\nreturn y"))
        self.check(source("y = x.clone()\ny[y[:, 0] > 0] = -1\nreturn y"))
        self.check(source("y = x.clone()\ny[torch.tensor([0, 2])] = 0.5\nreturn y"))
        self.refused(source("y = x.clone()\ny[x > 0] = torch.ones(3)\nreturn y"), "under a mask")

    def test_strides_of_results_are_pytorchs(self):
        traced = self.check(source("x.transpose(0, 1), x.transpose(0, 1).contiguous(), x.t().exp()", "torch.randn(3, 4)"))
        types = {node["name"]: node["types"][0] for node in traced["graph"]["nodes"]}
        strides = [types[name].get("strides") for name in traced["graph"]["outputs"]]
        self.assertEqual(strides, [[1, 4], None, [1, 4]])

    def test_inputs_and_outputs_are_named(self):
        traced = self.check(source("parts[0] + parts[1], (x * scale,)", "torch.randn(3), [torch.randn(3), torch.randn(3)], 2.0",
                                   arguments="x, parts, scale"))
        self.assertEqual([b["name"] for b in traced["buffers"]], ["x", "parts_0", "parts_1", "output_0", "output_1"])
        traced = self.check(source("default + output", "torch.randn(3), torch.randn(3)", arguments="default, output"))
        self.assertEqual([b["name"] for b in traced["buffers"]], ["default_", "output_v1", "output"])
        self.check(source("sum(tensors)", "torch.randn(3), torch.randn(3)", arguments="*tensors"))
        self.check(source("x", "torch.randn(3)"))
        self.check(source("{'a': x + 1, 'b': (x, None)}", "torch.randn(3)"))

    def test_constructors_that_read_values(self):
        self.check(source("x * self.rates[1]", init="self.rates = [r.item() for r in torch.linspace(0, 1, 4)]"))
        self.check(source("self.f(x)", "torch.randn(3, 5)", "self.f = nn.utils.weight_norm(nn.Linear(5, 2))"))
        self.check(source("self.f(x)", "torch.randn(3, 5)", "self.f = nn.utils.spectral_norm(nn.Linear(5, 2))"))

    def test_dead_nodes_go(self):
        traced = self.check(source("y = x.exp()\nx.topk(2)\nreturn x + 1"))
        self.assertEqual([n["op"] for n in traced["graph"]["nodes"]], ["input", "constant", "add"])


class Modes(TraceCase):
    """A module is traced in the mode that its constructor leaves."""

    def guards(self, traced):
        return eval(traced["call"]["guards"])

    def test_a_module_that_is_evaluated_as_made_holds_dropout(self):
        traced = self.check(source("self.d(x)", init="self.d = nn.Dropout(0.5)\nself.eval()"))
        self.assertEqual(self.guards(traced)["training"], "FF")
        self.refused(source("self.d(x)", init="self.d = nn.Dropout(0.5)\nself.eval()"), "dropout", mode="train")

    def test_mixtures_of_modes(self):
        init = "self.frozen, self.norm = nn.BatchNorm1d(4), nn.BatchNorm1d(4)\nself.frozen.eval()"
        traced = self.check(source("self.norm(self.frozen(x))", init=init))
        self.assertEqual(self.guards(traced)["training"], "TFT")
        self.assertEqual([u["parameter"] for u in traced["graph"]["updates"]],
                         ["norm_running_mean", "norm_running_var", "norm_num_batches_tracked"])
        self.assertEqual(self.guards(self.check(source("self.norm(self.frozen(x))", init=init), mode="eval"))["training"], "FFF")

    def test_what_forward_read_is_told(self):
        traced = self.check(source("self.act(self.f(x)) * self.scale", "torch.randn(3, 4)",
                                   "self.f = nn.Linear(4, 4)\nself.act = F.relu\nself.scale = 2.0\nself.unread = 3"))
        guards = self.guards(traced)
        self.assertEqual(guards["modules"], [(-1, "", "", 1), (0, "f", "torch.nn.modules.linear.Linear", 0)])
        self.assertEqual(guards["attributes"], [(0, "act", ("is", "function torch.nn.functional.relu")), (0, "scale", 2.0)])
        self.assertEqual(guards["flags"], {"matmul_tf32": False, "deterministic": False, "default_dtype": "float32"})

    def test_flags_of_tf32_matter_to_products_of_float32_alone(self):
        def flags(*arguments):
            return set(self.guards(self.check(source(*arguments)))["flags"]) - {"deterministic", "default_dtype"}

        self.assertEqual(flags("x.exp()"), set())
        self.assertEqual(flags("(x.double() @ x.double().t())"), set())
        self.assertEqual(flags("x @ x.t()"), {"matmul_tf32"})
        self.assertEqual(flags("self.f(x)", "torch.randn(1, 2, 5, 5)", "self.f = nn.Conv2d(2, 2, 3)"), {"matmul_tf32", "cudnn_tf32"})


class Refusals(TraceCase):
    def test_data_dependent_control_flow(self):
        self.refused(source("if x.sum() > 0:\n    return x\nreturn -x"), "depends on data")
        self.refused(source("x * x.max().item()"), "depends on data")
        self.refused(source("x[x > 0]"), "depend on data")
        self.refused(source("torch.nonzero(x)"), "depends on data")

    def test_randomness(self):
        self.refused(source("F.dropout(x, 0.5, self.training)"), "dropout with p = 0.5")
        self.check(source("F.dropout(x, 0.5, self.training)"), mode="eval")
        self.check(source("nn.Dropout(0.0)(x)"))
        self.refused(source("x + torch.randn(4)"), "random")
        self.refused(source("x + torch.rand_like(x)"), "random")
        self.refused(source("x.clone().uniform_()"), "random")
        self.refused(source("torch.bernoulli(x.sigmoid())"), "random")

    def test_what_is_no_module(self):
        self.refused("import nothing_of_the_kind", "does not import")
        self.refused("def get_inputs(): return []", "no class Model")
        self.refused("class Model: pass\ndef get_inputs(): return []", "not a torch.nn.Module")
        self.refused("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x", "no function get_inputs")
        self.refused(source("x.undefined()"), "undefined")
        self.refused(source("None"), "no tensor")
        self.refused(source("x, 'text'"), "other than a tensor")
        self.refused(source("3.0"), "other than a tensor")
        self.refused(source("torch.fft.fft(x)"), "complex64")

    def test_autocast(self):
        import torch
        if not torch.cuda.is_available():
            self.skipTest("without a GPU torch.autocast does nothing")
        self.refused(source("with torch.autocast('cuda'):\n    return x @ x.t()"), "autocast")

    def test_shapes_changed_in_place(self):
        self.refused(source("y = x.clone()\ny.unsqueeze_(0)\nreturn y"), "in place")


if __name__ == "__main__":
    unittest.main()
