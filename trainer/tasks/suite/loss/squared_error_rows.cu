// Mean squared error of each row, one block a row, the tree with a modulo.
// warpwright: rows = 4096, cols = 2048, check rows = 3 cols = 77
__global__ void squared_error_rows(const float *x, const float *target, float *loss, int rows,
                                   int cols) {
  __shared__ float scratch[256];
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256) {
    float d = x[blockIdx.x * cols + j] - target[blockIdx.x * cols + j];
    sum += d * d;
  }
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    if (threadIdx.x % (2 * s) == 0)
      scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    loss[blockIdx.x] = scratch[0] / cols;
}

void launch(const float *x, const float *target, float *loss, int rows, int cols) {
  squared_error_rows<<<rows, 256>>>(x, target, loss, rows, cols);
}
