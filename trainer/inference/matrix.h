// Products of small float matrices for inference on a CPU, and the two functions whose plain loops would cost more than them.
//
// One kernel of six rows by sixteen columns in registers, compiled for AVX-512, for AVX2 and for any x86-64; which one runs is
// decided when the program starts. Every element is summed over the inner dimension in order, so a row comes out the same
// whatever rows are computed with it. It leaves out threads: one short prompt is over before they have started. Thread: any.
#pragma once

#include <cstddef>
#include <vector>

namespace warpwright::trainer {

/// A part of a row-major matrix.
struct MatrixView {
  const float *values = nullptr;
  std::size_t stride = 0; ///< floats from a row to the next
};

/// result (rows, columns) = left (rows, inner) * right (inner, columns).
void multiply(const MatrixView &left, const MatrixView &right, float *result,
              std::size_t result_stride, std::size_t rows, std::size_t inner, std::size_t columns);

/// values[i] = exp(values[i]), to 2e-7 of it; 0 below -87.
void exponentials(float *values, std::size_t count);

/// values[i] = exp(scale * values[i]) / the sum of these.
void softmax(float *values, std::size_t count, float scale);

/// result[i] = silu(gate[i]) * values[i], with silu(x) = x / (1 + exp(-x)).
void gated(const float *gate, const float *values, float *result, std::size_t count);

/// "AVX-512", "AVX2" or "SSE2": what the products run on.
const char *vector_unit();

} // namespace warpwright::trainer
