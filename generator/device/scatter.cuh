// Additions to neighbouring elements of global memory that other threads add to as well (families/scatter).
#ifndef WARPWRIGHT_SCATTER
#define WARPWRIGHT_SCATTER

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace warpwright_scatter {

template <typename T> __device__ __forceinline__ void add_one(T *to, T value) { atomicAdd(to, value); }
__device__ __forceinline__ void add_one(long long *to, long long value) {
  atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(value));
}

// Adds kCount elements; `to` lies at a multiple of their bytes.
template <typename T, int kCount> __device__ __forceinline__ void add(T *to, const T (&values)[kCount]) {
  for (int i = 0; i < kCount; ++i)
    add_one(to + i, values[i]);
}

// Halves in pairs, for which GPUs have additions.
template <typename Pair, typename T, int kCount> __device__ __forceinline__ void add_pairs(T *to, const T (&values)[kCount]) {
  if constexpr (kCount == 1) {
    add_one(to, values[0]);
  } else {
    for (int i = 0; i < kCount; i += 2) {
      Pair pair;
      pair.x = values[i];
      pair.y = values[i + 1];
      atomicAdd(reinterpret_cast<Pair *>(to + i), pair);
    }
  }
}
template <int kCount> __device__ __forceinline__ void add(__half *to, const __half (&values)[kCount]) {
  add_pairs<__half2>(to, values);
}
template <int kCount> __device__ __forceinline__ void add(__nv_bfloat16 *to, const __nv_bfloat16 (&values)[kCount]) {
  add_pairs<__nv_bfloat162>(to, values);
}

} // namespace warpwright_scatter

#endif
