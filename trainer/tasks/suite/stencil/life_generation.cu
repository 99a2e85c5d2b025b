// A generation of Conway's life on a torus of bytes, eight neighbours by remainders, x down the board.
#include <cstdio>

// warpwright: alive: in uint8[height * width] integers 0..2
__global__ void generation(const unsigned char *alive, unsigned char *next, int height, int width) {
  int y = threadIdx.x + blockIdx.x * blockDim.x;
  int x = threadIdx.y + blockIdx.y * blockDim.y;
  if (y < height && x < width) {
    int north = (y + height - 1) % height, south = (y + 1) % height;
    int west = (x + width - 1) % width, east = (x + 1) % width;
    int near = alive[north * width + west] + alive[north * width + x] +
               alive[north * width + east] + alive[y * width + west] + alive[y * width + east] +
               alive[south * width + west] + alive[south * width + x] + alive[south * width + east];
    next[y * width + x] = near == 3 || (near == 2 && alive[y * width + x]);
  }
}

int main() {
  const int height = 4096;
  const int width = 4096;
  unsigned char *alive, *next;
  cudaMalloc(&alive, height * width);
  cudaMalloc(&next, height * width);
  cudaMemset(alive, 1, height * width);
  generation<<<dim3((height + 7) / 8, (width + 7) / 8), dim3(8, 8)>>>(alive, next, height, width);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
