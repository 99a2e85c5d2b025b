// How many values lie above a threshold: one atomicAdd on one counter for every thread that finds one.
// warpwright: n = 8000000, threshold = 0.5, check n = 1 | n = 1000, fill count = 0
__global__ void count_above(const float *x, float threshold, unsigned int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > threshold)
    atomicAdd(count, 1u);
}

void launch(const float *x, float threshold, unsigned int *count, int n) {
  cudaMemset(count, 0, sizeof(unsigned int));
  count_above<<<(n + 255) / 256, 256>>>(x, threshold, count, n);
}
