// Simpler normalizations: a shift that the subtracted mean cancels is dropped, a norm over one element is its bias, and
// batch norm with fixed statistics is a multiplication and an addition.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

/// Returns the dimensions over which the node subtracts a mean (or a maximum, or a logarithm of a sum) that follows
/// shifts; empty for other nodes. A shift may vary along the other dimensions only.
model::Shape centred_dims(const GraphFacts &facts, const model::Node &node) {
  if (node.inputs.empty())
    return {};
  const model::Shape &shape = facts.type(node.inputs[0]).shape;
  const auto from = [&](std::size_t first) {
    model::Shape dims;
    for (std::size_t i = first; i < shape.size(); ++i)
      dims.push_back(static_cast<std::int64_t>(i));
    return dims;
  };
  if (node.op == op::softmax || node.op == op::log_softmax)
    return {ops::integer_attribute(node, "dim")};
  if (node.op == op::layer_norm || node.op == op::var)
    return ops::reduced_dims(node, shape.size());
  if (node.op == op::group_norm)
    return from(ops::integer_attribute(node, "groups", 1) == shape[1] ? 2 : 1);
  if (node.op == op::batch_norm && ops::flag_attribute(node, "training") &&
      node.types.size() == 1) {
    model::Shape dims = from(2);
    dims.insert(dims.begin(), 0);
    return dims;
  }
  return {};
}

bool is_alike_along(const model::Shape &shift, const model::Shape &shape,
                    const model::Shape &dims) {
  const model::Shape own = aligned(shift, shape.size());
  for (const std::int64_t dim : dims)
    if (own[static_cast<std::size_t>(dim)] != 1)
      return false;
  return true;
}

/// Returns the operand with a name; nullopt where it is absent. @param order names of the operands after x
std::optional<std::string> operand(const model::Node &node, const std::string &name,
                                   std::initializer_list<const char *> order) {
  std::size_t next = 1;
  for (const char *candidate : order) {
    if (ops::is_absent(node, candidate) || next >= node.inputs.size())
      continue;
    if (candidate == name)
      return node.inputs[next];
    ++next;
  }
  return std::nullopt;
}

} // namespace

std::optional<Replacement> drop_shift_before_norm(const GraphFacts &facts,
                                                  const model::Node &node) {
  const model::Shape dims = centred_dims(facts, node);
  if (dims.empty() || !model::is_floating(node.type().dtype))
    return std::nullopt;
  const model::Node &before = facts.node(node.inputs[0]);
  const model::Shape &shape = before.type().shape;
  ReplacementBuilder builder(facts, node);
  std::string centred;
  if (before.op == op::add || before.op == op::sub) {
    for (const std::size_t shift : {1, 0})
      if (centred.empty() && (before.op == op::add || shift == 1) &&
          facts.type(before.inputs[1 - shift]).shape == shape &&
          is_alike_along(facts.type(before.inputs[shift]).shape, shape, dims))
        centred = before.inputs[1 - shift];
  } else if (before.op == op::conv && before.inputs.size() == 3 && facts.read_once(before.name) &&
             !contains(dims, 1) && shape.size() == facts.type(before.inputs[1]).shape.size()) {
    centred = with_inputs(builder, before, {before.inputs[0], before.inputs[1]}, shape);
  }
  if (centred.empty())
    return std::nullopt;
  std::vector<std::string> inputs = node.inputs;
  inputs[0] = centred;
  return builder.finish(with_inputs(builder, node, inputs, node.type().shape));
}

std::optional<Replacement> norm_of_one_element(const GraphFacts &facts, const model::Node &node) {
  if ((node.op != op::layer_norm && node.op != op::group_norm) ||
      ops::number_attribute(node, "eps", 1e-5) <= 0)
    return std::nullopt;
  const model::Shape &shape = node.type().shape;
  model::Shape dims = ops::reduced_dims(node, shape.size()), bias_shape;
  if (node.op == op::group_norm) {
    dims.clear();
    for (std::size_t i = 2; i < shape.size(); ++i)
      dims.push_back(static_cast<std::int64_t>(i));
    if (ops::integer_attribute(node, "groups", 1) != shape[1])
      return std::nullopt;
    bias_shape.assign(shape.size(), 1);
    bias_shape[1] = shape[1];
  }
  if (extent_of(shape, dims) != 1)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const auto bias = operand(node, "bias", {"weight", "bias"});
  if (!bias)
    return builder.finish(builder.uniform(0, node.type()));
  const std::string value = node.op == op::group_norm ? builder.reshape(*bias, bias_shape) : *bias;
  return builder.finish(builder.expand(value, shape));
}

std::optional<Replacement> inference_batch_norm(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::batch_norm || ops::flag_attribute(node, "training") || node.types.size() != 1)
    return std::nullopt;
  const auto part = [&](const char *name) {
    return operand(node, name, {"weight", "bias", "running_mean", "running_var"});
  };
  const auto mean = part("running_mean"), variance = part("running_var"), weight = part("weight"),
             bias = part("bias");
  if (!mean || !variance)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const model::Shape &shape = node.type().shape;
  const auto over_channels = [&](const std::string &value) {
    model::Shape channels(shape.size() - 1, 1);
    channels[0] = shape[1];
    return builder.cast(builder.reshape(value, channels), node.type().dtype);
  };
  std::string scale = builder.op(
      op::rsqrt,
      {builder.with_number(op::add, *variance, ops::number_attribute(node, "eps", 1e-5))});
  if (weight)
    scale = builder.multiply(scale, *weight);
  // The mean is subtracted first, as PyTorch does: x * scale + shift would cancel where means are large.
  std::string value = builder.op(op::sub, {node.inputs[0], over_channels(*mean)});
  value = builder.multiply(value, over_channels(scale));
  if (bias)
    value = builder.add(value, over_channels(*bias));
  return builder.finish(value);
}

} // namespace warpwright::rewrites
