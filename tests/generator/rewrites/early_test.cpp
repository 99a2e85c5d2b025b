// Slices and pools taken early, means of norms taken of their statistics.
#include "generator/ops/cost.h"
#include "tests/generator/rewrites/check_rewrite.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;

namespace {

using model::Shape;

TEST_CASE("only the token that is read is computed") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 7, 8});
  auto y = g.op("layer_norm", {x, g.parameter("w", {8}), g.parameter("b", {8})},
                {{"dims", Shape{2}}, {"eps", 1e-5}});
  y = g.op("relu", {g.op("matmul", {y, g.parameter("m", {8, 20})})});
  y = g.op("add", {x, g.op("matmul", {y, g.parameter("n", {20, 8})})});
  const auto graph = g.graph({g.reshape(slice(g, y, 1, 6, 7), {2, 8})});
  CHECK(5 * cost_of(check_rewrites(graph, {"slice-early"})).flops < cost_of(graph).flops);
}

TEST_CASE("slices go through permutes, reductions, softmax and attention along other dimensions") {
  GraphBuilder g;
  const auto x = g.input("x", {3, 4, 6, 5});
  const auto sums = g.op("sum", {x}, {{"dims", Shape{1}}, {"keepdim", false}});
  const auto permuted = g.op("permute", {g.op("exp", {x})}, {{"dims", Shape{2, 0, 3, 1}}});
  const auto soft = g.op("softmax", {g.op("neg", {x})}, {{"dim", std::int64_t{2}}});
  const auto attended =
      g.op("attention", {g.op("tanh", {x}), g.input("k", {3, 4, 7, 5}), g.input("v", {3, 4, 7, 2})},
           {{"causal", false}, {"scale", 0.3}});
  check_rewrites(g.graph({slice(g, sums, 1, 1, 6, 2), slice(g, permuted, 0, 2, 4),
                          slice(g, soft, 3, 0, 2), slice(g, attended, 2, 3, 4),
                          slice(g, g.reshape(g.op("abs", {x}), {3, 1, 4, 6, 5}), 3, 1, 2)}),
                 {"slice-early"});
  GraphBuilder h;
  const auto line =
      h.op("softmax", {h.op("neg", {h.input("x", {3, 4})})}, {{"dim", std::int64_t{1}}});
  check_left_alone(h.graph({slice(h, line, 1, 0, 2)}), "slice-early");
}

TEST_CASE("halves of a pointwise value are computed apart, overlapping parts are not") {
  GraphBuilder g;
  const auto y = g.op("tanh", {g.op("mul", {g.input("x", {3, 16}), g.input("scale", {16})})});
  const auto a = slice(g, y, 1, 0, 8), b = slice(g, y, 1, 8, 16);
  const auto even = g.op("exp", {g.input("z", {2, 6})});
  check_rewrites(g.graph({g.op("mul", {a, g.op("sigmoid", {b})}), g.op("sub", {b, a}),
                          slice(g, even, 1, 0, 6, 2), slice(g, even, 1, 1, 6, 2)}),
                 {"slice-early"});
  GraphBuilder h;
  const auto z = h.op("exp", {h.input("x", {3, 16})});
  check_left_alone(h.graph({slice(h, z, 1, 0, 9), slice(h, z, 1, 8, 16)}), "slice-early");
  GraphBuilder k;
  const auto whole = k.op("exp", {k.input("x", {3, 16})});
  check_left_alone(k.graph({slice(k, whole, 1, 0, 8), slice(k, whole, 1, 8, 16), whole}),
                   "slice-early");
  GraphBuilder r; // turned round: a kernel computes each element once
  const auto turned = r.op("exp", {r.input("x", {3, 16})});
  check_left_alone(r.graph({r.op("cat", {slice(r, turned, 1, 13, 16), slice(r, turned, 1, 0, 13)},
                                 {{"dim", std::int64_t{1}}})}),
                   "slice-early");
}

TEST_CASE("sums and products over a few elements are written out, unless a norm needs them") {
  GraphBuilder g;
  const auto a = g.input("a", {2, 5, 1, 3}), b = g.input("b", {2, 1, 7, 3});
  const auto distances = g.op("sum", {g.op("square", {g.op("sub", {a, b})})},
                              {{"dims", Shape{3}}, {"keepdim", false}});
  const auto colors = g.op("amax", {g.op("tanh", {g.input("image", {2, 3, 4, 5})})},
                           {{"dims", Shape{1}}, {"keepdim", true}});
  const auto graph = check_rewrites(g.graph({g.op("sqrt", {distances}), colors}), {"short-reduction"});
  CHECK(ops_of(graph).find("sum") == std::string::npos);
  CHECK(ops_of(graph).find("amax") == std::string::npos);
  for (const char *op : {"mean", "prod", "amin"}) {
    GraphBuilder other;
    check_rewrites(other.graph({other.op(op, {other.input("x", {4, 2, 3, 6})},
                                         {{"dims", Shape{1, 2}}, {"keepdim", false}})}),
                   {"short-reduction"});
  }
  GraphBuilder h; // an operand that meets its sum again, long rows, rows that a thread reads as a vector
  const auto x = h.input("x", {5, 4, 6}), rows = h.input("rows", {9, 4});
  const auto total = h.op("sum", {h.op("exp", {x})}, {{"dims", Shape{1}}, {"keepdim", true}});
  check_left_alone(h.graph({h.op("div", {h.op("exp", {x}), total}),
                            h.op("sum", {h.input("long", {3, 9, 2})}, {{"dims", Shape{1}}, {"keepdim", false}}),
                            h.op("sum", {h.op("exp", {rows})}, {{"dims", Shape{1}}, {"keepdim", false}})}),
                   "short-reduction");
}

TEST_CASE("products over a few terms are written out") {
  GraphBuilder g;
  const auto points = g.input("points", {2, 40, 3});
  const auto graph = check_rewrites(
      g.graph({g.op("relu", {g.op("matmul", {points, g.parameter("w", {3, 20})})}),
               g.op("matmul", {g.input("y", {6, 8}), g.input("z", {5, 8, 3})}),
               g.op("matmul", {g.input("halves", {6, 4}, model::Dtype::Float16),
                               g.parameter("v", {4, 9}, model::Dtype::Float16)})}),
      {"short-product"});
  CHECK(ops_of(graph).find("matmul") == std::string::npos);
  GraphBuilder h;
  check_left_alone(h.graph({h.op("matmul", {h.input("x", {20, 5}), h.input("w", {5, 30})}),
                            h.op("matmul", {h.input("y", {4, 9}), h.input("v", {9, 4})})}),
                   "short-product");
}

TEST_CASE("slices of a stack are its parts, also behind views") {
  GraphBuilder g;
  const auto x = g.input("x", {4, 5}), y = g.op("tanh", {x}), z = g.op("abs", {x});
  const auto part = [&](const std::string &value) { return g.reshape(value, {4, 1, 5}); };
  const auto stack = g.op("cat", {part(y), part(z), part(y)}, {{"dim", std::int64_t{1}}});
  const auto twice = g.reshape(g.op("cat", {stack, stack}, {{"dim", std::int64_t{2}}}), {2, 2, 3, 10});
  const auto graph = check_rewrites(
      g.graph({slice(g, twice, 2, 0, 1), slice(g, twice, 2, 1, 2)}), {"slice-early"});
  CHECK(ops_of(graph).find("slice") == std::string::npos);
  GraphBuilder h; // as PyTorch's compiler writes it
  const auto u = h.input("u", {3, 4, 5}), v = h.op("tanh", {u});
  const auto joined = h.reshape(h.op("cat", {v, h.op("abs", {u})}, {{"dim", std::int64_t{1}}}), {3, 2, 4, 5});
  const auto stacked = check_rewrites(
      h.graph({slice(h, joined, 1, 0, 1), slice(h, joined, 1, 1, 2)}), {"stack"});
  CHECK(ops_of(stacked).find("cat") == std::string::npos);
}

TEST_CASE("indices that no input decides select slices") {
  using model::Dtype;
  GraphBuilder g;
  const auto x = g.input("x", {3, 8});
  const auto place = g.shaped("iota", {}, {8}, {{"dim", std::int64_t{0}}}, Dtype::Int64);
  const auto number = [&](double value) { return g.constant(value, Dtype::Int64); };
  const auto rolled = g.op("fmod", {g.op("add", {place, number(5)}), number(8)});
  const auto from_end = g.op("sub", {place, number(2)});
  const auto wrapped = g.op(
      "where", {g.op("lt", {from_end, number(0)}), g.op("add", {from_end, number(8)}), from_end});
  const auto mirrored = g.op("abs", {g.op("sub", {place, number(3)})});
  const auto select = [&](const std::string &index) {
    return g.op("index_select", {x, index}, {{"dim", std::int64_t{1}}});
  };
  const auto graph = check_rewrites(g.graph({select(rolled), select(wrapped), select(mirrored)}),
                                    {"index-slices"});
  CHECK(ops_of(graph).find("index_select") == std::string::npos);
  GraphBuilder h;
  const auto y = h.input("y", {3, 8});
  const auto index = h.input("i", {8}, Dtype::Int64);
  check_left_alone(h.graph({h.op("index_select", {y, index}, {{"dim", std::int64_t{1}}})}),
                   "index-slices");
  GraphBuilder k;
  const auto turns = k.op(
      "fmod", {k.op("mul", {k.shaped("iota", {}, {8}, {{"dim", std::int64_t{0}}}, Dtype::Int64),
                            k.constant(3, Dtype::Int64)}),
               k.constant(8, Dtype::Int64)});
  check_left_alone(
      k.graph({k.op("index_select", {k.input("x", {3, 9}), k.op("mul", {turns, turns})},
                    {{"dim", std::int64_t{1}}})}),
      "index-slices"); // indices outside of the dimension
}

TEST_CASE("a reduction of normalised rows leaves a number a row") {
  const auto reduced = [](GraphBuilder &g, const char *op, const std::string &x) {
    return g.op(op, {x}, {{"dims", Shape{0, 1, 2}}, {"keepdim", false}});
  };
  const auto normalised = [](GraphBuilder &g) {
    const auto x = g.input("x", {3, 2, 5});
    const auto sum = g.op("sum", {g.op("abs", {x})}, {{"dims", Shape{2}}, {"keepdim", true}});
    return g.op("div", {x, g.op("add", {sum, g.constant(1)})});
  };
  GraphBuilder g;
  const auto y = normalised(g);
  const auto graph = check_rewrites(g.graph({reduced(g, "sum", g.op("square", {y})),
                                             reduced(g, "mean", y), reduced(g, "amax", y)}),
                                    {"reduction-split"});
  CHECK(ops_of(graph).find("sum") != std::string::npos);
  for (const auto &[op, attributes] :
       {std::pair<const char *, model::Attributes>{"softmax", {{"dim", std::int64_t{2}}}},
        {"log_softmax", {{"dim", std::int64_t{1}}}},
        {"layer_norm", {{"dims", Shape{2}}, {"eps", 1e-5}}}}) {
    GraphBuilder composite;
    const auto z = composite.op(op, {composite.input("x", {3, 2, 5})}, attributes);
    check_rewrites(composite.graph({reduced(composite, "sum", composite.op("exp", {z}))}),
                   {"reduction-split"});
  }
  GraphBuilder h;
  check_left_alone(h.graph({reduced(h, "sum", h.op("square", {h.input("x", {3, 2, 5})}))}),
                   "reduction-split");
}

TEST_CASE("a softmax that reductions along other dimensions read is written in parts") {
  const auto graph_of = [](const char *op, model::Dtype dtype, std::int64_t reduced, bool is_result) {
    GraphBuilder g;
    const auto y = g.op(op, {g.input("x", {3, 4, 5}, dtype)}, {{"dim", std::int64_t{1}}});
    const auto sum = g.op("sum", {g.op("mul", {y, g.input("m", {3, 4, 5}, dtype)})},
                          {{"dims", Shape{reduced}}, {"keepdim", false}});
    return is_result ? g.graph({sum, y}) : g.graph({sum});
  };
  for (const char *op : {"softmax", "log_softmax"}) {
    check_rewrites(graph_of(op, model::Dtype::Float32, 2, false), {"softmax-parts"});
    check_rewrites(graph_of(op, model::Dtype::Float16, 0, false), {"softmax-parts"});
    check_left_alone(graph_of(op, model::Dtype::Float32, 1, false), "softmax-parts");
    check_left_alone(graph_of(op, model::Dtype::Float32, 2, true), "softmax-parts");
  }
}

TEST_CASE("permutes wait behind pointwise ops and reductions that do not need their order") {
  GraphBuilder g;
  const auto turned = [&](const std::string &x) {
    return g.op("permute", {x}, {{"dims", Shape{2, 0, 1}}});
  };
  const auto x = turned(g.input("x", {3, 8, 5})), y = turned(g.input("y", {3, 8, 5}));
  const auto sum = g.op("mul", {g.op("add", {g.op("exp", {x}), y}), g.input("scale", {8})});
  const auto all = g.op("sum", {sum}, {{"dims", Shape{0, 1, 2}}, {"keepdim", false}});
  const auto rows =
      g.op("var", {sum}, {{"dims", Shape{0}}, {"keepdim", true}, {"correction", 1.0}});
  const auto graph = check_rewrites(g.graph({all, rows, g.op("tanh", {sum})}), {"permute-late"});
  // One permute remains, for the order of the result. The small operand's became a reshape, since
  // it moves only dimensions of extent 1.
  CHECK(std::ranges::count(graph.nodes, "permute", &model::Node::op) == 1);
  GraphBuilder h;
  const auto z = h.input("z", {4, 6});
  check_left_alone(
      h.graph({h.op("add", {h.op("permute", {z}, {{"dims", Shape{1, 0}}}), h.input("w", {6, 4})})}),
      "permute-late");
}

TEST_CASE("an exclusive scan, written as zeros before a scan, is one scan") {
  GraphBuilder g;
  const auto x = g.input("x", {3, 8});
  const auto scanned = [&](const std::string &op, const std::string &of) {
    return g.op(op, {of}, {{"dim", std::int64_t{1}}});
  };
  const auto before = [&](double number, const std::string &value, std::int64_t count) {
    const auto filled = g.shaped("expand", {g.constant(number)}, {3, count});
    return g.op("cat", {filled, value}, {{"dim", std::int64_t{1}}});
  };
  const auto graph = g.graph({before(0, scanned("cumsum", slice(g, x, 1, 0, 7)), 1),
                              before(1, scanned("cumprod", g.op("tanh", {x})), 2)});
  const model::Graph rewritten = check_rewrites(graph, {"scan-early"});
  for (const model::Node &node : rewritten.nodes)
    if (node.name == rewritten.outputs[0] || node.name == rewritten.outputs[1])
      CHECK(node.op.starts_with("cum"));
  GraphBuilder h;
  const auto y = h.input("x", {3, 8});
  const auto sums = h.op("cumsum", {y}, {{"dim", std::int64_t{1}}});
  const auto ones = h.shaped("expand", {h.constant(1)}, {3, 2});
  check_left_alone(h.graph({h.op("cat", {ones, sums}, {{"dim", std::int64_t{1}}})}), "scan-early");
  GraphBuilder other;
  const auto z = other.input("x", {3, 8});
  const auto down = other.op("cumsum", {z}, {{"dim", std::int64_t{0}}});
  const auto zeros = other.shaped("expand", {other.constant(0)}, {3, 2});
  check_left_alone(other.graph({other.op("cat", {zeros, down}, {{"dim", std::int64_t{1}}})}),
                   "scan-early");
}

TEST_CASE("columns of attention are columns of its values, and masks keep its rows") {
  GraphBuilder g;
  const auto attention = [&](const std::string &name, std::vector<std::string> more) {
    std::vector<std::string> inputs{g.input("q" + name, {2, 6, 5}), g.input("k" + name, {2, 7, 5}),
                                    g.input("v" + name, {2, 7, 4})};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return g.op("attention", inputs, {{"causal", false}, {"scale", 0.3}});
  };
  check_rewrites(g.graph({slice(g, attention("a", {}), 2, 1, 3),
                          slice(g, attention("b", {g.input("m", {6, 7})}), 0, 1, 2),
                          slice(g, attention("c", {g.input("n", {6, 7})}), 2, 1, 2)}),
                 {"slice-early"});
  GraphBuilder h;
  const auto masked = h.op("attention",
                           {h.input("q", {2, 6, 5}), h.input("k", {2, 7, 5}),
                            h.input("v", {2, 7, 4}), h.input("m", {6, 7})},
                           {{"causal", false}, {"scale", 0.3}});
  check_left_alone(h.graph({slice(h, masked, 1, 0, 2)}), "slice-early");
}

TEST_CASE("a pool goes before a scale, and then into the transposed convolution") {
  GraphBuilder g;
  auto y = g.op("conv",
                {g.input("x", {2, 3, 5, 5}), g.parameter("w", {3, 4, 3, 3}), g.parameter("b", {4})},
                {{"stride", Shape{2, 2}}, {"padding", Shape{1, 1}}, {"transposed", true}});
  y = g.op("add", {g.op("mul", {y, g.constant(0.5)}), g.parameter("s", {4, 1, 1})});
  y = g.op("avg_pool", {y},
           {{"kernel", Shape{2, 2}}, {"stride", Shape{2, 2}}, {"padding", Shape{0, 0}}});
  const auto graph = g.graph({y});
  CHECK(2 * cost_of(check_rewrites(graph, {"pool-early", "conv-transposed-pool"})).flops <
        cost_of(graph).flops);
}

TEST_CASE("the mean of a norm over space is taken of its statistics") {
  for (const Shape &dims : {Shape{2, 3}, Shape{1, 2, 3}, Shape{0, 2, 3}})
    for (const std::int64_t groups : {1, 2, 6}) {
      GraphBuilder g;
      auto y = g.op("group_norm",
                    {g.input("x", {3, 6, 4, 5}), g.parameter("w", {6}), g.parameter("b", {6})},
                    {{"groups", groups}, {"eps", 1e-3}});
      y = g.op("mean", {y}, {{"dims", dims}, {"keepdim", false}});
      const auto after = check_rewrites(g.graph({y}), {"reduce-norm"});
      CHECK(ops_of(after).find("group_norm") == std::string::npos);
    }
}

TEST_CASE("running statistics are kept when the norm itself is not") {
  GraphBuilder g;
  const auto norm = g.op("batch_norm",
                         {g.input("x", {3, 4, 5}), g.parameter("w", {4}), g.parameter("b", {4}),
                          g.parameter("mean", {4}), g.parameter("var", {4})},
                         {{"training", true}, {"eps", 1e-3}, {"momentum", 0.3}});
  const auto y = g.op("sum", {norm}, {{"dims", Shape{2}}, {"keepdim", true}});
  g.update("mean", g.op("item", {norm}, {{"index", std::int64_t{1}}}));
  g.update("var", g.op("item", {norm}, {{"index", std::int64_t{2}}}));
  const auto after = check_rewrites(g.graph({y}), {"reduce-norm", "running-statistics"});
  CHECK(ops_of(after).find("batch_norm") == std::string::npos);
  check_left_alone(g.graph({y, norm}), "reduce-norm");
}

} // namespace

TEST_CASE("views and pointwise ops of a stack are computed for each part") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 5, 6});
  const auto part = [&](const std::string &value) { return g.reshape(value, {2, 1, 5, 6}); };
  const auto stack = [&](std::vector<std::string> parts) {
    return g.op("cat", std::move(parts), {{"dim", std::int64_t{1}}});
  };
  const auto y = g.op("tanh", {x}), z = g.op("exp", {x});
  const auto turned = g.op("permute", {stack({part(y), part(z)})}, {{"dims", Shape{0, 2, 3, 1}}});
  const auto flat = g.reshape(turned, {60, 2}), other = g.reshape(stack({part(z), part(y)}), {2, 2, 30});
  const auto weights = g.reshape(g.op("abs", {x}), {60, 1});
  const auto graph = check_rewrites(
      g.graph({g.op("mul", {flat, weights}), g.op("sin", {other})}), {"stack-late"});
  CHECK(ops_of(graph).find("cat") > ops_of(graph).rfind("mul")); // stacked last
  GraphBuilder h; // one stack is read twice, parts of other extents, parts that are no pointwise values
  const auto u = h.input("u", {2, 1, 4}), v = h.op("tanh", {u}), wide = h.op("exp", {h.input("w", {2, 3, 4})});
  const auto cat = [&](const std::string &a, const std::string &b) {
    return h.op("cat", {a, b}, {{"dim", std::int64_t{1}}});
  };
  const auto twice = cat(v, h.op("abs", {u}));
  check_left_alone(h.graph({h.op("sin", {twice}), h.op("cos", {twice}), h.op("neg", {cat(v, wide)}),
                            h.op("relu", {cat(u, u)})}),
                   "stack-late");
}

TEST_CASE("pointwise ops between two reshapes are computed in the outer shape") {
  GraphBuilder g;
  const auto flat = [&](const char *name) { return g.reshape(g.op("tanh", {g.input(name, {3, 4, 5})}), {60}); };
  const auto sum = g.op("add", {g.op("mul", {flat("x"), g.constant(2)}), flat("y")});
  const auto graph = check_rewrites(g.graph({g.reshape(sum, {3, 1, 4, 5})}), {"reshape-early"});
  CHECK(graph.nodes.back().op == "add");
  GraphBuilder h; // one operand has no other shape; a value is read twice
  const auto a = h.reshape(h.input("a", {3, 4}), {12}), b = h.input("b", {12});
  const auto twice = h.op("exp", {a});
  check_left_alone(h.graph({h.reshape(h.op("add", {a, b}), {3, 4}), h.reshape(twice, {3, 4}), h.op("abs", {twice})}),
                   "reshape-early");
}
