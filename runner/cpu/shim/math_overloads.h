// C++ overloads of the math functions. float stays float, and integers convert to double. min, max
// and abs have the overloads of CUDA's headers.
#pragma once

template <bool condition, class T>
struct __ww_if {};
template <class T>
struct __ww_if<true, T> {
  using type = T;
};
template <class T>
using __ww_integer_to_double = typename __ww_if<__is_integral(T), double>::type;
template <class T, class U>
inline constexpr bool __ww_mixed =
    __is_arithmetic(T) && __is_arithmetic(U) && !(__is_same(T, float) && __is_same(U, float)) &&
    !(__is_same(T, double) && __is_same(U, double));

#define __WW_OVERLOAD_1(name)                                                                      \
  __WW_FUNCTION float name(float x) { return name##f(x); }                                         \
  template <class T>                                                                               \
  __WW_FUNCTION __ww_integer_to_double<T> name(T x) { return name((double)x); }
#define __WW_OVERLOAD_2(name)                                                                      \
  __WW_FUNCTION float name(float x, float y) { return name##f(x, y); }                             \
  template <class T, class U>                                                                      \
  __WW_FUNCTION typename __ww_if<__ww_mixed<T, U>, double>::type name(T x, U y) {                  \
    return name((double)x, (double)y);                                                             \
  }
__WW_OVERLOAD_1(sin) __WW_OVERLOAD_1(cos) __WW_OVERLOAD_1(tan) __WW_OVERLOAD_1(asin)
__WW_OVERLOAD_1(acos) __WW_OVERLOAD_1(atan) __WW_OVERLOAD_1(sinh) __WW_OVERLOAD_1(cosh)
__WW_OVERLOAD_1(tanh) __WW_OVERLOAD_1(asinh) __WW_OVERLOAD_1(acosh) __WW_OVERLOAD_1(atanh)
__WW_OVERLOAD_1(exp) __WW_OVERLOAD_1(exp2) __WW_OVERLOAD_1(expm1) __WW_OVERLOAD_1(log)
__WW_OVERLOAD_1(log2) __WW_OVERLOAD_1(log10) __WW_OVERLOAD_1(log1p) __WW_OVERLOAD_1(logb)
__WW_OVERLOAD_1(sqrt) __WW_OVERLOAD_1(rsqrt) __WW_OVERLOAD_1(cbrt) __WW_OVERLOAD_1(floor)
__WW_OVERLOAD_1(ceil) __WW_OVERLOAD_1(trunc) __WW_OVERLOAD_1(round) __WW_OVERLOAD_1(rint)
__WW_OVERLOAD_1(nearbyint) __WW_OVERLOAD_1(fabs) __WW_OVERLOAD_1(erf) __WW_OVERLOAD_1(erfc)
__WW_OVERLOAD_1(tgamma) __WW_OVERLOAD_1(lgamma) __WW_OVERLOAD_1(exp10) __WW_OVERLOAD_1(rcbrt)
__WW_OVERLOAD_2(pow) __WW_OVERLOAD_2(atan2) __WW_OVERLOAD_2(fmod) __WW_OVERLOAD_2(remainder)
__WW_OVERLOAD_2(fmin) __WW_OVERLOAD_2(fmax) __WW_OVERLOAD_2(fdim) __WW_OVERLOAD_2(hypot)
__WW_OVERLOAD_2(copysign) __WW_OVERLOAD_2(nextafter)
#undef __WW_OVERLOAD_1
#undef __WW_OVERLOAD_2
__WW_FUNCTION float fma(float a, float b, float c) { return fmaf(a, b, c); }
__WW_FUNCTION float ldexp(float x, int e) { return ldexpf(x, e); }
__WW_FUNCTION float scalbn(float x, int e) { return scalbnf(x, e); }
__WW_FUNCTION float frexp(float x, int *e) { return frexpf(x, e); }
__WW_FUNCTION float modf(float x, float *i) { return modff(x, i); }
__WW_FUNCTION void sincos(float x, float *s, float *c) { sincosf(x, s, c); }

#undef isnan
#undef isinf
#undef isfinite
#undef signbit
__WW_FUNCTION bool isnan(float x) { return __builtin_isnan(x); }
__WW_FUNCTION bool isnan(double x) { return __builtin_isnan(x); }
__WW_FUNCTION bool isinf(float x) { return __builtin_isinf(x); }
__WW_FUNCTION bool isinf(double x) { return __builtin_isinf(x); }
__WW_FUNCTION bool isfinite(float x) { return __builtin_isfinite(x); }
__WW_FUNCTION bool isfinite(double x) { return __builtin_isfinite(x); }
__WW_FUNCTION bool signbit(float x) { return __builtin_signbit(x); }
__WW_FUNCTION bool signbit(double x) { return __builtin_signbit(x); }
__WW_FUNCTION int __isnanf(float x) { return __builtin_isnan(x); }
__WW_FUNCTION int __isinff(float x) { return __builtin_isinf(x); }

__WW_FUNCTION int abs(int x) { return x < 0 ? -x : x; }
__WW_FUNCTION long abs(long x) { return x < 0 ? -x : x; }
__WW_FUNCTION long long abs(long long x) { return x < 0 ? -x : x; }
__WW_FUNCTION float abs(float x) { return __builtin_fabsf(x); }
__WW_FUNCTION double abs(double x) { return __builtin_fabs(x); }
__WW_FUNCTION long labs(long x) { return abs(x); }
__WW_FUNCTION long long llabs(long long x) { return abs(x); }

#define __WW_EXTREMA(result, a_type, b_type)                                                       \
  __WW_FUNCTION constexpr result min(a_type a, b_type b) {                                         \
    return (result)a < (result)b ? (result)a : (result)b;                                          \
  }                                                                                                \
  __WW_FUNCTION constexpr result max(a_type a, b_type b) {                                         \
    return (result)a > (result)b ? (result)a : (result)b;                                          \
  }
#define __WW_EXTREMA_OF(type)                                                                      \
  __WW_EXTREMA(type, type, type)                                                                   \
  __WW_EXTREMA(unsigned type, unsigned type, unsigned type)                                        \
  __WW_EXTREMA(unsigned type, type, unsigned type)                                                 \
  __WW_EXTREMA(unsigned type, unsigned type, type)
__WW_EXTREMA_OF(int) __WW_EXTREMA_OF(long) __WW_EXTREMA_OF(long long)
#undef __WW_EXTREMA_OF
#undef __WW_EXTREMA
__WW_FUNCTION float min(float a, float b) { return __builtin_fminf(a, b); }
__WW_FUNCTION float max(float a, float b) { return __builtin_fmaxf(a, b); }
__WW_FUNCTION double min(double a, double b) { return __builtin_fmin(a, b); }
__WW_FUNCTION double max(double a, double b) { return __builtin_fmax(a, b); }
__WW_FUNCTION double min(float a, double b) { return __builtin_fmin(a, b); }
__WW_FUNCTION double max(float a, double b) { return __builtin_fmax(a, b); }
__WW_FUNCTION double min(double a, float b) { return __builtin_fmin(a, b); }
__WW_FUNCTION double max(double a, float b) { return __builtin_fmax(a, b); }
__WW_FUNCTION unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
__WW_FUNCTION unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
__WW_FUNCTION long long llmin(long long a, long long b) { return a < b ? a : b; }
__WW_FUNCTION long long llmax(long long a, long long b) { return a > b ? a : b; }

namespace std {
using ::abs, ::fabs, ::sqrt, ::exp, ::exp2, ::expm1, ::log, ::log2, ::log10, ::log1p, ::pow, ::sin,
    ::cos, ::tan, ::asin, ::acos, ::atan, ::atan2, ::sinh, ::cosh, ::tanh, ::erf, ::erfc, ::floor,
    ::ceil, ::trunc, ::round, ::rint, ::fmod, ::fma, ::fmin, ::fmax, ::hypot, ::cbrt, ::copysign,
    ::isnan, ::isinf, ::isfinite, ::signbit, ::lround, ::llround, ::tgamma, ::lgamma, ::ldexp,
    ::frexp, ::asinh, ::acosh, ::atanh, ::nearbyint, ::fdim, ::remainder;
using ::size_t, ::ptrdiff_t, ::int8_t, ::int16_t, ::int32_t, ::int64_t, ::uint8_t, ::uint16_t,
    ::uint32_t, ::uint64_t, ::intptr_t, ::uintptr_t;
} // namespace std
