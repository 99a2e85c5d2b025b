// Shifts before norms, norms over one element, batch norm with fixed statistics, attention.
#include "tests/generator/rewrites/check_rewrite.h"

#include <doctest/doctest.h>
#include <functional>

#include <limits>

using namespace warpwright;
using namespace warpwright::test;

namespace {

using model::Shape;

/// The formula of a group norm over groups of x, [2, 6, 5, 4].
std::string grouped_formula(GraphBuilder &g, const std::string &x, std::int64_t groups, double correction = 0) {
  const std::string values = g.shaped("reshape", {x}, {2, groups, 6 / groups, 20});
  const model::Attributes dims{{"dims", Shape{2, 3}}, {"keepdim", true}};
  model::Attributes spread = dims;
  spread["correction"] = correction;
  const std::string deviation = g.op("rsqrt", {g.op("add", {g.op("var", {values}, spread), g.constant(1e-3)})});
  const std::string normal = g.op("mul", {g.op("sub", {values, g.op("mean", {values}, dims)}), deviation});
  return g.op("mul", {g.shaped("reshape", {normal}, {2, 6, 5, 4}), g.shaped("reshape", {g.parameter("gain", {6})}, {1, 6, 1, 1})});
}

TEST_CASE("the formula of a group norm behind a convolution is a group norm") {
  const auto convolved = [](GraphBuilder &g) { return g.op("relu", {g.op("conv", {g.input("x", {2, 3, 7, 6}), g.parameter("w", {6, 3, 3, 3})})}); };
  for (const std::int64_t groups : {1, 2, 6}) {
    GraphBuilder g;
    const std::string words = ops_of(check_rewrites(g.graph({grouped_formula(g, convolved(g), groups)}), {"group-norm"}));
    CHECK(words.contains("group_norm"));
    CHECK_FALSE(words.contains("var"));
  }
  GraphBuilder unbiased, no_image;
  check_left_alone(unbiased.graph({grouped_formula(unbiased, convolved(unbiased), 2, 1)}), "group-norm");
  check_left_alone(no_image.graph({grouped_formula(no_image, no_image.input("x", {2, 6, 5, 4}), 2)}), "group-norm");
}

TEST_CASE("what a norm subtracts anyway is not added before it") {
  GraphBuilder g;
  const auto conv = g.op(
      "conv", {g.input("x", {2, 3, 6, 6}), g.parameter("w", {4, 3, 3, 3}), g.parameter("b", {4})});
  const auto y = g.op("group_norm", {conv},
                      {{"groups", std::int64_t{4}}, {"eps", 1e-5}, {"absent", "weight,bias"}});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"norm-shift"})) == "conv group_norm");
  GraphBuilder h;
  const auto shifted = h.op("add", {h.input("x", {3, 5}), h.input("s", {3, 1})});
  check_rewrites(h.graph({h.op("softmax", {shifted}, {{"dim", std::int64_t{1}}})}), {"norm-shift"});
  check_left_alone(h.graph({h.op("softmax", {shifted}, {{"dim", std::int64_t{0}}})}), "norm-shift");
  check_left_alone(
      h.graph({h.op("layer_norm", {h.op("add", {h.input("y", {3, 5}), h.input("t", {5})})},
                    {{"dims", Shape{1}}, {"eps", 1e-5}, {"absent", "weight,bias"}})}),
      "norm-shift");
}

TEST_CASE("a norm of groups keeps a shift that differs within them") {
  GraphBuilder g;
  const auto conv = g.op(
      "conv", {g.input("x", {2, 3, 6, 6}), g.parameter("w", {4, 3, 3, 3}), g.parameter("b", {4})});
  check_left_alone(
      g.graph({g.op("group_norm", {conv},
                    {{"groups", std::int64_t{2}}, {"eps", 1e-5}, {"absent", "weight,bias"}})}),
      "norm-shift");
}

TEST_CASE("running statistics keep the shift") {
  GraphBuilder g;
  const auto x = g.op("add", {g.input("x", {4, 3, 5}), g.parameter("s", {3, 1})});
  const auto y =
      g.op("batch_norm", {x, g.parameter("mean", {3}), g.parameter("var", {3})},
           {{"training", true}, {"eps", 1e-5}, {"momentum", 0.1}, {"absent", "weight,bias"}});
  g.update("mean", g.op("item", {y}, {{"index", std::int64_t{1}}}));
  check_left_alone(g.graph({y}), "norm-shift");
  check_rewrites(g.graph({y}), {});
}

TEST_CASE("a norm over one element is its bias") {
  GraphBuilder g;
  const auto y =
      g.op("layer_norm", {g.input("x", {4, 1}), g.parameter("w", {1}), g.parameter("b", {1})},
           {{"dims", Shape{1}}, {"eps", 1e-5}});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"norm-single-element"})) == "expand");
  GraphBuilder h;
  const auto z = h.op("group_norm", {h.input("x", {4, 6, 1, 1})},
                      {{"groups", std::int64_t{6}}, {"eps", 1e-5}, {"absent", "weight,bias"}});
  check_rewrites(h.graph({z}), {"norm-single-element"});
}

TEST_CASE("batch norm with fixed statistics is pointwise") {
  GraphBuilder g;
  const auto y = g.op("batch_norm",
                      {g.input("x", {2, 3, 4}), g.parameter("w", {3}), g.parameter("b", {3}),
                       g.parameter("mean", {3}), g.parameter("var", {3})},
                      {{"training", false}, {"eps", 1e-3}});
  const auto ops = ops_of(check_rewrites(g.graph({y}), {"batch-norm-inference"}));
  CHECK(ops.find("batch_norm") == std::string::npos);
}

std::string scores(GraphBuilder &g, double scale) {
  const auto k = g.op("permute", {g.input("k", {2, 3, 6, 4})}, {{"dims", Shape{0, 1, 3, 2}}});
  return g.op("mul", {g.op("matmul", {g.input("q", {2, 3, 5, 4}), k}), g.constant(scale)});
}

std::string attended(GraphBuilder &g, const std::string &scores) {
  return g.op("matmul",
              {g.op("softmax", {scores}, {{"dim", std::int64_t{3}}}), g.input("v", {2, 3, 6, 7})});
}

TEST_CASE("attention is recognised with its masks, and can be taken apart") {
  GraphBuilder plain;
  auto graph = plain.graph({attended(plain, scores(plain, 0.5))});
  auto after = check_rewrites(graph, {"attention"});
  CHECK(ops_of(after) == "attention");
  check_rewrites(after, {"attention-decomposed"});
  GraphBuilder added;
  graph = added.graph(
      {attended(added, added.op("add", {scores(added, 0.5), added.input("mask", {5, 6})}))});
  after = check_rewrites(graph, {"attention"});
  CHECK(ops_of(after) == "attention");
  check_rewrites(after, {"attention-decomposed"});
  GraphBuilder hidden;
  const double least = -std::numeric_limits<double>::infinity();
  const auto mask =
      hidden.op("tril", {hidden.input("mask", {5, 6})}, {{"diagonal", std::int64_t{0}}});
  const auto later = hidden.op("eq", {mask, hidden.constant(0)});
  const auto first = hidden.op(
      "logical_and", {later, hidden.op("gt", {hidden.input("n", {5, 6}), hidden.constant(5)})});
  graph = hidden.graph(
      {attended(hidden, hidden.op("where", {first, hidden.constant(least), scores(hidden, 0.5)}))});
  after = check_rewrites(graph, {"attention"});
  CHECK(ops_of(after).find("attention") != std::string::npos);
}

TEST_CASE("masks that hide the keys behind each query are causal attention, others stay") {
  const double least = -std::numeric_limits<double>::infinity();
  const auto place = [](GraphBuilder &g, Shape shape, std::int64_t extent) {
    return g.reshape(g.shaped("iota", {}, {extent}, {{"dim", std::int64_t{0}}}, model::Dtype::Int64), shape);
  };
  const auto uniform = [](GraphBuilder &g, double value) {
    return g.shaped("expand", {g.constant(value)}, {5, 6});
  };
  const auto diagonal = [](std::int64_t at) { return model::Attributes{{"diagonal", at}}; };
  const std::vector<std::function<std::string(GraphBuilder &)>> causal = {
      [&](GraphBuilder &g) { // as PyTorch's compiler writes triu
        const auto apart = g.op("sub", {place(g, {1, 6}, 6), place(g, {5, 1}, 5)});
        const auto mask = g.op("where", {g.op("ge", {apart, g.constant(1, model::Dtype::Int64)}),
                                         g.constant(least), g.constant(0)});
        return g.op("add", {scores(g, 0.5), mask});
      },
      [&](GraphBuilder &g) {
        return g.op("add", {scores(g, 0.5), g.op("triu", {uniform(g, -3e38)}, diagonal(1))});
      },
      [&](GraphBuilder &g) {
        const auto seen = g.op("tril", {uniform(g, 1)}, diagonal(0));
        return g.op("where", {g.op("eq", {seen, g.constant(0)}), g.constant(least), scores(g, 0.5)});
      },
      [&](GraphBuilder &g) {
        const auto seen = g.op("le", {place(g, {6}, 6), place(g, {1, 1, 5, 1}, 5)});
        return g.op("where", {seen, scores(g, 0.5), g.constant(least)});
      }};
  for (const auto &masked : causal) {
    GraphBuilder g;
    CHECK(ops_of(check_rewrites(g.graph({attended(g, masked(g))}), {"causal-mask"})) == "attention");
  }
  const std::vector<std::function<std::string(GraphBuilder &)>> others = {
      [&](GraphBuilder &g) { // the query's own key is hidden too, but for the first
        return g.op("add", {scores(g, 0.5), g.op("triu", {uniform(g, -3e38)}, diagonal(2))});
      },
      [&](GraphBuilder &g) { // hides little
        return g.op("add", {scores(g, 0.5), g.op("triu", {uniform(g, -2)}, diagonal(1))});
      },
      [&](GraphBuilder &g) {
        return g.op("where", {g.op("tril", {g.input("seen", {5, 6}, model::Dtype::Bool)}, diagonal(0)),
                              scores(g, 0.5), g.constant(least)});
      },
      [&](GraphBuilder &g) { // each second key
        const auto twice = g.op("add", {place(g, {6}, 6), place(g, {6}, 6)});
        return g.op("where", {g.op("le", {twice, place(g, {5, 1}, 5)}), scores(g, 0.5), g.constant(least)});
      }};
  for (const auto &masked : others) {
    GraphBuilder g;
    check_left_alone(g.graph({attended(g, masked(g))}), "causal-mask");
  }
}

/// Attention as PyTorch's compiler has it: products of joined batches, and a softmax in parts.
std::string capped_attention(GraphBuilder &g, model::Dtype dtype, bool masks_before_the_cap) {
  const auto numbers = [&](const std::string &op, const std::string &x, double number) {
    return g.op(op, {x, g.constant(number, g.type(x).dtype)});
  };
  const auto joined = [&](const std::string &x) {
    const Shape &shape = g.type(x).shape;
    return g.reshape(x, {shape[0] * shape[1], shape[2], shape[3]});
  };
  const std::string k =
      g.op("permute", {g.input("k", {2, 3, 6, 8}, dtype)}, {{"dims", Shape{0, 1, 3, 2}}});
  std::string scores = g.reshape(
      g.op("matmul", {joined(g.input("q", {2, 3, 5, 8}, dtype)), joined(k)}), {2, 3, 5, 6});
  const auto mask = [&] { scores = g.op("add", {scores, g.input("mask", {5, 6}, dtype)}); };
  scores = numbers("mul", scores, 0.5);
  if (masks_before_the_cap)
    mask();
  scores = numbers("mul", g.op("tanh", {numbers("div", scores, 3)}), 3);
  if (!masks_before_the_cap)
    mask();
  const std::string wide = g.cast(scores, model::Dtype::Float32);
  const model::Attributes last{{"dims", Shape{3}}, {"keepdim", true}};
  const std::string power = g.op("exp", {g.op("sub", {wide, g.op("amax", {wide}, last)})});
  const std::string weights = g.cast(g.op("div", {power, g.op("sum", {power}, last)}), dtype);
  return g.op("matmul", {joined(weights), joined(g.input("v", {2, 3, 6, 8}, dtype))});
}

TEST_CASE("capped scores and a softmax in parts are an attention in half precision") {
  GraphBuilder half;
  const auto after = check_rewrites(
      half.graph({capped_attention(half, model::Dtype::Float16, false)}), {"attention"});
  CHECK(ops_of(after).find("attention") != std::string::npos);
  CHECK(ops_of(after).find("exp ") == std::string::npos);
  check_rewrites(after, {"attention-decomposed"});
  GraphBuilder hidden; // a mask before the cap hides nothing
  check_left_alone(hidden.graph({capped_attention(hidden, model::Dtype::Float16, true)}),
                   "attention");
  GraphBuilder single; // which neither the library nor a family computes
  check_left_alone(single.graph({capped_attention(single, model::Dtype::Float32, false)}),
                   "attention");
}

TEST_CASE("scores that are read elsewhere, or scaled after an added mask, stay as they are") {
  GraphBuilder g;
  const auto s = scores(g, 0.5);
  check_left_alone(g.graph({attended(g, s), s}), "attention");
  GraphBuilder h;
  const auto masked = h.op("add", {scores(h, 0.5), h.input("mask", {5, 6})});
  check_left_alone(h.graph({attended(h, h.op("mul", {masked, h.constant(2)}))}), "attention");
}

} // namespace
