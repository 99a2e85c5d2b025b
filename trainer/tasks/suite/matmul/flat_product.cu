// A matrix product launched in one dimension, with a residual that is added: rows and columns by division.
#include <iostream>

__global__ void product_plus(const float *a, const float *b, const float *residual, float *c, int m,
                             int n, int k) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < m * n) {
    int line = idx / n;
    int place = idx % n;
    float acc = 0.0f;
    for (int t = 0; t < k; t++)
      acc += a[line * k + t] * b[t * n + place];
    c[line * n + place] = acc + residual[line * n + place];
  }
}

int main() {
  const int m = 1000;
  const int n = 1200;
  const int k = 800;
  float *a, *b, *residual, *c;
  cudaMalloc(&a, sizeof(float) * m * k);
  cudaMalloc(&b, sizeof(float) * k * n);
  cudaMalloc(&residual, sizeof(float) * m * n);
  cudaMalloc(&c, sizeof(float) * m * n);
  product_plus<<<(m * n + 255) / 256, 256>>>(a, b, residual, c, m, n, k);
  std::cout << cudaGetErrorString(cudaDeviceSynchronize()) << std::endl;
}
