// How often two images have these 32 x 32 pairs of grey levels, for registration: two loads and an atomic a pixel.
// warpwright: n = 4000000, check n = 1 | n = 1000, fill bins = 0
// warpwright: bins: inout int[1024]
__global__ void joint_histogram(const unsigned char *a, const unsigned char *b, int *bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[(a[i] >> 3) * 32 + (b[i] >> 3)], 1);
}

void launch(const unsigned char *a, const unsigned char *b, int *bins, int n) {
  cudaMemset(bins, 0, 1024 * sizeof(int));
  joint_histogram<<<(n + 1023) / 1024, 256>>>(a, b, bins, n);
}
