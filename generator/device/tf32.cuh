// Rounding of FP32 numbers to the parts that TF32 tensor cores multiply.
#ifndef WARPWRIGHT_TF32_PARTS
#define WARPWRIGHT_TF32_PARTS

namespace warpwright_convolution {

__device__ __forceinline__ float round_tf32(float value) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return __uint_as_float(rounded);
}

// First of a number's two TF32 parts; the other is round_tf32 of the rest. An infinity gives 1 with
// its sign, so that the rest is the infinity: high * high + high * low + low * high is then what
// FP32 gives, where parts of infinity and infinity minus infinity give no number. A number that
// would round to infinity is cut off.
__device__ __forceinline__ float high_tf32(float value) {
  const float high = round_tf32(value);
  const unsigned bits = __float_as_uint(value), infinity = 0x7f800000u;
  if ((__float_as_uint(high) & 0x7fffffffu) != infinity)
    return high;
  return __uint_as_float(bits & ((bits & 0x7fffffffu) == infinity ? 0xbf800000u : 0xffffe000u));
}

} // namespace warpwright_convolution
#endif
