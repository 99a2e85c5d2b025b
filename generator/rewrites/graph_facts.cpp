#include "generator/rewrites/graph_facts.h"

#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/attributes.h"
#include "generator/rewrites/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpwright::rewrites {
namespace {

ops::Bounds checked(ops::Bounds bounds) {
  return std::isnan(bounds.low) || std::isnan(bounds.high) ? ops::Bounds{} : bounds;
}

} // namespace

GraphFacts::GraphFacts(const ops::GraphIndex &index) : index_(index) {
  facts_.reserve(index.graph().nodes.size());
  for (const model::Node &node : index.graph().nodes) {
    const ops::Op &op = ops::op_of(node);
    Fact fact{.bounds = {}, .on_inputs = node.op == op::input, .on_parameters = node.op == op::parameter};
    std::vector<ops::Bounds> operands;
    for (const std::string &input : node.inputs) {
      fact.on_inputs |= depends_on_inputs(input);
      fact.on_parameters |= depends_on_parameters(input);
      operands.push_back(bounds(input));
    }
    if (node.op == op::constant && !ops::find_attribute(node, "values"))
      fact.bounds = {ops::number_attribute(node, "value"), ops::number_attribute(node, "value")};
    else if (op.bounds &&
             (op.kind != ops::Kind::Pointwise || model::is_floating(node.type().dtype)))
      fact.bounds = op.bounds(node, operands);
    else if (node.type().dtype == model::Dtype::Bool)
      fact.bounds = {0, 1};
    fact.bounds = checked(fact.bounds);
    facts_.push_back(fact);
  }
}

std::optional<double> GraphFacts::constant(const std::string &name) const {
  const model::Node &node = index_.node(name);
  if (node.op == op::constant && !ops::find_attribute(node, "values"))
    return ops::number_attribute(node, "value");
  if (ops::op_of(node).moves)
    return constant(node.inputs[0]);
  return std::nullopt;
}

bool GraphFacts::read_once(const std::string &name) const {
  const auto &users = index_.users(name);
  return users.size() == 1 && !index_.is_result(name) &&
         std::ranges::count(users.front()->inputs, name) == 1;
}

std::vector<DegenerateOutput> degenerate_outputs(const model::Graph &graph) {
  const model::Graph simplified = simplify(graph).graph;
  const ops::GraphIndex index(simplified);
  const GraphFacts facts(index);
  std::vector<DegenerateOutput> degenerate;
  for (const std::string &output : simplified.outputs)
    if (!facts.depends_on_inputs(output))
      degenerate.push_back({output, facts.constant(output)});
  return degenerate;
}

} // namespace warpwright::rewrites
