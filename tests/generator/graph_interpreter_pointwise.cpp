#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "tests/generator/graph_interpreter_ops.h"

namespace warpwright::test {
model::Shape broadcast_shape(const model::Shape &a, const model::Shape &b) {
  model::Shape shape = a.size() >= b.size() ? a : b;
  const model::Shape &other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < other.size(); ++i)
    if (std::int64_t &extent = shape[shape.size() - other.size() + i]; extent == 1)
      extent = other[i];
  return shape;
}

model::Dtype promote(model::Dtype a, model::Dtype b) {
  using model::Dtype;
  if (a == b)
    return a;
  if (model::is_floating(a) != model::is_floating(b))
    return model::is_floating(a) ? a : b;
  if (model::is_floating(a)) // float16 with bfloat16 gives float32
    return model::size_bytes(a) == model::size_bytes(b)  ? Dtype::Float32
           : model::size_bytes(a) > model::size_bytes(b) ? a
                                                         : b;
  if (a == Dtype::Bool || b == Dtype::Bool)
    return a == Dtype::Bool ? b : a;
  if (model::size_bytes(a) == model::size_bytes(b)) // uint8 with int8 gives int16
    return Dtype::Int16;
  return model::size_bytes(a) > model::size_bytes(b) ? a : b;
}

Results interpret_pointwise(const model::Node &node, const Operands &inputs) {
  const ops::Op *op = ops::find_op(node.op);
  if (!op || !op->reference)
    return std::nullopt;
  const bool selects = inputs.size() == 3; // the first operand of a choice is its condition
  Array result = *inputs[selects ? 1 : 0];
  for (const Array *input : inputs) {
    result.shape = broadcast_shape(result.shape, input->shape);
    if (!selects || input != inputs[0])
      result.dtype = promote(result.dtype, input->dtype);
  }
  if (node.op == op::cast && !node.types.empty())
    result.dtype = node.type().dtype;
  result.values.clear();
  std::vector<double> operands(inputs.size());
  for_each_index(result.shape, [&](const model::Shape &index) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      operands[i] = inputs[i]->broadcast_at(index);
    result.values.push_back(op->reference(node, operands));
  });
  return std::vector{std::move(result)};
}

} // namespace warpwright::test
