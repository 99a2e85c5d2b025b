// A reduction behind a reduction of rows, in two steps: the rows' part is computed with the rows, whose elements then
// need not lie in memory. softmax(x).square().sum() stores a number a row.
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {

std::optional<Replacement> split_reduction(const GraphFacts &facts, const model::Node &node) {
  if (!is_mergeable_reduction(node.op) || !model::is_floating(node.type().dtype))
    return std::nullopt;
  const std::string &source = node.inputs[0];
  const model::Shape dims = ops::reduced_dims(node, facts.type(source).shape.size());
  const auto rows = rows_before(facts, source);
  if (!rows || rows->size() >= dims.size())
    return std::nullopt;
  for (const std::int64_t dim : *rows)
    if (!contains(dims, dim))
      return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(
      builder.reduce(node.op, builder.reduce(node.op, source, *rows, true), dims, true));
}

} // namespace warpwright::rewrites
