#include "support/model/dtype.h"

#include <array>
#include <utility>

namespace warpwright::model {
namespace {

struct Entry {
  Dtype dtype;
  std::string_view name;
  std::size_t size_bytes;
};

constexpr std::array<Entry, 13> kEntries{{{Dtype::Bool, "bool", 1},
                                          {Dtype::Int8, "int8", 1},
                                          {Dtype::UInt8, "uint8", 1},
                                          {Dtype::Int16, "int16", 2},
                                          {Dtype::UInt16, "uint16", 2},
                                          {Dtype::Int32, "int32", 4},
                                          {Dtype::UInt32, "uint32", 4},
                                          {Dtype::Int64, "int64", 8},
                                          {Dtype::UInt64, "uint64", 8},
                                          {Dtype::Float16, "float16", 2},
                                          {Dtype::BFloat16, "bfloat16", 2},
                                          {Dtype::Float32, "float32", 4},
                                          {Dtype::Float64, "float64", 8}}};

constexpr std::pair<std::string_view, Dtype> kSpellings[] = {{"bool", Dtype::Bool},
                                                             {"char", Dtype::Int8},
                                                             {"signed char", Dtype::Int8},
                                                             {"int8_t", Dtype::Int8},
                                                             {"unsigned char", Dtype::UInt8},
                                                             {"uint8_t", Dtype::UInt8},
                                                             {"short", Dtype::Int16},
                                                             {"int16_t", Dtype::Int16},
                                                             {"unsigned short", Dtype::UInt16},
                                                             {"uint16_t", Dtype::UInt16},
                                                             {"int", Dtype::Int32},
                                                             {"int32_t", Dtype::Int32},
                                                             {"unsigned int", Dtype::UInt32},
                                                             {"unsigned", Dtype::UInt32},
                                                             {"uint32_t", Dtype::UInt32},
                                                             {"long", Dtype::Int64},
                                                             {"long long", Dtype::Int64},
                                                             {"int64_t", Dtype::Int64},
                                                             {"ptrdiff_t", Dtype::Int64},
                                                             {"unsigned long", Dtype::UInt64},
                                                             {"unsigned long long", Dtype::UInt64},
                                                             {"uint64_t", Dtype::UInt64},
                                                             {"size_t", Dtype::UInt64},
                                                             {"__half", Dtype::Float16},
                                                             {"half", Dtype::Float16},
                                                             {"__nv_bfloat16", Dtype::BFloat16},
                                                             {"nv_bfloat16", Dtype::BFloat16},
                                                             {"float", Dtype::Float32},
                                                             {"double", Dtype::Float64}};

const Entry &entry(Dtype dtype) { return kEntries[static_cast<std::size_t>(dtype)]; }

} // namespace

std::size_t size_bytes(Dtype dtype) { return entry(dtype).size_bytes; }
std::string_view name(Dtype dtype) { return entry(dtype).name; }
bool is_floating(Dtype dtype) { return dtype >= Dtype::Float16; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const Entry &candidate : kEntries)
    if (candidate.name == name)
      return candidate.dtype;
  return std::nullopt;
}

std::optional<Dtype> dtype_from_c_type(std::string_view spelling) {
  if (spelling.starts_with("std::"))
    spelling.remove_prefix(5);
  for (const auto &[text, dtype] : kSpellings)
    if (text == spelling)
      return dtype;
  return std::nullopt;
}

} // namespace warpwright::model
