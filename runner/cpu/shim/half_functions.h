// Functions that CUDA defines for both __half and __nv_bfloat16. The file has no include guard: it
// is included once per type, with __WW_H and __WW_H2 naming the type and its pair.

#define __WW_ARITHMETIC(symbol, name)                                                              \
  __WW_FUNCTION __WW_H operator symbol(__WW_H a, __WW_H b) { return __WW_H((float)a symbol(float) b); } \
  __WW_FUNCTION __WW_H &operator symbol##=(__WW_H &a, __WW_H b) { return a = a symbol b; }         \
  __WW_FUNCTION __WW_H2 operator symbol(__WW_H2 a, __WW_H2 b) {                                    \
    return __WW_H2(a.x symbol b.x, a.y symbol b.y);                                                \
  }                                                                                                \
  __WW_FUNCTION __WW_H2 &operator symbol##=(__WW_H2 &a, __WW_H2 b) { return a = a symbol b; }      \
  __WW_FUNCTION __WW_H __h##name(__WW_H a, __WW_H b) { return a symbol b; }                        \
  __WW_FUNCTION __WW_H __h##name##_rn(__WW_H a, __WW_H b) { return a symbol b; }
__WW_ARITHMETIC(+, add) __WW_ARITHMETIC(-, sub) __WW_ARITHMETIC(*, mul) __WW_ARITHMETIC(/, div)
#undef __WW_ARITHMETIC
__WW_FUNCTION __WW_H operator-(__WW_H a) { return __WW_H(-(float)a); }
__WW_FUNCTION __WW_H operator+(__WW_H a) { return a; }
__WW_FUNCTION __WW_H2 operator-(__WW_H2 a) { return __WW_H2(-a.x, -a.y); }
__WW_FUNCTION __WW_H &operator++(__WW_H &a) { return a = __WW_H((float)a + 1.0f); }
__WW_FUNCTION __WW_H2 __hadd2(__WW_H2 a, __WW_H2 b) { return a + b; }
__WW_FUNCTION __WW_H2 __hsub2(__WW_H2 a, __WW_H2 b) { return a - b; }
__WW_FUNCTION __WW_H2 __hmul2(__WW_H2 a, __WW_H2 b) { return a * b; }
__WW_FUNCTION __WW_H2 __h2div(__WW_H2 a, __WW_H2 b) { return a / b; }
__WW_FUNCTION __WW_H __hneg(__WW_H a) { return -a; }
__WW_FUNCTION __WW_H2 __hneg2(__WW_H2 a) { return -a; }
__WW_FUNCTION __WW_H __habs(__WW_H a) { return __WW_H(__builtin_fabsf((float)a)); }
__WW_FUNCTION __WW_H2 __habs2(__WW_H2 a) { return __WW_H2(__habs(a.x), __habs(a.y)); }
__WW_FUNCTION __WW_H __hfma(__WW_H a, __WW_H b, __WW_H c) {
  return __WW_H(__builtin_fmaf((float)a, (float)b, (float)c));
}
__WW_FUNCTION __WW_H2 __hfma2(__WW_H2 a, __WW_H2 b, __WW_H2 c) {
  return __WW_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__WW_FUNCTION __WW_H __hfma_relu(__WW_H a, __WW_H b, __WW_H c) {
  return __WW_H(__builtin_fmaxf((float)__hfma(a, b, c), 0.0f));
}
__WW_FUNCTION __WW_H __hmax(__WW_H a, __WW_H b) { return __WW_H(__builtin_fmaxf((float)a, (float)b)); }
__WW_FUNCTION __WW_H __hmin(__WW_H a, __WW_H b) { return __WW_H(__builtin_fminf((float)a, (float)b)); }
__WW_FUNCTION __WW_H2 __hmax2(__WW_H2 a, __WW_H2 b) { return __WW_H2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
__WW_FUNCTION __WW_H2 __hmin2(__WW_H2 a, __WW_H2 b) { return __WW_H2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }

#define __WW_COMPARISON(symbol, name)                                                              \
  __WW_FUNCTION bool operator symbol(__WW_H a, __WW_H b) { return (float)a symbol(float) b; }      \
  __WW_FUNCTION bool __h##name(__WW_H a, __WW_H b) { return a symbol b; }                          \
  __WW_FUNCTION bool __hb##name##2(__WW_H2 a, __WW_H2 b) { return a.x symbol b.x && a.y symbol b.y; } \
  __WW_FUNCTION __WW_H2 __h##name##2(__WW_H2 a, __WW_H2 b) {                                       \
    return __WW_H2(__WW_H(a.x symbol b.x ? 1.0f : 0.0f), __WW_H(a.y symbol b.y ? 1.0f : 0.0f));    \
  }
__WW_COMPARISON(==, eq) __WW_COMPARISON(!=, ne) __WW_COMPARISON(<, lt) __WW_COMPARISON(<=, le)
__WW_COMPARISON(>, gt) __WW_COMPARISON(>=, ge)
#undef __WW_COMPARISON
__WW_FUNCTION bool __hisnan(__WW_H a) { return __builtin_isnan((float)a); }
__WW_FUNCTION int __hisinf(__WW_H a) { return __builtin_isinf((float)a) ? ((float)a > 0 ? 1 : -1) : 0; }

#define __WW_ELEMENTARY(name, expression)                                                          \
  __WW_FUNCTION __WW_H h##name(__WW_H a) {                                                         \
    float x = (float)a;                                                                            \
    return __WW_H((float)(expression));                                                            \
  }                                                                                                \
  __WW_FUNCTION __WW_H2 h2##name(__WW_H2 a) { return __WW_H2(h##name(a.x), h##name(a.y)); }
__WW_ELEMENTARY(exp, expf(x)) __WW_ELEMENTARY(exp2, exp2f(x)) __WW_ELEMENTARY(exp10, exp10f(x))
__WW_ELEMENTARY(log, logf(x)) __WW_ELEMENTARY(log2, log2f(x)) __WW_ELEMENTARY(log10, log10f(x))
__WW_ELEMENTARY(sqrt, sqrtf(x)) __WW_ELEMENTARY(rsqrt, rsqrtf(x)) __WW_ELEMENTARY(rcp, 1.0f / x)
__WW_ELEMENTARY(sin, sinf(x)) __WW_ELEMENTARY(cos, cosf(x)) __WW_ELEMENTARY(tanh, tanhf(x))
__WW_ELEMENTARY(floor, floorf(x)) __WW_ELEMENTARY(ceil, ceilf(x)) __WW_ELEMENTARY(trunc, truncf(x))
__WW_ELEMENTARY(rint, rintf(x))
#undef __WW_ELEMENTARY

__WW_FUNCTION float __low2float(__WW_H2 a) { return (float)a.x; }
__WW_FUNCTION float __high2float(__WW_H2 a) { return (float)a.y; }
__WW_FUNCTION __WW_H2 __lowhigh2highlow(__WW_H2 a) { return __WW_H2(a.y, a.x); }
__WW_FUNCTION __WW_H atomicAdd(__WW_H *address, __WW_H value) {
  __WW_H old = *address;
  *address = old + value;
  return old;
}
__WW_FUNCTION __WW_H2 atomicAdd(__WW_H2 *address, __WW_H2 value) {
  __WW_H2 old = *address;
  *address = old + value;
  return old;
}
__WW_SHUFFLES(__WW_H)
__WW_SHUFFLES(__WW_H2)
