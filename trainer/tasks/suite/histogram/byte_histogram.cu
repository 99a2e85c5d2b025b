// How often each byte value occurs: one global atomicAdd a byte.
// warpwright: n = 16000000, check n = 1 | n = 1000, fill bins = 0
// warpwright: bins: inout unsigned int[256]
__global__ void byte_histogram(const unsigned char *data, unsigned int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[data[i]], 1u);
}

void launch(const unsigned char *data, unsigned int *bins, int n) {
  cudaMemset(bins, 0, 256 * sizeof(unsigned int));
  byte_histogram<<<(n + 255) / 256, 256>>>(data, bins, n);
}
