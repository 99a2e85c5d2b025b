// An array of numbers for the reference evaluation of op graphs: values as doubles, row-major, whatever the dtype.
//
// Kept naive on purpose: tests compare clever code with it. Integers beyond 2^53 lose digits. Thread: values.
#pragma once

#include "support/model/graph.h"

#include <cmath>
#include <vector>

namespace warpwright::test {

struct Array {
  model::Dtype dtype = model::Dtype::Float32;
  model::Shape shape;
  std::vector<double> values; ///< row-major, elements_of(shape) of them

  Array() = default;
  Array(model::Dtype dtype, model::Shape shape, double value = 0)
      : dtype(dtype), shape(std::move(shape)),
        values(static_cast<std::size_t>(model::elements_of(this->shape)), value) {}

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  double &at(const model::Shape &index) { return values[offset(index)]; }
  double at(const model::Shape &index) const { return values[offset(index)]; }
  /// Of an index that broadcasts: trailing dimensions are matched, extents of 1 repeat.
  double broadcast_at(const model::Shape &index) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      result =
          result * static_cast<std::size_t>(shape[i]) +
          (shape[i] == 1 ? 0 : static_cast<std::size_t>(index[index.size() - shape.size() + i]));
    return values[result];
  }

private:
  std::size_t offset(const model::Shape &index) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      result = result * static_cast<std::size_t>(shape[i]) + static_cast<std::size_t>(index[i]);
    return result;
  }
};

/// Calls `visit(index)` for each index of the shape, the last dimension fastest.
template <class Visit>
void for_each_index(const model::Shape &shape, Visit &&visit) {
  model::Shape index(shape.size(), 0);
  for (std::int64_t left = model::elements_of(shape); left > 0; --left) {
    visit(static_cast<const model::Shape &>(index));
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i])
        break;
      index[i] = 0;
    }
  }
}

/// What a value becomes when it is stored as the dtype: rounded to nearest even, integers truncated and wrapped.
double round_to(double value, model::Dtype dtype);

/// The largest difference, over the largest magnitude expected or 1, whichever is larger. Equal infinities and two NaNs differ by 0; infinite
/// where shapes differ or only one is NaN or infinite.
double relative_difference(const Array &actual, const Array &expected);

} // namespace warpwright::test
