// Convolutions as products: the copies of the kernel, interpreted as CUDA documents im2col maps,
// find what the window covers; the text compiles for Hopper; a plan of a block is one launch for
// each convolution. GPUs run it in tests/regions and bench/families.
#include "arch/generations.h"
#include "generator/families/matmul/implicit_gemm.h"
#include "generator/planning/plan_builder.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::families::matmul;
using namespace warpwright::ops;
using model::Shape;

namespace {

using Random = std::mt19937_64;
std::int64_t pick(Random &random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

const Configuration kTile{{"group_m", 64}, {"tile_n", 64}, {"together", 1},
                          {"stages", 4},   {"swapped", 0}, {"splits", 1}};

/// A leaf whose channels lie last in memory, as (N, C, spatial...).
std::string channels_last(GraphBuilder &g, const std::string &name, Shape shape,
                          model::Dtype dtype) {
  const std::int64_t channels = shape[1];
  shape.erase(shape.begin() + 1);
  shape.push_back(channels);
  Shape dims{0, static_cast<std::int64_t>(shape.size()) - 1};
  for (std::size_t d = 1; d + 1 < shape.size(); ++d)
    dims.push_back(static_cast<std::int64_t>(d));
  return g.op("permute", {g.input(name, shape, dtype)}, {{"dims", dims}});
}

Region region_around(const model::Graph &graph) {
  Region region;
  for (const model::Node &node : graph.nodes) {
    (node.op == "input" ? region.inputs : region.nodes).push_back(node.name);
    if (node.op == "conv")
      region.anchor = node.name;
  }
  region.outputs = graph.outputs;
  return region;
}

model::Attributes window(const Shape &stride, const Shape &padding, const Shape &dilation) {
  return {{"stride", stride},
          {"padding", padding},
          {"dilation", dilation},
          {"groups", std::int64_t{1}}};
}

std::int64_t number(const symbolic::Expression &value) { return *value.evaluate({}); }

double element(const model::BufferArgument &argument, const Arrays &values, const Shape &place) {
  std::int64_t at = number(argument.offset);
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0 || place[i] >= number(argument.map->extents[i]))
      return 0;
    at += place[i] * (i == 0 ? 1 : number(argument.map->strides[i - 1]));
  }
  return values.at(argument.buffer).values.at(static_cast<std::size_t>(at));
}

/// The element of a channel and tap at the `row`-th position of the window, in the order of the map's corners and steps:
/// columns first, from the first corner to the last, then rows and images.
double covered(const model::BufferArgument &image, const Arrays &values, std::int64_t row,
               std::int64_t channel, const Shape &offsets) {
  const model::MapWindow &window = *image.map->window;
  Shape place{channel};
  for (std::size_t i = 0; i < window.steps.size(); ++i) {
    const std::int64_t extent = number(image.map->extents[i + 1]);
    const std::int64_t count =
        (extent - 1 + window.last[i] - window.first[i]) / window.steps[i] + 1;
    place.push_back(window.first[i] + row % count * window.steps[i] + offsets[i]);
    row /= count;
  }
  place.push_back(row);
  return element(image, values, place);
}

} // namespace

TEST_CASE("maps of a window hold what a convolution multiplies") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  Random random(17);
  for (int round = 0; round < 24; ++round) {
    GraphBuilder g;
    const auto spatial = static_cast<std::size_t>(pick(random, 2, 3));
    const auto dtype =
        std::array{model::Dtype::BFloat16, model::Dtype::Float16, model::Dtype::Float32}[round % 3];
    const std::int64_t channels = 16 / static_cast<std::int64_t>(model::size_bytes(dtype)) *
                                  pick(random, 1, 10),
                       outputs = pick(random, 1, 40);
    Shape image{pick(random, 1, 3), channels}, filter{outputs, channels}, stride, padding, dilation;
    for (std::size_t d = 0; d < spatial; ++d) {
      const std::int64_t kernel = pick(random, 1, 3);
      dilation.push_back(pick(random, 1, 2));
      stride.push_back(pick(random, 1, 3));
      padding.push_back(pick(random, 0, 2));
      filter.push_back(kernel);
      image.push_back((kernel - 1) * dilation.back() + pick(random, 1, 5));
    }
    const std::string x = channels_last(g, "x", image, dtype),
                      w = channels_last(g, "w", filter, dtype);
    const model::Graph graph = g.graph({g.op("conv", {x, w}, window(stride, padding, dilation))});
    const GraphIndex index(graph);
    const Region region = region_around(graph);
    REQUIRE(kImplicitGemmFamily.claims(index, index.node(region.anchor)));
    const auto lowering = kImplicitGemmFamily.lower(index, region, kTile, hopper, "region");
    REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
    const auto values = interpret(graph, draw_leaves(graph, random()));
    REQUIRE(values);
    const auto &arguments = std::get<model::LaunchStep>(lowering->steps.at(0)).arguments;
    std::vector<model::BufferArgument> maps;
    for (const model::Argument &one : arguments)
      if (const auto *buffer = std::get_if<model::BufferArgument>(&one); buffer && buffer->map)
        maps.push_back(*buffer);
    REQUIRE(maps.size() == 2);
    const Array &result = values->at(graph.outputs[0]);
    const Shape &out = index.node(graph.outputs[0]).type().shape;
    const std::int64_t pixels = elements_between(out, 2, out.size());
    for (int i = 0; i < 20; ++i) {
      const std::int64_t row = pick(random, 0, out[0] * pixels - 1),
                         column = pick(random, 0, outputs - 1);
      double sum = 0;
      for (std::int64_t tap = 0; tap < elements_between(filter, 2, filter.size()); ++tap) {
        Shape offsets; // columns first
        std::int64_t rest = tap;
        for (std::size_t d = spatial; d-- > 0; rest /= filter[d + 2])
          offsets.push_back(rest % filter[d + 2] * dilation[d]);
        for (std::int64_t channel = 0; channel < channels; ++channel)
          sum += covered(maps[0], *values, row, channel, offsets) *
                 element(maps[1], *values, {channel, column, tap, 0});
      }
      const std::int64_t at = (row / pixels * outputs + column) * pixels + row % pixels;
      CHECK(sum ==
            doctest::Approx(result.values[static_cast<std::size_t>(at)]).epsilon(0.02).scale(1));
    }
  }
}

TEST_CASE("convolutions as products compile for Hopper, with what follows them") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  const std::pair<std::size_t, model::Dtype> cases[] = {
      {2, model::Dtype::BFloat16}, {3, model::Dtype::BFloat16}, {2, model::Dtype::Float32}};
  for (const auto &[spatial, dtype] : cases)
    for (const Configuration &change :
         {Configuration{}, Configuration{{"together", 0}, {"splits", 3}, {"tile_n", 96}}}) {
      GraphBuilder g;
      Shape image{2, 72}, filter{80, 72}, ones(spatial, 1);
      image.resize(spatial + 2, 9);
      filter.resize(spatial + 2, 3);
      const std::string product =
          g.op("conv", {channels_last(g, "x", image, dtype), channels_last(g, "w", filter, dtype)},
               window(ones, ones, ones));
      Shape dims{0};
      for (std::size_t d = 0; d < spatial; ++d)
        dims.push_back(static_cast<std::int64_t>(d) + 2);
      dims.push_back(1);
      const std::string last = g.op("permute", {product}, {{"dims", dims}});
      const model::Graph graph =
          g.graph({g.op("relu", {g.op("add", {last, g.input("bias", {80}, dtype)})})});
      const GraphIndex index(graph);
      Configuration configuration = change;
      configuration.insert(kTile.begin(), kTile.end());
      const auto lowering =
          kImplicitGemmFamily.lower(index, region_around(graph), configuration, hopper, "region");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
      // Neighbors in memory are channels, stored together.
      const std::string wide = dtype == model::Dtype::Float32 ? "<float, 4>"
                               : change.contains("splits")    ? "<__nv_bfloat16, 4>"
                                                              : "<__nv_bfloat16, 8>";
      CHECK(lowering->source.find("warpwright_vector" + wide) != std::string::npos);
      const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
      if (!errors) {
        MESSAGE("skipped: no NVRTC");
        return;
      }
      CHECK_MESSAGE(errors->empty(), *errors);
    }
}

TEST_CASE("a result whose channels do not lie last is stored by positions") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  const auto source = [&](std::int64_t side) {
    GraphBuilder g;
    const auto dtype = model::Dtype::Float16;
    const std::string product = g.op("conv",
                                     {channels_last(g, "x", {3, 16, side, side}, dtype),
                                      channels_last(g, "w", {24, 16, 1, 1}, dtype)},
                                     window({1, 1}, {0, 0}, {1, 1}));
    const model::Graph graph =
        g.graph({g.op("add", {product, g.input("residual", {3, 24, side, side}, dtype)})});
    const GraphIndex index(graph);
    const auto lowering =
        kImplicitGemmFamily.lower(index, region_around(graph), kTile, hopper, "region");
    REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
    CHECK(tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a").value_or("") == "");
    return lowering->source;
  };
  const std::string even = source(6), odd = source(5);
  CHECK(even.find("kAcross = 1") != std::string::npos);
  CHECK(even.find("warpwright_vector<__half, 4>") != std::string::npos);
  CHECK(odd.find("kAcross = 0") != std::string::npos); // four positions may lie in two images
}

TEST_CASE("convolutions that no map describes are left to others") {
  const auto claims = [](const Shape &image, const Shape &filter,
                         const model::Attributes &attributes,
                         model::Dtype dtype = model::Dtype::Float16) {
    GraphBuilder g;
    const model::Graph graph = g.graph(
        {g.op("conv", {g.input("x", image, dtype), g.input("w", filter, dtype)}, attributes)});
    const GraphIndex index(graph);
    return kImplicitGemmFamily.claims(index, index.node(graph.outputs[0]));
  };
  const Shape one{1, 1};
  CHECK(claims({1, 8, 6, 6}, {4, 8, 3, 3}, window(one, one, one)));
  CHECK_FALSE(claims({1, 8, 6, 6}, {4, 8, 3, 3}, window(one, one, one), model::Dtype::Float64));
  CHECK_FALSE(claims({1, 3, 6, 6}, {4, 3, 3, 3}, window(one, one, one)));         // rows of 6 bytes
  CHECK_FALSE(claims({1, 8, 20, 20}, {4, 8, 1, 1}, window({9, 9}, {0, 0}, one))); // steps over 8
  CHECK_FALSE(claims({1, 8, 9}, {4, 8, 3}, window({1}, {1}, {1})));               // no image
}

TEST_CASE(
    "a block of channels-last convolutions has no kernel but theirs and those of its borders") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  GraphBuilder g;
  const auto dtype = model::Dtype::BFloat16;
  const model::Attributes around = window({1, 1}, {1, 1}, {1, 1});
  const std::string x = g.input("x", {2, 16, 10, 10}, dtype);
  const auto layer = [&](const std::string &value, const std::string &name) {
    const std::string product =
        g.op("conv", {value, g.parameter("w" + name, {16, 16, 3, 3}, dtype)}, around);
    return g.op("add", {product, g.reshape(g.parameter("b" + name, {16}, dtype), {16, 1, 1})});
  };
  const std::string inner = g.op("relu", {layer(x, "1")});
  const model::Graph graph = g.graph({g.op("silu", {g.op("add", {layer(inner, "2"), x})})});
  planning::PlanChoices choices;
  for (const model::Node &node : graph.nodes)
    if (node.op == "conv")
      choices.anchors[node.name] = {"implicit_gemm"};
  const auto built = planning::build_plan(graph, planning::plan_buffers(graph), hopper, choices);
  REQUIRE_MESSAGE(built, (built ? "" : describe(built.error())));
  std::vector<std::string> words;
  for (const planning::BuiltRegion &region : built->regions)
    words.push_back(region.words.substr(0, region.words.find_first_of(",)")));
  CAPTURE(words);
  CHECK(std::ranges::count(words, "template(implicit_gemm") == 2);
  CHECK(built->regions.size() <= 5); // weights, input, two convolutions, and the result's order
  CHECK(built->notes.empty());
}
