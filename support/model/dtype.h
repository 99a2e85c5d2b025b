// Element types that buffers and scalars may have, by PyTorch's names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpwright::model {

enum class Dtype {
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64
};

std::size_t size_bytes(Dtype dtype);
bool is_floating(Dtype dtype);
/// "float32", "int64", "bfloat16", ...
std::string_view name(Dtype dtype);
std::optional<Dtype> dtype_from_name(std::string_view name);
/// From a C or CUDA spelling without qualifiers: "float", "unsigned int", "__half", "int64_t", ...
std::optional<Dtype> dtype_from_c_type(std::string_view spelling);

} // namespace warpwright::model
