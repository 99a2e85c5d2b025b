// sm_80 sm_90a sm_100a sm_120
#include "../scalar.cuh"

__global__ void scalar(float *x, double *y, int *n, long long *m) {
  x[0] = warpwright_maximum(x[0], warpwright_minimum(x[1], warpwright_remainder(x[2], x[3])));
  y[0] = warpwright_maximum(y[0], warpwright_minimum(y[1], warpwright_remainder(y[2], y[3])));
  n[0] = warpwright_maximum(n[0], warpwright_minimum(n[1], warpwright_remainder(n[2], warpwright_power(n[3], n[4]))));
  m[0] = warpwright_remainder(m[0], warpwright_power(m[1], m[2]));
}
