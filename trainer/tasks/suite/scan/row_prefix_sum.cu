// Inclusive prefix sums of rows, one thread a row, in the order of the definition.
// warpwright: rows = 8192, cols = 1024, check rows = 3 cols = 17
__global__ void row_prefix_sum(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int j = 0; j < cols; j++) {
    sum += x[row * cols + j];
    y[row * cols + j] = sum;
  }
}

void launch(const float *x, float *y, int rows, int cols) {
  row_prefix_sum<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);
}
