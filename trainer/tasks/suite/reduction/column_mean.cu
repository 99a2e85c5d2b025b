// The mean of each column, one thread a column: coalesced, but a few thousand threads for all the work.
// warpwright: rows = 8192, cols = 512, check rows = 17 cols = 3
__global__ void column_mean(const float *x, float *mean, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < cols) {
    float sum = 0.0f;
    for (int i = 0; i < rows; i++)
      sum += x[i * cols + col];
    mean[col] = sum / rows;
  }
}

void launch(const float *x, float *mean, int rows, int cols) {
  column_mean<<<(cols + 127) / 128, 128>>>(x, mean, rows, cols);
}
