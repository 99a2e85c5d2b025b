// Types of pointwise ops: PyTorch's broadcasting and promotion.
#include "generator/ops/infer.h"

namespace warpwright::ops::infer {

using model::Node;

Result<Types> unary(const Node &, const Types &operands) {
  return single_result(operands[0].dtype, operands[0].shape);
}

Result<Types> floating_unary(const Node &node, const Types &operands) {
  if (!model::is_floating(operands[0].dtype))
    return fail(node.op + " of " + text_of(operands[0]) + "; a cast to a floating type is missing");
  return unary(node, operands);
}

Result<Types> logical_not(const Node &, const Types &operands) {
  return single_result(model::Dtype::Bool, operands[0].shape);
}

Result<Types> cast(const Node &node, const Types &operands) {
  return single_result(node.type().dtype, operands[0].shape);
}

namespace {

Result<model::Shape> common_shape(const Types &operands) {
  model::Shape shape;
  for (const model::TensorType &operand : operands) {
    const auto wider = broadcast(shape, operand.shape);
    if (!wider)
      return fail(text_of(shape) + " and " + text_of(operand.shape) + " do not broadcast");
    shape = *wider;
  }
  return shape;
}

} // namespace

Result<Types> arithmetic(const Node &, const Types &operands) {
  auto shape = common_shape(operands);
  if (!shape)
    return std::unexpected(shape.error());
  return single_result(promote(operands[0], operands[1]), std::move(*shape));
}

Result<Types> integral(const Node &node, const Types &operands) {
  for (const model::TensorType &operand : operands)
    if (model::is_floating(operand.dtype) || operand.dtype == model::Dtype::Bool)
      return fail(node.op + " of " + text_of(operand) + "; operands must be integers");
  return operands.size() == 1 ? unary(node, operands) : arithmetic(node, operands);
}

Result<Types> comparison(const Node &, const Types &operands) {
  auto shape = common_shape(operands);
  if (!shape)
    return std::unexpected(shape.error());
  return single_result(model::Dtype::Bool, std::move(*shape));
}

Result<Types> where(const Node &, const Types &operands) {
  if (operands[0].dtype != model::Dtype::Bool)
    return fail("the condition is " + text_of(operands[0]) + ", not bool");
  auto shape = common_shape(operands);
  if (!shape)
    return std::unexpected(shape.error());
  return single_result(promote(operands[1], operands[2]), std::move(*shape));
}

} // namespace warpwright::ops::infer
