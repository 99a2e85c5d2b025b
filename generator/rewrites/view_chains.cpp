// Merged chains of views: consecutive reshapes, permutes, expands, casts, slices and flips become one or none.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

/// Returns true where every value of the first dtype is a value of the second.
bool holds_all_of(model::Dtype from, model::Dtype to) {
  using model::Dtype;
  if (from == to || from == Dtype::Bool)
    return true;
  if (to == Dtype::Float64)
    return from != Dtype::Int64 && from != Dtype::UInt64;
  if (to == Dtype::Float32)
    return from == Dtype::Float16 || from == Dtype::BFloat16 || from == Dtype::Int8 ||
           from == Dtype::UInt8 || from == Dtype::Int16 || from == Dtype::UInt16;
  return to == Dtype::Int64 && (from == Dtype::Int32 || from == Dtype::Int16 ||
                                from == Dtype::Int8 || from == Dtype::UInt8);
}

std::optional<Replacement> merge_permutes(const GraphFacts &facts, const model::Node &node) {
  ReplacementBuilder builder(facts, node);
  const model::Shape dims = ops::list_attribute(node, "dims").value_or(model::Shape{});
  if (std::ranges::is_sorted(dims))
    return existing(node.inputs[0]);
  const model::Node &inner = facts.node(node.inputs[0]);
  if (inner.op == op::permute) {
    const model::Shape first = ops::list_attribute(inner, "dims").value_or(model::Shape{});
    model::Shape both;
    for (const std::int64_t dim : dims)
      both.push_back(first[static_cast<std::size_t>(dim)]);
    return builder.finish(builder.permute(inner.inputs[0], both));
  }
  // A permute that moves only dimensions of extent 1 moves no element.
  model::Shape moved;
  for (const std::int64_t dim : dims)
    if (inner.type().shape[static_cast<std::size_t>(dim)] != 1)
      moved.push_back(dim);
  if (std::ranges::is_sorted(moved))
    return builder.finish(builder.reshape(inner.name, node.type().shape));
  return std::nullopt;
}

std::optional<Replacement> merge_slices(const GraphFacts &facts, const model::Node &node) {
  ReplacementBuilder builder(facts, node);
  const model::Node &inner = facts.node(node.inputs[0]);
  const std::int64_t dim = ops::integer_attribute(node, "dim"),
                     step = ops::integer_attribute(node, "step", 1);
  const auto at = static_cast<std::size_t>(dim);
  const std::int64_t start = ops::integer_attribute(node, "start"),
                     stop = start + node.type().shape[at] * step;
  if (inner.type().shape == node.type().shape)
    return step == 1 || node.type().shape[at] == 1 ? std::optional(existing(inner.name))
                                                   : std::nullopt;
  if (step != 1)
    return std::nullopt;
  if (inner.op == op::slice && ops::integer_attribute(inner, "dim") == dim &&
      ops::integer_attribute(inner, "step", 1) == 1) {
    const std::int64_t first = ops::integer_attribute(inner, "start");
    return builder.finish(builder.slice(inner.inputs[0], dim, first + start, first + stop));
  }
  if (inner.op == op::cat && ops::integer_attribute(inner, "dim") == dim) {
    std::int64_t begin = 0;
    for (const std::string &part : inner.inputs) {
      const std::int64_t end = begin + facts.type(part).shape[at];
      if (start >= begin && stop <= end)
        return builder.finish(builder.slice(part, dim, start - begin, stop - begin));
      begin = end;
    }
  }
  if (inner.op == op::pad) {
    const std::size_t rank = inner.type().shape.size();
    model::Shape low = ops::list_attribute(inner, "low", rank, 0),
                 high = ops::list_attribute(inner, "high", rank, 0);
    const std::int64_t extent = facts.type(inner.inputs[0]).shape[at];
    if (low[at] < 0 || high[at] < 0 || start < low[at] || stop > low[at] + extent)
      return std::nullopt;
    const std::string kept = builder.slice(inner.inputs[0], dim, start - low[at], stop - low[at]);
    low[at] = high[at] = 0;
    if (std::ranges::count(low, 0) == std::ssize(low) &&
        std::ranges::count(high, 0) == std::ssize(high))
      return builder.finish(kept);
    return builder.finish(builder.op(
        op::pad, {kept},
        {{"low", low}, {"high", high}, {"value", ops::number_attribute(inner, "value")}}));
  }
  return std::nullopt;
}

} // namespace

std::optional<Replacement> merge_views(const GraphFacts &facts, const model::Node &node) {
  if (node.inputs.empty())
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const model::Node &inner = facts.node(node.inputs[0]);
  if (inner.types.size() != 1)
    return std::nullopt;
  const std::string &op = node.op;
  if ((op == op::reshape || op == op::expand || op == op::pad) &&
      inner.type().shape == node.type().shape) {
    const bool moves =
        op == op::pad &&
        std::ranges::any_of(ops::list_attribute(node, "low", node.type().shape.size(), 0),
                            [](std::int64_t extent) { return extent != 0; });
    return moves ? std::nullopt : std::optional(existing(inner.name));
  }
  if (op == op::reshape && inner.op == op::reshape)
    return builder.finish(builder.reshape(inner.inputs[0], node.type().shape));
  if (op == op::expand && inner.op == op::expand)
    return builder.finish(builder.expand(inner.inputs[0], node.type().shape));
  if (op == op::permute)
    return merge_permutes(facts, node);
  if (op == op::slice)
    return merge_slices(facts, node);
  if (op == op::cat && node.inputs.size() == 1)
    return existing(inner.name);
  if (op == op::flip && inner.op == op::flip &&
      ops::reduced_dims(node, node.type().shape.size()) ==
          ops::reduced_dims(inner, node.type().shape.size()))
    return existing(inner.inputs[0]);
  if (op == op::cast) {
    if (inner.type().dtype == node.type().dtype)
      return existing(inner.name);
    if (inner.op == op::cast && holds_all_of(facts.type(inner.inputs[0]).dtype, inner.type().dtype))
      return builder.finish(builder.cast(inner.inputs[0], node.type().dtype));
  }
  return std::nullopt;
}

} // namespace warpwright::rewrites
