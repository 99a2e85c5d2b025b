// Softmax over the first `length` values of each row and zeros behind them, one thread a row.
// warpwright: rows = 8192, cols = 512, check rows = 3 cols = 17
// warpwright: lengths: in int[rows] integers 1..cols + 1
__global__ void masked_softmax(const float *x, const int *lengths, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int length = lengths[row];
  float largest = -3.0e38f;
  for (int j = 0; j < cols; j++)
    if (j < length)
      largest = fmaxf(largest, x[row * cols + j]);
  float sum = 0.0f;
  for (int j = 0; j < cols; j++)
    if (j < length)
      sum += expf(x[row * cols + j] - largest);
  for (int j = 0; j < cols; j++)
    y[row * cols + j] = j < length ? expf(x[row * cols + j] - largest) / sum : 0.0f;
}

void launch(const float *x, const int *lengths, float *y, int rows, int cols) {
  masked_softmax<<<(rows + 127) / 128, 128>>>(x, lengths, y, rows, cols);
}
