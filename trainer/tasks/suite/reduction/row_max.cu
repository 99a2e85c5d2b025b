// The largest value of each row, one thread a row: neighbouring threads read a row apart.
// warpwright: rows = 8192, cols = 1024, check rows = 3 cols = 17 | rows = 1 cols = 4099
__global__ void row_max(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float best = x[row * cols];
  for (int j = 1; j < cols; j++)
    best = fmaxf(best, x[row * cols + j]);
  y[row] = best;
}

void launch(const float *x, float *y, int rows, int cols) {
  row_max<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);
}
