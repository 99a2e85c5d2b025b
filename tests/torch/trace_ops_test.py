"""Traces PyTorch's calls for every op of docs/internals/op-graph.md, and compares graph and module."""
import unittest

import torch

from trace_cases import TraceCase, source
from tracing.operators_table import pointwise

COMPOSED = {"softsign", "cast"}  # PyTorch has no operator of this name
UNARY = [name for name in pointwise(1) if name not in COMPOSED]
BINARY = [name for name in pointwise(2) + pointwise(2, truth=True) if name not in {"pow", "logical_and", "logical_or", "logical_xor"}]


def function(name):
    return "torch." + name if hasattr(torch, name) else "F." + name


class Pointwise(TraceCase):
    def test_unary_functions_are_one_node(self):
        for name in UNARY:
            with self.subTest(name):
                self.check(source("%s(x)" % function(name), "torch.rand(3, 5) + 0.5"), name)

    def test_binary_functions_are_one_node(self):
        for name in BINARY:
            with self.subTest(name):
                self.check(source("%s(x, y)" % function(name), "torch.randn(3, 1, 5), torch.randn(4, 5)", arguments="x, y"), name)

    def test_activations_keep_their_parameters(self):
        for call, ops in {
                "F.gelu(x)": "gelu", "F.gelu(x, approximate='tanh')": "gelu", "F.elu(x, 0.7)": "elu", "F.selu(x)": "elu",
                "F.celu(x, 0.7)": "elu", "F.leaky_relu(x, 0.2)": "leaky_relu", "F.softplus(x, 2.0, 1.0)": "softplus",
                "F.relu6(x)": "maximum minimum", "F.hardtanh(x, -0.3, 0.4)": "maximum minimum",
                "F.softsign(x)": "abs add div", "F.glu(x, 1)": "slice slice sigmoid mul", "x.clamp(min=0.1)": "maximum",
                "x.square()": "square", "x ** 2": "square", "x ** 3": "pow", "x.abs() ** 0.5": "abs sqrt", "x ** 1": ""}.items():
            with self.subTest(call):
                self.check(source(call), ops)
        for call in ("F.logsigmoid(x)", "F.hardshrink(x)", "F.softshrink(x)", "F.tanhshrink(x)", "F.threshold(x, 0.1, 20.0)",
                     "torch.lerp(x, x * 2, 0.3)", "torch.addcmul(x, x, x, value=0.5)", "torch.frac(x)", "torch.exp2(x)",
                     "torch.nan_to_num(x / x.round())", "torch.sinh(x)", "F.softmin(x, 1)", "x.log10()"):
            with self.subTest(call):
                self.check(source(call))

    def test_two_operands(self):
        for call, ops in {"torch.fmod(x, y)": "fmod", "torch.copysign(x, y)": "copysign", "torch.hypot(x, y)": "hypot",
                          "torch.logaddexp(x, y)": None, "torch.heaviside(x.round(), y)": None,
                          "torch.logaddexp(x / 0, y / 0)": None}.items():
            with self.subTest(call):
                self.check(source(call, "torch.randn(3, 5), torch.randn(5)", arguments="x, y"), *([ops] if ops else []))

    def test_scatter_of_one_index_is_a_choice(self):
        made = "torch.randn(3, 5), torch.tensor([[1], [4], [0]])"
        for call in ("torch.zeros_like(x).scatter(1, y, 1.0)", "x.scatter(1, y, 2.5)", "x.scatter(1, y, x[:, :1] * 2)"):
            with self.subTest(call):
                self.check(source(call, made, arguments="x, y"))

    def test_prelu_has_a_slope_a_channel(self):
        self.check(source("self.p(x)", "torch.randn(2, 4, 5)", "self.p = nn.PReLU(4)"))

    def test_promotion_is_spelled_out(self):
        self.check(source("x * 2 + y", "torch.randn(3), torch.arange(3)", arguments="x, y"), "mul add cast")
        self.check(source("(y / 2, y // 2, y > 1.5, y + 1)", "torch.arange(5)", arguments="y"))
        self.check(source("x.double() * 1.1", "torch.randn(5)"), "cast mul")
        self.check(source("x + torch.tensor(2.0, dtype=torch.float64)", "torch.randn(5)"))

    def test_logic_and_choice(self):
        self.check(source("torch.where((x > 0) & ~(x > 1), x, -x)"), "gt gt logical_not logical_and neg where")
        self.check(source("x.masked_fill(x < 0, float('-inf'))"), "lt where")
        self.check(source("(x > 0).logical_xor(x)"), "gt ne logical_xor")

    def test_numbers_without_an_end(self):
        self.check(source("F.max_pool1d(F.pad(x, (1, 1), value=float('-inf')), 3)", "torch.randn(2, 3, 7)"), "pad max_pool")
        self.check(source("torch.linalg.vector_norm(x, float('inf'), 1)", "torch.randn(3, 4)"))
        self.check(source("torch.isnan(x) | torch.isinf(x) | torch.isfinite(x)"))


class Reductions(TraceCase):
    def test_reductions(self):
        for name in ("sum", "mean", "amax", "amin", "prod", "logsumexp"):
            with self.subTest(name):
                self.check(source("torch.%s(x, 1)" % name, "torch.randn(3, 4, 5)"), name)
                self.check(source("torch.%s(x, -1, keepdim=True)" % name, "torch.randn(3, 4, 5)"), name)
        self.check(source("x.sum()"), "sum")
        self.check(source("x.mean((0, 2))", "torch.randn(3, 4, 5)"), "mean")
        self.check(source("x.sum()", "torch.arange(5)"), "sum")
        self.check(source("x.max(), x.min()"), "amax amin")
        self.check(source("x.any(1), x.all()", "torch.rand(3, 4) > 0.2"), "any all")

    def test_values_and_positions(self):
        self.check(source("torch.max(x, 1)[0]"), "amax")
        self.check(source("torch.max(x, dim=1, keepdim=True)"), "amax argmax")
        self.check(source("torch.min(x, 0).indices"), "argmin")
        self.check(source("torch.argmax(x), torch.argmin(x, 1, True)"), "reshape argmax argmin")

    def test_spread_and_norms(self):
        for call in ("x.var(1)", "x.var(1, unbiased=False)", "x.std()", "torch.var_mean(x, 0)", "torch.std(x, 1, keepdim=True)"):
            with self.subTest(call):
                self.check(source(call))
        for call in ("torch.norm(x)", "torch.norm(x, p='fro')", "x.norm(1, dim=1)", "torch.norm(x, p=2, dim=1, keepdim=True)",
                     "torch.linalg.vector_norm(x, 3, 1)", "torch.linalg.norm(x)"):
            with self.subTest(call):
                self.check(source(call), "norm")
        self.check(source("F.normalize(x, p=2, dim=1)"))

    def test_softmax_and_scans(self):
        self.check(source("torch.softmax(x, -1)"), "softmax")
        self.check(source("F.log_softmax(x, 0)"), "log_softmax")
        self.check(source("nn.Softmax(dim=1)(x)"), "softmax")
        self.check(source("x.cumsum(1)"), "cumsum")
        self.check(source("x.cumprod(-1)"), "cumprod")
        self.check(source("x.logcumsumexp(0)"), "logcumsumexp")
        self.check(source("x.cummax(1).values"), "cummax")
        self.check(source("x.cummax(1).indices"))
        self.check(source("x.cummin(0).indices + x.cummin(0).values"))
        self.check(source("torch.cumsum(x.flip(1), 1).flip(1)"), "flip cumsum flip")


class Layers(TraceCase):
    def test_products(self):
        self.check(source("x @ y", "torch.randn(3, 4), torch.randn(4, 5)", arguments="x, y"), "matmul")
        self.check(source("torch.bmm(x, x.transpose(1, 2))", "torch.randn(2, 3, 4)"), "permute matmul")
        self.check(source("x.T @ y", "torch.randn(3, 4), torch.randn(3)", arguments="x, y"))
        self.check(source("torch.einsum('bij,bkj->bik', x, x)", "torch.randn(2, 3, 4)"))
        self.check(source("torch.einsum('bijl,lk->bijk', x, y)", "torch.randn(2, 3, 4, 5), torch.randn(5, 6)", arguments="x, y"))
        self.check(source("torch.addmm(x, y, y, beta=0.5, alpha=2)", "torch.randn(3), torch.randn(3, 3)", arguments="x, y"))
        self.check(source("torch.diag(x) @ y", "torch.randn(3), torch.randn(3, 4)", arguments="x, y"), "diag_embed matmul")
        self.check(source("torch.dot(x, x), torch.outer(x, x), torch.mv(y, x)", "torch.randn(3), torch.randn(2, 3)", arguments="x, y"))
        self.check(source("self.f(x)", "torch.randn(2, 5, 4)", "self.f = nn.Linear(4, 3)"), "permute matmul add")

    def test_convolutions(self):
        for n, size in ((1, "8"), (2, "8, 7"), (3, "5, 6, 4")):
            inputs = "torch.randn(2, 4, %s)" % size
            for init in ("Conv%dd(4, 6, 3, 2, 1)", "Conv%dd(4, 4, 2, groups=2, bias=False, dilation=2)",
                         "ConvTranspose%dd(4, 6, 3, 2, 1, 1, groups=2)"):
                with self.subTest(init % n):
                    self.check(source("self.f(x)", inputs, "self.f = nn." + init % n), "conv")
        self.check(source("self.f(x)", "torch.randn(2, 4, 8, 8)", "self.f = nn.Conv2d(4, 4, 3, padding='same')"), "conv")
        self.check(source("self.f(x)", "torch.randn(4, 8, 8)", "self.f = nn.Conv2d(4, 4, 3)"), "reshape conv reshape")

    def test_normalisation(self):
        image = "torch.randn(2, 6, 5, 4)"
        self.check(source("self.f(x)", "torch.randn(2, 3, 8)", "self.f = nn.LayerNorm(8)"), "layer_norm")
        self.check(source("self.f(x)", "torch.randn(2, 3, 8)", "self.f = nn.LayerNorm((3, 8), elementwise_affine=False)"), "layer_norm")
        self.check(source("self.f(x)", image, "self.f = nn.GroupNorm(3, 6)"), "group_norm")
        self.check(source("self.f(x)", image, "self.f = nn.InstanceNorm2d(6)"), "group_norm")
        self.check(source("self.f(x)", image, "self.f = nn.InstanceNorm2d(6, affine=True)"), "group_norm")
        self.check(source("self.f(x)", image, "self.f = nn.InstanceNorm2d(6, track_running_stats=True)"))
        self.check(source("self.f(x)", image, "self.f = nn.BatchNorm2d(6, track_running_stats=False)"), "batch_norm")
        trace = self.check(source("self.f(x)", image, "self.f = nn.BatchNorm2d(6)"), "batch_norm item item add")
        self.assertEqual([b["direction"] for b in trace["buffers"]], ["in", "in", "in", "inout", "inout", "inout", "out"])
        self.check(source("self.f(x)", image, "self.f = nn.BatchNorm2d(6)"), "batch_norm", mode="eval")
        self.check(source("self.f(x)", "torch.randn(8, 6)", "self.f = nn.BatchNorm1d(6, affine=False)"))

    def test_pooling(self):
        for n, size in ((1, "9"), (2, "9, 8"), (3, "6, 7, 5")):
            inputs = "torch.randn(2, 3, %s)" % size
            for call, ops in (("F.max_pool%dd(x, 2)", "max_pool"), ("F.max_pool%dd(x, 3, 2, 1, ceil_mode=True)", "max_pool"),
                              ("F.avg_pool%dd(x, 3, 2, 1)", "avg_pool"),
                              ("F.avg_pool%dd(x, 2, ceil_mode=True, count_include_pad=False)", "avg_pool"),
                              ("F.adaptive_avg_pool%dd(x, 2)", "adaptive_avg_pool"),
                              ("F.adaptive_max_pool%dd(x, 1)", "adaptive_max_pool"),
                              ("F.interpolate(x, scale_factor=2)", "upsample_nearest")):
                with self.subTest(call % n if "%" in call else call):
                    self.check(source(call % n if "%" in call else call, inputs), ops)
        self.check(source("F.max_pool2d(x, 2, return_indices=True)", "torch.randn(1, 2, 4, 4)"))
        self.check(source("F.interpolate(x, size=(7, 5))", "torch.randn(1, 2, 4, 4)"), "index_select index_select")
        for how in ("size=(7, 5)", "scale_factor=1.5", "scale_factor=(2, 3), align_corners=True"):
            self.check(source("F.interpolate(x, %s, mode='bilinear')" % how, "torch.randn(1, 2, 4, 4)"), "aten")

    def test_attention(self):
        import torch.nn.functional as F
        if not hasattr(F, "scaled_dot_product_attention"):
            self.skipTest("this torch has none")
        inputs = "torch.randn(2, 3, 5, 4), torch.randn(2, 3, 6, 4), torch.randn(2, 3, 6, 4)"
        call = "F.scaled_dot_product_attention(q, k, v%s)"
        self.check(source(call % "", inputs, arguments="q, k, v"), "attention")
        self.check(source(call % ", is_causal=True", inputs.replace("6", "5"), arguments="q, k, v"), "attention")
        mask = ", attn_mask=m"
        self.check(source(call % mask, inputs + ", torch.rand(5, 6) > 0.3", arguments="q, k, v, m"), "attention")
        self.check(source(call % mask, inputs + ", torch.randn(5, 6)", arguments="q, k, v, m"), "attention")

    def test_losses(self):
        two = dict(inputs="torch.randn(5, 4), torch.randn(5, 4)", arguments="x, y")
        for call in ("F.mse_loss(x, y)", "F.l1_loss(x, y, reduction='sum')", "F.smooth_l1_loss(x, y)", "F.huber_loss(x, y, delta=0.4)",
                     "F.kl_div(F.log_softmax(x, 1), y.softmax(1), reduction='batchmean')", "F.cosine_similarity(x, y)",
                     "F.kl_div(x.log_softmax(1), y.log_softmax(1), log_target=True)", "F.binary_cross_entropy(x.sigmoid(), y.sigmoid())",
                     "F.binary_cross_entropy_with_logits(x, y.sigmoid())", "F.hinge_embedding_loss(x, y.sign())",
                     "F.soft_margin_loss(x, y.sign())", "F.cross_entropy(x, y.softmax(1))", "F.pairwise_distance(x, y)",
                     "torch.mean(torch.clamp(1 - x * y, min=0))", "F.triplet_margin_loss(x, y, x * y, margin=0.5)",
                     "F.poisson_nll_loss(x, y.abs())", "F.cosine_embedding_loss(x, y, y[:, 0].sign())", "F.smooth_l1_loss(x, y, reduction='none')"):
            with self.subTest(call):
                self.check(source(call, **two))
        classes = dict(inputs="torch.randn(5, 4), torch.randint(0, 4, (5,))", arguments="x, y")
        for call in ("F.cross_entropy(x, y)", "F.cross_entropy(x, y, ignore_index=2)", "F.cross_entropy(x, y, reduction='sum')",
                     "F.cross_entropy(x, y, weight=torch.arange(4.0))", "F.cross_entropy(x, y, label_smoothing=0.1)",
                     "F.nll_loss(F.log_softmax(x, 1), y)", "F.cross_entropy(x, y, reduction='none')"):
            with self.subTest(call):
                self.check(source(call, **classes))
        self.check(source("F.cross_entropy(x, y)", "torch.randn(2, 4, 3, 3), torch.randint(0, 4, (2, 3, 3))", arguments="x, y"))


class Shapes(TraceCase):
    def test_views(self):
        cube = "torch.randn(2, 3, 4)"
        for call, ops in {"x.view(6, 4)": "reshape", "x.permute(2, 0, 1)": "permute", "x.transpose(1, 2)": "permute",
                          "x.transpose(1, 2).contiguous()": "permute reshape", "x.transpose(1, 2).reshape(8, 3)": "permute reshape",
                          "x[:, 1]": "slice reshape", "x[:, ::2, 1:3]": "slice slice", "x.unsqueeze(1).squeeze(1)": "reshape reshape",
                          "x.flatten(1)": "reshape", "x.expand(5, 2, 3, 4)": "expand", "torch.cat([x, x], 1)": "cat",
                          "torch.stack([x, x], 1)": "reshape reshape cat", "x.chunk(2, 2)[1]": "slice", "x.flip(0, 2)": "flip",
                          "F.pad(x, (1, 2, 0, 1), value=3.0)": "pad", "F.pad(x, (-1, 1))": "pad", "x.roll(1, 2)": "roll",
                          "x.roll((1, -1), (0, 1))": "roll", "x.roll(1)": "reshape roll reshape", "x.triu(1)": "triu",
                          "x.tril(-1)": "tril", "x.diagonal(1, 1, 2)": "diagonal", "torch.diag_embed(x)": "diag_embed"}.items():
            with self.subTest(call):
                self.check(source(call, cube), ops)
        for call in ("x.repeat(2, 1, 3)", "x.repeat_interleave(3, dim=1)", "x.split([1, 2], 1)", "x.unbind(1)", "x.unfold(2, 2, 1)",
                     "x.unfold(2, 2, 2)", "F.pad(x, (1, 1), mode='reflect')", "F.pad(x, (2, 1), mode='replicate')", "x.movedim(0, 2)",
                     "F.pad(x, (1, 1), mode='circular')", "torch.rot90(x, 1, (1, 2))", "x.unflatten(2, (2, 2))", "torch.meshgrid(x[0, 0], x[0, 1], indexing='ij')",
                     "x.mT", "x.tile(2, 2)", "x.repeat_interleave(2)", "x.narrow(1, 1, 2)", "x.swapaxes(0, 1)"):
            with self.subTest(call):
                self.check(source(call, cube))
        self.check(source("F.pixel_shuffle(x, 2)", "torch.randn(1, 8, 2, 3)"), "reshape permute reshape")
        self.check(source("F.pixel_unshuffle(x, 2)", "torch.randn(1, 2, 4, 6)"), "reshape permute reshape")
        self.check(source("F.channel_shuffle(x, 2)", "torch.randn(1, 4, 3, 3)"), "reshape permute reshape")

    def test_picking(self):
        table = "torch.randn(5, 4), torch.randint(0, 4, (5, 2))"
        self.check(source("torch.gather(x, 1, i)", table, arguments="x, i"), "gather")
        self.check(source("x[:, i[0]]", table, arguments="x, i"))
        self.check(source("x[i[:, 0], i[:, 1]]", table, arguments="x, i"))
        self.check(source("x[-1], x[[0, 2, -1]]"), None)
        self.check(source("torch.index_select(x, 1, i[0])", table, arguments="x, i"), "slice reshape index_select")
        self.check(source("F.embedding(i, x)", table, arguments="x, i"), "embedding")
        self.check(source("F.one_hot(i, 4)", table, arguments="x, i"), "reshape iota eq cast")
        self.check(source("torch.zeros(5, 4).scatter_add(1, i, x[:, :2])", table, arguments="x, i"), "expand slice scatter_add")
        self.check(source("x.index_add(0, i[:, 0], x * 2)", table, arguments="x, i"), "slice reshape mul reshape expand scatter_add")
        for reduce in ("amax", "amin"):
            for include_self in (True, False):
                text = f"x.scatter_reduce(1, i, x[:, :2] * 3, '{reduce}', include_self={include_self})"
                self.check(source(text, table, arguments="x, i"), f"slice mul scatter_{reduce}")
        self.check(source("x.index_put((i[:, 0],), x[0], accumulate=True)", table, arguments="x, i"))
        self.check(source("x.index_put((i[:, 0], i[:, 1]), x[:, 0], accumulate=True)", table, arguments="x, i"))
        self.check(source("torch.ops.aten.index_put(x, [None, i[0]], x[:, :2], True)", table, arguments="x, i"))
        self.check(source("torch.zeros(5, 4).scatter(1, i, 1.0)", table, arguments="x, i"))
        self.check(source("x.scatter(1, torch.cat([i] * 5, 1), 1.0)", table, arguments="x, i"), "cat aten")
        self.check(source("torch.topk(x, 2, dim=1)"), "topk gather")
        self.check(source("x.topk(2, 0, largest=False).indices"), "permute topk permute")
        self.check(source("torch.sort(x, 1)[0] + 1"), "topk gather add")
        self.check(source("torch.sort(x, dim=0, descending=True, stable=True).indices"), "permute topk permute")
        self.check(source("x.argsort(-1)"), "topk")
        self.check(source("torch.sort(x.double(), 1)[0]"), "cast aten")

    def test_places_in_sorted_rows(self):
        for right in (False, True):
            for bounds in ("[0.0]", "[-1.0, 0.0, 0.5]", "[-1.0, -0.5, 0.0, 0.5]", "[-1.0, 0.0, 0.0, 0.0, 2.0]"):
                line = f"b = torch.tensor({bounds})\nx = torch.cat([x, b.expand(4, -1).t().reshape(-1, 4)])\n"
                self.check(source(line + f"return torch.bucketize(x, b, right={right})"))
                self.check(source(line + f"return torch.searchsorted(b, x, right={right}, out_int32=True)"))
        self.check(source("torch.searchsorted(x.sort(-1)[0], x[:, :2] * 2)"))
        self.check(source("torch.searchsorted(x.sort(-1)[0], x.roll(1, 1), side='right')"))
        self.check(source("torch.searchsorted(x.sort(-1)[0], x / 0 * 0)"))
        self.check(source("torch.searchsorted(x, x, sorter=x.argsort(-1))"), "topk aten")

    def test_distances(self):
        rows = "torch.randn(2, 40, 16), torch.randn(2, 30, 16)"
        for p, ops in ((1.0, "abs sum"), (2.0, "square sum sqrt"), (3.0, "norm"), ("float('inf')", "norm")):
            self.check(source(f"torch.cdist(x[:, :4], y[:, :5], p={p})", rows, arguments="x, y"), "slice reshape slice reshape sub " + ops)
        self.check(source("torch.cdist(x, y)", rows, arguments="x, y"), "mul sum mul sum permute add permute matmul mul sub maximum sqrt")
        self.check(source("torch.cdist(x, y, compute_mode='donot_use_mm_for_euclid_dist')", rows, arguments="x, y"), "reshape reshape sub square sum sqrt")
        self.check(source("torch.ops.aten._cdist_forward(x, y, 1.0, 0)", rows, arguments="x, y"), "reshape reshape sub abs sum")

    def test_a_step_of_an_lstm(self):
        """PyTorch has this operator for GPUs alone, so that what it computes is written out for the run."""
        forward = """
if type(a) is not torch.Tensor:
    return torch.ops.aten._thnn_fused_lstm_cell(a, b, c, d, d)[:2]
i, f, g, o = (a + b + 2 * d).chunk(4, 1)
c = c * f.sigmoid() + i.sigmoid() * g.tanh()
return o.sigmoid() * c.tanh(), c"""
        gates = "torch.randn(3, 20), torch.randn(3, 20), torch.randn(3, 5), torch.randn(20)"
        self.check(source(forward, gates, arguments="a, b, c, d"))

    def test_bags_of_embeddings(self):
        rows = "torch.randn(9, 6), torch.randint(0, 9, (5, 4)), torch.rand(5, 4)"
        for mode, ops in (("sum", "sum"), ("mean", "mean"), ("max", "amax")):
            self.check(source(f"F.embedding_bag(i, x, mode='{mode}')", rows, arguments="x, i, w"), "reshape embedding reshape " + ops)
        self.check(source("F.embedding_bag(i, x, mode='sum', per_sample_weights=w)", rows, arguments="x, i, w"))

    def test_constants(self):
        for call in ("x + torch.ones(4)", "x * torch.arange(4)", "x @ torch.eye(4)", "x + torch.zeros_like(x)", "x * torch.tensor([1.0, 2.0, 3.0, 4.0])",
                     "x + torch.full((4,), 2.5)", "x + torch.linspace(0, 1, 4)", "x * torch.tensor(0.5)", "x / torch.sqrt(torch.tensor(4.0))",
                     "x + torch.arange(1.0, 3.0, 0.5)", "x + x.new_ones(3, 1)", "x * float(torch.tensor(3.0))"):
            with self.subTest(call):
                self.check(source(call))


if __name__ == "__main__":
    unittest.main()
