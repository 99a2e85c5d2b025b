// sm_80 sm_90a sm_100a sm_120
#include "../scatter_extremes.cuh"

using namespace warpwright_scatter;

__global__ void singles(unsigned *keys, float *values) {
  raise(keys + threadIdx.x / 2, key_of(values[threadIdx.x]));
  values[threadIdx.x] = value_of(keys[threadIdx.x]);
}
__global__ void doubles(unsigned long long *keys, double *values) {
  raise(keys + threadIdx.x / 2, key_of(values[threadIdx.x]));
  values[threadIdx.x] = value_of(keys[threadIdx.x]);
}
