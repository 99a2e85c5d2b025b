#include "tests/generator/array_memory.h"

#include <bit>
#include <cstring>

namespace warpwright::test {
namespace {

using model::Dtype;

/// Exact: the value was rounded to the format before.
std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value))
    return 0x7e00;
  if (size > 65504)
    return sign | 0x7c00;
  if (size < std::ldexp(1.0, -14))
    return sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(size, 24)));
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent); // [0.5, 1)
  const auto mantissa = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(fraction, 11)));
  return sign | static_cast<std::uint16_t>(((exponent + 14) << 10) + (mantissa - 1024));
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 31  ? (mantissa ? NAN : INFINITY)
                      : exponent == 0 ? std::ldexp(mantissa, -24)
                                      : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

template <class T>
void put(unsigned char *to, double value) {
  const T typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof typed);
}
template <class T>
double get(const unsigned char *from) {
  T typed;
  std::memcpy(&typed, from, sizeof typed);
  return static_cast<double>(typed);
}

void put(unsigned char *to, double value, Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
    return put<std::uint8_t>(to, value != 0);
  case Dtype::UInt8:
    return put<std::uint8_t>(to, value);
  case Dtype::Int8:
    return put<std::int8_t>(to, value);
  case Dtype::Int16:
    return put<std::int16_t>(to, value);
  case Dtype::UInt16:
    return put<std::uint16_t>(to, value);
  case Dtype::Int32:
    return put<std::int32_t>(to, value);
  case Dtype::UInt32:
    return put<std::uint32_t>(to, value);
  case Dtype::Int64:
    return put<std::int64_t>(to, value);
  case Dtype::UInt64:
    return put<std::uint64_t>(to, value);
  case Dtype::Float32:
    return put<float>(to, value);
  case Dtype::Float64:
    return put<double>(to, value);
  case Dtype::Float16:
    return put<std::uint16_t>(to, half_bits(value));
  case Dtype::BFloat16:
    return put<std::uint16_t>(to, std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
  }
}

double get(const unsigned char *from, Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
  case Dtype::UInt8:
    return get<std::uint8_t>(from);
  case Dtype::Int8:
    return get<std::int8_t>(from);
  case Dtype::Int16:
    return get<std::int16_t>(from);
  case Dtype::UInt16:
    return get<std::uint16_t>(from);
  case Dtype::Int32:
    return get<std::int32_t>(from);
  case Dtype::UInt32:
    return get<std::uint32_t>(from);
  case Dtype::Int64:
    return get<std::int64_t>(from);
  case Dtype::UInt64:
    return get<std::uint64_t>(from);
  case Dtype::Float64:
    return get<double>(from);
  case Dtype::Float16:
    return half_value(static_cast<std::uint16_t>(get<std::uint16_t>(from)));
  case Dtype::BFloat16:
    return std::bit_cast<float>(static_cast<std::uint32_t>(get<std::uint16_t>(from)) << 16);
  case Dtype::Float32:
    return get<float>(from);
  }
  return 0;
}

} // namespace

std::vector<unsigned char> to_bytes(const Array &array, const model::Shape &strides) {
  const std::size_t width = model::size_bytes(array.dtype);
  const model::Shape all = model::strides_of({array.dtype, array.shape, strides});
  std::int64_t extent = 1;
  for (std::size_t d = 0; d < all.size(); ++d)
    extent += (array.shape[d] - 1) * all[d];
  if (array.values.empty())
    return {};
  std::vector<unsigned char> bytes(static_cast<std::size_t>(extent) * width);
  std::size_t next = 0;
  for_each_index(array.shape, [&](const model::Shape &index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < all.size(); ++d)
      at += index[d] * all[d];
    put(bytes.data() + static_cast<std::size_t>(at) * width, array.values[next++], array.dtype);
  });
  return bytes;
}

Array from_bytes(const std::vector<unsigned char> &bytes, Dtype dtype, const model::Shape &shape) {
  Array array(dtype, shape);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    array.values[i] = get(bytes.data() + i * model::size_bytes(dtype), dtype);
  return array;
}

} // namespace warpwright::test
