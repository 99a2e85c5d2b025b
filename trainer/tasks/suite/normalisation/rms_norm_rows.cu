// RMS normalisation of rows with a learned weight, one thread a row.
// warpwright: rows = 4096, cols = 1024, check rows = 3 cols = 100 | rows = 1 cols = 4099
__global__ void rms_norm_rows(const float *x, const float *weight, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float squares = 0.0f;
  for (int j = 0; j < cols; j++)
    squares += x[row * cols + j] * x[row * cols + j];
  float scale = 1.0f / sqrtf(squares / cols + 1e-6f);
  for (int j = 0; j < cols; j++)
    y[row * cols + j] = x[row * cols + j] * scale * weight[j];
}

void launch(const float *x, const float *weight, float *y, int rows, int cols) {
  rms_norm_rows<<<(rows + 31) / 32, 32>>>(x, weight, y, rows, cols);
}
