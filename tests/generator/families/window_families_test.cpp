// Scans, pooling and convolutions compute on the CPU device what the reference evaluation of the graph computes: random shapes,
// attributes, neighbors before and behind, and every configuration that the family lists. Tensor cores are left to GPU runs.
#include "generator/families/convolution/convolution.h"
#include "generator/families/convolution/direct_convolution.h"
#include "generator/families/convolution/tile_convolution_family.h"
#include "generator/families/scan/scan.h"
#include "generator/families/topk/topk.h"
#include "generator/families/windows/depthwise.h"
#include "generator/families/windows/pool.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::families::convolution;
using namespace warpwright::families::scan;
using namespace warpwright::families::topk;
using namespace warpwright::families::windows;
using namespace warpwright::ops;

namespace {

using Random = std::mt19937_64;
std::int64_t pick(Random &random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
bool even_odds(Random &random) { return pick(random, 0, 1) == 1; }

Region region_around(const model::Graph &graph, const std::string &anchor) {
  Region region;
  region.anchor = anchor;
  for (const model::Node &node : graph.nodes)
    (node.op == "input" || node.op == "parameter" ? region.inputs : region.nodes)
        .push_back(node.name);
  region.outputs = graph.outputs;
  return region;
}

/// Checks configurations of the family against the interpreter, at most `most` of them, from a random one on.
void check(Random &random, const Family &family, const model::Graph &graph,
           const std::string &anchor, double tolerance, std::size_t most = 2) {
  const GraphIndex index(graph);
  const Region region = region_around(graph, anchor);
  REQUIRE(family.claims(index, index.node(anchor)));
  DeviceFacts device = cpu_facts();
  device.multiprocessors = 4; // so that small scans are split
  const auto values = interpret(graph, draw_leaves(graph, random()));
  REQUIRE_MESSAGE(values, (values ? "" : describe(values.error())));
  const auto configurations = family.configurations(index, region, device);
  REQUIRE(!configurations.empty());
  const std::size_t first = random() % configurations.size();
  for (std::size_t i = 0; i < std::min(most, configurations.size()); ++i) {
    const Configuration &configuration = configurations[(first + i) % configurations.size()];
    const std::string wrong =
        check_region(index, region, family, configuration, *values, tolerance);
    CHECK_MESSAGE(wrong.empty(), family.name, " ", describe(configuration), ": ", wrong);
  }
}

model::Shape several(Random &random, std::size_t count, std::int64_t low, std::int64_t high) {
  model::Shape sizes;
  for (std::size_t i = 0; i < count; ++i)
    sizes.push_back(pick(random, low, high));
  return sizes;
}

} // namespace

TEST_CASE("scans over any dimension compute running sums and products") {
  Random random(11);
  for (int round = 0; round < 24; ++round) {
    GraphBuilder g;
    model::Shape shape = several(random, static_cast<std::size_t>(pick(random, 1, 3)), 1, 9);
    const auto dim = static_cast<std::size_t>(pick(random, 0, std::ssize(shape) - 1));
    shape[dim] = std::array{4 * pick(random, 1, 300), pick(random, 1, 700), 4 * pick(random, 1, 32), pick(random, 1, 40)}[round % 4];
    const std::string op = std::array{"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"}[pick(random, 0, 4)];
    const auto dtype = round % 5 == 3 ? model::Dtype::Float16 : model::Dtype::Float32;
    std::string x = g.input("x", shape, dtype);
    const bool flipped = even_odds(random);
    const model::Attributes flip{{"dims", model::Shape{static_cast<std::int64_t>(dim)}}};
    if (op == "cumprod") // stays near 1
      x = g.op("cos", {g.op("mul", {x, g.constant(0.05, dtype)})});
    if (round % 5 == 1)
      x = g.op("mul", {x, g.input("mask", shape, model::Dtype::Bool)});
    if (flipped)
      x = g.op("flip", {x}, flip);
    const std::string scan = g.op(op, {x}, {{"dim", static_cast<std::int64_t>(dim)}});
    std::string result = scan;
    if (flipped)
      result = g.op("flip", {result}, flip);
    if (even_odds(random))
      result = g.op("tanh", {result});
    check(random, kScanFamily, g.graph({result}), scan,
          dtype == model::Dtype::Float16 ? 2e-2 : 2e-5, 3);
  }
}

TEST_CASE("the places of the largest and smallest elements of rows, also of equal ones") {
  Random random(14);
  for (int round = 0; round < 24; ++round) {
    GraphBuilder g;
    const std::int64_t length = round == 20 ? 3000 : pick(random, 1, round % 2 == 0 ? 700 : 60);
    model::Shape shape = several(random, static_cast<std::size_t>(pick(random, 1, 2)), 1, 9);
    shape.push_back(length);
    std::string x = g.input("x", shape, round % 4 == 3 ? model::Dtype::Float16 : model::Dtype::Float32);
    if (round % 3 == 0) // few values, many of them equal
      x = g.op("round", {g.op("mul", {x, g.constant(3, g.type(x).dtype)})});
    model::Shape result = shape;
    const bool all = round >= 16;
    result.back() = all ? length - pick(random, 0, 1) * (length / 2) : std::min<std::int64_t>(length, pick(random, 1, round % 2 == 0 ? 128 : 20));
    const std::string top = g.shaped("topk", {x}, result,
                                     {{"dim", std::ssize(shape) - 1}, {"k", result.back()}, {"largest", even_odds(random)}, {"sorted", all || even_odds(random)}},
                                     model::Dtype::Int64);
    check(random, kTopKFamily, g.graph({even_odds(random) ? g.op("neg", {top}) : top}), top, 0, 3);
  }
}

TEST_CASE("an exclusive scan is one over padded input") {
  Random random(12);
  GraphBuilder g;
  const std::string x = g.input("x", {5, 300});
  const std::string shifted = g.op(
      "pad", {x}, {{"low", model::Shape{0, 1}}, {"high", model::Shape{0, -1}}, {"value", 0.0}});
  const std::string scan = g.op("cumsum", {shifted}, {{"dim", std::int64_t{1}}});
  check(random, kScanFamily, g.graph({scan}), scan, 2e-5, 4);
}

TEST_CASE("pooling takes any window, with what stands before and behind it") {
  Random random(13);
  for (int round = 0; round < 24; ++round) {
    const std::size_t spatial = static_cast<std::size_t>(round % 3) + 1;
    const bool maximum = even_odds(random);
    GraphBuilder g;
    const model::Shape kernel = several(random, spatial, 1, 5),
                       stride = several(random, spatial, 1, 4),
                       dilation =
                           maximum ? several(random, spatial, 1, 3) : model::Shape(spatial, 1);
    model::Shape padding, shape = several(random, 2, 1, 5);
    for (std::size_t d = 0; d < spatial; ++d) {
      padding.push_back(pick(random, 0, kernel[d] / 2));
      shape.push_back((kernel[d] - 1) * dilation[d] + 1 + pick(random, 0, spatial == 1 ? 90 : 19));
    }
    std::string x = g.input("x", shape);
    if (even_odds(random))
      x = g.op("relu", {x});
    model::Attributes attributes{
        {"kernel", kernel}, {"stride", stride}, {"padding", padding}, {"ceil", even_odds(random)}};
    if (maximum)
      attributes["dilation"] = dilation;
    else
      attributes["count_include_pad"] = even_odds(random);
    const std::string pool = g.op(maximum ? "max_pool" : "avg_pool", {x}, attributes);
    const std::string result = even_odds(random) ? g.op("sigmoid", {pool}) : pool;
    check(random, kPoolFamily, g.graph({result}), pool, 1e-5);
  }
}

TEST_CASE("adaptive pooling takes windows of different sizes") {
  Random random(14);
  for (int round = 0; round < 8; ++round) {
    const std::size_t spatial = static_cast<std::size_t>(round % 3) + 1;
    model::Shape shape = several(random, 2 + spatial, 2, 13), out = shape;
    for (std::size_t d = 2; d < out.size(); ++d)
      out[d] = round < 3 ? 1 : pick(random, 1, 9);
    GraphBuilder g;
    const std::string x = g.op("tanh", {g.input("x", shape)});
    const std::string pool =
        g.shaped(even_odds(random) ? "adaptive_avg_pool" : "adaptive_max_pool", {x}, out);
    check(random, kPoolFamily, g.graph({pool}), pool, 1e-5, 3);
  }
}

TEST_CASE("convolutions of all kinds sum what their definition sums") {
  Random random(15);
  for (int round = 0; round < 36; ++round) {
    const std::size_t spatial = static_cast<std::size_t>(round % 3) + 1;
    const bool depthwise = round % 4 == 0, transposed = !depthwise && round % 4 == 1;
    const model::Shape kernel = several(random, spatial, 1, spatial == 3 ? 3 : 5),
                       stride = several(random, spatial, 1, 3),
                       dilation = several(random, spatial, 1, 2);
    model::Shape padding, output_padding(spatial, 0);
    const std::int64_t groups = depthwise ? pick(random, 2, 6) : pick(random, 1, 2);
    const std::int64_t group_in =
        depthwise ? 1 : (even_odds(random) ? pick(random, 1, 5) : 16 * pick(random, 1, 2));
    const std::int64_t group_out = depthwise ? pick(random, 1, 2) : pick(random, 1, 20);
    model::Shape shape{pick(random, 1, 3), groups * group_in};
    for (std::size_t d = 0; d < spatial; ++d) {
      padding.push_back(pick(random, 0, 2));
      shape.push_back((kernel[d] - 1) * dilation[d] + 1 + pick(random, 0, spatial == 3 ? 4 : 11));
      if (transposed) {
        padding[d] = std::min(padding[d], (kernel[d] - 1) * dilation[d] / 2);
        if (stride[d] > 1)
          output_padding[d] = pick(random, 0, 1);
      }
    }
    model::Shape weight = transposed ? model::Shape{groups * group_in, group_out}
                                     : model::Shape{groups * group_out, group_in};
    weight.insert(weight.end(), kernel.begin(), kernel.end());
    GraphBuilder g;
    std::string x = g.input("x", shape);
    if (even_odds(random))
      x = g.op("relu", {x});
    std::vector<std::string> operands{x, g.parameter("w", weight)};
    if (even_odds(random))
      operands.push_back(g.parameter("b", {groups * group_out}));
    const std::string conv = g.op("conv", operands,
                                  {{"stride", stride},
                                   {"padding", padding},
                                   {"dilation", dilation},
                                   {"groups", groups},
                                   {"transposed", transposed},
                                   {"output_padding", output_padding}});
    std::string result = conv;
    if (even_odds(random))
      result = g.op("add", {g.op("tanh", {conv}), g.constant(0.5)});
    const model::Graph graph = g.graph({result});
    check(random, depthwise ? kDepthwiseFamily : kConvolutionFamily, graph, conv, 2e-5,
          depthwise ? 3 : 2);
    const GraphIndex index(graph);
    if (!depthwise && kDirectConvolutionFamily.claims(index, index.node(conv)))
      check(random, kDirectConvolutionFamily, graph, conv, 2e-5, 2);
    if (!depthwise && kTileConvolutionFamily.claims(index, index.node(conv)))
      check(random, kTileConvolutionFamily, graph, conv, 2e-5, 2);
  }
}

TEST_CASE("convolutions for the tensor cores of a GPU compile") {
  const DeviceFacts gpu{arch::gpu_named("h200").value()};
  GraphBuilder g;
  const std::string thin =
      g.op("conv", {g.input("a", {2, 3, 20, 20}), g.parameter("u", {40, 3, 3, 3})},
           {{"stride", model::Shape{1, 1}}, {"padding", model::Shape{1, 0}}});
  const std::string thick =
      g.op("conv", {g.op("relu", {g.input("b", {2, 32, 6, 6})}), g.parameter("v", {32, 64, 3, 3})},
           {{"stride", model::Shape{2, 2}}, {"transposed", true}});
  const model::Graph graph = g.graph({thin, thick});
  const GraphIndex index(graph);
  for (const auto &[anchor, nodes, inputs] :
       {std::tuple{thin, std::vector{thin}, std::vector<std::string>{"a", "u"}},
        std::tuple{thick, std::vector{index.node(thick).inputs[0], thick},
                   std::vector<std::string>{"b", "v"}}}) {
    const Region region{nodes, anchor, inputs, {anchor}, {}};
    std::set<int> seen;
    for (const Family *family :
         {&kConvolutionFamily, &kTileConvolutionFamily, &kDirectConvolutionFamily}) {
      if (!family->claims(index, index.node(anchor)))
        continue;
      for (const Configuration &configuration : family->configurations(index, region, gpu)) {
        const int math = configuration.contains("math") ? configuration.at("math") : 9;
        const int gather = configuration.contains("gather") ? configuration.at("gather") : 0;
        if (!seen.insert(math * 2 + gather + (family == &kConvolutionFamily ? 0 : 100)).second)
          continue;
        const auto lowering = family->lower(index, region, configuration, gpu, "k0");
        REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
        const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
        if (!errors) {
          MESSAGE("skipped: there is no NVRTC");
          return;
        }
        CHECK_MESSAGE(errors->empty(), family->name, " ", describe(configuration), ": ", *errors);
      }
    }
    CHECK(seen.size() >= 5);
  }
}

TEST_CASE("a convolution's first five guesses hold each kind of arithmetic that the device runs") {
  GraphBuilder g;
  const std::string conv =
      g.op("conv", {g.input("x", {8, 32, 28, 28}), g.parameter("w", {64, 32, 3, 3})},
           {{"padding", model::Shape{1, 1}}});
  const model::Graph graph = g.graph({conv});
  const GraphIndex index(graph);
  const Region region = region_around(graph, conv);
  const auto kinds = [&](const DeviceFacts &device) {
    const auto list = kConvolutionFamily.configurations(index, region, device);
    REQUIRE(list.size() >= 5);
    std::multiset<int> found;
    for (std::size_t i = 0; i < 5; ++i)
      found.insert(list[i].at("math"));
    return found;
  };
  const DeviceFacts hopper{arch::gpu_named("h200").value()}, ampere{arch::gpu_named("a100").value()}, cpu{arch::gpu_named("cpu").value()};
  CHECK(kinds(hopper).count(2) == 2);
  CHECK(kinds(hopper).count(1) == 1);
  CHECK(kinds(hopper).count(0) + kinds(hopper).count(3) == 2);
  CHECK(kinds(ampere).count(1) == 3);
  CHECK(kinds(ampere).count(0) == 2);
  CHECK(kinds(cpu).count(0) == 5);
}
