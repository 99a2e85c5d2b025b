// Arrays of the interpreter as bytes in a kernel's memory, and back. Thread: pure functions.
#pragma once

#include "tests/generator/graph_array.h"

namespace warpwright::test {

/// @param strides of the memory; empty: contiguous. Gaps are zero.
std::vector<unsigned char> to_bytes(const Array &array, const model::Shape &strides = {});
/// Contiguous memory.
Array from_bytes(const std::vector<unsigned char> &bytes, model::Dtype dtype,
                 const model::Shape &shape);

} // namespace warpwright::test
