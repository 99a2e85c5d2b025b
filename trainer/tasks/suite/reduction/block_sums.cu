// Partial sums, one a block of 256: the first step of a sum, with the tree of the oldest tutorial (interleaved addresses).
// warpwright: n = 16000000, check n = 1000 | n = 257
// warpwright: sums: out float[(n + 255) / 256]
__global__ void block_sums(const float *x, float *sums, int n) {
  __shared__ float scratch[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    int index = 2 * s * threadIdx.x;
    if (index < 256)
      scratch[index] += scratch[index + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = scratch[0];
}

void launch(const float *x, float *sums, int n) {
  block_sums<<<(n + 255) / 256, 256>>>(x, sums, n);
}
