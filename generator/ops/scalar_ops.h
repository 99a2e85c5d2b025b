// CUDA C++ text of pointwise ops on one element, with PyTorch's numerics: promotion, NaN, thresholds, precise
// functions. Values are expressions of their compute type: float for float32, float16 and bfloat16, double for float64,
// int for integers up to 32 bits, long long for 64, bool.
#pragma once

#include "generator/ops/graph_index.h"

#include <string>
#include <vector>

namespace warpwright::ops {

/// Returns "float", "double", "int", "unsigned", "long long", "unsigned long long" or "bool".
std::string compute_type_of(model::Dtype dtype);
/// Returns the type as kernels' parameters spell it: "__half", "signed char", ...
std::string memory_type_of(model::Dtype dtype);
/// Returns a literal of the compute type, also for infinities and NaN.
std::string literal(double value, model::Dtype dtype);
/// Converts from the compute type of one dtype to another's, as a cast does. @param rounds whether values of 16-bit
/// types are rounded to them
std::string convert(const std::string &value, model::Dtype from, model::Dtype to,
                    bool rounds = false);
/// Convert an element in memory to its compute value, and back.
std::string from_memory(const std::string &element, model::Dtype dtype);
std::string to_memory(const std::string &value, model::Dtype dtype);

/// Returns the dtype in which a pointwise node computes: PyTorch's promotion, where dimensions count before scalars.
model::Dtype computing_dtype(const GraphIndex &graph, const model::Node &node);
/// Returns the node's result in its compute type.
/// @param operands names or literals (they may be repeated), of the compute types of their own dtypes
std::string pointwise_expression(const GraphIndex &graph, const model::Node &node,
                                 const std::vector<std::string> &operands);

/// Returns the device functions that these texts use.
const char *scalar_prelude();
/// Returns CUDA text after which exponentials and logarithms are the GPU's approximations.
const char *fast_functions();

/// Returns true for float16 and bfloat16.
constexpr bool is_half(model::Dtype dtype) {
  return dtype == model::Dtype::Float16 || dtype == model::Dtype::BFloat16;
}

} // namespace warpwright::ops
