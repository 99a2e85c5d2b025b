// CUDA's math functions: C's names for float and double, names that only CUDA has, and the fast
// intrinsics, which have full accuracy here. Clang turns the builtins into vector code or libm
// calls.
#pragma once

#define __WW_MATH_1(name)                                                                          \
  __WW_FUNCTION double name(double x) { return __builtin_##name(x); }                              \
  __WW_FUNCTION float name##f(float x) { return __builtin_##name##f(x); }
#define __WW_MATH_2(name)                                                                          \
  __WW_FUNCTION double name(double x, double y) { return __builtin_##name(x, y); }                 \
  __WW_FUNCTION float name##f(float x, float y) { return __builtin_##name##f(x, y); }
__WW_MATH_1(sin) __WW_MATH_1(cos) __WW_MATH_1(tan) __WW_MATH_1(asin) __WW_MATH_1(acos)
__WW_MATH_1(atan) __WW_MATH_1(sinh) __WW_MATH_1(cosh) __WW_MATH_1(tanh) __WW_MATH_1(asinh)
__WW_MATH_1(acosh) __WW_MATH_1(atanh) __WW_MATH_1(exp) __WW_MATH_1(exp2) __WW_MATH_1(exp10)
__WW_MATH_1(expm1) __WW_MATH_1(log) __WW_MATH_1(log2) __WW_MATH_1(log10) __WW_MATH_1(log1p)
__WW_MATH_1(logb) __WW_MATH_1(sqrt) __WW_MATH_1(cbrt) __WW_MATH_1(floor) __WW_MATH_1(ceil)
__WW_MATH_1(trunc) __WW_MATH_1(round) __WW_MATH_1(rint) __WW_MATH_1(nearbyint) __WW_MATH_1(fabs)
__WW_MATH_1(erf) __WW_MATH_1(erfc) __WW_MATH_1(tgamma) __WW_MATH_1(lgamma)
__WW_MATH_2(pow) __WW_MATH_2(atan2) __WW_MATH_2(fmod) __WW_MATH_2(remainder) __WW_MATH_2(fmin)
__WW_MATH_2(fmax) __WW_MATH_2(fdim) __WW_MATH_2(hypot) __WW_MATH_2(copysign) __WW_MATH_2(nextafter)
#undef __WW_MATH_1
#undef __WW_MATH_2

__WW_FUNCTION double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
__WW_FUNCTION float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__WW_FUNCTION double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
__WW_FUNCTION float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
__WW_FUNCTION double scalbn(double x, int e) { return __builtin_scalbn(x, e); }
__WW_FUNCTION float scalbnf(float x, int e) { return __builtin_scalbnf(x, e); }
__WW_FUNCTION double frexp(double x, int *e) { return __builtin_frexp(x, e); }
__WW_FUNCTION float frexpf(float x, int *e) { return __builtin_frexpf(x, e); }
__WW_FUNCTION double modf(double x, double *i) { return __builtin_modf(x, i); }
__WW_FUNCTION float modff(float x, float *i) { return __builtin_modff(x, i); }
__WW_FUNCTION int ilogb(double x) { return __builtin_ilogb(x); }
__WW_FUNCTION int ilogbf(float x) { return __builtin_ilogbf(x); }
__WW_FUNCTION long lround(double x) { return __builtin_lround(x); }
__WW_FUNCTION long lroundf(float x) { return __builtin_lroundf(x); }
__WW_FUNCTION long long llround(double x) { return __builtin_llround(x); }
__WW_FUNCTION long long llroundf(float x) { return __builtin_llroundf(x); }
__WW_FUNCTION long lrint(double x) { return __builtin_lrint(x); }
__WW_FUNCTION long lrintf(float x) { return __builtin_lrintf(x); }
__WW_FUNCTION long long llrint(double x) { return __builtin_llrint(x); }
__WW_FUNCTION long long llrintf(float x) { return __builtin_llrintf(x); }

__WW_FUNCTION double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
__WW_FUNCTION float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
__WW_FUNCTION double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
__WW_FUNCTION float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
__WW_FUNCTION double rhypot(double x, double y) { return 1.0 / __builtin_hypot(x, y); }
__WW_FUNCTION float rhypotf(float x, float y) { return 1.0f / __builtin_hypotf(x, y); }
__WW_FUNCTION double norm3d(double a, double b, double c) {
  return __builtin_sqrt(a * a + b * b + c * c);
}
__WW_FUNCTION float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
__WW_FUNCTION double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
__WW_FUNCTION float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
__WW_FUNCTION double norm4d(double a, double b, double c, double d) {
  return __builtin_sqrt(a * a + b * b + c * c + d * d);
}
__WW_FUNCTION float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
__WW_FUNCTION double sinpi(double x) { return __builtin_sin(3.141592653589793 * __builtin_fmod(x, 2.0)); }
__WW_FUNCTION double cospi(double x) { return __builtin_cos(3.141592653589793 * __builtin_fmod(x, 2.0)); }
__WW_FUNCTION float sinpif(float x) { return (float)sinpi(x); }
__WW_FUNCTION float cospif(float x) { return (float)cospi(x); }
__WW_FUNCTION double normcdf(double x) { return 0.5 * __builtin_erfc(-x * 0.7071067811865476); }
__WW_FUNCTION float normcdff(float x) { return (float)normcdf(x); }
__WW_FUNCTION void sincos(double x, double *s, double *c) { *s = __builtin_sin(x), *c = __builtin_cos(x); }
__WW_FUNCTION void sincosf(float x, float *s, float *c) { *s = __builtin_sinf(x), *c = __builtin_cosf(x); }
__WW_FUNCTION void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
__WW_FUNCTION void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }

__WW_FUNCTION float __sinf(float x) { return __builtin_sinf(x); }
__WW_FUNCTION float __cosf(float x) { return __builtin_cosf(x); }
__WW_FUNCTION float __tanf(float x) { return __builtin_tanf(x); }
__WW_FUNCTION float __tanhf(float x) { return __builtin_tanhf(x); }
__WW_FUNCTION float __expf(float x) { return __builtin_expf(x); }
__WW_FUNCTION float __exp10f(float x) { return __builtin_exp10f(x); }
__WW_FUNCTION float __logf(float x) { return __builtin_logf(x); }
__WW_FUNCTION float __log2f(float x) { return __builtin_log2f(x); }
__WW_FUNCTION float __log10f(float x) { return __builtin_log10f(x); }
__WW_FUNCTION float __powf(float x, float y) { return __builtin_powf(x, y); }
__WW_FUNCTION float __fdividef(float x, float y) { return x / y; }
__WW_FUNCTION double fdivide(double x, double y) { return x / y; }
__WW_FUNCTION float fdividef(float x, float y) { return x / y; }
__WW_FUNCTION void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
__WW_FUNCTION float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
__WW_FUNCTION float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }

// As on the GPU, the functions below are never fused into a multiply-add.
#pragma clang fp contract(off)
__WW_FUNCTION float __fadd_rn(float a, float b) { return a + b; }
__WW_FUNCTION float __fsub_rn(float a, float b) { return a - b; }
__WW_FUNCTION float __fmul_rn(float a, float b) { return a * b; }
__WW_FUNCTION float __fdiv_rn(float a, float b) { return a / b; }
__WW_FUNCTION float __frcp_rn(float a) { return 1.0f / a; }
__WW_FUNCTION float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
__WW_FUNCTION float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__WW_FUNCTION double __dadd_rn(double a, double b) { return a + b; }
__WW_FUNCTION double __dsub_rn(double a, double b) { return a - b; }
__WW_FUNCTION double __dmul_rn(double a, double b) { return a * b; }
__WW_FUNCTION double __ddiv_rn(double a, double b) { return a / b; }
__WW_FUNCTION double __drcp_rn(double a) { return 1.0 / a; }
__WW_FUNCTION double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
__WW_FUNCTION double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
#pragma clang fp contract(fast)

#define __WW_ROUNDED(name)                                                                         \
  float __f##name##_rz(float, float) __WW_UNSUPPORTED("directed rounding");                        \
  float __f##name##_ru(float, float) __WW_UNSUPPORTED("directed rounding");                        \
  float __f##name##_rd(float, float) __WW_UNSUPPORTED("directed rounding");                        \
  double __d##name##_rz(double, double) __WW_UNSUPPORTED("directed rounding");                     \
  double __d##name##_ru(double, double) __WW_UNSUPPORTED("directed rounding");                     \
  double __d##name##_rd(double, double) __WW_UNSUPPORTED("directed rounding");
__WW_ROUNDED(add) __WW_ROUNDED(sub) __WW_ROUNDED(mul) __WW_ROUNDED(div)
#undef __WW_ROUNDED
