// Histogram of values in [0, 1) over 64 equal bins; a division a value, atomics on few counters.
// warpwright: n = 8000000, check n = 1 | n = 1000, fill bins = 0
// warpwright: x: uniform, bins: inout int[64]
__global__ void value_histogram(const float *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int bin = (int)(x[i] / (1.0f / 64.0f));
  if (bin > 63)
    bin = 63;
  if (bin < 0)
    bin = 0;
  atomicAdd(&bins[bin], 1);
}

void launch(const float *x, int *bins, int n) {
  cudaMemset(bins, 0, 64 * sizeof(int));
  value_histogram<<<(n + 255) / 256, 256>>>(x, bins, n);
}
