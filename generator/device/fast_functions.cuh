// Approximate exponentials, logarithms and error function in place of CUDA's precise ones, in all that follows:
// PlanChoices::fast_math.
#ifndef WARPWRIGHT_FAST_FUNCTIONS
#define WARPWRIGHT_FAST_FUNCTIONS

#ifdef WARPWRIGHT_FAST_ERF
// Within 6e-7. Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
__device__ __forceinline__ float warpwright_fast_erf(float x) {
  const float size = fabsf(x), t = __fdividef(1.0f, fmaf(0.3275911f, size, 1.0f));
  const float sum = fmaf(fmaf(fmaf(fmaf(1.061405429f, t, -1.453152027f), t, 1.421413741f), t, -0.284496736f), t,
                         0.254829592f);
  return copysignf(fmaf(-sum * t, __expf(-size * size), 1.0f), x);
}

#define erff(x) warpwright_fast_erf(x)
#endif

#define expf(x) __expf(x)
#define logf(x) __logf(x)
#define log2f(x) __log2f(x)
#define log10f(x) __log10f(x)

#endif
