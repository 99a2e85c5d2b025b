// Many small square products, one thread an element and one layer of blocks a matrix.
// warpwright: batch = 64, n = 128, check batch = 2 n = 5
__global__ void batched_matmul(const float *a, const float *b, float *c, int batch, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int which = blockIdx.z;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
      sum += a[(which * n + row) * n + k] * b[(which * n + k) * n + col];
    c[(which * n + row) * n + col] = sum;
  }
}

void launch(const float *a, const float *b, float *c, int batch, int n) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (n + 15) / 16, batch);
  batched_matmul<<<grid, block>>>(a, b, c, batch, n);
}
