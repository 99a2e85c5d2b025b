// A bias, then GELU, then a scaled residual, element by element, with literals that somebody forgot to write
// as 0.5f. Each of them silently turns the arithmetic into double precision.
//
//   nvcc -O3 bias_gelu.cu -o bias_gelu && ./bias_gelu
//   warpwright optimize bias_gelu.cu
#include <cstdio>
#include <vector>

__global__ void bias_gelu(const float *x, const float *bias, float *y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    float v = x[i] + bias[i % cols];
    y[i] = 0.5 * v * (1.0 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
  }
}

__global__ void add_residual(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = y[i] * 0.7071 + x[i] * 0.7071;
}

int main() {
  const int rows = 4096;
  const int cols = 4096;
  const int n = rows * cols;
  std::vector<float> x(n), y(n), bias(cols);
  for (int i = 0; i < n; ++i)
    x[i] = (i % 201) * 0.03125f - 3.0f;
  for (int j = 0; j < cols; ++j)
    bias[j] = (j % 9) * 0.125f - 0.5f;

  float *d_x, *d_bias, *d_y;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_bias, cols * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias, bias.data(), cols * sizeof(float), cudaMemcpyHostToDevice);

  bias_gelu<<<(n + 255) / 256, 256>>>(d_x, d_bias, d_y, rows, cols);
  add_residual<<<(n + 255) / 256, 256>>>(d_x, d_y, n);

  cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("bias_gelu: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < n; ++i)
    checksum += y[i] * (i % 13) / 1000.0;
  printf("bias_gelu: checksum %.1f\n", checksum);
  cudaFree(d_x);
  cudaFree(d_bias);
  cudaFree(d_y);
  return 0;
}
