// Position of the smallest value of each row, one thread a row, a branch in the loop.
// warpwright: rows = 8192, cols = 512, check rows = 3 cols = 17
// warpwright: x: in float[rows * cols]
__global__ void row_argmin(const float *x, int *position, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    int best = 0;
    for (int j = 1; j < cols; j++)
      if (x[row * cols + j] < x[row * cols + best])
        best = j;
    position[row] = best;
  }
}

void launch(const float *x, int *position, int rows, int cols) {
  row_argmin<<<(rows + 127) / 128, 128>>>(x, position, rows, cols);
}
