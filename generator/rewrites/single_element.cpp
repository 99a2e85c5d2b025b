// Reductions, softmax and scans over one element, replaced by the element or a number.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <limits>

namespace warpwright::rewrites {

std::optional<Replacement> single_element(const GraphFacts &facts, const model::Node &node) {
  if (node.inputs.size() != 1)
    return std::nullopt;
  const std::string &op = node.op, &x = node.inputs[0];
  const model::Shape &shape = facts.type(x).shape;
  ReplacementBuilder builder(facts, node);
  if (op == op::softmax || op == op::log_softmax || ops::op_of(node).kind == ops::Kind::Scan) {
    if (shape.empty() || shape[static_cast<std::size_t>(ops::integer_attribute(node, "dim"))] != 1)
      return std::nullopt;
    if (op == op::softmax || op == op::log_softmax)
      return builder.finish(builder.uniform(op == op::softmax ? 1 : 0, node.type()));
    return builder.finish(x);
  }
  if (op != op::sum && op != op::mean && op != op::amax && op != op::amin && op != op::prod &&
      op != op::logsumexp && op != op::var && op != op::norm && op != op::argmax && op != op::argmin)
    return std::nullopt;
  if (extent_of(shape, ops::reduced_dims(node, shape.size())) != 1)
    return std::nullopt;
  if (op == op::argmax || op == op::argmin)
    return builder.finish(builder.uniform(0, node.type()));
  if (op == op::var) // of one element with a correction of 1 it is 0 / 0
    return builder.finish(builder.uniform(ops::number_attribute(node, "correction", 1) < 1
                                              ? 0
                                              : std::numeric_limits<double>::quiet_NaN(),
                                          node.type()));
  if (op == op::norm) {
    if (ops::number_attribute(node, "p", 2) == 0)
      return std::nullopt;
    return builder.finish(builder.op(op::abs, {x}));
  }
  return builder.finish(x);
}

} // namespace warpwright::rewrites
