// A signal smoothed by eleven taps that come from global memory, with a test at every tap.
// warpwright: n = 8000000, check n = 5 | n = 1000
__global__ void smooth_signal(const float *x, const float *taps, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = 0; k < 11; k++) {
    int j = i + k - 5;
    if (j >= 0 && j < n)
      sum += taps[k] * x[j];
  }
  y[i] = sum;
}

void launch(const float *x, const float *taps, float *y, int n) {
  smooth_signal<<<(n + 255) / 256, 256>>>(x, taps, y, n);
}
