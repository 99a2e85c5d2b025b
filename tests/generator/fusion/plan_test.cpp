// Partition and plans: what is fused, what is left to the library, where state and results go.
#include "generator/ops/graph_index.h"
#include "generator/planning/module_task.h"
#include "generator/rewrites/rewrite.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::planning;
using model::Shape;

namespace {

BuiltPlan plan(const model::Graph &graph, const PlanChoices &choices = {}) {
  auto built = build_plan(graph, plan_buffers(graph), {arch::gpu_named("cpu").value()}, choices);
  REQUIRE_MESSAGE(built.has_value(), (built ? "" : describe(built.error())));
  return std::move(*built);
}

PlanChoices by_library(const std::vector<std::string> &anchors, bool channels_last = false) {
  PlanChoices choices;
  for (const std::string &anchor : anchors)
    choices.anchors[anchor] = {"aten", true, channels_last};
  return choices;
}

std::string check(const model::Graph &graph, const BuiltPlan &built) {
  HarnessOptions options;
  options.tolerance = 1e-4;
  return check_plan_results(built, graph, options);
}

} // namespace

TEST_CASE("A chain of pointwise ops is one kernel without temporaries") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 32});
  std::string y = x;
  for (const char *op : {"exp", "neg", "relu", "tanh", "silu"})
    y = g.op(op, {y});
  const model::Graph graph = g.graph({y});
  const BuiltPlan built = plan(graph);
  CHECK(built.kernels == 1);
  CHECK(built.plan.temporaries.empty());
  CHECK(check(graph, built) == "");
}

TEST_CASE("Two results over one input share a kernel") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 512});
  const model::Graph graph = g.graph({g.op("exp", {x}), g.op("sin", {x})});
  const BuiltPlan built = plan(graph);
  CHECK(built.kernels == 1);
  CHECK(check(graph, built) == "");
}

TEST_CASE("A product by the library takes its bias and relu along") {
  GraphBuilder g;
  const std::string x = g.input("x", {5, 8}), w = g.parameter("w", {8, 6}),
                    b = g.parameter("b", {6});
  const std::string product = g.op("matmul", {x, w});
  const std::string y = g.op("relu", {g.op("add", {product, b})});
  const model::Graph graph = g.graph({g.op("tanh", {y})});
  const BuiltPlan built = plan(graph, by_library({product}));
  REQUIRE(built.plan.steps.size() == 2);
  CHECK(std::get<model::AtenStep>(built.plan.steps[0]).op == "aten::_addmm_activation");
  CHECK(check(graph, built) == "");
}

TEST_CASE("No plan asks for more shared memory than a block of the GPU may have") {
  for (const auto &[capability, limit] : {std::pair{"7.5", 64 * 1024},
                                          {"8.0", 163 * 1024},
                                          {"8.6", 99 * 1024},
                                          {"9.0", 227 * 1024},
                                          {"12.0", 99 * 1024}}) {
    CAPTURE(capability);
    model::DeviceInfo device;
    device.kind = "cuda";
    device.compute_capability = capability;
    device.multiprocessors = 80;
    const DeviceFacts facts = facts_of(device).value();
    CHECK(facts.shared_bytes_block == limit);
    GraphBuilder g;
    const std::string x = g.input("x", {4096, 4096}), w = g.parameter("w", {4096, 4096});
    const model::Graph graph = g.graph({g.shaped("matmul", {x, w}, {4096, 4096})});
    const auto first = build_plan(graph, plan_buffers(graph), facts, {});
    REQUIRE(first.has_value());
    for (const BuiltRegion &region : first->regions)
      for (const Configuration &configuration : region.configurations) {
        PlanChoices choices;
        choices.configurations[region_key(region.planned.region)] = configuration;
        const auto built = build_plan(graph, plan_buffers(graph), facts, choices);
        REQUIRE(built.has_value());
        for (const model::Step &step : built->plan.steps)
          if (const auto *launch = std::get_if<model::LaunchStep>(&step))
            CHECK(launch->shared_bytes.evaluate({}).value_or(limit + 1) <= limit);
      }
  }
}

TEST_CASE("Channels-last convolutions hand their layout from one to the next") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 4, 6, 6}), w1 = g.parameter("w1", {8, 4, 3, 3}),
                    w2 = g.parameter("w2", {4, 8, 1, 1});
  const std::string a = g.op("conv", {x, w1},
                             {{"stride", Shape{1, 1}},
                              {"padding", Shape{1, 1}},
                              {"dilation", Shape{1, 1}},
                              {"groups", std::int64_t{1}}});
  const std::string r = g.op("relu", {a});
  const std::string b = g.op("conv", {r, w2},
                             {{"stride", Shape{1, 1}},
                              {"padding", Shape{0, 0}},
                              {"dilation", Shape{1, 1}},
                              {"groups", std::int64_t{1}}});
  const model::Graph graph = g.graph({b, g.op("sigmoid", {b})});
  const BuiltPlan built = plan(graph, by_library({a, b}, true));
  int convolutions = 0;
  for (const model::Step &step : built.plan.steps)
    if (const auto *aten = std::get_if<model::AtenStep>(&step)) {
      ++convolutions;
      CHECK(aten->results.at(0).strides.at(1) == 1);
    }
  CHECK(convolutions == 2);
  CHECK(check(graph, built) == "");
  CHECK(check(graph, plan(graph, by_library({a, b}))) == "");
}

TEST_CASE("Parts of a cat that come from one source are computed in their places") {
  GraphBuilder g;
  const std::string x = g.input("x", {24, 32});
  const auto half = [&](std::int64_t start) {
    return g.op("slice", {x},
                {{"dim", std::int64_t{1}},
                 {"start", start},
                 {"stop", start + 16},
                 {"step", std::int64_t{1}}});
  };
  const std::string a = half(0), b = half(16);
  const std::string whole =
      g.op("cat", {g.op("mul", {a, g.op("sigmoid", {b})}), g.op("sub", {b, a})},
           {{"dim", std::int64_t{1}}});
  const model::Graph graph = g.graph({whole});
  const BuiltPlan built = plan(graph);
  CHECK(built.kernels == 1);
  CHECK(built.plan.temporaries.empty());
  CHECK(check(graph, built) == "");
  // The same where others read it, and not where a part would begin between vectors.
  const model::Graph read = g.graph({g.op("matmul", {whole, g.parameter("w", {32, 8})})});
  CHECK(check(read, plan(read, by_library({read.outputs[0]}))) == "");
  GraphBuilder h;
  const std::string y = h.input("y", {24, 7});
  const model::Graph odd =
      h.graph({h.op("cat", {h.op("exp", {y}), h.op("sin", {y})}, {{"dim", std::int64_t{1}}})});
  CHECK(check(odd, plan(odd)) == "");
}

TEST_CASE("A costly value whose halves meet twice behind a cat is stored before the rows that read "
          "it, a cheap one is not") {
  for (const bool is_costly : {true, false}) {
    GraphBuilder g;
    const std::string x = g.input("x", {96, 32});
    const std::string y =
        is_costly ? g.op("atan2", {g.op("sigmoid", {x}), g.op("sqrt", {g.op("exp", {x})})})
                  : g.op("neg", {x});
    const auto half = [&](std::int64_t start) {
      return g.op("slice", {y},
                  {{"dim", std::int64_t{1}},
                   {"start", start},
                   {"stop", start + 16},
                   {"step", std::int64_t{1}}});
    };
    const std::string a = half(0), b = half(16);
    const std::string both =
        g.op("cat", {g.op("mul", {a, g.op("sigmoid", {b})}), g.op("sub", {b, a})},
             {{"dim", std::int64_t{1}}});
    const std::string mean =
        g.op("mean", {g.op("square", {both})}, {{"dims", Shape{0}}, {"keepdim", true}});
    const model::Graph graph = g.graph({g.op("mul", {both, g.op("rsqrt", {mean})})});
    const BuiltPlan built = plan(graph);
    CHECK(built.kernels == (is_costly ? 2 : 1));
    CHECK(check(graph, built) == "");
  }
}

TEST_CASE("A region stores the value from which its readers compute the rest, if that is less") {
  GraphBuilder g;
  const std::string x = g.input("x", {4, 32, 64, 8}), mask = g.input("mask", {4, 32, 64, 8});
  const std::string share = g.op("softmax", {x}, {{"dim", std::int64_t{1}}});
  std::vector<std::string> sums;
  for (const std::string &value : {g.op("mul", {share, mask}), g.op("add", {share, mask}), g.op("sub", {share, mask})})
    sums.push_back(g.op("sum", {value}, {{"dims", Shape{2, 3}}, {"keepdim", false}}));
  const model::Graph graph = g.graph(sums);
  const BuiltPlan built = plan(graph);
  REQUIRE(built.regions.size() == 2);
  CHECK(built.regions[0].planned.region.outputs == std::vector{share});
  CHECK(built.regions[1].planned.region.inputs == std::vector{share, mask});
  CHECK(check(graph, built) == "");
  // In parts, the maxima and sums of the rows are less than the softmax, if rows are long enough.
  const model::Graph parts = rewrites::simplify(graph).graph;
  const BuiltPlan split = plan(parts);
  REQUIRE(split.regions.size() == 2);
  for (const std::string &output : split.regions[0].planned.region.outputs)
    CHECK(model::elements_of(ops::GraphIndex(split.graph).node(output).type().shape) == 4 * 64 * 8);
  CHECK(split.regions[1].planned.region.inputs.front() == x);
  CHECK(check(parts, split) == "");
  for (const char *reduction : {"amax", "sum"}) { // the library reads elements from memory
    PlanChoices choices;
    for (const model::Node &node : parts.nodes)
      if (node.op == reduction)
        choices.anchors[node.name].family = elements::kLibraryFamily;
    CHECK(check(parts, plan(parts, choices)) == "");
  }
  // One value of three is less to store and to read than three.
  GraphBuilder h;
  const std::string y = h.input("y", {4, 6, 64, 8}), a = h.input("a", {4, 6, 64, 8}), b = h.input("b", {4, 6, 64, 8});
  const std::string normed = h.op("softmax", {y}, {{"dim", std::int64_t{1}}}), joined = h.op("add", {h.op("mul", {normed, a}), b});
  const model::Graph narrow = h.graph({h.op("sum", {joined}, {{"dims", Shape{2, 3}}, {"keepdim", false}})});
  const BuiltPlan kept = plan(narrow);
  REQUIRE(kept.regions.size() == 2);
  CHECK(kept.regions[0].planned.region.outputs == std::vector{joined});
  CHECK(check(narrow, kept) == "");
}

TEST_CASE("A factor that a region cannot store is computed wherever it is read") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 16, 24, 8}), a = g.input("a", {2, 16, 1, 1}),
                    b = g.input("b", {2, 16, 1, 1});
  const std::string scaled = g.op("mul", {x, g.op("sigmoid", {g.op("add", {a, b})})});
  const auto over_channels = [&](const char *op) {
    return g.op(op, {scaled}, {{"dims", Shape{1}}, {"keepdim", true}});
  };
  const std::string both = g.op("add", {over_channels("mean"), over_channels("amax")}),
                    product = g.op("matmul", {g.reshape(both, {2, 192}), g.input("w", {192, 192})});
  const model::Graph graph = g.graph({g.op("mul", {scaled, g.reshape(product, {2, 1, 24, 8})})});
  const BuiltPlan built = plan(graph);
  CHECK(built.notes.empty());
  for (const BuiltRegion &region : built.regions)
    for (const std::string &output : region.planned.region.outputs)
      CHECK(output != scaled);
  CHECK(check(graph, built) == "");
}

TEST_CASE("A product reads a reshaped value in the memory of its source") {
  GraphBuilder g;
  const std::string x = g.input("x", {4, 6, 8}), w = g.parameter("w", {8, 5});
  const std::string product =
      g.op("matmul", {g.reshape(g.op("silu", {g.op("tanh", {x})}), {24, 8}), w});
  const model::Graph graph = g.graph({product});
  const BuiltPlan built = plan(graph, by_library({product}));
  CHECK(built.kernels == 1);
  CHECK(check(graph, built) == "");
}

TEST_CASE("A large operand that rows would read across memory is transposed once") {
  const auto stored = [](std::int64_t rows) {
    GraphBuilder g;
    const std::string turned = g.op("permute", {g.input("x", {512, rows})}, {{"dims", Shape{1, 0}}});
    const std::string product = g.op("matmul", {g.input("a", {1, rows, 4}), g.input("w", {4, 512})}),
                      added = g.op("add", {product, g.reshape(turned, {1, rows, 512})}),
                      norm = g.op("layer_norm", {turned, g.input("gain", {512}), g.input("shift", {512})},
                                  {{"dims", Shape{1}}, {"eps", 1e-5}});
    const model::Graph graph = g.graph({added, norm});
    const BuiltPlan built = plan(graph);
    CHECK(check(graph, built) == "");
    return std::ranges::count_if(built.regions, [&](const BuiltRegion &region) {
      return std::ranges::count(region.planned.region.outputs, turned) > 0;
    });
  };
  CHECK(stored(512) == 1);
  CHECK(stored(64) == 0); // a launch takes longer
}

TEST_CASE("An attention of the library reads heads that queries share once, and hands on tokens "
          "side by side") {
  const auto made = [](model::Dtype dtype) {
    GraphBuilder g;
    const auto heads = [&](const char *name,
                           std::int64_t count) { // as (batch, token, head, element)
      return g.op("permute", {g.input(name, {1, 16, count, 8}, dtype)},
                  {{"dims", Shape{0, 2, 1, 3}}});
    };
    const auto repeated = [&](const std::string &value) {
      return g.reshape(g.shaped("expand", {g.reshape(value, {1, 2, 1, 16, 8})}, {1, 2, 3, 16, 8}),
                       {1, 6, 16, 8});
    };
    const std::string attended =
        g.op("attention", {heads("q", 6), repeated(heads("k", 2)), repeated(heads("v", 2))},
             {{"causal", false}, {"scale", 0.35}});
    const std::string tokens =
        g.reshape(g.op("permute", {attended}, {{"dims", Shape{0, 2, 1, 3}}}), {16, 48});
    return g.graph({g.op("matmul", {tokens, g.parameter("w", {48, 8}, dtype)})});
  };
  const model::Graph graph = made(model::Dtype::BFloat16);
  const std::string attention = std::ranges::find(graph.nodes, "attention", &model::Node::op)->name;
  const BuiltPlan built = plan(graph, by_library({attention, graph.outputs[0]}));
  CHECK(built.kernels == 0);
  REQUIRE(built.plan.steps.size() == 2);
  const auto &step = std::get<model::AtenStep>(built.plan.steps[0]);
  CHECK(step.keywords.contains("enable_gqa"));
  CHECK(step.results[0].strides == Shape{768, 8, 48, 1});
  const model::Graph wide =
      made(model::Dtype::Float32); // whose kernels in PyTorch know no shared heads
  const BuiltPlan copied = plan(wide, by_library({wide.outputs[0]}));
  CHECK(!std::get<model::AtenStep>(copied.plan.steps[copied.plan.steps.size() - 2])
             .keywords.contains("enable_gqa"));
}

TEST_CASE("Dead temporaries lend their memory") {
  GraphBuilder g;
  std::string x = g.input("x", {6, 6});
  const std::string w = g.parameter("w", {6, 6});
  PlanChoices choices;
  for (int i = 0; i < 6; ++i) {
    x = g.op("tanh", {g.op("matmul", {x, w})});
  }
  const model::Graph graph = g.graph({x});
  const BuiltPlan built = plan(graph);
  CHECK(built.plan.temporaries.size() <= 2);
  CHECK(check(graph, built) == "");
}

TEST_CASE("New state overwrites the old only after everybody has read it") {
  GraphBuilder g;
  const std::string x = g.input("x", {12}), state = g.parameter("state", {12});
  const std::string next = g.op("add", {g.op("mul", {state, g.constant(0.9)}), x});
  g.update(state, next);
  const std::string turned = g.op("flip", {state}, {{"dims", Shape{0}}});
  const model::Graph graph = g.graph({g.op("mul", {turned, x})});
  CHECK(check(graph, plan(graph)) == "");
}

TEST_CASE("Values that are used twice, again and again, are no trouble") {
  GraphBuilder g;
  std::string x = g.input("x", {8, 8});
  for (int i = 0; i < 70; ++i)
    x = g.op("mul", {x, g.op("sigmoid", {x})});
  const model::Graph graph = g.graph({x});
  CHECK(check(graph, plan(graph)) == "");
}

TEST_CASE("Equal layers share their kernels' text") {
  GraphBuilder g;
  const std::string x = g.input("x", {4, 8}), w = g.parameter("w", {8, 8});
  const std::string a = g.op("tanh", {g.op("matmul", {x, w})}),
                    b = g.op("tanh", {g.op("matmul", {a, w})});
  const BuiltPlan built = plan(g.graph({b}));
  std::size_t kernels = 0;
  for (std::size_t at = built.plan.source.find("__global__"); at != std::string::npos;
       at = built.plan.source.find("__global__", at + 1))
    ++kernels;
  CHECK(static_cast<int>(kernels) < built.kernels);
}

namespace {

BuiltPlan plan_for_h200(const model::Graph &graph, const PlanChoices &choices = {}) {
  auto built = build_plan(graph, plan_buffers(graph), {arch::gpu_named("h200").value()}, choices);
  REQUIRE_MESSAGE(built.has_value(), (built ? "" : describe(built.error())));
  return std::move(*built);
}

std::int64_t blocks_of(const BuiltPlan &built, std::size_t step) {
  return *std::get<model::LaunchStep>(built.plan.steps.at(step)).grid[0].evaluate({});
}

} // namespace

TEST_CASE("Independent launches of different sizes become one, in which each has its blocks") {
  GraphBuilder g;
  const std::string x = g.input("x", {640, 512}), y = g.input("y", {40, 33});
  const model::Graph graph = g.graph({g.op("exp", {x}), g.op("sin", {y})});
  const BuiltPlan built = plan(graph);
  REQUIRE(built.plan.steps.size() == 1);
  CHECK(built.kernels == 1);
  CHECK(blocks_of(built, 0) > 1);
  CHECK(check(graph, built) == "");
}

TEST_CASE("A launch that reads another's result stays behind it") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 40});
  const std::string all = g.op("exp", {x});
  const std::string part =
      g.op("slice", {all},
           {{"dim", std::int64_t{0}}, {"start", std::int64_t{3}}, {"stop", std::int64_t{9}}});
  const std::string again = g.op("cumsum", {part}, {{"dim", std::int64_t{0}}});
  const model::Graph graph = g.graph({all, g.op("neg", {again})});
  const BuiltPlan built = plan(graph);
  CHECK(built.plan.steps.size() > 1);
  CHECK(check(graph, built) == "");
}

TEST_CASE(
    "Products of one left operand share a launch, and the gate of a gated layer its partner's") {
  const auto half = model::Dtype::BFloat16;
  GraphBuilder g;
  const std::string x = g.input("x", {256, 512}, half);
  std::vector<std::string> results;
  for (const char *name : {"q", "k", "v"})
    results.push_back(g.op("matmul", {x, g.parameter(name, {512, 128}, half)}));
  const BuiltPlan three = plan_for_h200(g.graph(results));
  REQUIRE(three.plan.steps.size() == 1);
  CHECK(std::get<model::LaunchStep>(three.plan.steps[0]).overlapped);
  CHECK(three.plan.source.find("griddepcontrol.wait") != std::string::npos);

  GraphBuilder gated;
  const std::string y = gated.input("x", {256, 512}, half);
  const std::string gate = gated.op("matmul", {y, gated.parameter("gate", {512, 1024}, half)});
  const std::string up = gated.op("matmul", {y, gated.parameter("up", {512, 1024}, half)});
  const std::string result = gated.op("mul", {gated.op("silu", {gate}), up});
  const model::Graph graph = gated.graph({result});
  PlanChoices choices;
  choices.anchors[gate].twin = true;
  const BuiltPlan two = plan_for_h200(graph, choices);
  CHECK(two.plan.steps.size() == 1);
  CHECK(two.plan.temporaries.empty());
  // Where something else reads the partner, it is stored as before.
  GraphBuilder shown;
  const std::string z = shown.input("x", {256, 512}, half);
  const std::string first = shown.op("matmul", {z, shown.parameter("gate", {512, 1024}, half)});
  const std::string second = shown.op("matmul", {z, shown.parameter("up", {512, 1024}, half)});
  PlanChoices same;
  same.anchors[first].twin = true;
  CHECK(plan_for_h200(shown.graph({shown.op("mul", {shown.op("silu", {first}), second}), second}),
                      same)
            .plan.steps.size() == 2);
}

TEST_CASE(
    "An epilogue leaves to its readers what they compute from values that are stored anyway") {
  const auto half = model::Dtype::BFloat16;
  GraphBuilder g;
  const std::string x = g.input("x", {256, 512}, half), scale = g.input("scale", {128}, half);
  const std::string product = g.op("matmul", {x, g.parameter("w", {512, 128}, half)});
  const std::string scaled = g.op("mul", {product, scale});
  const model::Graph graph = g.graph(
      {g.op("add", {scaled, g.op("cumsum", {product}, {{"dim", std::int64_t{0}}})}), product});
  const BuiltPlan built = plan_for_h200(graph);
  for (const BuiltRegion &region : built.regions)
    if (region.planned.region.anchor == product)
      CHECK(region.planned.region.outputs.size() == 1);
}

TEST_CASE("A pinned plan computes together at all sizes what it computed together at one") {
  const auto graph_of = [](std::int64_t rows) {
    GraphBuilder g;
    return g.graph({g.op("exp", {g.input("x", {rows, 33})}),
                    g.op("sin", {g.input("y", {rows, 33})}),
                    g.op("tanh", {g.input("z", {rows, 35})})});
  };
  const auto built_for = [&](std::int64_t rows, const PlanChoices &choices) {
    const model::Graph graph = graph_of(rows);
    auto built = build_plan(graph, plan_buffers(graph), {arch::gpu_named("h200").value()}, choices);
    REQUIRE(built);
    return *built;
  };
  const auto shape_of = [](const BuiltPlan &built) {
    return std::pair(built.regions.size(), built.plan.steps.size());
  };
  constexpr std::int64_t kRows[] = {31, 4001, 400009};
  std::set<std::pair<std::size_t, std::size_t>> shapes;
  for (const std::int64_t rows : kRows) {
    const BuiltPlan built = built_for(rows, {});
    shapes.insert(shape_of(built));
    for (const std::int64_t other : kRows)
      CHECK(shape_of(built_for(other, pinned_choices(built))) == shape_of(built));
  }
  CHECK(shapes.size() == 3); // the sizes alone would have decided otherwise
}
