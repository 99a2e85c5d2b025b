// RMS normalisation of rows whose number and length come from the command line. No tool can know them, so the
// comment above the kernel says on which sizes to measure, and on which others the result must be right too.
//
//   nvcc -O3 rms_norm.cu -o rms_norm && ./rms_norm 4096 2048
//   warpwright optimize rms_norm.cu
#include <cstdio>
#include <cstdlib>
#include <vector>

// warpwright: rows = 4096, cols = 2048
// warpwright: check rows = 33 cols = 100 | rows = 1 cols = 4099
__global__ void rms_norm(const float *x, const float *weight, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float squares = 0.0f;
  for (int j = 0; j < cols; j++)
    squares += x[row * cols + j] * x[row * cols + j];
  float scale = rsqrtf(squares / cols + 1e-6f);
  for (int j = 0; j < cols; j++)
    y[row * cols + j] = x[row * cols + j] * scale * weight[j];
}

int main(int argc, char **argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 4096;
  const int cols = argc > 2 ? atoi(argv[2]) : 2048;
  std::vector<float> x(rows * cols), y(rows * cols), weight(cols);
  for (int i = 0; i < rows * cols; ++i)
    x[i] = (i % 127) * 0.0625f - 3.0f;
  for (int j = 0; j < cols; ++j)
    weight[j] = 1.0f + (j % 4) * 0.25f;

  float *d_x, *d_weight, *d_y;
  cudaMalloc(&d_x, rows * cols * sizeof(float));
  cudaMalloc(&d_weight, cols * sizeof(float));
  cudaMalloc(&d_y, rows * cols * sizeof(float));
  cudaMemcpy(d_x, x.data(), rows * cols * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_weight, weight.data(), cols * sizeof(float), cudaMemcpyHostToDevice);

  rms_norm<<<(rows + 63) / 64, 64>>>(d_x, d_weight, d_y, rows, cols);

  cudaMemcpy(y.data(), d_y, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("rms_norm: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < rows * cols; ++i)
    checksum += y[i] * (i % 13) / 1000.0;
  printf("rms_norm: checksum %.1f\n", checksum);
  cudaFree(d_x);
  cudaFree(d_weight);
  cudaFree(d_y);
  return 0;
}
