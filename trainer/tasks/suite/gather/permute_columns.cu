// Columns of a matrix in another order, with a sign for each: irregular reads within a row.
// warpwright: rows = 4096, cols = 1024, check rows = 3 cols = 17
// warpwright: order: in int[cols] integers 0..cols
// warpwright: x: in float[rows * cols]
__global__ void permute_columns(const float *x, const int *order, const float *sign, float *y,
                                int rows, int cols) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < cols)
    y[i * cols + j] = x[i * cols + order[j]] * sign[j];
}

void launch(const float *x, const int *order, const float *sign, float *y, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  permute_columns<<<grid, block>>>(x, order, sign, y, rows, cols);
}
