// FP32 numbers as pairs of float16, and which sums of their products are as exact as FP32's.
//
// The elements of a row are scaled by a power of two that brings the largest magnitude into [2^14, 2^15), and x = high + 2^-11 low. An
// element of at least 2^-14 keeps 22 bits. A smaller one errs by at most 2^-36, which times 2^15 and with low * low, which products
// leave out, adds less than 2^-20 to a sum. So a sum of products of rows with n and m small elements is in doubt below 4 (n + m): above, they
// change it by less than 2^-22 of itself. A sum in doubt is added again in FP32 (sum_again.inc).
//
// Infinities are low parts, with high parts of 1 and their sign: high * low + low * high + high * high is then what FP32 gives. Of a row with an
// infinity the finite elements keep only their signs, for each of its sums is infinite or no number.
#ifndef WARPWRIGHT_HALF_PAIRS
#define WARPWRIGHT_HALF_PAIRS
#include <cuda_fp16.h>

namespace warpwright_split {

constexpr unsigned kInfinity = 0x7f800000u;

// The scale of a packed row. `doubt`: the magnitude below which a sum is in doubt because of this row; NaN: the row has a NaN, and so
// has every sum; far below zero: all elements are zero.
struct alignas(8) RowScale {
  int shift;
  float doubt;
};

// The shift that brings the largest magnitude of a row into [2^14, 2^15).
__device__ __forceinline__ int shift_of(unsigned largest_bits) {
  const int exponent = static_cast<int>(largest_bits >> 23);
  if (exponent == 255)
    return 0;
  const int shift = 141 - exponent;
  return shift > 125 ? 125 : shift;
}

__device__ __forceinline__ float power_of_two(int exponent) {
  return __int_as_float((exponent + 127) << 23);
}

// value * 2^exponent for |exponent| <= 252, without overflow on the way.
__device__ __forceinline__ float shifted(float value, int exponent) {
  const int half = exponent / 2;
  return value * power_of_two(half) * power_of_two(exponent - half);
}

// @param largest_bits the largest magnitude of the row, NaN above infinity, and not infinity
// @return whether it is a small element
__device__ __forceinline__ bool split(float value, unsigned largest_bits, unsigned short &high,
                                      unsigned short &low) {
  const float scaled = value * power_of_two(shift_of(largest_bits));
  const __half first = __float2half_rn(scaled);
  const __half second = __float2half_rn((scaled - __half2float(first)) * 2048.0f);
  high = __half_as_ushort(first);
  low = __half_as_ushort(second);
  return value != 0.0f && (high & 0x7fffu) < 0x0400u; // below 2^-14: not a normal float16
}

// The same of an element of any row.
__device__ __forceinline__ bool split_any(float value, unsigned largest_bits, unsigned short &high,
                                          unsigned short &low) {
  if (largest_bits != kInfinity)
    return split(value, largest_bits, high, low);
  const unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000u;
  high = static_cast<unsigned short>(value == 0.0f ? sign : sign | 0x3c00u);
  low = static_cast<unsigned short>((bits & 0x7fffffffu) == kInfinity ? sign | 0x7c00u : 0u);
  return false;
}

// @param small the row's small elements
__device__ __forceinline__ RowScale scale_of(unsigned largest_bits, int small) {
  RowScale scale;
  scale.shift = shift_of(largest_bits);
  scale.doubt = largest_bits > kInfinity ? __int_as_float(0x7fffffff)
                : largest_bits == 0      ? -1.0e38f
                                         : 4.0f * static_cast<float>(small);
  return scale;
}

// The value of a sum of products of scaled rows; NaN where a row has one.
// @return whether it is in doubt
__device__ __forceinline__ bool value_of(float sum, int shifts, float doubt, float &value) {
  value = doubt != doubt ? doubt : shifted(sum, -shifts);
  return doubt == doubt && !(fabsf(sum) >= doubt);
}

} // namespace warpwright_split
#endif
