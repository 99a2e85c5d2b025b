// sm_80 sm_90a sm_100a sm_120
#include "../sum_again.cuh"

__global__ void sum_again(const float *a, const float *b, float *c) {
  float sums[4];
  warpwright_again::add(0, 1024, [&](int k) { return a[k]; }, [&](int k, int j) { return b[k * 4 + j]; }, sums);
  for (int j = 0; j < 4; ++j)
    c[j] = sums[j];
}
