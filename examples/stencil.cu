// Heat diffusion: a five-point stencil on a 4096 x 4096 grid, ten steps back and forth between two buffers.
//
//   nvcc -O3 stencil.cu -o stencil && ./stencil
//   warpwright optimize stencil.cu
#include <cstdio>
#include <vector>

__global__ void diffuse(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  int i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
    out[i] = in[i];
  else
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

int main() {
  const int width = 4096;
  const int height = 4096;
  const int steps = 10;
  std::vector<float> grid(width * height);
  for (int i = 0; i < width * height; ++i)
    grid[i] = i % 64 == 0 ? 64.0f : 0.0f;

  float *d_a, *d_b;
  cudaMalloc(&d_a, width * height * sizeof(float));
  cudaMalloc(&d_b, width * height * sizeof(float));
  cudaMemcpy(d_a, grid.data(), width * height * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(16, 16);
  dim3 blocks((width + 15) / 16, (height + 15) / 16);
  for (int step = 0; step < steps; ++step) {
    diffuse<<<blocks, block>>>(d_a, d_b, width, height);
    float *swap = d_a;
    d_a = d_b;
    d_b = swap;
  }

  cudaMemcpy(grid.data(), d_a, width * height * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("stencil: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double checksum = 0;
  for (int i = 0; i < width * height; ++i)
    checksum += grid[i] * (i % 7);
  printf("stencil: checksum %.1f\n", checksum);
  cudaFree(d_a);
  cudaFree(d_b);
  return 0;
}
