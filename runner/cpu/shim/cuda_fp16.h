// __half and __half2: arithmetic in float, rounded to half after each operation, as on the GPU.
// __hfma rounds twice (float, then half), which can differ from the GPU in the last bit.
#pragma once
#pragma clang force_cuda_host_device begin

struct __half_raw { unsigned short x; };
struct alignas(2) __half {
  _Float16 __x;
  __half() = default;
  constexpr __half(_Float16 x) : __x(x) {}
  constexpr __half(float x) : __x((_Float16)x) {}
  constexpr __half(double x) : __x((_Float16)x) {}
  constexpr __half(int x) : __x((_Float16)(float)x) {}
  constexpr __half(unsigned x) : __x((_Float16)(float)x) {}
  constexpr __half(long long x) : __x((_Float16)(float)x) {}
  constexpr __half(short x) : __x((_Float16)(float)x) {}
  constexpr operator float() const { return (float)__x; }
  explicit constexpr operator bool() const { return __x != (_Float16)0.0f; }
  explicit constexpr operator int() const { return (int)(float)__x; }
  explicit constexpr operator unsigned() const { return (unsigned)(float)__x; }
  explicit constexpr operator long long() const { return (long long)(float)__x; }
  explicit constexpr operator unsigned long long() const { return (unsigned long long)(float)__x; }
};
typedef __half half;
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;

#define __WW_H __half
#define __WW_H2 __half2
#include "half_functions.h"
#undef __WW_H
#undef __WW_H2

__WW_FUNCTION float __half2float(__half x) { return (float)x; }
__WW_FUNCTION __half __float2half(float x) { return __half(x); }
__WW_FUNCTION __half __float2half_rn(float x) { return __half(x); }
__WW_FUNCTION __half __double2half(double x) { return __half(x); }
__WW_FUNCTION __half __int2half_rn(int x) { return __half(x); }
__WW_FUNCTION __half __uint2half_rn(unsigned x) { return __half(x); }
__WW_FUNCTION int __half2int_rn(__half x) { return (int)rint((float)x); }
__WW_FUNCTION int __half2int_rz(__half x) { return (int)(float)x; }
__WW_FUNCTION unsigned short __half_as_ushort(__half x) { return __ww_bits<unsigned short>(x.__x); }
__WW_FUNCTION short __half_as_short(__half x) { return __ww_bits<short>(x.__x); }
__WW_FUNCTION __half __ushort_as_half(unsigned short x) { return __half(__ww_bits<_Float16>(x)); }
__WW_FUNCTION __half __short_as_half(short x) { return __half(__ww_bits<_Float16>(x)); }
__WW_FUNCTION __half2 make_half2(__half a, __half b) { return __half2(a, b); }
__WW_FUNCTION __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
__WW_FUNCTION __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
__WW_FUNCTION __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
__WW_FUNCTION float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
__WW_FUNCTION __half2 __half2half2(__half a) { return __half2(a, a); }
__WW_FUNCTION __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
__WW_FUNCTION __half __low2half(__half2 a) { return a.x; }
__WW_FUNCTION __half __high2half(__half2 a) { return a.y; }
__WW_FUNCTION __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
__WW_FUNCTION __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFu)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00u)
#pragma clang force_cuda_host_device end
