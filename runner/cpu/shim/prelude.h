// Prelude of every kernel source on the CPU backend: the CUDA language as plain x86 device code.
//
// Clang runs with -fcuda-is-device for an x86 triple, so `__global__` becomes a plain device
// function. lowering.cpp resolves the thread context, the barriers and dynamic shared memory, which
// the shim only declares. Features that cannot run on a CPU are declared `unavailable` with a text
// that diagnostics.cpp turns into the outcome Unsupported. The backend's own names begin with
// __ww_.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH__ 900
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define WARPWRIGHT_CPU 1 // for sources with other code for this backend

#define __global__ __attribute__((device))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)                                                                      \
  __attribute__((unavailable("warpwright-unsupported: thread block clusters")))
#define __block_size__(...)
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __nv_pure__ __attribute__((pure))

#define __WW_UNSUPPORTED(reason) __attribute__((unavailable("warpwright-unsupported: " reason)))
#define __WW_FUNCTION static inline __attribute__((always_inline, unused))
#define __WW_RUNTIME extern "C" __attribute__((device))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
// Same types as in NVRTC's headers and in source slices of files that include <cstdint>.
typedef long long int64_t, intptr_t;
typedef unsigned long long uint64_t, uintptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef struct CUstream_st *cudaStream_t;
typedef int cudaError_t;

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()
#define NULL 0

#pragma clang force_cuda_host_device begin
#include "vectors.h"
#include "context.h"
#include "math_functions.h"
#include "math_overloads.h"
#include "integers.h"
#include "conversions.h"
#include "atomics.h"
#include "warp.h"
#include "miscellany.h"
#include "entries.h"
#pragma clang force_cuda_host_device end
