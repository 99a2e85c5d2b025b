// Pools behind convolutions, convolutions as products, phases of transposed ones, on many shapes.
#include "generator/ops/cost.h"
#include "tests/generator/rewrites/check_rewrite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;
using namespace warpwright::rewrites;

namespace {

using model::Shape;

struct Drawn {
  std::mt19937 random;
  std::int64_t pick(int low, int high) {
    return static_cast<std::int64_t>(low + static_cast<int>(random() % (high - low + 1)));
  }
};

/// A convolution of random shape on a new input.
std::string convolution(GraphBuilder &g, Drawn &draw, std::size_t spatial, bool transposed,
                        bool plain_stride) {
  const std::int64_t groups = draw.pick(1, 2), in = 2 * groups, out = 3 * groups;
  Shape x{2, in}, weight{transposed ? in : out, (transposed ? out : in) / groups};
  Shape stride, padding, output_padding;
  for (std::size_t i = 0; i < spatial; ++i) {
    weight.push_back(draw.pick(1, 4));
    stride.push_back(plain_stride ? 1 : draw.pick(1, 3));
    padding.push_back(draw.pick(0, 2));
    output_padding.push_back(stride[i] > 1 && transposed ? draw.pick(0, 1) : 0);
    x.push_back(draw.pick(6, 9));
  }
  std::vector<std::string> operands{g.input("x", x), g.parameter("w", weight)};
  if (draw.random() % 2)
    operands.push_back(g.parameter("b", {out}));
  return g.op("conv", operands,
              {{"stride", stride},
               {"padding", padding},
               {"dilation", Shape(spatial, 1)},
               {"output_padding", output_padding},
               {"groups", groups},
               {"transposed", transposed}});
}

TEST_CASE("an average pool behind a convolution becomes part of it") {
  Drawn draw{std::mt19937(3)};
  int merged = 0;
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    GraphBuilder g;
    const auto spatial = static_cast<std::size_t>(draw.pick(1, 2));
    const bool transposed = trial % 2;
    auto y = convolution(g, draw, spatial, transposed, !transposed);
    Shape kernel, stride;
    for (std::size_t i = 0; i < spatial; ++i) {
      kernel.push_back(std::min(draw.pick(2, 4), g.type(y).shape[i + 2]));
      stride.push_back(draw.pick(0, 2) ? kernel[i] : draw.pick(2, 3));
    }
    y = g.op("avg_pool", {y},
             {{"kernel", kernel}, {"stride", stride}, {"padding", Shape(spatial, 0)}});
    const auto graph = g.graph({g.op("tanh", {y})});
    const auto after = check_rewrites(graph, {});
    merged += cost_of(after).flops < 0.9 * cost_of(graph).flops;
  }
  CHECK(merged > 10);
}

TEST_CASE("transposed convolutions are convolutions in phases") {
  Drawn draw{std::mt19937(5)};
  int written = 0;
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    GraphBuilder g;
    const auto graph =
        g.graph({convolution(g, draw, static_cast<std::size_t>(draw.pick(1, 2)), true, false)});
    check_rewrites(graph, {});
    for (const Rewrite &rewrite : warpwright::rewrites::rewrites(GraphIndex(graph)))
      written += rewrite.rule == "conv-phases";
  }
  CHECK(written > 5);
}

TEST_CASE("a kernel that covers its input is a product, one of one tap can be") {
  GraphBuilder g;
  const auto y = g.op(
      "conv", {g.input("x", {3, 4, 5, 2}), g.parameter("w", {6, 4, 5, 2}), g.parameter("b", {6})});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"conv-covering"})) ==
        "reshape reshape permute matmul add reshape");
  for (const bool transposed : {false, true})
    for (const std::int64_t stride : {1, 2}) {
      GraphBuilder h;
      const auto z = h.op("conv",
                          {h.input("x", {3, 4, 5, 7}),
                           h.parameter("w", transposed ? Shape{4, 6, 1, 1} : Shape{6, 4, 1, 1}),
                           h.parameter("b", {6})},
                          {{"stride", Shape{stride, stride}}, {"transposed", transposed}});
      if (transposed && stride == 2)
        check_rewrites(h.graph({z}), {});
      else
        check_rewrites(h.graph({z}), {"conv-pointwise"});
    }
}

TEST_CASE("factors and shifts of channels go into weights") {
  GraphBuilder g;
  auto y =
      g.op("conv", {g.input("x", {2, 3, 5}), g.parameter("w", {4, 3, 2}), g.parameter("b", {4})});
  y = g.op("mul", {y, g.parameter("s", {4, 1})});
  y = g.op("add", {g.parameter("t", {1, 4, 1}), y});
  check_rewrites(g.graph({y}), {"fold-scale"});
  GraphBuilder h;
  const auto z = h.op("matmul", {h.input("x", {5, 3}), h.parameter("w", {3, 4})});
  check_rewrites(h.graph({h.op("mul", {z, h.parameter("s", {4})})}), {"fold-scale"});
}

TEST_CASE("a norm and a residual between a convolution and a relu go into its weight and bias") {
  for (const bool adds : {false, true}) {
    GraphBuilder g;
    const std::string x = g.input("x", {2, 3, 5, 4});
    auto y = g.op("conv", {x, g.parameter("w", {3, 3, 1, 1})});
    y = g.op("sub", {y, g.parameter("mean", {3, 1, 1})});
    y = g.op("mul", {g.parameter("s", {1, 3, 1, 1}), y});
    y = g.op("add", {y, g.parameter("t", {3, 1, 1})});
    if (adds)
      y = g.op("add", {x, y});
    check_rewrites(g.graph({g.op("relu", {y})}), {"conv-epilogue"});
  }
  GraphBuilder c; // halves are normalized in float32
  constexpr model::Dtype kHalf = model::Dtype::Float16;
  auto v = c.op("conv", {c.input("x", {2, 3, 5, 4}, kHalf), c.parameter("w", {3, 3, 1, 1}, kHalf)});
  v = c.op("sub", {c.cast(v, model::Dtype::Float32), c.parameter("mean", {3, 1, 1})});
  v = c.op("add", {c.op("mul", {v, c.parameter("s", {3, 1, 1})}), c.parameter("t", {3, 1, 1})});
  check_rewrites(c.graph({c.op("relu", {c.cast(v, kHalf)})}), {"conv-epilogue"});
  GraphBuilder h; // nothing is shifted, so that the library would add zeros
  const auto z = h.op("conv", {h.input("x", {2, 3, 5, 4}), h.parameter("w", {4, 3, 1, 1})});
  check_left_alone(h.graph({h.op("relu", {h.op("mul", {z, h.parameter("s", {4, 1, 1})})})}), "conv-epilogue");
}

TEST_CASE("averages over neighbouring features are taken of the weight") {
  GraphBuilder g;
  const auto t = g.op("permute", {g.parameter("w", {24, 16})}, {{"dims", Shape{1, 0}}});
  auto y = g.op("add", {g.op("matmul", {g.input("x", {12, 16}), t}), g.parameter("b", {24})});
  y = g.op("avg_pool", {g.reshape(y, {12, 1, 24})},
           {{"kernel", Shape{4}}, {"stride", Shape{4}}, {"padding", Shape{0}}});
  const auto graph = g.graph({g.op("tanh", {y})});
  CHECK(2 * cost_of(check_rewrites(graph, {"pool-linear"})).flops < cost_of(graph).flops);
}

} // namespace
