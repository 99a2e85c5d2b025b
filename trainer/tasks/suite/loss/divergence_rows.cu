// Kullback-Leibler divergence of each pair of rows of probabilities, one thread a row.
// warpwright: rows = 8192, cols = 512, check rows = 3 cols = 17
// warpwright: p: positive, q: positive
__global__ void divergence_rows(const float *p, const float *q, float *divergence, int rows,
                                int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = 0; j < cols; j++)
      sum += p[row * cols + j] * (logf(p[row * cols + j]) - logf(q[row * cols + j]));
    divergence[row] = sum;
  }
}

void launch(const float *p, const float *q, float *divergence, int rows, int cols) {
  divergence_rows<<<(rows + 63) / 64, 64>>>(p, q, divergence, rows, cols);
}
