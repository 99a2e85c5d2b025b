// Products of small float matrices for inference on a CPU, with fast softmax and gate functions.
//
// The product keeps six rows by sixteen columns in registers, or one row by 64 columns for the remaining rows. It is
// compiled for AVX-512, AVX2 and the baseline; the first call picks one. Each element is summed over the inner
// dimension in order, so the result of a row does not depend on the other rows. No threads are used, because a short
// prompt would be done before they start. Thread: any.
#pragma once

#include <cstddef>
#include <vector>

namespace warpwright::trainer {

/// A part of a row-major matrix.
struct MatrixView {
  const float *values = nullptr;
  std::size_t stride = 0; ///< floats between the starts of two rows
};

/// result (rows, columns) = left (rows, inner) * right (inner, columns).
void multiply(const MatrixView &left, const MatrixView &right, float *result,
              std::size_t result_stride, std::size_t rows, std::size_t inner, std::size_t columns);

/// values[i] = exp(values[i]), with a relative error of 2e-7; 0 below -87; inputs above 88 count as 88.
void exponentials(float *values, std::size_t count);

/// values[i] = exp(scale * values[i]) / sum over j of exp(scale * values[j]). @param scale positive
void softmax(float *values, std::size_t count, float scale);

/// result[i] = silu(gate[i]) * values[i], with silu(x) = x / (1 + exp(-x)).
void gated(const float *gate, const float *values, float *result, std::size_t count);

/// Instruction set of the products: "AVX-512", "AVX2" or "SSE2" (the baseline).
const char *vector_unit();

} // namespace warpwright::trainer
