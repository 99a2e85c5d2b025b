// Maxima of elements of global memory that other threads raise as well (families/scatter). Numbers
// lie there as unsigned integers in the same order, which GPUs compare atomically. 0 means that
// there is no number yet. NaN is the largest, as in PyTorch.
#ifndef WARPWRIGHT_SCATTER_EXTREMES
#define WARPWRIGHT_SCATTER_EXTREMES

namespace warpwright_scatter {

__device__ __forceinline__ unsigned key_of(float value) {
  const unsigned bits = __float_as_uint(value);
  return value != value ? ~0u : bits >> 31 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ unsigned long long key_of(double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return value != value ? ~0ull : bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ __forceinline__ float value_of(unsigned key) {
  return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);
}
__device__ __forceinline__ double value_of(unsigned long long key) {
  return __longlong_as_double(static_cast<long long>(key >> 63 ? key & ~(1ull << 63) : ~key));
}

// Most elements are larger already, which a plain load shows; an old value only costs an operation more.
template <typename Key> __device__ __forceinline__ void raise(Key *to, Key key) {
  if (key > *to)
    atomicMax(to, key);
}

} // namespace warpwright_scatter

#endif
