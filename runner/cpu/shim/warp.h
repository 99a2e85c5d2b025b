// Barriers and warp operations. check_lowering.cpp finds the barriers by name and numbers their
// call sites. All warp operations call the scheduler through __ww_warp(), with the operation
// numbers of warp_operations.h.
#pragma once

__WW_RUNTIME void __syncthreads();
__WW_RUNTIME int __syncthreads_count(int predicate);
__WW_RUNTIME int __syncthreads_and(int predicate);
__WW_RUNTIME int __syncthreads_or(int predicate);
__WW_RUNTIME unsigned long long __ww_warp(int operation, unsigned mask, unsigned long long value,
                                          int argument, int width);

template <class T>
__WW_FUNCTION T __ww_shuffle(int operation, unsigned mask, T value, int argument, int width) {
  static_assert(sizeof(T) <= 8);
  unsigned long long raw = 0;
  __builtin_memcpy(&raw, &value, sizeof(T));
  raw = __ww_warp(operation, mask, raw, argument, width);
  __builtin_memcpy(&value, &raw, sizeof(T));
  return value;
}
#define __WW_SHUFFLES(type)                                                                        \
  __WW_FUNCTION type __shfl_sync(unsigned mask, type value, int lane, int width = 32) {            \
    return __ww_shuffle(0, mask, value, lane, width);                                              \
  }                                                                                                \
  __WW_FUNCTION type __shfl_up_sync(unsigned mask, type value, unsigned delta, int width = 32) {   \
    return __ww_shuffle(1, mask, value, (int)delta, width);                                        \
  }                                                                                                \
  __WW_FUNCTION type __shfl_down_sync(unsigned mask, type value, unsigned delta, int width = 32) { \
    return __ww_shuffle(2, mask, value, (int)delta, width);                                        \
  }                                                                                                \
  __WW_FUNCTION type __shfl_xor_sync(unsigned mask, type value, int lane_mask, int width = 32) {   \
    return __ww_shuffle(3, mask, value, lane_mask, width);                                         \
  }
__WW_SHUFFLES(int) __WW_SHUFFLES(unsigned) __WW_SHUFFLES(long) __WW_SHUFFLES(unsigned long)
__WW_SHUFFLES(long long) __WW_SHUFFLES(unsigned long long) __WW_SHUFFLES(float) __WW_SHUFFLES(double)

__WW_FUNCTION unsigned __ballot_sync(unsigned mask, int predicate) {
  return (unsigned)__ww_warp(4, mask, predicate != 0, 0, 32);
}
__WW_FUNCTION int __any_sync(unsigned mask, int predicate) {
  return (int)__ww_warp(5, mask, predicate != 0, 0, 32);
}
__WW_FUNCTION int __all_sync(unsigned mask, int predicate) {
  return (int)__ww_warp(6, mask, predicate != 0, 0, 32);
}
__WW_FUNCTION void __syncwarp(unsigned mask = 0xffffffffu) { __ww_warp(7, mask, 0, 0, 32); }
__WW_FUNCTION unsigned __activemask() { return (unsigned)__ww_warp(8, 0xffffffffu, 0, 0, 32); }
template <class T>
__WW_FUNCTION unsigned __match_any_sync(unsigned mask, T value) {
  unsigned long long raw = 0;
  __builtin_memcpy(&raw, &value, sizeof(T));
  return (unsigned)__ww_warp(9, mask, raw, 0, 32);
}
template <class T>
__WW_FUNCTION unsigned __match_all_sync(unsigned mask, T value, int *predicate) {
  unsigned long long raw = 0;
  __builtin_memcpy(&raw, &value, sizeof(T));
  unsigned matched = (unsigned)__ww_warp(10, mask, raw, 0, 32);
  *predicate = matched != 0;
  return matched;
}
__WW_FUNCTION unsigned __reduce_add_sync(unsigned mask, unsigned v) { return (unsigned)__ww_warp(11, mask, v, 0, 32); }
__WW_FUNCTION int __reduce_add_sync(unsigned mask, int v) { return (int)__ww_warp(11, mask, (unsigned)v, 0, 32); }
__WW_FUNCTION unsigned __reduce_min_sync(unsigned mask, unsigned v) { return (unsigned)__ww_warp(12, mask, v, 0, 32); }
__WW_FUNCTION unsigned __reduce_max_sync(unsigned mask, unsigned v) { return (unsigned)__ww_warp(13, mask, v, 0, 32); }
__WW_FUNCTION int __reduce_min_sync(unsigned mask, int v) { return (int)__ww_warp(14, mask, (unsigned)v, 0, 32); }
__WW_FUNCTION int __reduce_max_sync(unsigned mask, int v) { return (int)__ww_warp(15, mask, (unsigned)v, 0, 32); }
__WW_FUNCTION unsigned __reduce_and_sync(unsigned mask, unsigned v) { return (unsigned)__ww_warp(16, mask, v, 0, 32); }
__WW_FUNCTION unsigned __reduce_or_sync(unsigned mask, unsigned v) { return (unsigned)__ww_warp(17, mask, v, 0, 32); }
__WW_FUNCTION unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return (unsigned)__ww_warp(18, mask, v, 0, 32); }
