// Products with a diagonal matrix, as scaled rows or columns: diag(v) @ B = v[:, None] * B, A @ diag(v) = A * v.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

/// Returns the diagonal of a value that is zero elsewhere.
std::optional<std::string> diagonal_of(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  if (node.op == op::diag_embed && ops::integer_attribute(node, "offset") == 0 &&
      ops::integer_attribute(node, "dim1", -2) != ops::integer_attribute(node, "dim2", -1)) {
    const auto rank = static_cast<std::int64_t>(node.type().shape.size());
    const auto last = [&](const char *name, std::int64_t fallback) {
      const std::int64_t dim = ops::integer_attribute(node, name, fallback);
      return dim < 0 || dim >= rank - 2;
    };
    return last("dim1", -2) && last("dim2", -1) ? std::optional(node.inputs[0]) : std::nullopt;
  }
  if (ops::swaps_last_two(node))
    return diagonal_of(facts, node.inputs[0]);
  return std::nullopt;
}

} // namespace

std::optional<Replacement> diagonal_product(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  if (const auto v = diagonal_of(facts, node.inputs[0])) {
    model::Shape column = facts.type(*v).shape;
    column.push_back(1);
    return builder.finish(builder.multiply(builder.reshape(*v, column), node.inputs[1]));
  }
  if (const auto v = diagonal_of(facts, node.inputs[1])) {
    model::Shape row = facts.type(*v).shape;
    row.insert(row.end() - 1, 1);
    return builder.finish(builder.multiply(node.inputs[0], builder.reshape(*v, row)));
  }
  return std::nullopt;
}

} // namespace warpwright::rewrites
