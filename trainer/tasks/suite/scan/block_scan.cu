// Prefix sums within blocks of 256 values by Hillis and Steele's steps: two barriers a step, log2(256) steps.
// warpwright: blocks = 16384, check blocks = 2
__global__ void block_scan(const float *x, float *y, int n) {
  __shared__ float scratch[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  scratch[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    float before = threadIdx.x >= s ? scratch[threadIdx.x - s] : 0.0f;
    __syncthreads();
    scratch[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n)
    y[i] = scratch[threadIdx.x];
}

void launch(const float *x, float *y, int blocks) {
  block_scan<<<blocks, 256>>>(x, y, blocks * 256);
}
