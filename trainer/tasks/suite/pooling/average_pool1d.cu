// Means of four neighbouring values of each row.
#include <cstdio>

__global__ void average_pool1d(const float *x, float *y, int rows, int outputs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * outputs) {
    float sum = 0.0f;
    for (int k = 0; k < 4; k++)
      sum += x[4 * i + k];
    y[i] = sum / 4.0f;
  }
}

int main() {
  const int rows = 2048;
  const int outputs = 1024;
  float *x, *y;
  cudaMalloc(&x, 4 * rows * outputs * sizeof(float));
  cudaMalloc(&y, rows * outputs * sizeof(float));
  average_pool1d<<<(rows * outputs + 255) / 256, 256>>>(x, y, rows, outputs);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
