// Types of reductions, softmax, scans and normalizations.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::ops::infer {

using model::Node;
using model::Shape;

namespace {

Result<Types> reduced(const Node &node, const Types &operands, model::Dtype dtype) {
  const Shape &shape = operands[0].shape;
  const Shape dims = reduced_dims(node, shape.size());
  for (const std::int64_t dim : dims)
    if (auto checked = check_dim(dim, shape.size()); !checked)
      return std::unexpected(checked.error());
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (std::ranges::find(dims, static_cast<std::int64_t>(i)) == dims.end())
      result.push_back(shape[i]);
    else if (flag_attribute(node, "keepdim"))
      result.push_back(1);
  return single_result(dtype, std::move(result));
}

Result<void> need_floating(const Node &node, const Types &operands) {
  if (!model::is_floating(operands[0].dtype))
    return fail(node.op + " of " + text_of(operands[0]) + "; a cast to a floating type is missing");
  return {};
}

/// Checks a vector operand of a normalization, which must have `shape`.
Result<void> check_operand(const Types &operands, std::size_t &next, const Node &node,
                           const std::string &name, const Shape &shape) {
  if (is_absent(node, name) || next >= operands.size())
    return {};
  if (operands[next].shape != shape)
    return fail(name + " is " + text_of(operands[next]) + " where the shape " + text_of(shape) +
                " is needed");
  ++next;
  return {};
}

Result<void> check_operands(const Node &node, const Types &operands,
                            std::initializer_list<const char *> names, const Shape &shape) {
  std::size_t next = 1;
  for (const char *name : names)
    if (auto checked = check_operand(operands, next, node, name, shape); !checked)
      return checked;
  if (next != operands.size())
    return fail("it has more operands than `absent` leaves");
  return {};
}

} // namespace

Result<Types> reduction(const Node &node, const Types &operands) {
  if (operands[0].dtype == model::Dtype::Bool && (node.op == op::sum || node.op == op::prod))
    return fail(node.op + " of " + text_of(operands[0]) + "; a cast to int64 is missing");
  return reduced(node, operands, operands[0].dtype);
}

Result<Types> floating_reduction(const Node &node, const Types &operands) {
  if (auto checked = need_floating(node, operands); !checked)
    return std::unexpected(checked.error());
  return reduced(node, operands, operands[0].dtype);
}

Result<Types> truth_reduction(const Node &node, const Types &operands) {
  return reduced(node, operands, model::Dtype::Bool);
}

Result<Types> arg_reduction(const Node &node, const Types &operands) {
  if (const auto dims = list_attribute(node, "dims"); !dims || dims->size() != 1)
    return fail("it needs one dimension");
  return reduced(node, operands, model::Dtype::Int64);
}

Result<Types> softmax(const Node &node, const Types &operands) {
  if (auto checked = need_floating(node, operands); !checked)
    return std::unexpected(checked.error());
  return scan(node, operands);
}

Result<Types> scan(const Node &node, const Types &operands) {
  if (auto checked = check_dim(integer_attribute(node, "dim", -1), operands[0].shape.size());
      !checked)
    return std::unexpected(checked.error());
  return single_result(operands[0].dtype, operands[0].shape);
}

Result<Types> topk(const Node &node, const Types &operands) {
  const std::int64_t dim = integer_attribute(node, "dim", -1), k = integer_attribute(node, "k");
  if (auto checked = check_dim(dim, operands[0].shape.size()); !checked)
    return std::unexpected(checked.error());
  Shape shape = operands[0].shape;
  std::int64_t &extent = shape[static_cast<std::size_t>(dim)];
  if (k < 1 || k > extent)
    return fail("the " + std::to_string(k) + " largest of " + std::to_string(extent) + " elements");
  extent = k;
  return single_result(model::Dtype::Int64, std::move(shape));
}

Result<Types> layer_norm(const Node &node, const Types &operands) {
  const Shape &shape = operands[0].shape;
  const Shape dims = list_attribute(node, "dims").value_or(Shape{});
  Shape normalised;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<std::int64_t>(shape.size() - dims.size() + i))
      return fail("dims " + text_of(dims) + " are not the last of " + std::to_string(shape.size()));
    normalised.push_back(shape[static_cast<std::size_t>(dims[i])]);
  }
  if (normalised.empty())
    return fail("it normalizes no dimension");
  if (auto checked = check_operands(node, operands, {"weight", "bias"}, normalised); !checked)
    return std::unexpected(checked.error());
  return single_result(operands[0].dtype, shape);
}

Result<Types> group_norm(const Node &node, const Types &operands) {
  const Shape &shape = operands[0].shape;
  const std::int64_t groups = integer_attribute(node, "groups");
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    return fail(std::to_string(groups) + " groups of the channels of " + text_of(operands[0]));
  if (auto checked = check_operands(node, operands, {"weight", "bias"}, {shape[1]}); !checked)
    return std::unexpected(checked.error());
  return single_result(operands[0].dtype, shape);
}

Result<Types> batch_norm(const Node &node, const Types &operands) {
  const Shape &shape = operands[0].shape;
  if (shape.size() < 2)
    return fail("no channels in " + text_of(operands[0]));
  if (auto checked = check_operands(node, operands,
                                    {"weight", "bias", "running_mean", "running_var"}, {shape[1]});
      !checked)
    return std::unexpected(checked.error());
  const bool running = !is_absent(node, "running_mean") && !is_absent(node, "running_var");
  const bool training = flag_attribute(node, "training");
  if (!training && !running)
    return fail("outside of training it needs running statistics");
  Types types = single_result(operands[0].dtype, shape);
  if (training && running)
    for (std::size_t i = operands.size() - 2; i < operands.size(); ++i)
      types.push_back({operands[i].dtype, operands[i].shape, {}});
  return types;
}

} // namespace warpwright::ops::infer
