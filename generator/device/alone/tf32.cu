// sm_80 sm_90a sm_100a sm_120
#include "../tf32.cuh"

__global__ void parts(const float *from, float *high, float *low) {
  high[threadIdx.x] = warpwright_convolution::high_tf32(from[threadIdx.x]);
  low[threadIdx.x] = warpwright_convolution::round_tf32(from[threadIdx.x] - high[threadIdx.x]);
}
