"""Changes to a graph before its regions are chosen. argv[1]: the build's bin folder."""

import unittest

from backend_case import Case  # first: it names the folders of what follows

import torch
import torch.nn as nn

from warpwright import dynamo


class Graphs(Case):
    def test_unsigned_counts_that_are_only_compared_are_widened(self):
        def traced(use):
            graph, values = torch.fx.Graph(), torch.arange(5, dtype=torch.int32).to(torch.uint16)
            count = graph.call_function(torch.ops.prims.iota.default, (5,), dict(start=0, step=1, dtype=torch.uint16, device="cpu", requires_grad=False))
            row = graph.call_function(torch.ops.aten.unsqueeze.default, (count, -1))
            count.meta["val"], row.meta["val"] = values, values.unsqueeze(-1)
            result = graph.call_function(use, (row, count))
            result.meta["val"] = torch.eye(5).bool()
            graph.output(result)
            return torch.fx.GraphModule(nn.Module(), graph), count, row

        gm, count, row = traced(torch.ops.aten.eq.Tensor)
        dynamo.graphs.simplify_constructors(gm)
        self.assertEqual({one.meta["val"].dtype for one in (count, row)} | {count.kwargs["dtype"]}, {torch.int32})
        self.assertTrue(torch.fx.Interpreter(gm).run().equal(torch.eye(5).bool()))
        gm, count, _ = traced(torch.ops.aten.sub.Tensor)  # may wrap around
        dynamo.graphs.simplify_constructors(gm)
        self.assertEqual(count.kwargs["dtype"], torch.uint16)
        gm, count, _ = traced(lambda row, _: row)
        row = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.unsqueeze.default)[0]
        row.target, row.args = torch.ops.aten.view.dtype, (count, torch.int16)  # reads the bits
        dynamo.graphs.simplify_constructors(gm)
        self.assertEqual(count.kwargs["dtype"], torch.uint16)

    def test_what_is_made_on_the_cpu_for_a_device_is_made_there(self):
        def traced(used_twice):
            graph = torch.fx.Graph()
            keywords = dict(start=0, step=1, dtype=torch.int64, device="cpu", requires_grad=False)
            nodes = [graph.call_function(torch.ops.prims.iota.default, (4,), keywords)]
            nodes.append(graph.call_function(torch.ops.prims.convert_element_type.default, (nodes[0], torch.float32)))
            nodes.append(graph.call_function(torch.ops.prims.device_put.default, (nodes[1], torch.device("meta"))))
            for one, value in zip(nodes, (torch.arange(4), torch.arange(4.0), torch.empty(4, device="meta"))):
                one.meta["val"] = value
            graph.output(nodes[1:] if used_twice else nodes[2])
            return torch.fx.GraphModule(nn.Module(), graph), nodes

        gm, nodes = traced(False)
        dynamo.graphs.simplify_constructors(gm)
        self.assertEqual([str(one.target) for one in gm.graph.nodes][:-1], ["prims.iota.default", "prims.convert_element_type.default"])
        self.assertEqual({one.meta["val"].device.type for one in nodes[:2]} | {nodes[0].kwargs["device"].type}, {"meta"})
        self.assertEqual(torch.fx.Interpreter(gm).run().device.type, "meta")
        gm, nodes = traced(True)  # the CPU's values are read too
        dynamo.graphs.simplify_constructors(gm)
        self.assertIn(nodes[2], gm.graph.nodes)

    def test_numbers_for_masked_places_are_made_where_they_are_read(self):
        def traced(*readers):
            graph, here = torch.fx.Graph(), torch.device("meta")
            number = graph.call_function(torch.ops.aten.full.default, ([], 2.0), dict(dtype=torch.float32, device="cpu"))
            number.meta["val"] = torch.full([], 2.0)
            x = graph.placeholder("x")
            x.meta["val"] = torch.empty(4, device=here)
            results = [reader(graph, x, number) for reader in readers]
            graph.output(results)
            return torch.fx.GraphModule(nn.Module(), graph), number

        def added(graph, x, number):
            result = graph.call_function(torch.ops.aten.add.Tensor, (x, number))
            result.meta["val"] = x.meta["val"]
            return result

        gm, number = traced(added, added)
        dynamo.graphs.simplify_constructors(gm)
        self.assertEqual({number.meta["val"].device.type, number.kwargs["device"].type}, {"meta"})
        for others in ((added, lambda graph, x, number: number), (lambda graph, x, number: number,)):
            gm, number = traced(*others)  # the CPU's number is a result too
            dynamo.graphs.simplify_constructors(gm)
            self.assertEqual(number.kwargs["device"], "cpu")

    def test_writes_under_masks_are_choices(self):
        def row(x):
            x = x.clone()
            x[x.sum(-1) > 0] = 4
            x[x > 1] = -1
            return x

        def others(x):
            x = x.index_put((x > 0,), torch.ones(()), accumulate=True)
            return x.index_put((torch.tensor([0, 2]),), torch.zeros(()))

        for function, left in ((row, 0), (others, 2)):
            x = torch.randn(5, 6)
            gm = torch.fx.experimental.proxy_tensor.make_fx(torch.func.functionalize(function), tracing_mode="fake")(x)
            dynamo.graphs.choose_under_masks(gm)
            self.assertEqual(sum(one.target is torch.ops.aten.index_put.default for one in gm.graph.nodes), left)
            gm.recompile()
            self.assertTrue(gm(x).equal(function(x)))

    def test_plans_are_for_products_as_the_program_has_them(self):
        pad, traced = nn.functional.pad, torch.fx.experimental.proxy_tensor.make_fx

        def names(function, *inputs):
            gm = traced(function, tracing_mode="fake")(*inputs)
            bare = dynamo.graphs.without_padding(gm)
            torch.testing.assert_close(bare(*inputs), gm(*inputs))
            return [str(one.target) for one in bare.graph.nodes if one.op == "call_function"]

        a, b, bias = torch.randn(2, 5, 6), torch.randn(2, 6, 7), torch.randn(7)
        self.assertEqual(names(lambda a, b: torch.bmm(pad(a, (0, 2, 0, 3)), pad(b, (0, 1, 0, 2)))[:, :-3][:, :, :-1].relu(), a, b),
                         ["aten.bmm.default", "aten.relu.default"])
        self.assertEqual(names(lambda a, b, bias: torch.addmm(pad(bias, (0, 1)), pad(a, (0, 2)), pad(b, (0, 1, 0, 2)))[:, :-1], a[0], b[0], bias),
                         ["aten.addmm.default"])
        self.assertIn("aten.constant_pad_nd.default", names(lambda a, b: torch.bmm(pad(a, (0, 0, 0, 3)), b), a, b))  # all is read
        self.assertIn("aten.constant_pad_nd.default", names(lambda a, b: torch.bmm(pad(a, (2, 0)), pad(b, (0, 0, 2, 0))), a, b))


if __name__ == "__main__":
    unittest.main()
