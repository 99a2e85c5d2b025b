// Additions of vectors in global memory (families/scatter): one request to the L2 cache, which adds.
#ifndef WARPWRIGHT_SCATTER_VECTORS
#define WARPWRIGHT_SCATTER_VECTORS

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace warpwright_scatter {

// As add() of scatter.cuh.
__device__ __forceinline__ void add_vector(float *to, const float (&values)[2]) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "f"(values[0]), "f"(values[1])
               : "memory");
}
__device__ __forceinline__ void add_vector(float *to, const float (&values)[4]) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "f"(values[0]),
               "f"(values[1]), "f"(values[2]), "f"(values[3])
               : "memory");
}


// Pairs of 16-bit numbers as they lie in memory.
template <typename T> __device__ __forceinline__ unsigned pair_of(const T *values) {
  const auto *bits = reinterpret_cast<const unsigned short *>(values);
  return bits[0] | static_cast<unsigned>(bits[1]) << 16;
}
#define WARPWRIGHT_ADD_HALVES(T, TYPE)                                                                                   \
  __device__ __forceinline__ void add_vector(T *to, const T(&values)[4]) {                                               \
    asm volatile("red.global.add.noftz.v2." TYPE "x2 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),               \
                 "r"(pair_of(values)), "r"(pair_of(values + 2))                                                          \
                 : "memory");                                                                                            \
  }                                                                                                                      \
  __device__ __forceinline__ void add_vector(T *to, const T(&values)[8]) {                                               \
    asm volatile("red.global.add.noftz.v4." TYPE "x2 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),       \
                 "r"(pair_of(values)), "r"(pair_of(values + 2)), "r"(pair_of(values + 4)), "r"(pair_of(values + 6))      \
                 : "memory");                                                                                            \
  }
WARPWRIGHT_ADD_HALVES(__half, "f16")
WARPWRIGHT_ADD_HALVES(__nv_bfloat16, "bf16")
#undef WARPWRIGHT_ADD_HALVES

} // namespace warpwright_scatter

#endif
