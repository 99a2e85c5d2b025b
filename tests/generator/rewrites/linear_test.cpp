// Sums and means taken into products and convolutions, on many shapes.
#include "generator/ops/cost.h"
#include "tests/generator/rewrites/check_rewrite.h"

#include <doctest/doctest.h>

#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;

namespace {

using model::Shape;

void check_cheaper(const model::Graph &graph, double times,
                   const std::vector<std::string> &rules = {"reduce-linear"}) {
  const model::Graph after = check_rewrites(graph, rules);
  CHECK(cost_of(after).flops * times <= cost_of(graph).flops);
}

std::string reduced(GraphBuilder &g, const char *op, const std::string &x, Shape dims,
                    bool keepdim) {
  return g.op(op, {x}, {{"dims", std::move(dims)}, {"keepdim", keepdim}});
}

TEST_CASE("a linear layer summed over its features is one product with the summed weight") {
  for (const char *op : {"sum", "mean"})
    for (const bool keepdim : {true, false}) {
      GraphBuilder g;
      const auto weight = g.parameter("weight", {24, 16}), bias = g.parameter("bias", {24});
      const auto t = g.op("permute", {weight}, {{"dims", Shape{1, 0}}});
      auto y = g.op("add", {g.op("matmul", {g.input("x", {12, 16}), t}), bias});
      y = g.op("sub", {g.op("mul", {y, g.constant(0.5)}), g.parameter("p", {24})});
      check_cheaper(g.graph({g.op("tanh", {reduced(g, op, y, {1}, keepdim)})}), 4);
    }
}

TEST_CASE("a mean over tokens goes through two linear layers") {
  GraphBuilder g;
  auto y = g.op("matmul", {g.input("x", {3, 10, 8}), g.parameter("a", {8, 9})});
  y = g.op("add", {y, g.parameter("bias", {9})});
  y = g.op("matmul", {y, g.parameter("b", {9, 7})});
  check_cheaper(g.graph({reduced(g, "mean", y, {1}, false)}), 2);
}

TEST_CASE("sums over batches of products stay where both operands have them") {
  GraphBuilder g;
  const auto y = g.op("matmul", {g.input("x", {3, 4, 8}), g.input("z", {3, 8, 5})});
  check_rewrites(g.graph({reduced(g, "sum", y, {0, 2}, false)}), {"reduce-linear"});
  check_left_alone(g.graph({reduced(g, "sum", y, {0}, false)}), "reduce-linear");
}

TEST_CASE("a product that others read is not computed twice") {
  GraphBuilder g;
  const auto y = g.op("matmul", {g.input("x", {8, 8}), g.input("z", {8, 8})});
  check_left_alone(g.graph({reduced(g, "sum", y, {1}, false), y}), "reduce-linear");
}

TEST_CASE("what is not linear between keeps the product") {
  GraphBuilder g;
  const auto y = g.op("relu", {g.op("matmul", {g.input("x", {8, 8}), g.input("z", {8, 8})})});
  check_left_alone(g.graph({reduced(g, "sum", y, {1}, false)}), "reduce-linear");
}

TEST_CASE("16-bit sums are left alone") {
  GraphBuilder g;
  const auto y = g.op("matmul", {g.input("x", {8, 8}, model::Dtype::Float16),
                                 g.input("z", {8, 8}, model::Dtype::Float16)});
  check_left_alone(g.graph({reduced(g, "sum", y, {1}, false)}), "reduce-linear");
}

TEST_CASE("a convolution averaged over space, channels or batch shrinks") {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return static_cast<std::int64_t>(low + static_cast<int>(random() % (high - low + 1)));
  };
  int shrunk = 0;
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    GraphBuilder g;
    const auto spatial = static_cast<std::size_t>(pick(1, trial % 5 == 0 ? 3 : 2));
    const bool transposed = random() % 2;
    const std::int64_t groups = pick(1, 2), in = 2 * groups, out = 3 * groups;
    Shape x{2, in}, weight{transposed ? in : out, (transposed ? out : in) / groups};
    Shape stride, padding, dilation, output_padding;
    for (std::size_t i = 0; i < spatial; ++i) {
      weight.push_back(pick(1, 3));
      stride.push_back(pick(1, 3));
      dilation.push_back(pick(1, 2));
      padding.push_back(pick(0, 2));
      output_padding.push_back(transposed && stride[i] > 1 ? pick(0, 1) : 0);
      x.push_back(pick(6, spatial == 3 ? 7 : 9));
    }
    std::vector<std::string> operands{g.input("x", x), g.parameter("weight", weight)};
    if (random() % 2)
      operands.push_back(g.parameter("bias", {out}));
    auto y = g.op("conv", operands,
                  {{"stride", stride},
                   {"padding", padding},
                   {"dilation", dilation},
                   {"output_padding", output_padding},
                   {"groups", groups},
                   {"transposed", transposed}});
    if (random() % 2)
      y = g.op("mul", {y, g.constant(2)});
    Shape dims;
    for (std::size_t i = 0; i < spatial + 2; ++i)
      if (random() % 2 || (trial % 2 && i >= 2))
        dims.push_back(static_cast<std::int64_t>(i));
    if (dims.empty())
      dims.push_back(2);
    y = reduced(g, random() % 2 ? "mean" : "sum", y, dims, random() % 2);
    const model::Graph graph = g.graph({g.op("tanh", {y})});
    const model::Graph after = check_rewrites(graph, {});
    shrunk += cost_of(after).flops < 0.7 * cost_of(graph).flops;
  }
  CHECK(shrunk > 20);
}

} // namespace
