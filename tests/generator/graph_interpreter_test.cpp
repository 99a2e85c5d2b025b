// The reference evaluation against values worked out by hand, or by torch if a comment reports it.
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

#include <limits>

using namespace warpwright;
using namespace warpwright::test;

namespace {

struct Case {
  GraphBuilder g;
  Arrays leaves;

  std::string give(const std::string &name, model::Shape shape, std::vector<double> values,
                   model::Dtype dtype = model::Dtype::Float32) {
    Array array(dtype, shape);
    array.values = std::move(values);
    leaves[name] = std::move(array);
    return g.input(name, shape, dtype);
  }
  std::vector<double> values_of(const std::string &result, const Interpretation &how = {}) {
    const auto arrays = interpret(g.graph({result}), leaves, how);
    REQUIRE_MESSAGE(arrays, (arrays ? "" : arrays.error().message));
    return arrays->at(result).values;
  }
};

void check_close(const std::vector<double> &actual, const std::vector<double> &expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    CHECK((actual[i] == expected[i] || actual[i] == doctest::Approx(expected[i]).epsilon(1e-9)));
}

TEST_CASE("pointwise operands broadcast as in PyTorch") {
  Case c;
  const auto a = c.give("a", {2, 1}, {1, 2}), b = c.give("b", {3}, {10, 20, 30});
  const auto sum = c.g.op("add", {a, b});
  CHECK(c.g.type(sum).shape == model::Shape{2, 3});
  check_close(c.values_of(sum), {11, 21, 31, 12, 22, 32});
}

TEST_CASE("activations have PyTorch's formulas") {
  Case c;
  const auto x = c.give("x", {3}, {-2, 0.5, 30});
  // From torch in float64.
  check_close(c.values_of(c.g.op("gelu", {x}, {{"approximate", "none"}})),
              {-0.04550026389635842, 0.34573123063700656, 30});
  check_close(c.values_of(c.g.op("mish", {x})), {-0.2525014826957089, 0.3752452113048951, 30});
  check_close(c.values_of(c.g.op("softplus", {x}, {{"beta", 1.0}, {"threshold", 20.0}})),
              {0.1269280110429726, 0.9740769841801067, 30});
  check_close(c.values_of(c.g.op("hardswish", {x})), {-1.0 / 3, 0.5 * 3.5 / 6, 30});
  check_close(
      c.values_of(c.g.op("elu", {x}, {{"alpha", 2.0}, {"scale", 3.0}, {"input_scale", 0.5}})),
      {3 * 2 * std::expm1(-1.0), 1.5, 90});
}

TEST_CASE("views move elements") {
  Case c;
  const auto x = c.give("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(c.values_of(c.g.op("permute", {x}, {{"dims", model::Shape{1, 0}}})),
              {1, 4, 2, 5, 3, 6});
  check_close(c.values_of(c.g.op("slice", {x},
                                 {{"dim", std::int64_t{1}},
                                  {"start", std::int64_t{0}},
                                  {"stop", std::int64_t{3}},
                                  {"step", std::int64_t{2}}})),
              {1, 3, 4, 6});
  check_close(c.values_of(c.g.op(
                  "pad", {x},
                  {{"low", model::Shape{0, -1}}, {"high", model::Shape{1, 0}}, {"value", 9.0}})),
              {2, 3, 5, 6, 9, 9});
  check_close(c.values_of(c.g.op("tril", {x}, {{"diagonal", std::int64_t{0}}})),
              {1, 0, 0, 4, 5, 0});
  check_close(
      c.values_of(c.g.op("roll", {x}, {{"shifts", model::Shape{1}}, {"dims", model::Shape{1}}})),
      {3, 1, 2, 6, 4, 5});
  check_close(c.values_of(c.g.op("cat", {x, x}, {{"dim", std::int64_t{1}}})),
              {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  const auto v = c.give("v", {2}, {7, 8});
  check_close(c.values_of(c.g.op("diag_embed", {v})), {7, 0, 0, 8});
  check_close(
      c.values_of(c.g.op(
          "diagonal", {c.g.op("diag_embed", {v})},
          {{"offset", std::int64_t{0}}, {"dim1", std::int64_t{0}}, {"dim2", std::int64_t{1}}})),
      {7, 8});
}

TEST_CASE("reductions keep or drop their dimensions") {
  Case c;
  const auto x = c.give("x", {2, 3}, {1, 5, 3, 4, 2, 6});
  const auto rows = c.g.op("sum", {x}, {{"dims", model::Shape{1}}, {"keepdim", true}});
  CHECK(c.g.type(rows).shape == model::Shape{2, 1});
  check_close(c.values_of(rows), {9, 12});
  check_close(
      c.values_of(
          c.g.op("var", {x},
                 {{"dims", model::Shape{1}}, {"keepdim", false}, {"correction", std::int64_t{1}}})),
      {4, 4});
  const auto at = c.g.op("argmax", {x}, {{"dims", model::Shape{1}}, {"keepdim", false}});
  CHECK(c.g.type(at).dtype == model::Dtype::Int64);
  check_close(c.values_of(at), {1, 2});
  check_close(c.values_of(c.g.op("logsumexp", {x}, {{"dims", model::Shape{0}}})),
              {std::log(std::exp(1) + std::exp(4)), std::log(std::exp(5) + std::exp(2)),
               std::log(std::exp(3) + std::exp(6))});
  check_close(c.values_of(c.g.op("cumsum", {x}, {{"dim", std::int64_t{0}}})), {1, 5, 3, 5, 7, 9});
}

TEST_CASE("batch norm in training gives new running statistics") {
  Case c;
  const auto x = c.give("x", {2, 1, 2}, {1, 2, 3, 6});
  const auto mean = c.give("mean", {1}, {10}), var = c.give("var", {1}, {1});
  const auto y =
      c.g.op("batch_norm", {x, mean, var},
             {{"training", true}, {"eps", 0.5}, {"momentum", 0.5}, {"absent", "weight,bias"}});
  check_close(c.values_of(y), {-2 / 2.0, -1 / 2.0, 0, 3 / 2.0}); // variance 3.5
  check_close(c.values_of(c.g.op("item", {y}, {{"index", std::int64_t{1}}})), {6.5});
  check_close(c.values_of(c.g.op("item", {y}, {{"index", std::int64_t{2}}})),
              {0.5 + 0.5 * 14.0 / 3});
}

TEST_CASE("convolutions stride, pad, dilate, group and transpose") {
  Case c;
  const auto x = c.give("x", {1, 1, 4}, {1, 2, 3, 4});
  const auto w = c.give("w", {1, 1, 2}, {10, 1});
  check_close(c.values_of(c.g.op("conv", {x, w},
                                 {{"stride", model::Shape{2}},
                                  {"padding", model::Shape{1}},
                                  {"dilation", model::Shape{1}},
                                  {"groups", std::int64_t{1}}})),
              {1, 23, 40});
  check_close(c.values_of(c.g.op("conv", {x, w}, {{"dilation", model::Shape{2}}})), {13, 24});
  check_close(c.values_of(c.g.op("conv", {x, w},
                                 {{"stride", model::Shape{2}},
                                  {"transposed", true},
                                  {"output_padding", model::Shape{1}}})),
              {10, 1, 20, 2, 30, 3, 40, 4, 0});
  const auto two = c.give("two", {1, 2, 2}, {1, 2, 3, 4});
  const auto depthwise = c.give("depthwise", {2, 1, 1}, {5, 7});
  const auto bias = c.give("bias", {2}, {100, 200});
  check_close(c.values_of(c.g.op("conv", {two, depthwise, bias}, {{"groups", std::int64_t{2}}})),
              {105, 110, 221, 228});
}

TEST_CASE("pools count padding as PyTorch does") {
  Case c;
  const auto x = c.give("x", {1, 1, 5}, {1, 2, 3, 4, 5});
  const auto pooled = [&](const char *op, model::Attributes more) {
    model::Attributes attributes = {
        {"kernel", model::Shape{2}}, {"stride", model::Shape{2}}, {"padding", model::Shape{0}}};
    for (auto &[name, value] : more)
      attributes[name] = value;
    return c.values_of(c.g.op(op, {x}, attributes));
  };
  check_close(pooled("max_pool", {}), {2, 4});
  check_close(pooled("max_pool", {{"ceil", true}}), {2, 4, 5});
  check_close(pooled("avg_pool", {{"ceil", true}}), {1.5, 3.5, 5});
  check_close(pooled("avg_pool", {{"padding", model::Shape{1}}, {"count_include_pad", true}}),
              {0.5, 2.5, 4.5});
  check_close(pooled("avg_pool", {{"padding", model::Shape{1}}, {"count_include_pad", false}}),
              {1, 2.5, 4.5});
  check_close(c.values_of(c.g.shaped("adaptive_avg_pool", {x}, {1, 1, 2})), {2, 4});
}

TEST_CASE("products broadcast their batches and attention masks the future") {
  Case c;
  const auto a = c.give("a", {2, 1, 2}, {1, 2, 3, 4}), b = c.give("b", {2, 2}, {1, 10, 100, 1000});
  check_close(c.values_of(c.g.op("matmul", {a, b})), {201, 2010, 403, 4030});
  const auto q = c.give("q", {1, 2, 1}, {0, 0}), k = c.give("k", {1, 2, 1}, {1, 5}),
             v = c.give("v", {1, 2, 1}, {2, 4});
  check_close(c.values_of(c.g.op("attention", {q, k, v}, {{"causal", true}, {"scale", 1.0}})),
              {2, 3});
}

TEST_CASE("each node is rounded to its dtype when asked") {
  Case c;
  const auto x = c.give("x", {3}, {1.0009765625, 70000, 0.1}, model::Dtype::Float32);
  const auto half = c.g.cast(x, model::Dtype::Float16);
  check_close(c.values_of(half, {.round_each_node = true}),
              {1.0009765625, std::numeric_limits<double>::infinity(), 0.0999755859375});
  check_close(c.values_of(c.g.cast(x, model::Dtype::BFloat16), {.round_each_node = true}),
              {1.0, 70144, 0.10009765625});
  check_close(c.values_of(c.g.cast(x, model::Dtype::Int32)), {1, 70000, 0});
}

TEST_CASE("a node whose type is not what its op gives is an error that names it") {
  Case c;
  const auto x = c.give("x", {2, 2}, {1, 2, 3, 4});
  const auto y = c.g.shaped("relu", {x}, {4});
  const auto arrays = interpret(c.g.graph({y}), c.leaves);
  REQUIRE_FALSE(arrays);
  CHECK(arrays.error().message.find(y) != std::string::npos);
  CHECK_FALSE(interpret(c.g.graph({c.g.shaped("aten", {x}, {2, 2})}), c.leaves));
}

TEST_CASE("drawn indices are within what they index") {
  GraphBuilder g;
  const auto weight = g.parameter("weight", {3, 2});
  const auto index = g.input("index", {50}, model::Dtype::Int64);
  const auto graph = g.graph({g.op("embedding", {weight, index})});
  CHECK(interpret(graph, draw_leaves(graph, 1)));
  for (const double value : draw_leaves(graph, 1)["index"].values)
    CHECK((value >= 0 && value < 3));
}

} // namespace
