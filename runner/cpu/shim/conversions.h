// Conversions and reinterpretations of numbers. As on the GPU, conversions to integers saturate and
// NaN gives 0.
#pragma once

template <class To, class From>
__WW_FUNCTION To __ww_bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}
__WW_FUNCTION int __float_as_int(float x) { return __ww_bits<int>(x); }
__WW_FUNCTION unsigned __float_as_uint(float x) { return __ww_bits<unsigned>(x); }
__WW_FUNCTION float __int_as_float(int x) { return __ww_bits<float>(x); }
__WW_FUNCTION float __uint_as_float(unsigned x) { return __ww_bits<float>(x); }
__WW_FUNCTION long long __double_as_longlong(double x) { return __ww_bits<long long>(x); }
__WW_FUNCTION double __longlong_as_double(long long x) { return __ww_bits<double>(x); }
__WW_FUNCTION int __double2loint(double x) { return (int)__ww_bits<long long>(x); }
__WW_FUNCTION int __double2hiint(double x) { return (int)(__ww_bits<long long>(x) >> 32); }
__WW_FUNCTION double __hiloint2double(int high, int low) {
  return __ww_bits<double>(((long long)high << 32) | (unsigned)low);
}

#define __WW_TO_INTEGER(prefix, real, suffix, integer)                                             \
  __WW_FUNCTION integer prefix##suffix##_rz(real x) { return (integer)x; }                         \
  __WW_FUNCTION integer prefix##suffix##_rn(real x) { return (integer)rint(x); }                   \
  __WW_FUNCTION integer prefix##suffix##_ru(real x) { return (integer)ceil(x); }                   \
  __WW_FUNCTION integer prefix##suffix##_rd(real x) { return (integer)floor(x); }
__WW_TO_INTEGER(__float2, float, int, int) __WW_TO_INTEGER(__float2, float, uint, unsigned)
__WW_TO_INTEGER(__float2, float, ll, long long) __WW_TO_INTEGER(__float2, float, ull, unsigned long long)
__WW_TO_INTEGER(__double2, double, int, int) __WW_TO_INTEGER(__double2, double, uint, unsigned)
__WW_TO_INTEGER(__double2, double, ll, long long)
__WW_TO_INTEGER(__double2, double, ull, unsigned long long)
#undef __WW_TO_INTEGER
__WW_FUNCTION float __int2float_rn(int x) { return (float)x; }
__WW_FUNCTION float __uint2float_rn(unsigned x) { return (float)x; }
__WW_FUNCTION float __ll2float_rn(long long x) { return (float)x; }
__WW_FUNCTION float __ull2float_rn(unsigned long long x) { return (float)x; }
__WW_FUNCTION double __int2double_rn(int x) { return x; }
__WW_FUNCTION double __uint2double_rn(unsigned x) { return x; }
__WW_FUNCTION double __ll2double_rn(long long x) { return (double)x; }
__WW_FUNCTION double __ull2double_rn(unsigned long long x) { return (double)x; }
__WW_FUNCTION float __double2float_rn(double x) { return (float)x; }

// Loads and stores with cache hints, implemented as plain loads and stores. The address alone gives
// the type of a store, as with CUDA's overloads.
template <class T> struct __WW_Stored { using type = T; };
#define __WW_LOAD(name)                                                                            \
  template <class T>                                                                               \
  __WW_FUNCTION T name(const T *address) { return *address; }
#define __WW_STORE(name)                                                                           \
  template <class T>                                                                               \
  __WW_FUNCTION void name(T *address, typename __WW_Stored<T>::type value) { *address = value; }
__WW_LOAD(__ldg) __WW_LOAD(__ldca) __WW_LOAD(__ldcg) __WW_LOAD(__ldcs) __WW_LOAD(__ldlu) __WW_LOAD(__ldcv)
__WW_STORE(__stwb) __WW_STORE(__stcg) __WW_STORE(__stcs) __WW_STORE(__stwt)
#undef __WW_LOAD
#undef __WW_STORE
