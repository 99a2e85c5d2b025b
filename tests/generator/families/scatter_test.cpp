// Sums at indices compute on the CPU device what the reference evaluation of the graph computes, in
// every configuration.
#include "generator/families/scatter/scatter.h"

#include "generator/planning/partition.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using model::Dtype;

namespace {

struct Checked {
  std::size_t regions = 0;
  int width = 0; ///< of the first configuration
};

/// Checks all configurations of the region around `sum`.
Checked check(const model::Graph &graph, const std::string &sum, double tolerance) {
  const ops::GraphIndex index(graph);
  const auto values = interpret(graph, draw_leaves(graph, 7));
  REQUIRE_MESSAGE(values, (values ? "" : describe(values.error())));
  Checked checked;
  for (const planning::PlannedRegion &one : planning::partition(index, {})) {
    ++checked.regions;
    if (one.region.anchor != sum)
      continue;
    REQUIRE(one.family);
    CHECK(one.family->name == "scatter");
    const auto configurations = one.family->configurations(index, one.region, cpu_facts());
    checked.width = configurations.at(0).at("width");
    const elements::DeviceFacts hopper{arch::gpu_named("h200").value()};
    for (const auto &configuration : one.family->configurations(index, one.region, hopper)) {
      const auto lowering = one.family->lower(index, one.region, configuration, hopper, "region");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
      CHECK(tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a").value_or("") == "");
    }
    for (const auto &configuration : configurations)
      CHECK(check_region(index, one.region, *one.family, configuration, *values, tolerance) == "");
  }
  REQUIRE(checked.width > 0);
  return checked;
}

} // namespace

TEST_CASE("messages along edges are computed where they are added, a vector of a row at once") {
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float64, Dtype::Float16, Dtype::BFloat16}) {
    CAPTURE(static_cast<int>(dtype));
    GraphBuilder g;
    const std::string x = g.input("x", {6, 16}, dtype), from = g.input("from", {13}, Dtype::Int64),
                      to = g.input("to", {13}, Dtype::Int64),
                      weight = g.input("weight", {13}, dtype);
    const std::string rows = g.op("index_select", {x, from}, {{"dim", std::int64_t{0}}}),
                      message = g.op("mul", {rows, g.reshape(weight, {13, 1})}),
                      places = g.shaped("expand", {g.reshape(to, {13, 1})}, {13, 16}),
                      start = g.shaped("expand", {g.constant(0, dtype)}, {6, 16});
    const std::string sum =
        g.op("scatter_add", {start, places, message}, {{"dim", std::int64_t{0}}});
    const bool is_half = dtype == Dtype::Float16 || dtype == Dtype::BFloat16;
    const Checked checked = check(g.graph({sum}), sum, is_half ? 4e-2 : 1e-5);
    CHECK(checked.regions == 1);
    CHECK(checked.width == (is_half ? 8 : dtype == Dtype::Float32 ? 4 : 2));
  }
}

TEST_CASE("an index of each element adds one by one, also along the last dimension and to fewer "
          "elements") {
  for (const std::int64_t dim : {0, 1}) {
    GraphBuilder g;
    const std::string x = g.input("x", {5, 8}), source = g.input("source", {7, 9}),
                      index = g.input("index", {4, 6}, Dtype::Int64);
    const std::string sum = g.op("scatter_add", {x, index, g.op("exp", {source})}, {{"dim", dim}});
    CHECK(check(g.graph({g.op("relu", {sum})}), sum, 1e-5).width == 1);
  }
}

TEST_CASE("integers are counted") {
  GraphBuilder g;
  const std::string index = g.input("index", {200}, Dtype::Int64);
  const std::string ones = g.shaped("expand", {g.constant(1, Dtype::Int64)}, {200}),
                    start = g.shaped("expand", {g.constant(0, Dtype::Int64)}, {4});
  const std::string sum = g.op("scatter_add", {start, index, ones}, {{"dim", std::int64_t{0}}});
  check(g.graph({sum}), sum, 0);
}

TEST_CASE("the largest and smallest of an index's elements, with and without what is there") {
  for (const char *op : {"scatter_amax", "scatter_amin"})
    for (const bool include_self : {true, false})
      for (const Dtype dtype : {Dtype::Float32, Dtype::Float64, Dtype::Float16, Dtype::BFloat16}) {
        CAPTURE(op);
        CAPTURE(static_cast<int>(dtype));
        GraphBuilder g; // nine rows for eleven places: some have none, and keep what is there
        const std::string x = g.input("x", {11, 4}, dtype), source = g.input("source", {9, 4}, dtype),
                          index = g.input("index", {9}, Dtype::Int64),
                          places = g.shaped("expand", {g.reshape(index, {9, 1})}, {9, 4});
        const std::string result = g.op(op, {x, places, g.op("neg", {source})},
                                        {{"dim", std::int64_t{0}}, {"include_self", include_self}});
        CHECK(check(g.graph({result}), result, 0).width == 1);
      }
}
