// A picture made half as large: the mean of 2 x 2 pixels, x down the picture, a division by a double.
#include <cstdio>

// warpwright: picture: in float[4 * tall * wide]
__global__ void thumbnail(const float *picture, float *small, int tall, int wide) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  if (y >= tall || x >= wide)
    return;
  const int top = 2 * y * (2 * wide) + 2 * x;
  const int bottom = top + 2 * wide;
  small[y * wide + x] =
      (picture[top] + picture[top + 1] + picture[bottom] + picture[bottom + 1]) / 4.0;
}

int main() {
  const int tall = 2160;
  const int wide = 3840;
  float *picture, *small;
  cudaMalloc(&picture, 4 * tall * wide * sizeof(float));
  cudaMalloc(&small, tall * wide * sizeof(float));
  dim3 threads(32, 8);
  dim3 blocks((tall + 31) / 32, (wide + 7) / 8);
  thumbnail<<<blocks, threads>>>(picture, small, tall, wide);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
