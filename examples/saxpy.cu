// y = a * x + y on 16 million floats: the first kernel everybody writes. It is bound by memory bandwidth, so
// there is little to win; a good example of an honest "about as fast as it gets".
//
//   nvcc -O3 saxpy.cu -o saxpy && ./saxpy
//   warpwright optimize saxpy.cu
#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1 << 24;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = i % 17;
    y[i] = i % 5;
  }

  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, d_x, d_y);

  cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("saxpy: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < n; ++i)
    checksum += y[i] * (i % 3);
  printf("saxpy: checksum %.1f\n", checksum);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
