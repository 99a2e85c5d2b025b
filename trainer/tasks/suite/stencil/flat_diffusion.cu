// Diffusion with a different rate in each cell of a periodic grid, launched in one dimension with 32 threads a block.
#include <cstdlib>

__global__ void diffuse(const float *c, const float *rate, float *out, int width, int height) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= width * height)
    return;
  int x = id % width, y = id / width;
  int left = x == 0 ? id + width - 1 : id - 1;
  int right = x == width - 1 ? id - width + 1 : id + 1;
  int up = y == 0 ? id + (height - 1) * width : id - width;
  int down = y == height - 1 ? id - (height - 1) * width : id + width;
  out[id] = c[id] + rate[id] * (0.25 * (c[left] + c[right] + c[up] + c[down]) - c[id]);
}

int main() {
  constexpr int WIDTH = 3000;
  constexpr int HEIGHT = 2000;
  float *c, *rate, *out;
  cudaMalloc(&c, sizeof(float) * WIDTH * HEIGHT);
  cudaMalloc(&rate, sizeof(float) * WIDTH * HEIGHT);
  cudaMalloc(&out, sizeof(float) * WIDTH * HEIGHT);
  diffuse<<<(WIDTH * HEIGHT + 31) / 32, 32>>>(c, rate, out, WIDTH, HEIGHT);
  return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
