// Plans whose library convolutions are channels-last: what is turned with them, what is not, and that results never change.
#include "generator/ops/text.h"
#include "generator/planning/channels_last.h"
#include "generator/planning/layouts.h"
#include "generator/search/plan_starts.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::ops;
using namespace warpwright::planning;
using model::Shape;

namespace {

model::Attributes convolution(std::int64_t kernel, std::int64_t stride = 1) {
  return {{"stride", Shape{stride, stride}},
          {"padding", Shape{kernel / 2, kernel / 2}},
          {"dilation", Shape{1, 1}},
          {"groups", std::int64_t{1}}};
}

model::Attributes pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {{"kernel", Shape{kernel, kernel}},
          {"stride", Shape{stride, stride}},
          {"padding", Shape{padding, padding}},
          {"dilation", Shape{1, 1}},
          {"ceil", false}};
}

PlanChoices turned(const model::Graph &graph) {
  PlanChoices choices;
  for (const model::Node &node : graph.nodes)
    if (node.op == "conv") {
      const bool depthwise = std::get<std::int64_t>(node.attributes.at("groups")) > 1;
      choices.anchors[node.name] = {depthwise ? "depthwise" : "aten", true, !depthwise};
    }
  return choices;
}

BuiltPlan plan(const model::Graph &graph, const PlanChoices &choices) {
  auto built = build_plan(graph, plan_buffers(graph), HarnessOptions{}.facts, choices);
  REQUIRE_MESSAGE(built.has_value(), (built ? "" : describe(built.error())));
  return std::move(*built);
}

std::string check(const model::Graph &graph, const PlanChoices &choices, std::uint64_t seed = 1) {
  HarnessOptions options;
  options.seed = seed;
  options.tolerance = 3e-4;
  const auto built = build_plan(graph, plan_buffers(graph), options.facts, choices);
  return built ? check_plan_results(*built, graph, options) : describe(built.error());
}

int count(const BuiltPlan &built, std::string_view words) {
  return static_cast<int>(std::ranges::count_if(built.regions, [&](const BuiltRegion &region) {
    return region.words.find(words) != std::string::npos;
  }));
}

/// Convolutions with what networks put between them, over images of even and odd sizes.
class RandomNetwork {
public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed) {}

  model::Graph make() {
    size_ = pick(5, 8);
    values_.push_back(g_.input("x", {2, pick(1, 2) * 3, size_, size_}));
    values_.push_back(conv(values_.back()));
    for (int steps = pick(4, 10); steps > 0; --steps)
      values_.push_back(step());
    std::vector<std::string> outputs{values_.back()};
    for (int extra = pick(0, 2); extra > 0; --extra)
      outputs.push_back(
          values_[static_cast<std::size_t>(pick(1, static_cast<int>(values_.size()) - 1))]);
    return g_.graph(outputs);
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  const Shape &shape(const std::string &value) { return g_.type(value).shape; }
  std::string any() {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const auto &value = values_[static_cast<std::size_t>(
          std::max(0, static_cast<int>(values_.size()) - pick(1, 4)))];
      if (shape(value).size() == 4)
        return value;
    }
    return values_.front();
  }
  std::string weight(const Shape &of) { return g_.parameter("w" + std::to_string(weights_++), of); }

  std::string conv(const std::string &x) {
    const std::int64_t kernel = shape(x)[2] > 2 && shape(x)[3] > 2 && pick(0, 1) ? 3 : 1;
    const std::int64_t out = pick(0, 3) ? 4 * pick(1, 2) : pick(1, 5);
    return g_.op("conv", {x, weight({out, shape(x)[1], kernel, kernel})}, convolution(kernel));
  }

  std::string batch_norm(const std::string &x) {
    const Shape channels{shape(x)[1]};
    const bool tracked = pick(0, 1);
    std::vector<std::string> inputs{x, weight(channels), weight(channels)};
    model::Attributes attributes{{"training", true}, {"eps", 1e-3}, {"momentum", 0.3}};
    if (tracked)
      for (int i = 0; i < 2; ++i)
        inputs.push_back(weight(channels));
    else
      attributes["absent"] = std::string("running_mean,running_var");
    const std::string norm = g_.op("batch_norm", inputs, attributes);
    for (std::int64_t i = 1; tracked && i <= 2; ++i)
      g_.update(inputs[static_cast<std::size_t>(2 + i)], g_.op("item", {norm}, {{"index", i}}));
    return norm;
  }

  std::string step() {
    const std::string x = any();
    switch (pick(0, 18)) {
    case 0:
    case 1:
    case 2:
      return conv(x);
    case 3:
      return g_.op("relu", {x});
    case 4:
      return g_.op("add", {x, g_.reshape(weight({shape(x)[1]}), {shape(x)[1], 1, 1})});
    case 5:
      for (int attempt = 0; attempt < 6; ++attempt)
        if (const std::string other = any(); shape(other) == shape(x))
          return g_.op("add", {x, other});
      return g_.op("mul", {x, weight({shape(x)[2], 1})});
    case 6: {
      std::string other = any();
      return shape(other)[2] == shape(x)[2] && shape(other)[3] == shape(x)[3]
                 ? g_.op("cat", {x, other, x}, {{"dim", std::int64_t{1}}})
                 : g_.op("cat", {x, x}, {{"dim", std::int64_t{pick(1, 3)}}});
    }
    case 7:
      return shape(x)[2] > 2 && shape(x)[3] > 2 ? g_.op("max_pool", {x}, pool(3, pick(1, 2), 1))
                                                : g_.op("sigmoid", {x});
    case 8: {
      model::Attributes average = pool(2, pick(1, 2), 0);
      average.erase("dilation");
      average["count_include_pad"] = true;
      return shape(x)[2] > 2 && shape(x)[3] > 2 ? g_.op("avg_pool", {x}, average)
                                                : g_.op("neg", {x});
    }
    case 9:
    case 10:
      return batch_norm(x);
    case 11: {
      const Shape dims = pick(0, 2) ? Shape{2, 3} : Shape{std::int64_t{pick(0, 3)}};
      const std::string row =
          g_.op(pick(0, 1) ? "mean" : "amax", {x}, {{"dims", dims}, {"keepdim", true}});
      return pick(0, 1) ? g_.op("mul", {x, g_.op("sigmoid", {row})})
                        : g_.op("sum", {x}, {{"dims", dims}, {"keepdim", false}});
    }
    case 16:
    case 17: {
      const std::int64_t channels = shape(x)[1];
      return g_.op("group_norm", {x, weight({channels}), weight({channels})},
                   {{"groups", channels % 2 == 0 ? channels / 2 : 1}, {"eps", 1e-3}});
    }
    case 15:
      if (shape(x)[2] * shape(x)[3] > 64)
        return g_.op("abs", {x});
      return g_.shaped("upsample_nearest", {x}, {shape(x)[0], shape(x)[1], 2 * shape(x)[2], shape(x)[3]},
                       {{"scales", Shape{2, 1}}});
    case 12:
      return g_.op("softmax", {x}, {{"dim", std::int64_t{pick(1, 3)}}});
    case 13:
      return g_.op("slice", {x},
                   {{"dim", std::int64_t{1}},
                    {"start", shape(x)[1] / 2},
                    {"stop", shape(x)[1]},
                    {"step", std::int64_t{1}}});
    case 14: {
      const std::int64_t channels = shape(x)[1];
      if (channels == 1 || shape(x)[2] < 3 || shape(x)[3] < 3)
        return conv(x);
      model::Attributes attributes = convolution(3, pick(1, 2));
      attributes["groups"] = channels;
      return g_.op("conv", {x, weight({channels, 1, 3, 3})}, attributes);
    }
    default:
      return g_.op(
          "pad", {x},
          {{"low", Shape{0, 0, 1, 0}}, {"high", Shape{0, pick(0, 2), 0, 1}}, {"value", 0.5}});
    }
  }

  std::mt19937_64 random_;
  GraphBuilder g_;
  std::vector<std::string> values_;
  std::int64_t size_ = 6;
  int weights_ = 0;
};

} // namespace

TEST_CASE("A network of convolutions converts its input and result, and no value between") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 8, 8, 8}), w1 = g.parameter("w1", {8, 8, 3, 3}),
                    w2 = g.parameter("w2", {8, 8, 1, 1}), w3 = g.parameter("w3", {8, 16, 1, 1});
  const std::string a = g.op("relu", {g.op("conv", {x, w1}, convolution(3))});
  const std::string b = g.op("max_pool", {a}, pool(3, 1, 1));
  const std::string c =
      g.op("cat", {g.op("conv", {b, w2}, convolution(1)), a}, {{"dim", std::int64_t{1}}});
  const std::string y = g.op("tanh", {g.op("conv", {c, w3}, convolution(1))});
  const model::Graph graph = g.graph({y});
  const BuiltPlan built = plan(graph, turned(graph));
  // Of the input, of the first weight, and of the result: 1x1 weights are the same memory.
  CHECK(count(built, "transpose=1") == 3);
  CHECK(count(built, "aten(conv, channels_last)") == 3);
  CHECK(count(built, "template(pool, channels_last=1") == 1);
  CHECK(built.regions.size() == 8);
  CHECK(check(graph, turned(graph)) == "");
}

TEST_CASE("What a convolution gathers from the input goes through tiles") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 8, 9, 10}), w1 = g.parameter("w1", {8, 8, 3, 3}), w2 = g.parameter("w2", {8, 8, 3, 3});
  const std::string padded = g.op("pad", {x}, {{"low", Shape{0, 0, 1, 2}}, {"high", Shape{0, 0, 0, 1}}, {"value", 0.5}});
  const std::string ring = g.op("cat", {g.op("slice", {x}, {{"dim", std::int64_t{3}}, {"start", std::int64_t{8}}, {"end", std::int64_t{10}}, {"step", std::int64_t{1}}}), x},
                                {{"dim", std::int64_t{3}}});
  const model::Graph graph = g.graph({g.op("conv", {padded, w1}, convolution(3)), g.op("conv", {ring, w2}, convolution(3))});
  const BuiltPlan built = plan(graph, turned(graph));
  CHECK(count(built, "transpose=1) fuse(pad)") == 1);
  CHECK(std::ranges::any_of(built.regions, [](const BuiltRegion &region) {
    return region.words.contains("transpose=1") && region.words.contains("cat");
  }));
  CHECK(check(graph, turned(graph)) == "");
}

TEST_CASE("A part of a channels-last concatenation that is computed from the input reads it in that order") {
  GraphBuilder g;
  const std::string x = g.input("x", {1, 64, 64, 64}), gate = g.input("gate", {1, 1, 64, 64}), deep = g.input("deep", {1, 4, 64, 64});
  const std::string part = g.op("relu", {g.op("mul", {x, gate})});
  const std::string below = g.op("conv", {deep, g.parameter("w1", {64, 4, 1, 1})}, convolution(1));
  const std::string both = g.op("cat", {part, below}, {{"dim", std::int64_t{1}}});
  const std::string w2 = g.parameter("w2", {4, 128, 1, 1});
  const auto cat_width = [](const BuiltPlan &built) {
    const auto found = std::ranges::find_if(built.regions, [](const BuiltRegion &region) { return region.words.contains("cat"); });
    return found == built.regions.end() || !found->configuration.contains("width") ? 0 : found->configuration.at("width");
  };
  const model::Graph graph = g.graph({g.op("conv", {both, w2}, convolution(1))});
  CHECK(cat_width(plan(graph, turned(graph))) == 4); // a copy of x in that order is stored first
  const std::string beside = g.op("conv", {x, g.parameter("w3", {4, 64, 1, 1})}, convolution(1));
  const model::Graph shared = g.graph({g.op("conv", {both, w2}, convolution(1)), beside});
  const BuiltPlan built = plan(shared, turned(shared));
  CHECK(cat_width(built) == 4);
  CHECK(count(built, "transpose=1") == 1); // of x, for both readers
}

TEST_CASE(
    "A batch norm behind a channels-last convolution reads its rows once for both statistics") {
  GraphBuilder g;
  const std::string x = g.input("x", {3, 4, 6, 6}), w = g.parameter("w", {8, 4, 1, 1});
  const std::string a = g.op("conv", {x, w}, convolution(1));
  std::vector<std::string> inputs{a};
  for (const char *name : {"gain", "shift", "mean", "deviation"})
    inputs.push_back(g.parameter(name, {8}));
  const std::string norm =
      g.op("batch_norm", inputs, {{"training", true}, {"eps", 1e-3}, {"momentum", 0.2}});
  g.update("mean", g.op("item", {norm}, {{"index", std::int64_t{1}}}));
  g.update("deviation", g.op("item", {norm}, {{"index", std::int64_t{2}}}));
  const std::string w2 = g.parameter("w2", {4, 8, 1, 1});
  const model::Graph graph = g.graph({g.op("conv", {g.op("relu", {norm}), w2}, convolution(1))});
  CHECK(count(plan(graph, turned(graph)), "template(rows") == 1);
  CHECK(check(graph, turned(graph)) == "");
}

TEST_CASE(
    "Random networks come out right with all of their convolutions channels-last, and with some") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph graph = RandomNetwork(seed).make();
    INFO(print_graph(graph));
    PlanChoices some = turned(graph);
    std::mt19937_64 random(seed);
    std::erase_if(some.anchors, [&](const auto &) { return random() % 2 == 0; });
    CHECK(check(graph, turned(graph), seed) == "");
    CHECK(check(graph, some, seed) == "");
  }
}

TEST_CASE("A block of a residual network is three library calls, with norms in weights and biases") {
  GraphBuilder g;
  const auto normalized = [&](const std::string &x, const std::string &of) {
    std::vector<std::string> inputs{x};
    for (const char *name : {"gain", "shift", "mean"})
      inputs.push_back(g.parameter(of + name, {8}));
    inputs.push_back(g.op("abs", {g.parameter(of + "variance", {8})}));
    return g.op("batch_norm", inputs, {{"training", false}, {"eps", 1e-3}});
  };
  const std::string x = g.input("x", {2, 8, 6, 6}), last = g.input("last", {8, 3, 3, 8});
  const std::string w2 = g.op("permute", {last}, {{"dims", Shape{0, 3, 1, 2}}});
  const std::string entry =
      g.op("relu", {g.op("conv", {x, g.parameter("w0", {8, 8, 1, 1}), g.parameter("b0", {8})}, convolution(1))});
  std::string y = g.op("conv", {entry, g.parameter("w1", {8, 8, 3, 3})}, convolution(3));
  y = g.op("conv", {g.op("relu", {normalized(y, "a")}), w2}, convolution(3));
  y = g.op("relu", {g.op("add", {normalized(y, "b"), entry})});
  const model::Graph graph = g.graph({g.op("mean", {y}, {{"dims", Shape{2, 3}}, {"keepdim", false}})});
  const search::GraphState base{rewrites::simplify(with_separate_bias(graph)).graph, {}, {}};
  const auto state = search::rewritten_everywhere(base, search::kConvolutionEpilogue);
  REQUIRE(state.has_value());
  const BuiltPlan built = plan(state->graph, turned(state->graph));
  INFO(print_graph(built.graph));
  CHECK(count(built, "aten(conv, channels_last) fuse(relu)") == 2);
  CHECK(count(built, "aten(conv, channels_last) fuse(add,relu)") == 1);
  CHECK(count(built, "template(layouts") == 1); // of both weights with norms
  CHECK(check(graph, {}) == "");
  CHECK(check(state->graph, turned(state->graph)) == "");
}

TEST_CASE("Pools over channels-last memory agree in every configuration") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 4, 9, 8}), w = g.parameter("w", {12, 4, 1, 1});
  const std::string a = g.op("conv", {x, w}, convolution(1));
  const std::string strided = g.op("max_pool", {g.op("relu", {a})}, pool(3, 2, 1));
  const std::string result = g.op("sigmoid", {g.op("max_pool", {a}, pool(2, 1, 0))});
  const std::string w2 = g.parameter("w2", {4, 12, 1, 1});
  const model::Graph graph = g.graph(
      {g.op("conv", {strided, w2}, convolution(1)), g.op("max_pool", {a}, pool(3, 1, 1)), result});
  const PlanChoices base = turned(graph);
  const BuiltPlan built = plan(graph, base);
  int varied = 0;
  for (const BuiltRegion &region : built.regions)
    for (const Configuration &configuration : region.configurations) {
      if (region.planned.choice.family != "pool" || !configuration.contains("channels_last"))
        continue;
      PlanChoices choices = base;
      choices.configurations[region_key(region.planned.region)] = configuration;
      CHECK(check(graph, choices) == "");
      ++varied;
    }
  CHECK(varied >= 9);
}

TEST_CASE("Images become tokens, and tokens images, without a copy") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 4, 5, 5}),
                    image = g.op("add", {g.op("conv", {x, g.parameter("w", {8, 4, 3, 3})}, convolution(3)),
                                         g.reshape(g.parameter("b", {8}), {8, 1, 1})}),
                    tokens = g.op("permute", {g.reshape(image, {2, 8, 25})}, {{"dims", Shape{0, 2, 1}}}),
                    normed = g.op("layer_norm", {tokens, g.parameter("gain", {8}), g.parameter("shift", {8})},
                                  {{"dims", Shape{2}}, {"eps", 1e-5}}),
                    sum = g.op("add", {normed, tokens}),
                    back = g.reshape(g.op("permute", {sum}, {{"dims", Shape{0, 2, 1}}}), {2, 8, 5, 5});
  const model::Graph graph =
      g.graph({g.op("conv", {back, g.parameter("v", {4, 8, 1, 1})}, convolution(1))});
  CHECK(check(graph, turned(graph)) == "");
  const BuiltPlan built = plan(graph, turned(graph));
  for (const BuiltRegion &region : built.regions)
    for (const std::string &output : region.planned.region.outputs) {
      CAPTURE(output);
      const bool is_border = output.starts_with("x__") || output.starts_with("w__") ||
                             output == built.graph.outputs[0] || output == "x";
      CHECK((is_border || output.find("__channels_last") == std::string::npos));
    }
}

TEST_CASE("A convolution along tokens, each channel by its own taps, writes them in their order") {
  for (const bool heads : {false, true}) {
    GraphBuilder g;
    const std::string tokens = g.input("x", {2, 20, 48}),
                      part = g.op("slice", {tokens}, {{"dim", 2}, {"start", 16}, {"stop", 48}, {"step", 1}}),
                      signal = g.op("permute", {part}, {{"dims", Shape{0, 2, 1}}}),
                      conv = g.op("conv", {signal, g.parameter("w", {32, 1, 4})},
                                  {{"stride", Shape{1}}, {"padding", Shape{3}}, {"dilation", Shape{1}}, {"groups", std::int64_t{32}}}),
                      causal = g.op("slice", {conv}, {{"dim", 2}, {"start", 0}, {"stop", 20}, {"step", 1}}),
                      active = g.op("silu", {causal});
    std::string back = g.op("permute", {active}, {{"dims", Shape{0, 2, 1}}});
    if (heads)
      back = g.op("permute", {g.reshape(active, {2, 4, 8, 20})}, {{"dims", Shape{0, 1, 3, 2}}});
    const model::Graph graph = g.graph({g.op("sum", {back}, {{"dims", Shape{heads ? 3 : 2}}, {"keepdim", false}})});
    CHECK(check(graph, turned(graph)) == "");
    const BuiltPlan built = plan(graph, turned(graph));
    const GraphIndex index(built.graph);
    const auto strides = value_strides(index, turned(graph).anchors);
    CHECK(strides.at(conv) == Shape{23 * 32, 1, 32});
    CHECK(strides.size() == 1);
  }
}
