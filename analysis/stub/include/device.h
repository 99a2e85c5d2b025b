// Built-in CUDA declarations, part 3: device functions. Synchronization, warp operations, atomics,
// loads with cache hints, integer and type intrinsics, math.
#pragma once
WW_D void __syncthreads() __attribute__((convergent));
WW_D int __syncthreads_count(int) __attribute__((convergent));
WW_D int __syncthreads_or(int) __attribute__((convergent));
WW_D int __syncthreads_and(int) __attribute__((convergent));
WW_D void __syncwarp(unsigned = ~0u) __attribute__((convergent));
WW_D void __threadfence(), __threadfence_block(), __threadfence_system(), __trap(), __brkpt(), __nanosleep(unsigned);
WW_D long long clock64();
WW_D unsigned long long globaltimer();
template <class T> WW_D T __shfl_sync(unsigned, T, int, int = 32);
template <class T> WW_D T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> WW_D T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> WW_D T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> WW_D T __shfl(T, int, int = 32);
template <class T> WW_D T __shfl_up(T, unsigned, int = 32);
template <class T> WW_D T __shfl_down(T, unsigned, int = 32);
template <class T> WW_D T __shfl_xor(T, int, int = 32);
WW_D unsigned __ballot_sync(unsigned, int), __ballot(int), __activemask();
WW_D int __any_sync(unsigned, int), __all_sync(unsigned, int), __any(int), __all(int);
template <class T> WW_D unsigned __match_any_sync(unsigned, T);
template <class T> WW_D unsigned __match_all_sync(unsigned, T, int *);
template <class T> WW_D T __reduce_add_sync(unsigned, T);
template <class T> WW_D T __reduce_min_sync(unsigned, T);
template <class T> WW_D T __reduce_max_sync(unsigned, T);
template <class T> WW_D T __reduce_and_sync(unsigned, T);
template <class T> WW_D T __reduce_or_sync(unsigned, T);
template <class T> WW_D T __reduce_xor_sync(unsigned, T);

// The value converts as in the toolkit's overloads: only the pointer decides the type.
template <class T> struct WwSame { typedef T type; };
#define WW_ATOMIC(name) \
  template <class T> WW_D T name(T *, typename WwSame<T>::type); \
  template <class T> WW_D T name##_block(T *, typename WwSame<T>::type); \
  template <class T> WW_D T name##_system(T *, typename WwSame<T>::type);
WW_ATOMIC(atomicAdd) WW_ATOMIC(atomicSub) WW_ATOMIC(atomicExch) WW_ATOMIC(atomicMin) WW_ATOMIC(atomicMax)
WW_ATOMIC(atomicInc) WW_ATOMIC(atomicDec) WW_ATOMIC(atomicAnd) WW_ATOMIC(atomicOr) WW_ATOMIC(atomicXor)
#undef WW_ATOMIC
template <class T> WW_D T atomicCAS(T *, typename WwSame<T>::type, typename WwSame<T>::type);
template <class T> WW_D T atomicCAS_block(T *, typename WwSame<T>::type, typename WwSame<T>::type);
template <class T> WW_D T atomicCAS_system(T *, typename WwSame<T>::type, typename WwSame<T>::type);

#define WW_LOAD(name) template <class T> WW_D T name(const T *);
#define WW_STORE(name) template <class T> WW_D void name(T *, typename WwSame<T>::type);
WW_LOAD(__ldg) WW_LOAD(__ldcg) WW_LOAD(__ldca) WW_LOAD(__ldcs) WW_LOAD(__ldlu) WW_LOAD(__ldcv)
WW_STORE(__stwb) WW_STORE(__stcg) WW_STORE(__stcs) WW_STORE(__stwt)
#undef WW_LOAD
#undef WW_STORE
WW_D void __prefetch_global_l1(const void *), __prefetch_global_l2(const void *);
WW_D void __pipeline_memcpy_async(void *, const void *, size_t, size_t = 0), __pipeline_commit(), __pipeline_wait_prior(size_t);
WW_D size_t __cvta_generic_to_shared(const void *), __cvta_generic_to_global(const void *);
WW_D unsigned __isGlobal(const void *), __isShared(const void *);

WW_D int __popc(unsigned), __popcll(unsigned long long), __clz(int), __clzll(long long), __ffs(int), __ffsll(long long);
WW_D unsigned __brev(unsigned), __byte_perm(unsigned, unsigned, unsigned), __umulhi(unsigned, unsigned);
WW_D unsigned long long __brevll(unsigned long long), __umul64hi(unsigned long long, unsigned long long);
WW_D unsigned __funnelshift_l(unsigned, unsigned, unsigned), __funnelshift_r(unsigned, unsigned, unsigned);
WW_D int __mulhi(int, int), __mul24(int, int), __hadd(int, int), __rhadd(int, int), __dp4a(int, int, int);
WW_D unsigned __umul24(unsigned, unsigned), __usad(unsigned, unsigned, unsigned), __dp4a(unsigned, unsigned, unsigned);
WW_D unsigned __vadd4(unsigned, unsigned), __vsub4(unsigned, unsigned), __vmaxs4(unsigned, unsigned), __vabsdiffu4(unsigned, unsigned);
WW_D int __float_as_int(float), __float2int_rn(float), __float2int_rz(float), __float2int_rd(float), __float2int_ru(float);
WW_D unsigned __float_as_uint(float), __float2uint_rn(float), __float2uint_rz(float);
WW_D float __int_as_float(int), __uint_as_float(unsigned), __int2float_rn(int), __uint2float_rn(unsigned), __double2float_rn(double);
WW_D long long __double_as_longlong(double), __double2ll_rn(double);
WW_D double __longlong_as_double(long long), __hiloint2double(int, int), __int2double_rn(int);
WW_D int __double2int_rn(double), __double2int_rz(double), __double2hiint(double), __double2loint(double);

WW_D float __expf(float), __exp10f(float), __logf(float), __log2f(float), __log10f(float), __sinf(float), __cosf(float);
WW_D float __tanf(float), __powf(float, float), __fdividef(float, float), __saturatef(float), __frcp_rn(float);
WW_D float __fsqrt_rn(float), __frsqrt_rn(float), __fadd_rn(float, float), __fsub_rn(float, float), __fmul_rn(float, float);
WW_D float __fdiv_rn(float, float), __fmaf_rn(float, float, float), __fmul_rz(float, float), __fadd_rz(float, float);
WW_D void __sincosf(float, float *, float *);
WW_D double __dadd_rn(double, double), __dmul_rn(double, double), __ddiv_rn(double, double), __fma_rn(double, double, double);
WW_D double __drcp_rn(double), __dsqrt_rn(double);

// Each function: the C library's pair, a float overload, and C++'s overloads for integers and
// mixes.
template <bool> struct WwIf {};
template <> struct WwIf<true> { typedef int type; };
#define WW_INTEGER(T) typename WwIf<__is_integral(T)>::type = 0
#define WW_MIXED(T, U) typename WwIf<__is_arithmetic(T) && __is_arithmetic(U) && !__is_same(T, U)>::type = 0
#define WW_MATH1(name) \
  extern "C" WW_HD double name(double); extern "C" WW_HD float name##f(float); WW_HD float name(float); \
  template <class T, WW_INTEGER(T)> WW_HD double name(T);
#define WW_MATH2(name) \
  extern "C" WW_HD double name(double, double); extern "C" WW_HD float name##f(float, float); WW_HD float name(float, float); \
  template <class T, class U, WW_MIXED(T, U)> WW_HD double name(T, U);
WW_MATH1(sqrt) WW_MATH1(cbrt) WW_MATH1(exp) WW_MATH1(exp2) WW_MATH1(expm1) WW_MATH1(log) WW_MATH1(log2) WW_MATH1(log10)
WW_MATH1(log1p) WW_MATH1(sin) WW_MATH1(cos) WW_MATH1(tan) WW_MATH1(asin) WW_MATH1(acos) WW_MATH1(atan) WW_MATH1(sinh)
WW_MATH1(cosh) WW_MATH1(tanh) WW_MATH1(asinh) WW_MATH1(acosh) WW_MATH1(atanh) WW_MATH1(erf) WW_MATH1(erfc)
WW_MATH1(tgamma) WW_MATH1(lgamma) WW_MATH1(floor) WW_MATH1(ceil) WW_MATH1(trunc) WW_MATH1(round) WW_MATH1(rint)
WW_MATH1(nearbyint) WW_MATH1(fabs) WW_MATH1(rsqrt) WW_MATH1(rcbrt) WW_MATH1(exp10) WW_MATH1(sinpi) WW_MATH1(cospi)
WW_MATH1(erfinv) WW_MATH1(erfcinv) WW_MATH1(erfcx) WW_MATH1(normcdf) WW_MATH1(normcdfinv)
WW_MATH2(pow) WW_MATH2(fmod) WW_MATH2(fmin) WW_MATH2(fmax) WW_MATH2(atan2) WW_MATH2(hypot) WW_MATH2(copysign)
WW_MATH2(remainder) WW_MATH2(fdim) WW_MATH2(nextafter)
#undef WW_MATH1
#undef WW_MATH2
extern "C" {
WW_HD double fma(double, double, double), ldexp(double, int), frexp(double, int *), modf(double, double *);
WW_HD float fmaf(float, float, float), ldexpf(float, int), frexpf(float, int *), modff(float, float *);
WW_HD double norm3d(double, double, double), rnorm3d(double, double, double), rhypot(double, double);
WW_HD float norm3df(float, float, float), rnorm3df(float, float, float), norm4df(float, float, float, float);
WW_HD float rhypotf(float, float), fdividef(float, float);
WW_HD void sincosf(float, float *, float *);
WW_HD void sincos(double, double *, double *);
WW_HD void sincospif(float, float *, float *);
WW_HD long lround(double), lroundf(float), lrint(double), lrintf(float);
WW_HD long long llround(double), llroundf(float), llrint(double), llrintf(float);
WW_HD int abs(int);
WW_HD long labs(long);
WW_HD long long llabs(long long);
WW_HD unsigned umin(unsigned, unsigned), umax(unsigned, unsigned);
}
WW_HD float fma(float, float, float);
WW_HD float abs(float);
WW_HD double abs(double);
WW_HD long abs(long);
WW_HD long long abs(long long);
template <class T> WW_HD bool isnan(T);
template <class T> WW_HD bool isinf(T);
template <class T> WW_HD bool isfinite(T);
template <class T> WW_HD bool signbit(T);
#define WW_MINMAX(type) WW_HD type min(type, type); WW_HD type max(type, type);
WW_MINMAX(int) WW_MINMAX(unsigned) WW_MINMAX(long) WW_MINMAX(unsigned long) WW_MINMAX(long long)
WW_MINMAX(unsigned long long) WW_MINMAX(float) WW_MINMAX(double)
#undef WW_MINMAX
template <class T, class U, WW_MIXED(T, U)> WW_HD decltype(T() + U()) min(T, U);
template <class T, class U, WW_MIXED(T, U)> WW_HD decltype(T() + U()) max(T, U);

// Textures: a kernel that reads one parses and keeps its place in the tree.
template <class T> WW_D T tex1Dfetch(cudaTextureObject_t, int);
template <class T> WW_D T tex1D(cudaTextureObject_t, float);
template <class T> WW_D T tex2D(cudaTextureObject_t, float, float);
template <class T> WW_D T tex3D(cudaTextureObject_t, float, float, float);
template <class T> WW_D T tex2DLod(cudaTextureObject_t, float, float, float);
template <class T> WW_D T tex2DLayered(cudaTextureObject_t, float, float, int);
template <class T> WW_D T texCubemap(cudaTextureObject_t, float, float, float);
template <class T> WW_D T surf2Dread(cudaSurfaceObject_t, int, int, int = 0);
template <class T> WW_D void surf2Dwrite(T, cudaSurfaceObject_t, int, int, int = 0);
