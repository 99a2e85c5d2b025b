// Signed bytes multiplied into 32-bit integers, a byte at a time.
// warpwright: m = 512, n = 512, k = 1024, check m = 17 n = 33 k = 8
__global__ void integer_matmul(const signed char *a, const signed char *b, int *c, int m, int n,
                               int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  int sum = 0;
  for (int i = 0; i < k; i++)
    sum += (int)a[row * k + i] * (int)b[col * k + i];
  c[row * n + col] = sum;
}

void launch(const signed char *a, const signed char *b, int *c, int m, int n, int k) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  integer_matmul<<<grid, block>>>(a, b, c, m, n, k);
}
