// CPU kernels: each body is written once and inlined into one function per instruction set.
#include "trainer/inference/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#define WARPWRIGHT_INLINE [[gnu::always_inline]] inline

namespace warpwright::trainer {
namespace {

constexpr std::size_t kLanes = 16, kRows = 6, kWide = 4;

using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

struct Product {
  MatrixView left, right;
  float *result;
  std::size_t result_stride, rows, inner, columns;
};

/// Computes a tile of Rows by Blocks * kLanes elements that starts at (row, column).
template <std::size_t Rows, std::size_t Blocks>
WARPWRIGHT_INLINE void tile(const Product &product, std::size_t row, std::size_t column) {
  Lanes sums[Rows][Blocks] = {};
  for (std::size_t k = 0; k < product.inner; ++k) {
    const float *right = product.right.values + k * product.right.stride + column;
    Lanes values[Blocks];
    for (std::size_t b = 0; b < Blocks; ++b)
      std::memcpy(&values[b], right + b * kLanes, sizeof(Lanes));
    for (std::size_t r = 0; r < Rows; ++r) {
      const float factor = product.left.values[(row + r) * product.left.stride + k];
      for (std::size_t b = 0; b < Blocks; ++b)
        sums[r][b] += values[b] * factor;
    }
  }
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t b = 0; b < Blocks; ++b)
      std::memcpy(product.result + (row + r) * product.result_stride + column + b * kLanes,
                  &sums[r][b], sizeof(Lanes));
}

/// Computes the columns of a row that are too few to fill the lanes.
WARPWRIGHT_INLINE void rest(const Product &product, std::size_t row, std::size_t from) {
  for (std::size_t column = from; column < product.columns; ++column) {
    float sum = 0;
    for (std::size_t k = 0; k < product.inner; ++k)
      sum = std::fma(product.left.values[row * product.left.stride + k],
                     product.right.values[k * product.right.stride + column], sum);
    product.result[row * product.result_stride + column] = sum;
  }
}

WARPWRIGHT_INLINE void multiply_body(const Product &product) {
  const std::size_t whole = product.columns / kLanes * kLanes;
  std::size_t row = 0;
  for (; row + kRows <= product.rows; row += kRows)
    for (std::size_t column = 0; column < whole; column += kLanes)
      tile<kRows, 1>(product, row, column);
  for (; row < product.rows; ++row) {
    std::size_t column = 0;
    for (; column + kWide * kLanes <= whole; column += kWide * kLanes)
      tile<1, kWide>(product, row, column);
    for (; column < whole; column += kLanes)
      tile<1, 1>(product, row, column);
  }
  for (row = 0; row < product.rows && whole < product.columns; ++row)
    rest(product, row, whole);
}

/// exp(x) = 2^n exp(r) with |r| <= ln(2) / 2; the polynomial is from expf of Cephes (Moshier).
WARPWRIGHT_INLINE float exponential(float x) {
  const float bounded = std::min(std::max(x, -87.0f), 88.0f);
  const float n = std::floor(bounded * 1.44269504088896341f + 0.5f);
  const float r = bounded - n * 0.693359375f + n * 2.12194440e-4f;
  float sum = 1.9875691500e-4f;
  sum = sum * r + 1.3981999507e-3f;
  sum = sum * r + 8.3334519073e-3f;
  sum = sum * r + 4.1665795894e-2f;
  sum = sum * r + 1.6666665459e-1f;
  sum = sum * r + 5.0000001201e-1f;
  sum = sum * r * r + r + 1;
  const float power = std::bit_cast<float>((std::int32_t(n) + 127) << 23);
  return x < -87.0f ? 0.0f : sum * power;
}

WARPWRIGHT_INLINE void exponentials_body(float *values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] = exponential(values[i]);
}

WARPWRIGHT_INLINE void softmax_body(float *values, std::size_t count, float scale) {
  // Sixteen separate maxima and sums vectorize; the compiler may not reorder a single sum.
  float largest[kLanes], sums[kLanes] = {};
  std::fill_n(largest, kLanes, values[0]);
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      largest[lane] = std::max(largest[lane], values[i + lane]);
  for (std::size_t i = whole; i < count; ++i)
    largest[0] = std::max(largest[0], values[i]);
  const float top = *std::max_element(largest, largest + kLanes);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = exponential((values[i] - top) * scale);
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += values[i + lane];
  for (std::size_t i = whole; i < count; ++i)
    sums[0] += values[i];
  float sum = 0;
  for (const float part : sums)
    sum += part;
  const float share = 1 / sum;
  for (std::size_t i = 0; i < count; ++i)
    values[i] *= share;
}

WARPWRIGHT_INLINE void gated_body(const float *gate, const float *values, float *result,
                                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    result[i] = gate[i] / (1 + exponential(-gate[i])) * values[i];
}

struct Functions {
  const char *name;
  void (*multiply)(const Product &);
  void (*exponentials)(float *, std::size_t);
  void (*softmax)(float *, std::size_t, float);
  void (*gated)(const float *, const float *, float *, std::size_t);
};

#define WARPWRIGHT_FUNCTIONS(suffix, attribute)                                                    \
  attribute void multiply_##suffix(const Product &product) { multiply_body(product); }             \
  attribute void exponentials_##suffix(float *values, std::size_t count) {                         \
    exponentials_body(values, count);                                                              \
  }                                                                                                \
  attribute void softmax_##suffix(float *values, std::size_t count, float scale) {                 \
    softmax_body(values, count, scale);                                                            \
  }                                                                                                \
  attribute void gated_##suffix(const float *gate, const float *values, float *result,             \
                                std::size_t count) {                                               \
    gated_body(gate, values, result, count);                                                       \
  }

WARPWRIGHT_FUNCTIONS(plain, )
#ifdef __x86_64__
WARPWRIGHT_FUNCTIONS(avx2, [[gnu::target("avx2,fma")]])
WARPWRIGHT_FUNCTIONS(avx512, [[gnu::target("avx512f,avx512dq,avx512vl,avx2,fma")]])
#endif

Functions choose() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return {"AVX-512", multiply_avx512, exponentials_avx512, softmax_avx512, gated_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"AVX2", multiply_avx2, exponentials_avx2, softmax_avx2, gated_avx2};
#endif
  return {"SSE2", multiply_plain, exponentials_plain, softmax_plain, gated_plain};
}

const Functions &functions() {
  static const Functions kChosen = choose();
  return kChosen;
}

} // namespace

void multiply(const MatrixView &left, const MatrixView &right, float *result,
              std::size_t result_stride, std::size_t rows, std::size_t inner, std::size_t columns) {
  functions().multiply({left, right, result, result_stride, rows, inner, columns});
}

void exponentials(float *values, std::size_t count) { functions().exponentials(values, count); }

void softmax(float *values, std::size_t count, float scale) {
  functions().softmax(values, count, scale);
}

void gated(const float *gate, const float *values, float *result, std::size_t count) {
  functions().gated(gate, values, result, count);
}

const char *vector_unit() { return functions().name; }

} // namespace warpwright::trainer
