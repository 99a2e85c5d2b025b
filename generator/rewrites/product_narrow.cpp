// Products of float32 copies of 16-bit numbers, whose results are rounded to 16 bits again, as
// 16-bit products. PyTorch's attention without a kernel of its own computes so: the other operand,
// such as its weights, is then rounded too.
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

/// The 16-bit dtype of which a float32 value is a copy, behind views; nullopt: it is none.
std::optional<model::Dtype> copied_from(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  if (ops::is_view(node) && !node.inputs.empty())
    return copied_from(facts, node.inputs[0]);
  if (node.op != op::cast || !ops::is_half(facts.type(node.inputs[0]).dtype))
    return std::nullopt;
  return facts.type(node.inputs[0]).dtype;
}

/// Whether each path from the value, through pointwise nodes and views, ends in a cast to this dtype.
bool is_rounded_to(const GraphFacts &facts, const model::Node &value, model::Dtype dtype) {
  const auto &readers = facts.index().users(value.name);
  return !facts.index().is_result(value.name) && !readers.empty() &&
         std::ranges::all_of(readers, [&](const model::Node *reader) {
           return reader->op == op::cast
                      ? reader->type().dtype == dtype
                      : ops::is_inline(*reader) && is_rounded_to(facts, *reader, dtype);
         });
}

} // namespace

std::optional<Replacement> narrow_product(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul || node.type().dtype != model::Dtype::Float32)
    return std::nullopt;
  const auto left = copied_from(facts, node.inputs[0]), right = copied_from(facts, node.inputs[1]);
  const auto dtype = left ? left : right;
  if (!dtype || (left && right && *left != *right) || !is_rounded_to(facts, node, *dtype))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(builder.op(
      op::matmul, {builder.cast(node.inputs[0], *dtype), builder.cast(node.inputs[1], *dtype)}));
}

} // namespace warpwright::rewrites
