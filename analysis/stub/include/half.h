// Built-in stand-ins of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h.
#pragma once
#define WW_SMALL_FLOAT(name) \
  struct alignas(2) name { \
    unsigned short x; \
    name() = default; \
    WW_HD name(float); WW_HD name(double); WW_HD name(int); WW_HD name(unsigned); WW_HD name(long); WW_HD name(unsigned long); \
    WW_HD operator float() const; \
    WW_HD explicit operator bool() const; \
    WW_HD name &operator+=(name); WW_HD name &operator-=(name); WW_HD name &operator*=(name); WW_HD name &operator/=(name); \
    WW_HD name &operator++(); \
  }; \
  struct alignas(4) name##2 { \
    name x, y; \
    name##2() = default; \
    WW_HD name##2(name, name); \
    WW_HD name##2 &operator+=(name##2); WW_HD name##2 &operator-=(name##2); WW_HD name##2 &operator*=(name##2); \
  }; \
  WW_HD name operator+(name, name); WW_HD name operator-(name, name); WW_HD name operator*(name, name); WW_HD name operator/(name, name); \
  WW_HD name operator-(name); WW_HD bool operator<(name, name); WW_HD bool operator>(name, name); WW_HD bool operator<=(name, name); \
  WW_HD bool operator>=(name, name); WW_HD bool operator==(name, name); WW_HD bool operator!=(name, name); \
  WW_HD name##2 operator+(name##2, name##2); WW_HD name##2 operator-(name##2, name##2); WW_HD name##2 operator*(name##2, name##2); \
  WW_HD name##2 operator/(name##2, name##2); WW_HD name##2 operator-(name##2); \
  WW_HD name __hadd(name, name); WW_HD name __hsub(name, name); WW_HD name __hmul(name, name); WW_HD name __hdiv(name, name); \
  WW_HD name __hfma(name, name, name); WW_HD name __hneg(name); WW_HD name __habs(name); WW_HD name __hmax(name, name); WW_HD name __hmin(name, name); \
  WW_HD bool __hlt(name, name); WW_HD bool __hgt(name, name); WW_HD bool __hle(name, name); WW_HD bool __hge(name, name); WW_HD bool __heq(name, name); \
  WW_HD bool __hisnan(name); WW_HD int __hisinf(name); \
  WW_HD name##2 __hadd2(name##2, name##2); WW_HD name##2 __hsub2(name##2, name##2); WW_HD name##2 __hmul2(name##2, name##2); \
  WW_HD name##2 __h2div(name##2, name##2); WW_HD name##2 __hfma2(name##2, name##2, name##2); WW_HD name##2 __hmax2(name##2, name##2); \
  WW_HD name##2 __hmin2(name##2, name##2); WW_HD name##2 __hneg2(name##2); WW_HD name##2 __habs2(name##2); \
  WW_D name hexp(name); WW_D name hlog(name); WW_D name hsqrt(name); WW_D name hrsqrt(name); WW_D name hrcp(name); WW_D name hsin(name); \
  WW_D name hcos(name); WW_D name htanh(name); WW_D name hfloor(name); WW_D name hceil(name); WW_D name hexp2(name); WW_D name hlog2(name); \
  WW_D name##2 h2exp(name##2); WW_D name##2 h2sqrt(name##2); WW_D name##2 h2rsqrt(name##2); WW_D name##2 h2rcp(name##2); WW_D name##2 h2tanh(name##2); \
  WW_D name##2 h2exp2(name##2); WW_D name##2 h2log(name##2);
WW_SMALL_FLOAT(__half)
WW_SMALL_FLOAT(__nv_bfloat16)
#undef WW_SMALL_FLOAT
typedef __half half, __nv_half, nv_half;
typedef __half2 half2, nv_half2;
typedef __nv_bfloat16 nv_bfloat16, __bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
struct __half_raw { unsigned short x; };
WW_HD __half __float2half(float); WW_HD __half __float2half_rn(float); WW_HD __half __float2half_rz(float); WW_HD __half __double2half(double);
WW_HD float __half2float(__half); WW_HD __half2 __half2half2(__half); WW_HD __half2 __float2half2_rn(float);
WW_HD __half2 __floats2half2_rn(float, float); WW_HD __half2 __float22half2_rn(float2); WW_HD float2 __half22float2(__half2);
WW_HD __half2 __halves2half2(__half, __half); WW_HD __half2 make_half2(__half, __half); WW_HD __half __low2half(__half2); WW_HD __half __high2half(__half2);
WW_HD float __low2float(__half2); WW_HD float __high2float(__half2); WW_HD __half2 __lows2half2(__half2, __half2); WW_HD __half2 __highs2half2(__half2, __half2);
WW_HD __half __int2half_rn(int); WW_HD int __half2int_rn(__half); WW_HD int __half2int_rz(__half); WW_HD __half __short_as_half(short); WW_HD __half __ushort_as_half(unsigned short);
WW_HD short __half_as_short(__half); WW_HD unsigned short __half_as_ushort(__half); WW_HD __half2 __low2half2(__half2); WW_HD __half2 __high2half2(__half2);
WW_HD __nv_bfloat16 __float2bfloat16(float); WW_HD __nv_bfloat16 __float2bfloat16_rn(float); WW_HD __nv_bfloat16 __double2bfloat16(double);
WW_HD float __bfloat162float(__nv_bfloat16); WW_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16); WW_HD __nv_bfloat162 __float2bfloat162_rn(float);
WW_HD __nv_bfloat162 __floats2bfloat162_rn(float, float); WW_HD __nv_bfloat162 __float22bfloat162_rn(float2); WW_HD float2 __bfloat1622float2(__nv_bfloat162);
WW_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16); WW_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
WW_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162); WW_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162); WW_HD float __low2float(__nv_bfloat162); WW_HD float __high2float(__nv_bfloat162);
WW_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short); WW_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16);
struct __nv_fp8_e4m3 { unsigned char __x; __nv_fp8_e4m3() = default; WW_HD __nv_fp8_e4m3(float); WW_HD explicit operator float() const; };
struct __nv_fp8_e5m2 { unsigned char __x; __nv_fp8_e5m2() = default; WW_HD __nv_fp8_e5m2(float); WW_HD explicit operator float() const; };
