// Sums and means of linear expressions, taken before the expensive part: the sum over a linear layer's features is one
// product with the summed weight; the mean over a convolution's space is its weight times sums of its input.
//
// The sum moves through additions, factors that do not vary along it and transposes, into the operands of products and
// convolutions that have no other reader, where that saves most of a product. Rounding changes: the sum of many
// elements is taken first, in the same dtype, so 16-bit types are left alone.
#include "generator/ops/names.h"
#include "generator/rewrites/linear_sums.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {

std::optional<Replacement> reduce_linear_map(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::sum && node.op != op::mean)
    return std::nullopt;
  const model::TensorType &type = facts.type(node.inputs[0]);
  if (type.dtype != model::Dtype::Float32 && type.dtype != model::Dtype::Float64)
    return std::nullopt;
  model::Shape dims;
  for (const std::int64_t dim : ops::reduced_dims(node, type.shape.size()))
    if (type.shape[static_cast<std::size_t>(dim)] > 1)
      dims.push_back(dim);
  if (dims.empty())
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  LinearSums sums(facts, builder);
  std::string value = sums.sum(node.inputs[0], dims);
  if (sums.saved_flops() <= 0)
    return std::nullopt;
  model::Shape kept = type.shape;
  for (const std::int64_t dim : dims)
    kept[static_cast<std::size_t>(dim)] = 1;
  value = builder.expand(value, kept);
  if (node.op == op::mean)
    value = builder.scale(value, 1.0 / static_cast<double>(extent_of(type.shape, dims)));
  return builder.finish(value);
}

} // namespace warpwright::rewrites
