// A byte image turned over its diagonal and inverted, in blocks of 32 x 32.
#include <cstdint>
#include <cstdio>

__global__ void flip_diagonal(const uint8_t *src, uint8_t *dst, int w, int h) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px < w && py < h)
    dst[px * h + py] = 255 - src[py * w + px];
}

int main() {
  const int w = 6000;
  const int h = 4000;
  uint8_t *src, *dst;
  cudaMalloc(&src, w * h);
  cudaMalloc(&dst, w * h);
  flip_diagonal<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 32)>>>(src, dst, w, h);
  if (cudaDeviceSynchronize() != cudaSuccess)
    fprintf(stderr, "failed\n");
  cudaFree(src);
  cudaFree(dst);
}
