// Row regions against the reference interpreter: every configuration of random reductions, normalizations and losses.
#include "generator/families/rows/rows.h"
#include "generator/families/rows/row_regions.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::families::rows;
using namespace warpwright::ops;
using model::Dtype;
using model::Shape;

namespace {

double tolerance_of(Dtype dtype) {
  return dtype == Dtype::Float64    ? 1e-12
         : dtype == Dtype::Float16  ? 4e-3
         : dtype == Dtype::BFloat16 ? 3e-2
                                    : 3e-5;
}

/// Grows the region of the first row anchor, which must hold all nodes but leaves, and checks configurations.
/// @param most configurations to try, the first guesses first
/// @param splits only configurations that split rows over blocks
void check(const GraphBuilder &builder, const std::vector<std::string> &outputs,
           std::uint64_t seed = 1, std::size_t most = 4, double tolerance = 0,
           bool splits = false) {
  const model::Graph graph = builder.graph(outputs);
  const GraphIndex index(graph);
  const Arrays leaves = draw_leaves(graph, seed);
  const auto values = interpret(graph, leaves);
  REQUIRE_MESSAGE(values, (values ? "" : values.error().message));
  std::string anchor;
  for (const model::Node &node : graph.nodes)
    if (anchor.empty() && is_row_anchor(node))
      anchor = node.name;
  REQUIRE(!anchor.empty());
  const Region region = grow_row_region(index, anchor, {});
  for (const std::string &output : outputs)
    CHECK_MESSAGE(std::ranges::find(region.outputs, output) != region.outputs.end(),
                  "the region of " << anchor << " lacks " << output);
  if (tolerance == 0)
    tolerance = tolerance_of(index.node(anchor).type().dtype == Dtype::Int64
                                 ? Dtype::Float32
                                 : index.node(anchor).type().dtype);
  auto configurations = kRowFamily.configurations(index, region, cpu_facts());
  std::erase_if(configurations, [&](const elements::Configuration &one) {
    return splits && one.at("splits") == 1;
  });
  REQUIRE(!configurations.empty());
  configurations.resize(std::min(most, configurations.size()));
  // Each case also with rows split over blocks, which are guessed for long rows alone.
  elements::Configuration split = configurations[0];
  for (const auto &[name, value] : {std::pair{"hold", 0}, {"online", 1}, {"cluster", 1}, {"gang", 1}, {"splits", 3}})
    split[name] = value;
  split["group"] = std::min(split["group"], split["threads"]);
  split.erase("resident");
  configurations.push_back(std::move(split));
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const std::string wrong =
        check_region(index, region, kRowFamily, configurations[i], *values, tolerance);
    CHECK_MESSAGE(wrong.empty(), describe(configurations[i]) << ": " << wrong);
  }
}

void check_split(const GraphBuilder &builder, const std::vector<std::string> &outputs,
                 std::uint64_t seed) {
  check(builder, outputs, seed, 2, 0, true);
}

const Shape kAllDims[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}};

} // namespace

TEST_CASE("every reduction over any dimensions gives what the reference gives") {
  std::mt19937 random(7);
  const char *ops[] = {"sum", "mean", "amax", "amin", "prod", "var", "logsumexp", "norm"};
  for (const char *op : ops) {
    CAPTURE(op);
    GraphBuilder g;
    const Shape shape{static_cast<std::int64_t>(2 + random() % 4),
                      static_cast<std::int64_t>(2 + random() % 30),
                      static_cast<std::int64_t>(random() % 2 ? 8 + 4 * (random() % 4) : 7)};
    const Shape dims = kAllDims[random() % std::size(kAllDims)];
    CAPTURE(dims.size());
    CAPTURE(dims[0]);
    const auto x = g.input("x", shape);
    check(g, {g.op(op, {x}, {{"dims", dims}, {"keepdim", random() % 2 == 0}})}, random());
  }
}

TEST_CASE("a sum over each choice of dimensions") {
  for (const Shape &dims : kAllDims) {
    CAPTURE(dims.size());
    CAPTURE(dims[0]);
    GraphBuilder g;
    const auto x = g.input("x", {3, 37, 20});
    check(g, {g.op("sum", {x}, {{"dims", dims}, {"keepdim", false}})}, 3, 2);
  }
}

TEST_CASE("softmax over each dimension, and its logarithm") {
  for (std::int64_t dim = 0; dim < 3; ++dim) {
    CAPTURE(dim);
    GraphBuilder g;
    const auto x = g.input("x", {4, 33, 24});
    check(g, {g.op(dim == 1 ? "log_softmax" : "softmax", {x}, {{"dim", dim}})}, 5);
  }
}

TEST_CASE("layer norm with and without parameters, in each floating type") {
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16, Dtype::Float64}) {
    GraphBuilder g;
    const auto x = g.input("x", {3, 5, 48}, dtype);
    const auto w = g.parameter("w", {48}, dtype), b = g.parameter("b", {48}, dtype);
    const auto y =
        g.op("layer_norm", {x, w, b}, {{"dims", Shape{2}}, {"eps", 1e-5}, {"absent", ""}});
    check(g, {y}, 11, 3, tolerance_of(dtype));
  }
  GraphBuilder g;
  const auto x = g.input("x", {2, 6, 10});
  check(g, {g.op("layer_norm", {x},
                 {{"dims", Shape{1, 2}}, {"eps", 1e-5}, {"absent", "weight,bias"}})});
}

TEST_CASE("group norm, with what follows it") {
  GraphBuilder g;
  const auto x = g.input("x", {3, 8, 5, 4});
  const auto w = g.parameter("w", {8}), b = g.parameter("b", {8});
  const auto y =
      g.op("group_norm", {x, w, b}, {{"groups", std::int64_t{2}}, {"eps", 1e-5}, {"absent", ""}});
  check(g, {g.op("relu", {y})}, 13, 8);
}

TEST_CASE("batch norm in training updates its running statistics") {
  for (const Shape &shape : {Shape{4, 3, 6, 4}, Shape{16, 12}, Shape{5, 3, 7}}) {
    GraphBuilder g;
    const auto x = g.input("x", shape);
    const std::int64_t channels = shape[1];
    const auto w = g.parameter("w", {channels}), b = g.parameter("b", {channels}),
               mean = g.parameter("mean", {channels}), var = g.parameter("variance", {channels});
    const auto y = g.op("batch_norm", {x, w, b, mean, var},
                        {{"training", true}, {"eps", 1e-5}, {"momentum", 0.1}, {"absent", ""}});
    const auto new_mean = g.op("item", {y}, {{"index", std::int64_t{1}}});
    const auto new_var = g.op("item", {y}, {{"index", std::int64_t{2}}});
    check(g, {y, new_mean, new_var}, 17, 6);
  }
}

TEST_CASE("norms in composite form are one region") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 32, 4, 8});
  const auto mean = g.op("mean", {g.op("square", {x})}, {{"dims", Shape{1}}, {"keepdim", true}});
  const auto scale = g.op("rsqrt", {g.op("add", {mean, g.constant(1e-5)})});
  check(g, {g.op("mul", {x, scale})}, 19, 6);

  GraphBuilder l1;
  const auto y = l1.input("x", {6, 50});
  const auto total = l1.op("mean", {l1.op("abs", {y})}, {{"dims", Shape{1}}, {"keepdim", true}});
  check(l1, {l1.op("div", {y, total})}, 20, 6);
}

TEST_CASE("softmax written out, then a sum of it") {
  GraphBuilder g;
  const auto x = g.input("x", {5, 70});
  const model::Attributes last{{"dims", Shape{1}}, {"keepdim", true}};
  const auto shifted = g.op("sub", {x, g.op("amax", {x}, last)});
  const auto e = g.op("exp", {shifted});
  const auto p = g.op("div", {e, g.op("sum", {e}, last)});
  const auto entropy =
      g.op("sum", {g.op("mul", {p, g.op("log", {p})})}, {{"dims", Shape{1}}, {"keepdim", false}});
  check(g, {p, entropy}, 23, 6);
}

TEST_CASE("cross entropy picks its element in the row's kernel") {
  GraphBuilder g;
  const auto x = g.input("x", {9, 30});
  const auto target = g.input("target", {9}, Dtype::Int64);
  const auto logits = g.op("log_softmax", {x}, {{"dim", std::int64_t{1}}});
  const auto picked =
      g.op("gather", {logits, g.reshape(target, {9, 1})}, {{"dim", std::int64_t{1}}});
  check(g, {g.op("neg", {picked})}, 29, 6);
}

TEST_CASE("cross entropy over a dimension with others behind it, weighed") {
  GraphBuilder g;
  const auto x = g.input("x", {3, 10, 12});
  const auto target = g.input("target", {3, 1, 12}, Dtype::Int64);
  const auto weight = g.parameter("weight", {12});
  const auto logits = g.op("log_softmax", {x}, {{"dim", std::int64_t{1}}});
  const auto picked = g.op("gather", {logits, target}, {{"dim", std::int64_t{1}}});
  check(g, {g.op("mul", {picked, weight})}, 30, 6);
}

TEST_CASE("the first of equal maxima wins, and NaN before all") {
  for (const char *op : {"argmax", "argmin"})
    for (std::int64_t dim = 0; dim < 2; ++dim) {
      GraphBuilder g;
      const auto x = g.input("x", {12, 40});
      const auto rounded = g.op("round", {x});                                 // many ties
      const auto holes = g.op("log", {g.op("add", {rounded, g.constant(1)})}); // NaN below -1
      check(g, {g.op(op, {rounded}, {{"dims", Shape{dim}}, {"keepdim", false}})}, 31);
      GraphBuilder with_nan = g;
      check(with_nan, {with_nan.op(op, {holes}, {{"dims", Shape{dim}}, {"keepdim", true}})}, 37);
    }
}

TEST_CASE("reductions of integers and booleans") {
  GraphBuilder g;
  const auto x = g.input("x", {6, 21}, Dtype::Int64);
  const model::Attributes last{{"dims", Shape{1}}, {"keepdim", false}};
  check(g, {g.op("sum", {x}, last)}, 41);
  GraphBuilder b;
  const auto y = b.input("y", {6, 21});
  const auto positive = b.op("gt", {y, b.constant(1.5)});
  check(b, {b.op("any", {positive}, last), b.op("all", {positive}, last)}, 43);
}

TEST_CASE("long rows are split over blocks, with the same result") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 40000});
  const auto mean = g.op("mean", {x}, {{"dims", Shape{1}}, {"keepdim", true}});
  const auto variance =
      g.op("var", {x}, {{"dims", Shape{1}}, {"keepdim", true}, {"correction", std::int64_t{0}}});
  const auto y = g.op(
      "mul", {g.op("sub", {x, mean}), g.op("rsqrt", {g.op("add", {variance, g.constant(1e-5)})})});
  check_split(g, {y}, 47);
  GraphBuilder columns;
  const auto c = columns.input("c", {3000, 8});
  check_split(columns, {columns.op("logsumexp", {c}, {{"dims", Shape{0}}, {"keepdim", false}})}, 53);
}

TEST_CASE("neighboring threads take steps along rows where few columns lie beside each other") {
  for (const std::int64_t columns : {1, 2, 3, 4, 12}) {
    GraphBuilder g;
    const auto x = g.input("x", {3, 700, columns});
    const model::Attributes middle{{"dims", Shape{1}}, {"keepdim", true}};
    const auto shifted = g.op("sub", {x, g.op("mean", {x}, middle)});
    check(g, {shifted, g.op("sum", {g.op("square", {shifted})}, middle)}, 49, 8);
  }
  GraphBuilder many; // more partial results than a block of many threads can exchange
  const auto x = many.input("x", {3, 700, 3});
  std::vector<std::string> outputs;
  for (const char *op : {"abs", "square", "sin", "cos", "tanh", "exp"})
    outputs.push_back(many.op("var", {many.op(op, {x})},
                              {{"dims", Shape{1}}, {"keepdim", false}, {"correction", std::int64_t{1}}}));
  check(many, outputs, 51, 8);
  GraphBuilder colors;
  const auto c = colors.input("c", {2, 40000, 3});
  check_split(colors, {colors.op("var", {c}, {{"dims", Shape{1}}, {"keepdim", false}, {"correction", std::int64_t{1}}})}, 50);
}

TEST_CASE("each kernel of a split computes the values between its passes") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 40000});
  const model::Attributes last{{"dims", Shape{1}}, {"keepdim", true}};
  const auto center = g.op("mul", {g.op("sum", {x}, last), g.constant(1e-4)});
  const auto shifted = g.op("sub", {x, center});
  const auto scale = g.op("rsqrt", {g.op("add", {g.op("sum", {g.op("square", {shifted})}, last), g.constant(1)})});
  const auto scaled = g.op("mul", {shifted, scale});
  check_split(g, {scaled, g.op("sum", {g.op("abs", {scaled})}, last)}, 48);
}

TEST_CASE("producers are written where the rows are read") {
  GraphBuilder g;
  const auto a = g.input("a", {6, 4, 9}), b = g.input("b", {4, 1});
  const auto sum = g.op("gelu", {g.op("add", {a, b})}, {{"approximate", "none"}});
  const auto turned = g.op("permute", {sum}, {{"dims", Shape{1, 0, 2}}});
  check(g, {g.op("softmax", {turned}, {{"dim", std::int64_t{2}}})}, 59);
}

TEST_CASE("rows of one element are reduced, and reduced again") {
  GraphBuilder g;
  const auto x = g.input("x", {24, 1});
  const model::Attributes last{{"dims", Shape{1}}, {"keepdim", true}};
  const auto once = g.op("logsumexp", {x}, last);
  check(g, {g.op("softmax", {once}, {{"dim", std::int64_t{1}}})}, 61);
}

TEST_CASE("rows that are no multiple of anything, and of 64-bit floats") {
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float64}) {
    GraphBuilder g;
    const auto x = g.input("x", {3, 11, 13}, dtype);
    const auto norm = g.op("norm", {x}, {{"p", 3.0}, {"dims", Shape{1, 2}}, {"keepdim", true}});
    check(g, {g.op("div", {x, norm})}, 67, 8, tolerance_of(dtype));
  }
}

TEST_CASE("configurations for a GPU compile, with clusters and gangs of blocks") {
  const DeviceFacts gpu{arch::gpu_named("h200").value()};
  GraphBuilder builder;
  const auto x = builder.input("x", {4, 1 << 19}, Dtype::BFloat16),
             y = builder.input("y", {600, 40000});
  const auto long_rows = builder.op("softmax", {x}, {{"dim", std::int64_t{1}}});
  const auto clusters =
      builder.op("layer_norm", {y}, {{"dims", Shape{1}}, {"eps", 1e-5}, {"absent", "weight,bias"}});
  const model::Graph graph = builder.graph({long_rows, clusters});
  const GraphIndex index(graph);
  bool any_gang = false, any_cluster = false;
  for (const std::string &anchor : {long_rows, clusters}) {
    const Region region = grow_row_region(index, anchor, {});
    for (const Configuration &configuration : kRowFamily.configurations(index, region, gpu)) {
      any_gang |= configuration.at("gang") > 1;
      any_cluster |= configuration.at("cluster") > 1;
      const auto lowering = kRowFamily.lower(index, region, configuration, gpu, "k0");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : lowering.error().message));
      const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
      if (!errors) {
        MESSAGE("skipped: there is no NVRTC");
        return;
      }
      CHECK_MESSAGE(errors->empty(), describe(configuration) << ": " << *errors);
    }
  }
  CHECK(any_gang);
  CHECK(any_cluster);
}

TEST_CASE("gangs of blocks fit the device at once, wherever it is, and nothing traps") {
  GraphBuilder builder;
  const auto x = builder.input("x", {64, 1 << 20});
  const auto y = builder.op("softmax", {x}, {{"dim", std::int64_t{1}}});
  const model::Graph graph = builder.graph({y});
  const GraphIndex index(graph);
  const Region region = grow_row_region(index, y, {});
  for (const int multiprocessors : {132, 108, 98, 46, 16}) {
    DeviceFacts gpu{arch::gpu_named("h200").value()};
    gpu.multiprocessors = multiprocessors;
    int gangs = 0;
    for (const Configuration &configuration : kRowFamily.configurations(index, region, gpu)) {
      const auto lowering = kRowFamily.lower(index, region, configuration, gpu, "k0");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : lowering.error().message));
      CHECK(lowering->source.find("trap") == std::string::npos);
      const bool waits = lowering->source.find("reduce_gang<") != std::string::npos;
      for (const model::Step &step : lowering->steps)
        if (const auto *launch = std::get_if<model::LaunchStep>(&step)) {
          CHECK(launch->cooperative == (configuration.at("gang") > 1));
          if (!launch->cooperative)
            continue;
          const auto blocks = launch->grid[0].evaluate({});
          REQUIRE(blocks);
          const int gang = configuration.at("gang"), resident = configuration.at("resident");
          CHECK(*blocks <= multiprocessors * resident);
          CHECK(*blocks + gang > multiprocessors * resident); // as many gangs as fit
          CHECK(*blocks % gang == 0);
          CHECK(waits);
          CHECK(lowering->source.find("__launch_bounds__(512, " + std::to_string(resident) + ")") !=
                std::string::npos);
          ++gangs;
        }
    }
    CHECK((gangs > 0) == (multiprocessors > 16));
  }
  const auto wide = kRowFamily.configurations(index, region, DeviceFacts{arch::gpu_named("h200").value()});
  const auto gang =
      std::ranges::find_if(wide, [](const Configuration &c) { return c.at("gang") > 1; });
  REQUIRE(gang != wide.end());
  DeviceFacts small{arch::gpu_named("h200").value()};
  small.multiprocessors = 8;
  CHECK_FALSE(kRowFamily.lower(index, region, *gang, small, "k0").has_value());
}
