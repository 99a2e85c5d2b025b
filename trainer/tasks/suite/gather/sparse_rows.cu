// A sparse matrix with 24 entries a row times a vector, one thread a row, entries of a row side by side.
// warpwright: rows = 65536, cols = 65536, check rows = 5 cols = 7
// warpwright: column: in int[rows * 24] integers 0..cols, x: in float[cols]
__global__ void sparse_rows(const float *value, const int *column, const float *x, float *y,
                            int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int e = 0; e < 24; e++)
      sum += value[row * 24 + e] * x[column[row * 24 + e]];
    y[row] = sum;
  }
}

void launch(const float *value, const int *column, const float *x, float *y, int rows, int cols) {
  sparse_rows<<<(rows + 127) / 128, 128>>>(value, column, x, y, rows);
}
