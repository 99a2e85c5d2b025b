#include "tests/generator/rewrites/check_rewrite.h"

#include "generator/ops/verify_graph.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace warpwright::test {
namespace {

/// Double arithmetic, summed in another order.
constexpr double kTolerance = 1e-11;

void check_same(const model::Graph &before, const model::Graph &after, const std::string &how) {
  REQUIRE_MESSAGE(after.outputs == before.outputs, how);
  if (const auto verified = ops::verify_graph(after); !verified)
    FAIL_CHECK(how << ": " << verified.error().message);
  for (const std::uint64_t seed : {1, 2}) {
    const Arrays leaves = draw_leaves(before, seed);
    const auto expected = interpret(before, leaves);
    REQUIRE_MESSAGE(expected, (expected ? "" : expected.error().message));
    const auto actual = interpret(after, leaves, {.check_fill = true});
    REQUIRE_MESSAGE(actual, how << ": " << (actual ? "" : actual.error().message));
    for (const std::string &output : before.outputs) {
      CHECK_MESSAGE(relative_difference(actual->at(output), expected->at(output)) <= kTolerance,
                    how << ", seed " << seed << ", output " << output);
      CHECK(actual->at(output).dtype == expected->at(output).dtype);
    }
    for (std::size_t i = 0; i < before.updates.size(); ++i)
      CHECK_MESSAGE(relative_difference(actual->at(after.updates[i].value),
                                        expected->at(before.updates[i].value)) <= kTolerance,
                    how << ", update of " << before.updates[i].parameter);
  }
}

std::vector<model::TensorType> result_types(const model::Graph &graph) {
  std::vector<model::TensorType> types;
  for (const std::string &output : graph.outputs)
    types.push_back(std::ranges::find(graph.nodes, output, &model::Node::name)->type());
  return types;
}

} // namespace

model::Graph check_rewrites(const model::Graph &graph, const std::vector<std::string> &rules) {
  std::vector<std::string> used;
  for (const rewrites::Rewrite &rewrite : rewrites::rewrites(ops::GraphIndex(graph))) {
    const auto applied = rewrites::apply(graph, rewrite);
    REQUIRE_MESSAGE(applied, (applied ? "" : applied.error().message));
    check_same(graph, *applied, std::string(rewrite.rule) + " of " + rewrite.node);
    used.emplace_back(rewrite.rule);
  }
  const rewrites::Simplified simplified = rewrites::simplify(graph);
  for (const std::string &text : simplified.applied)
    used.push_back(text.substr(0, text.find('(')));
  check_same(graph, simplified.graph, "simplify");
  CHECK(result_types(simplified.graph) == result_types(graph));
  CHECK(simplified.applied.size() < 200);
  for (const std::string &rule : rules)
    CHECK_MESSAGE(std::ranges::find(used, rule) != used.end(), rule << " is not used");
  return simplified.graph;
}

void check_left_alone(const model::Graph &graph, const std::string &rule) {
  for (const std::string &text : rewrites::simplify(graph).applied)
    CHECK_MESSAGE(!text.starts_with(rule + "("), text);
}

std::string slice(GraphBuilder &g, const std::string &x, std::int64_t dim, std::int64_t start,
                  std::int64_t stop, std::int64_t step) {
  return g.op("slice", {x}, {{"dim", dim}, {"start", start}, {"stop", stop}, {"step", step}});
}

std::string ops_of(const model::Graph &graph) {
  std::string ops;
  for (const model::Node &node : graph.nodes)
    if (node.op != "input" && node.op != "parameter")
      ops += (ops.empty() ? "" : " ") + node.op;
  return ops;
}

} // namespace warpwright::test
