// CUDA C++ text of pointwise ops on one element, with PyTorch's numerics: promotion, NaN, thresholds, precise functions.
//
// Values travel as expressions of their compute type: float for float32, float16 and bfloat16, double for float64, int for integers up to 32
// bits, long long for 64, bool. Thread: pure functions.
#pragma once

#include "generator/ops/graph_index.h"

#include <string>
#include <vector>

namespace warpwright::ops {

/// "float", "double", "int", "unsigned", "long long", "unsigned long long", "bool".
std::string compute_type_of(model::Dtype dtype);
/// As kernels' parameters spell it: "__half", "signed char", ...
std::string memory_type_of(model::Dtype dtype);
/// A literal of the compute type; infinities and NaN too.
std::string literal(double value, model::Dtype dtype);
/// From the compute type of one dtype to that of another, as a C cast of PyTorch converts. @param rounds values of 16-bit types are rounded to them
std::string convert(const std::string &value, model::Dtype from, model::Dtype to,
                    bool rounds = false);
/// The compute value of what lies in memory, and back.
std::string from_memory(const std::string &element, model::Dtype dtype);
std::string to_memory(const std::string &value, model::Dtype dtype);

/// The dtype in which a pointwise node computes: PyTorch's promotion of its operands, where dimensions count before scalars.
model::Dtype computing_dtype(const GraphIndex &graph, const model::Node &node);
/// The node's result of its compute type.
/// @param operands names or literals (they may be repeated), of the compute types of their own dtypes
std::string pointwise_expression(const GraphIndex &graph, const model::Node &node,
                                 const std::vector<std::string> &operands);

/// Device functions that these texts use.
const char *scalar_prelude();

} // namespace warpwright::ops
