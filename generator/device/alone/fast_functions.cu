// sm_80 sm_90a sm_100a sm_120
#define WARPWRIGHT_FAST_ERF
#include "../fast_functions.cuh"

extern "C" __global__ void functions(const float *in, float *out) {
  out[threadIdx.x] = expf(in[0]) + logf(in[1]) + log2f(in[2]) + log10f(in[3]) + erff(in[4]);
}
