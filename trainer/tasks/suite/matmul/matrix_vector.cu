// Matrix times vector, one thread a row: uncoalesced reads of the matrix.
// warpwright: rows = 8192, cols = 4096, check rows = 17 cols = 5
__global__ void matrix_vector(const float *a, const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = 0; j < cols; j++)
      sum += a[row * cols + j] * x[j];
    y[row] = sum;
  }
}

void launch(const float *a, const float *x, float *y, int rows, int cols) {
  matrix_vector<<<(rows + 127) / 128, 128>>>(a, x, y, rows, cols);
}
