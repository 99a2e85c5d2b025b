// Merged reductions: reductions of reductions, pools whose window is the whole input, and pools of pools.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

struct Pool {
  std::size_t first; ///< dimension that kernel[0] slides along
  model::Shape kernel, stride;
};

/// Matches a pool without padding, dilation, rounding up or a divisor of its own.
std::optional<Pool> plain_pool(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::avg_pool && node.op != op::max_pool)
    return std::nullopt;
  const auto kernel = ops::list_attribute(node, "kernel");
  if (!kernel || ops::flag_attribute(node, "ceil") || ops::integer_attribute(node, "divisor") != 0)
    return std::nullopt;
  Pool pool{facts.type(node.inputs[0]).shape.size() - kernel->size(), *kernel, *kernel};
  if (const auto stride = ops::list_attribute(node, "stride"); stride && !stride->empty())
    pool.stride = ops::list_attribute(node, "stride", kernel->size(), 1);
  const auto is = [&](const char *name, std::int64_t number) {
    return std::ranges::all_of(ops::list_attribute(node, name, kernel->size(), number),
                               [&](std::int64_t value) { return value == number; });
  };
  return is("padding", 0) && is("dilation", 1) ? std::optional(pool) : std::nullopt;
}

} // namespace

std::optional<Replacement> merge_reductions(const GraphFacts &facts, const model::Node &node) {
  if (!is_mergeable_reduction(node.op))
    return std::nullopt;
  const model::Node *inner = &facts.node(node.inputs[0]);
  // Inserted dimensions of extent 1 move nothing.
  model::Shape outer_dims = ops::reduced_dims(node, inner->type().shape.size());
  if (inner->op == op::reshape && facts.read_once(inner->name)) {
    const model::Node &source = facts.node(inner->inputs[0]);
    const auto places = place_of_dims(source.type().shape, inner->type().shape);
    if (!places)
      return std::nullopt;
    model::Shape mapped;
    for (std::size_t i = 0; i < places->size(); ++i)
      if ((*places)[i] >= 0 && contains(outer_dims, (*places)[i]))
        mapped.push_back(static_cast<std::int64_t>(i));
    outer_dims = mapped;
    inner = &source;
  }
  const bool linear = (node.op == op::sum || node.op == op::mean) &&
                      (inner->op == op::sum || inner->op == op::mean) &&
                      model::is_floating(inner->type().dtype);
  if ((inner->op != node.op && !linear) || !facts.read_once(inner->name) ||
      inner->type().dtype != node.type().dtype)
    return std::nullopt;
  const model::Shape &shape = facts.type(inner->inputs[0]).shape;
  model::Shape dims = ops::reduced_dims(*inner, shape.size());
  const model::Shape inner_dims = dims;
  if (rows_before(facts, inner->inputs[0]) == dims)
    return std::nullopt; // computed with these rows; see reduction_split.cpp
  // The outer dimensions, as dimensions of the inner operand.
  model::Shape left;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (ops::flag_attribute(*inner, "keepdim") ||
        !contains(inner_dims, static_cast<std::int64_t>(i)))
      left.push_back(static_cast<std::int64_t>(i));
  double factor = 1;
  for (const std::int64_t dim : outer_dims) {
    const std::int64_t at = left[static_cast<std::size_t>(dim)];
    if (contains(inner_dims, at))
      continue;
    dims.push_back(at);
    if (inner->op != node.op)
      factor *= static_cast<double>(shape[static_cast<std::size_t>(at)]);
  }
  std::ranges::sort(dims);
  ReplacementBuilder builder(facts, node);
  std::string value = builder.reduce(inner->op, inner->inputs[0], dims, true);
  if (factor != 1) // for the outer dimensions, which inner->op now reduces
    value = builder.with_number(node.op == op::sum ? op::mul : op::div, value, factor);
  return builder.finish(value);
}

std::optional<Replacement> pool_as_reduction(const GraphFacts &facts, const model::Node &node) {
  const bool adaptive = node.op == op::adaptive_avg_pool || node.op == op::adaptive_max_pool;
  const auto pool = plain_pool(facts, node);
  if (node.types.size() != 1 || (!adaptive && !pool))
    return std::nullopt;
  const model::Shape &from = facts.type(node.inputs[0]).shape, &to = node.type().shape;
  model::Shape dims;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i] && (adaptive || i < pool->first || pool->kernel[i - pool->first] == 1))
      continue;
    if (to[i] != 1 || (!adaptive && pool->kernel[i - pool->first] != from[i]))
      return std::nullopt;
    dims.push_back(static_cast<std::int64_t>(i));
  }
  ReplacementBuilder builder(facts, node);
  const bool average = node.op == op::avg_pool || node.op == op::adaptive_avg_pool;
  return builder.finish(builder.reduce(average ? op::mean : op::amax, node.inputs[0], dims, true));
}

std::optional<Replacement> merge_pools(const GraphFacts &facts, const model::Node &node) {
  const auto outer = plain_pool(facts, node);
  if (!outer || !facts.read_once(node.inputs[0]))
    return std::nullopt;
  const model::Node &before = facts.node(node.inputs[0]);
  const auto inner = plain_pool(facts, before);
  // Windows of the inner pool that touch without overlapping make up one larger window.
  if (!inner || before.op != node.op || inner->kernel != inner->stride ||
      inner->first != outer->first)
    return std::nullopt;
  model::Node merged = node;
  model::Shape kernel = outer->kernel, stride = outer->stride;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    kernel[i] *= inner->kernel[i];
    stride[i] *= inner->kernel[i];
  }
  merged.attributes["kernel"] = kernel;
  merged.attributes["stride"] = stride;
  ReplacementBuilder builder(facts, node);
  return builder.finish(with_inputs(builder, merged, {before.inputs[0]}, node.type().shape));
}

} // namespace warpwright::rewrites
