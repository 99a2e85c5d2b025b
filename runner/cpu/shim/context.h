// threadIdx, blockIdx, blockDim and gridDim: properties that read the running thread's context,
// twelve unsigned values in this order. block_loops.cpp replaces __ww_context() by the context's
// address.
#pragma once

__WW_RUNTIME const unsigned *__ww_context() __attribute__((const));

#define __WW_INDEX(name, first)                                                                    \
  struct __ww_##name {                                                                             \
    __declspec(property(get = get_x)) unsigned x;                                                  \
    __declspec(property(get = get_y)) unsigned y;                                                  \
    __declspec(property(get = get_z)) unsigned z;                                                  \
    __attribute__((always_inline)) static unsigned get_x() { return __ww_context()[first]; }       \
    __attribute__((always_inline)) static unsigned get_y() { return __ww_context()[first + 1]; }   \
    __attribute__((always_inline)) static unsigned get_z() { return __ww_context()[first + 2]; }   \
    operator uint3() const { return {get_x(), get_y(), get_z()}; }                                 \
    operator dim3() const { return {get_x(), get_y(), get_z()}; }                                  \
  };                                                                                               \
  extern const __attribute__((device)) __attribute__((weak)) __ww_##name name;

__WW_INDEX(threadIdx, 0)
__WW_INDEX(blockIdx, 3)
__WW_INDEX(blockDim, 6)
__WW_INDEX(gridDim, 9)
#undef __WW_INDEX

enum { warpSize = 32 };

__WW_FUNCTION unsigned __ww_linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__WW_FUNCTION unsigned __ww_lane() { return __ww_linear_thread() & 31u; }
