// Shared helpers of type inference: texts, broadcasting, promotion, and the entry that looks an op up.
#include "generator/ops/infer.h"

#include <algorithm>

namespace warpwright::ops {
namespace infer {

std::string text_of(const model::Shape &shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string text_of(const model::TensorType &type) {
  return std::string(model::name(type.dtype)) + text_of(type.shape);
}

std::optional<model::Shape> broadcast(const model::Shape &a, const model::Shape &b) {
  model::Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      return std::nullopt;
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

bool is_integer(model::Dtype dtype) {
  return dtype != model::Dtype::Bool && !model::is_floating(dtype);
}

int category(model::Dtype dtype) {
  return model::is_floating(dtype) ? 2 : dtype == model::Dtype::Bool ? 0 : 1;
}

model::Dtype promote(model::Dtype a, model::Dtype b) {
  using enum model::Dtype;
  if (a == b)
    return a;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    if (model::size_bytes(a) == model::size_bytes(b))
      return Float32; // float16 with bfloat16
    return model::size_bytes(a) > model::size_bytes(b) ? a : b;
  }
  const auto is_unsigned = [](model::Dtype dtype) {
    return dtype == UInt8 || dtype == UInt16 || dtype == UInt32 || dtype == UInt64;
  };
  if (is_unsigned(a) == is_unsigned(b))
    return model::size_bytes(a) > model::size_bytes(b) ? a : b;
  const model::Dtype sign = is_unsigned(a) ? b : a, none = is_unsigned(a) ? a : b;
  if (model::size_bytes(sign) > model::size_bytes(none))
    return sign;
  return model::size_bytes(none) == 1 ? Int16 : model::size_bytes(none) == 2 ? Int32 : Int64;
}

model::Dtype promote(const model::TensorType &a, const model::TensorType &b) {
  if (a.shape.empty() != b.shape.empty()) {
    const model::TensorType &full = a.shape.empty() ? b : a, &scalar = a.shape.empty() ? a : b;
    if (category(full.dtype) >= category(scalar.dtype))
      return full.dtype;
  }
  return promote(a.dtype, b.dtype);
}

Result<void> check_dim(std::int64_t dim, std::size_t rank) {
  if (dim < 0 || dim >= static_cast<std::int64_t>(rank))
    return fail("dimension " + std::to_string(dim) + " of a value with " + std::to_string(rank));
  return {};
}

} // namespace infer

Result<Types> infer_types(const model::Node &node, const Types &operands) {
  const Op *rule = find_op(node.op);
  if (!rule || !rule->infer)
    return fail("there is no op '" + node.op + "'");
  return rule->infer(node, operands);
}

} // namespace warpwright::ops
