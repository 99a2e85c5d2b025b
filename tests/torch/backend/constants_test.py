"""Values that a graph computes from constants alone. argv[1]: the build's bin folder."""

import unittest

from backend_case import Case  # first: it names the folders of what follows

import torch
import torch.nn as nn

from torch._inductor.decomposition import select_decomp_table

from warpwright import constants, search


def traced(function, *inputs):
    return torch.fx.experimental.proxy_tensor.make_fx(function, select_decomp_table(), tracing_mode="fake")(*inputs)


def operators(gm):
    return [str(one.target) for one in gm.graph.nodes if one.op == "call_function"]


class Constants(Case):
    def folded(self, function, *inputs):
        gm = traced(function, *inputs)
        wanted = gm(*inputs)
        constants.fold(gm)
        gm.graph.lint()
        torch.testing.assert_close(gm(*inputs), wanted)
        return gm

    def test_results_that_nothing_fuses_are_computed_once(self):
        gm = self.folded(lambda x: x * torch.arange(8.0).cumsum(0).flip(0), torch.randn(3, 8))
        self.assertEqual(operators(gm), ["aten.mul.Tensor"])
        gm = self.folded(lambda x: x * torch.sort(torch.arange(8).cos(), descending=True)[0], torch.randn(3, 8))
        self.assertEqual(operators(gm), ["aten.mul.Tensor"])

    def test_numbers_of_the_program_are_not_copied_in_each_call(self):
        gm = self.folded(lambda x: x @ torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t(), torch.randn(3, 2))
        self.assertEqual(operators(gm), ["aten.mm.default"])

    def test_what_fuses_stays(self):
        gm = self.folded(lambda x: x * (torch.arange(8, dtype=torch.float32)[:, None] * 0.5).sin(), torch.randn(8, 8))
        self.assertIn("aten.sin.default", operators(gm))

    def test_random_numbers_and_uninitialized_memory_are_no_constants(self):
        for function in (lambda x: x + torch.rand(4, 4).sum(0), lambda x: x + torch.empty(4, 4).zero_().sum(0), lambda x: x + torch.randperm(4)):
            gm = traced(function, torch.randn(4))
            before = operators(gm)
            constants.fold(gm)
            self.assertEqual(operators(gm), before)

    def test_a_constant_that_is_returned_is_a_copy(self):
        gm = self.folded(lambda x: (x + 1, torch.arange(4.0).cumsum(0)), torch.randn(4))
        first = gm(torch.zeros(4))[1]
        first.zero_()
        self.assertEqual(gm(torch.zeros(4))[1].tolist(), [0, 1, 3, 6])

    def test_large_constants_stay_computed(self):
        gm = self.folded(lambda x: x + torch.arange(constants.MOST_ELEMENTS + 1).cumsum(0), torch.randn(1))
        self.assertIn("aten.cumsum.default", operators(gm))

    def test_what_is_made_elsewhere_for_a_device(self):
        graph = torch.fx.Graph()
        table = torch.arange(4.0)
        module = nn.Module()
        module.table = table
        node = graph.get_attr("table")
        node.meta["val"] = table
        for target, args, value in ((torch.ops.aten.lift_fresh_copy.default, (), table), (torch.ops.aten.sin.default, (), table.sin()),
                                    (torch.ops.prims.device_put.default, (torch.device("meta"),), table.to("meta")),
                                    (torch.ops.aten.exp.default, (), table.to("meta"))):
            node = graph.call_function(target, (node, *args))
            node.meta["val"] = value
        x = graph.placeholder("x")
        x.meta["val"] = table.to("meta")
        node = graph.call_function(torch.ops.aten.mul.Tensor, (node, x))
        node.meta["val"] = table.to("meta")
        graph.output(node)
        gm = torch.fx.GraphModule(module, graph)
        constants.fold(gm)
        self.assertEqual(operators(gm), ["aten.mul.Tensor"])

    def test_regions_read_constants(self):
        class Weighted(nn.Module):
            def forward(self, x):
                weights = torch.tensor([0.25, 0.5, 0.25]) + torch.arange(3).cumsum(0)
                return torch.softmax(x * weights, -1).sum(-2)

        model = Weighted()
        self.same(model, torch.randn(5, 4, 3))
        self.assertEqual(self.calls, 1)
        session = search.Recording()
        search.run_model(model, (torch.randn(5, 4, 3),), {}, False, session, None)
        (graph,) = session.graphs.values()
        self.assertEqual((graph.covered, graph.outside), (graph.operators, {}))
        self.assertEqual(len(graph.regions[0]["inputs"]), 2)


if __name__ == "__main__":
    unittest.main()
