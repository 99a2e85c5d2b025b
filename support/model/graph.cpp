#include "support/model/graph.h"

namespace warpwright::model {

std::int64_t elements_of(const Shape &shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape)
    elements *= extent;
  return elements;
}

Shape strides_of(const TensorType &type) {
  if (!type.strides.empty())
    return type.strides;
  Shape strides(type.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = type.shape.size(); i-- > 0; stride *= type.shape[i])
    strides[i] = stride;
  return strides;
}

bool is_contiguous(const TensorType &type) {
  if (type.strides.empty())
    return true;
  std::int64_t stride = 1;
  for (std::size_t i = type.shape.size(); i-- > 0; stride *= type.shape[i])
    if (type.shape[i] != 1 && type.strides[i] != stride)
      return false;
  return true;
}

} // namespace warpwright::model
