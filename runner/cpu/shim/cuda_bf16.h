// __nv_bfloat16 and __nv_bfloat162: arithmetic in float, rounded to nearest even after each
// operation.
// __hfma rounds twice (float, then bfloat16), which can differ from the GPU in the last bit.
#pragma once
#pragma clang force_cuda_host_device begin

struct __nv_bfloat16_raw { unsigned short x; };
struct alignas(2) __nv_bfloat16 {
  unsigned short __x;
  static constexpr unsigned short __ww_round(float value) {
    unsigned bits = __builtin_bit_cast(unsigned, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
      return 0x7fff;
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(float x) : __x(__ww_round(x)) {}
  constexpr __nv_bfloat16(double x) : __x(__ww_round((float)x)) {}
  constexpr __nv_bfloat16(int x) : __x(__ww_round((float)x)) {}
  constexpr __nv_bfloat16(unsigned x) : __x(__ww_round((float)x)) {}
  constexpr __nv_bfloat16(long long x) : __x(__ww_round((float)x)) {}
  constexpr operator float() const { return __builtin_bit_cast(float, (unsigned)__x << 16); }
  explicit constexpr operator bool() const { return (__x & 0x7fff) != 0; }
  explicit constexpr operator int() const { return (int)(float)*this; }
  explicit constexpr operator unsigned() const { return (unsigned)(float)*this; }
  explicit constexpr operator long long() const { return (long long)(float)*this; }
  explicit constexpr operator unsigned long long() const { return (unsigned long long)(float)*this; }
};
typedef __nv_bfloat16 nv_bfloat16;
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  constexpr __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;

#define __WW_H __nv_bfloat16
#define __WW_H2 __nv_bfloat162
#include "half_functions.h"
#undef __WW_H
#undef __WW_H2

__WW_FUNCTION float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
__WW_FUNCTION __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
__WW_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
__WW_FUNCTION __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
__WW_FUNCTION __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
__WW_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
__WW_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  __nv_bfloat16 result;
  result.__x = x;
  return result;
}
__WW_FUNCTION __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
__WW_FUNCTION __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {__nv_bfloat16(a), __nv_bfloat16(b)};
}
__WW_FUNCTION __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
__WW_FUNCTION __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
__WW_FUNCTION float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
__WW_FUNCTION __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
__WW_FUNCTION __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
__WW_FUNCTION __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
__WW_FUNCTION __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
__WW_FUNCTION __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
__WW_FUNCTION __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
#pragma clang force_cuda_host_device end
