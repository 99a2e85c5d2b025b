// Variance of each row in two passes over it, one block a row, each pass with its own tree.
// warpwright: rows = 4096, cols = 2048, check rows = 3 cols = 77
__global__ void row_variance(const float *x, float *variance, int rows, int cols) {
  __shared__ float scratch[256];
  const float *row = x + blockIdx.x * cols;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256)
    sum += row[j];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  float mean = scratch[0] / cols;
  __syncthreads();
  sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256)
    sum += (row[j] - mean) * (row[j] - mean);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    variance[blockIdx.x] = scratch[0] / cols;
}

void launch(const float *x, float *variance, int rows, int cols) {
  row_variance<<<rows, 256>>>(x, variance, rows, cols);
}
