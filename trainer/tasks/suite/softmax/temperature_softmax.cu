// Softmax of scaled rows, one thread an element: every thread walks its whole row twice again.
// warpwright: rows = 1024, cols = 1024, temperature = 0.7, check rows = 3 cols = 17
__global__ void temperature_softmax(const float *x, float *y, float temperature, int rows, int cols) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (j >= cols)
    return;
  float largest = x[row * cols] / temperature;
  for (int k = 1; k < cols; k++)
    largest = fmaxf(largest, x[row * cols + k] / temperature);
  float sum = 0.0f;
  for (int k = 0; k < cols; k++)
    sum += expf(x[row * cols + k] / temperature - largest);
  y[row * cols + j] = expf(x[row * cols + j] / temperature - largest) / sum;
}

void launch(const float *x, float *y, float temperature, int rows, int cols) {
  dim3 grid((cols + 255) / 256, rows);
  temperature_softmax<<<grid, 256>>>(x, y, temperature, rows, cols);
}
