// Whole plans of random graphs: anchors of several families with pointwise ops, views and shared values between them. What partition fuses,
// recomputes, keeps in memory or hands to the library must never change a result.
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"

#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::planning;
using model::Shape;

namespace {

class RandomNetwork {
public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed) {}

  model::Graph make() {
    values_.push_back(g_.input("x", {2, 4, 6, 6}));
    values_.push_back(g_.input("y", {2, 4, 6, 6}));
    const int steps = pick(4, 12);
    for (int i = 0; i < steps; ++i)
      values_.push_back(step());
    std::vector<std::string> outputs{values_.back()};
    for (int extra = pick(0, 2); extra > 0; --extra)
      outputs.push_back(
          values_[static_cast<std::size_t>(pick(2, static_cast<int>(values_.size()) - 1))]);
    return g_.graph(outputs);
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  const Shape &shape(const std::string &value) { return g_.type(value).shape; }
  std::string any() {
    return values_[static_cast<std::size_t>(
        std::max(0, static_cast<int>(values_.size()) - pick(1, 4)))];
  }
  std::string alike(const std::string &value) {
    for (int attempt = 0; attempt < 6; ++attempt)
      if (const std::string other = any(); shape(other) == shape(value))
        return other;
    return g_.constant(0.75);
  }

  std::string step() {
    const std::string x = any();
    const auto rank = static_cast<std::int64_t>(shape(x).size());
    static const char *const kUnary[] = {"relu", "tanh", "sigmoid", "gelu", "neg", "silu", "abs"};
    static const char *const kBinary[] = {"add", "sub", "mul", "maximum"};
    switch (pick(0, 13)) {
    case 0:
    case 1:
    case 2:
      return g_.op(kUnary[pick(0, 6)], {x});
    case 3:
    case 4:
    case 5:
      return g_.op(kBinary[pick(0, 3)], {x, alike(x)});
    case 6:
      return g_.op("softmax", {x}, {{"dim", std::int64_t{pick(0, static_cast<int>(rank) - 1)}}});
    case 7: { // a reduction, and its operand against it
      const char *const op = pick(0, 1) ? "mean" : "amax";
      const std::string row = g_.op(op, {x}, {{"dims", Shape{rank - 1}}, {"keepdim", true}});
      return g_.op("sub", {x, row});
    }
    case 8: {
      const std::string w = g_.parameter("w" + std::to_string(weights_++), {shape(x).back(), 6});
      return g_.op("matmul", {x, w});
    }
    case 9: {
      Shape dims(static_cast<std::size_t>(rank));
      for (std::size_t d = 0; d < dims.size(); ++d)
        dims[d] = static_cast<std::int64_t>((d + 1) % dims.size());
      return g_.op("permute", {x}, {{"dims", dims}});
    }
    case 10: {
      std::int64_t elements = 1;
      for (const std::int64_t size : shape(x))
        elements *= size;
      return g_.reshape(x, {2, elements / 12, 6});
    }
    case 11:
      return g_.op(
          "layer_norm", {x},
          {{"dims", Shape{rank - 1}}, {"eps", 1e-5}, {"absent", std::string("weight,bias")}});
    case 12:
      return g_.op("cumsum", {x}, {{"dim", rank - 1}});
    default:
      return rank == 4 && shape(x)[2] > 2 && shape(x)[3] > 2
                 ? g_.op("max_pool", {x},
                         {{"kernel", Shape{3, 3}},
                          {"stride", Shape{1, 1}},
                          {"padding", Shape{1, 1}},
                          {"dilation", Shape{1, 1}},
                          {"ceil", false}})
                 : g_.op("exp", {g_.op("neg", {g_.op("square", {x})})});
    }
  }

  std::mt19937_64 random_;
  GraphBuilder g_;
  std::vector<std::string> values_;
  int weights_ = 0;
};

std::string check(const model::Graph &graph, const PlanChoices &choices, std::uint64_t seed) {
  HarnessOptions options;
  options.seed = seed;
  options.tolerance = 2e-4;
  const auto built = build_plan(graph, plan_buffers(graph), options.facts, choices);
  return built ? check_plan_results(*built, graph, options) : describe(built.error());
}

} // namespace

TEST_CASE("Plans of random networks come out as the interpreter says") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    CHECK(check(RandomNetwork(seed).make(), {}, seed) == "");
  }
}

TEST_CASE("So they do with anchors alone, and with anchors left to the library at random") {
  for (std::uint64_t seed = 101; seed <= 130; ++seed) {
    CAPTURE(seed);
    const model::Graph graph = RandomNetwork(seed).make();
    std::mt19937_64 random(seed);
    PlanChoices alone, mixed;
    for (const model::Node &node : graph.nodes)
      if (is_anchor(node)) {
        alone.anchors[node.name].fuse = false;
        if (random() % 2)
          mixed.anchors[node.name].family = "aten";
      }
    CHECK(check(graph, alone, seed) == "");
    CHECK(check(graph, mixed, seed) == "");
  }
}
