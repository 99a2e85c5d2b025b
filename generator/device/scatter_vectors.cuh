// Additions of vectors of floats in global memory (families/scatter): one request to the L2 cache, which adds.
#ifndef WARPWRIGHT_SCATTER_VECTORS
#define WARPWRIGHT_SCATTER_VECTORS

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

} // namespace warpwright_scatter

#endif
