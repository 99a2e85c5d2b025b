// One step of Jacobi's method for Poisson's equation; the border stays as it was.
#include <cstdio>

__global__ void jacobi_step(const float *u, const float *f, float *next, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  int i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
    next[i] = u[i];
  else
    next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - f[i]);
}

int main() {
  const int width = 4096;
  const int height = 4096;
  float *u, *f, *next;
  cudaMalloc(&u, width * height * sizeof(float));
  cudaMalloc(&f, width * height * sizeof(float));
  cudaMalloc(&next, width * height * sizeof(float));
  dim3 block(8, 32);
  dim3 grid((width + 7) / 8, (height + 31) / 32);
  jacobi_step<<<grid, block>>>(u, f, next, width, height);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
