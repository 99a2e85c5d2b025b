"""Complex operators as operators on parts. argv[1]: the build's bin folder."""

import math
import unittest

from backend_case import Case  # first: it names the folders of what follows

import torch
import torch.nn.functional as F

from warpwright import complex_graphs

aten = torch.ops.aten
make_fx = torch.fx.experimental.proxy_tensor.make_fx


def complex_numbers(*shape):
    return torch.complex(torch.randn(*shape), torch.randn(*shape))


def complex_nodes(gm):
    return {str(one.target) for one in gm.graph.nodes if one.op == "call_function" and complex_graphs.holds_complex(one.meta["val"])}


class ComplexGraphs(Case):
    def check(self, function, *inputs, left=()):
        """@param left the complex operators that stay"""
        torch.manual_seed(1)
        gm = make_fx(function, tracing_mode="fake")(*inputs)
        real = complex_graphs.without_complex(gm, inputs)
        self.assertIsNot(real, gm)
        torch.testing.assert_close(real(*inputs), gm(*inputs), rtol=2e-5, atol=2e-5)
        self.assertEqual(complex_nodes(real), set(left))
        return real

    def test_rotary_embedding_of_the_reference_code_has_no_complex_operator(self):
        def rotary(query, table):
            pairs = torch.view_as_complex(query.float().reshape(*query.shape[:-1], -1, 2))
            turned = pairs * table[: query.shape[1]].view(1, query.shape[1], 1, pairs.shape[-1])
            return torch.view_as_real(turned).flatten(3).type_as(query)

        table = torch.polar(torch.ones(32, 8), torch.outer(torch.arange(32.0), torch.rand(8)))
        self.check(rotary, torch.randn(2, 16, 4, 16), table)

    def test_arithmetic(self):
        a, b, real = complex_numbers(4, 6), complex_numbers(4, 6), torch.randn(6)
        for function in (lambda a, b, r: torch.view_as_real(a * b + r), lambda a, b, r: torch.view_as_real(a / b - 2 * r),
                         lambda a, b, r: (a.exp() * b.conj()).abs(), lambda a, b, r: torch.view_as_real(1 / a + 1j * b),
                         lambda a, b, r: (a * (2 - 3j)).real + (b / r).imag, lambda a, b, r: torch.view_as_real((a - 1j) ** 2),
                         lambda a, b, r: (a.abs() * a.angle(), torch.view_as_real(b.log())),
                         lambda a, b, r: torch.view_as_real(torch.add(a, b, alpha=3) - torch.sub(r, b, alpha=2)),
                         lambda a, b, r: torch.view_as_real(a.to(torch.complex128) + r.double()),
                         lambda a, b, r: torch.view_as_real(r.to(torch.complex64) * a), lambda a, b, r: torch.view_as_real(r[:, None] * 1j)):
            self.check(function, a, b, real)

    def test_shapes_sums_and_products(self):
        a, b = complex_numbers(4, 6), complex_numbers(6, 5)
        for function in (lambda a, b: torch.view_as_real(a @ b), lambda a, b: torch.view_as_real(torch.einsum("ij,jk->ik", a, b.real.to(a.dtype))),
                         lambda a, b: torch.view_as_real(torch.cat([a.t(), b], 1).sum(0)), lambda a, b: torch.view_as_real(a.cumsum(1).mean(0)),
                         lambda a, b: torch.view_as_real(torch.stack(a.unbind(0)[1:3]) + torch.split(a, 2)[0]),
                         lambda a, b: torch.view_as_real(torch.where(a.real > 0, a, a.conj())),
                         lambda a, b: torch.view_as_real(a[:, None].expand(4, 3, 6).flip(0).roll(1, 2)),
                         lambda a, b: torch.view_as_real(torch.polar(a.real.abs(), b.t()[:4].imag)),
                         lambda a, b: (a * 2j).view(torch.float32) + b.view(torch.float32)[:4, :1]):
            self.check(function, a, b)

    def test_what_has_no_rule_reads_and_gives_complex_values(self):
        def convolved(x, kernel):
            n = 2 * x.shape[-1]
            return torch.fft.irfft(torch.fft.rfft(x, n=n) * torch.fft.rfft(kernel, n=n) / n, n=n)[..., : x.shape[-1]]

        self.check(convolved, torch.randn(3, 4, 32), torch.randn(4, 32),
                   left=("aten._fft_r2c.default", "aten.view_as_complex.default"))
        self.check(lambda a: (a * 2).sqrt() * a, complex_numbers(5), left=("aten.sqrt.default", "aten.view_as_complex.default"))
        self.check(lambda a: (a * 2).tanh().real, complex_numbers(5), left=("aten.tanh.default", "aten.view_as_complex.default"))

    def test_a_graph_without_complex_operators_and_lazy_conjugates_stay(self):
        x = torch.randn(4)
        gm = make_fx(lambda x: x.exp(), tracing_mode="fake")(x)
        self.assertIs(complex_graphs.without_complex(gm, [x]), gm)
        a = complex_numbers(4)
        gm = make_fx(lambda a: a * a, tracing_mode="fake")(a)
        self.assertIs(complex_graphs.without_complex(gm, [a.conj()]), gm)

    def test_regions_hold_a_filter_in_the_frequency_domain(self):
        class Filter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.angle = torch.nn.Parameter(torch.randn(8, 33))

            def forward(self, x):
                spectrum = torch.fft.rfft(F.silu(x)) * torch.polar(torch.sigmoid(self.angle), self.angle)
                return torch.fft.irfft(spectrum * math.sqrt(2), n=64).tanh() * x

        self.same(Filter(), torch.randn(4, 8, 64))
        self.assertEqual(self.calls, 3)  # before the transforms, between them, and behind them

    def test_gradients_pass_through_complex_values(self):
        class Rotated(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("turn", torch.polar(torch.ones(8), torch.rand(8)))
                self.scale = torch.nn.Parameter(torch.randn(8))

            def forward(self, x):
                pairs = torch.view_as_complex(x.unflatten(-1, (8, 2))) * self.turn * self.scale
                return torch.view_as_real(pairs * pairs + pairs.exp()).flatten(-2).sin()

        model, gradients = Rotated(), []
        for function in (model, self.compiled(model, force=True)):
            torch.manual_seed(3)
            x = torch.randn(4, 16, requires_grad=True)
            function(x).square().sum().backward()
            gradients.append([x.grad, model.scale.grad])
            model.scale.grad = None
        for wanted, got in zip(*gradients):
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
