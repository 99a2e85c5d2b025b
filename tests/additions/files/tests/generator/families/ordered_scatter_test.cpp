// Additions at indices compute on the CPU device what the reference evaluation computes.
#include "generator/families/registry.h"
#include "generator/families/ordered_scatter/ordered_scatter.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::elements;
using namespace warpwright::test;

TEST_CASE("the family takes scatter_add and adds as the reference does, in each configuration") {
  GraphBuilder g;
  const std::string x = g.input("x", {5, 7}), i = g.input("i", {5, 9}, model::Dtype::Int64),
                    s = g.input("s", {5, 9});
  const std::string y = g.op("scatter_add", {x, i, s}, {{"dim", std::int64_t{1}}});
  const model::Graph graph = g.graph({y});
  const ops::GraphIndex index(graph);
  const Family *family = families::named("ordered_scatter");
  REQUIRE(family);
  REQUIRE(family->claims(index, index.node(y)));
  Region region;
  region.anchor = y;
  region.inputs = {x, i, s};
  region.nodes = {y};
  region.outputs = {y};
  const auto values = interpret(graph, draw_leaves(graph, 1));
  REQUIRE(values);
  for (const Configuration &configuration : family->configurations(index, region, cpu_facts()))
    CHECK(check_region(index, region, *family, configuration, *values, 1e-6) == "");
}
