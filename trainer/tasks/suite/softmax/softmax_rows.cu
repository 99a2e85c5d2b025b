// Softmax of each row, one thread a row, three passes: maximum, sum, division.
// warpwright: rows = 8192, cols = 512, check rows = 3 cols = 17 | rows = 1 cols = 1031
__global__ void softmax_rows(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float largest = x[row * cols];
  for (int j = 1; j < cols; j++)
    largest = fmaxf(largest, x[row * cols + j]);
  float sum = 0.0f;
  for (int j = 0; j < cols; j++)
    sum += expf(x[row * cols + j] - largest);
  for (int j = 0; j < cols; j++)
    y[row * cols + j] = expf(x[row * cols + j] - largest) / sum;
}

void launch(const float *x, float *y, int rows, int cols) {
  softmax_rows<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);
}
