// Every row of the table of operators, planned and run on the CPU device against its reference.
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/text.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;
using model::Dtype;

TEST_CASE("Each pointwise operator computes what its reference says, in its domain") {
  for (const Op *op : all_ops()) {
    if (op->kind != Kind::Pointwise || op->name == op::cast)
      continue;
    CAPTURE(op->name);
    GraphBuilder g;
    HarnessOptions options;
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> draw(std::max(op->domain.low, -4.0),
                                                std::min(op->domain.high, 4.0));
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < op->most_operands; ++i) {
      const Dtype dtype = op->integral ? Dtype::Int32 : Dtype::Float32;
      operands.push_back(g.input("x" + std::to_string(i), {6, 11}, dtype));
      Array values(dtype, {6, 11});
      for (double &value : values.values)
        value = op->integral ? std::round(draw(random)) : static_cast<float>(draw(random));
      options.leaves[operands.back()] = std::move(values);
    }
    if (op->name == op::where)
      operands[0] = g.op("lt", {operands[0], operands[1]});
    model::Attributes attributes;
    for (const AttributeRule &rule : op->attributes)
      if (rule.required)
        attributes[std::string(rule.name)] = 0.2;
    options.compile_for_gpu = false; // graphs at random below are
    options.tolerance = 2e-5;
    CHECK(bool(op->reference));
    CHECK(check_graph(g.graph({g.op(std::string(op->name), operands, attributes)}), options) == "");
  }
}

TEST_CASE("The example of each other operator comes out as its reference says") {
  for (const Op *op : all_ops()) {
    if (op->example.empty())
      continue;
    CAPTURE(op->name);
    auto graph =
        parse_graph(std::string(kExampleLeaves) + std::string(op->example) + "\nreturn %y\n");
    REQUIRE_MESSAGE(graph, (graph ? "" : describe(graph.error())));
    const std::vector<std::string> read = graph->nodes.back().inputs;
    std::erase_if(graph->nodes, [&](const model::Node &node) {
      return node.name != "y" && std::ranges::find(read, node.name) == read.end();
    });
    CHECK(check_graph(*graph) == "");
  }
}
