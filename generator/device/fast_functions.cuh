// Approximate exponentials and logarithms in place of CUDA's precise ones, in all that follows: PlanChoices::fast_math.
#ifndef WARPWRIGHT_FAST_FUNCTIONS
#define WARPWRIGHT_FAST_FUNCTIONS

#define expf(x) __expf(x)
#define logf(x) __logf(x)
#define log2f(x) __log2f(x)
#define log10f(x) __log10f(x)

#endif
