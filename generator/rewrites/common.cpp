// Merging of equal nodes: same op, operands, attributes and type. `aten` calls are left alone, since some draw random
// numbers. Two results of the graph stay two nodes.
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {

std::optional<Replacement> share_equal_nodes(const GraphFacts &facts, const model::Node &node) {
  if (ops::is_buffer_leaf(node) || node.op == op::aten || facts.index().is_result(node.name))
    return std::nullopt;
  const auto is_earlier_twin = [&](const model::Node &other) {
    return other.name != node.name && other.op == node.op && other.inputs == node.inputs &&
           other.attributes == node.attributes && other.types.size() == node.types.size() &&
           same_type(other.type(), node.type()) &&
           facts.index().position(other.name) < facts.index().position(node.name);
  };
  if (node.inputs.empty()) {
    for (const model::Node &other : facts.index().graph().nodes)
      if (is_earlier_twin(other))
        return existing(other.name);
    return std::nullopt;
  }
  for (const model::Node *other : facts.index().users(node.inputs[0]))
    if (is_earlier_twin(*other))
      return existing(other->name);
  return std::nullopt;
}

} // namespace warpwright::rewrites
