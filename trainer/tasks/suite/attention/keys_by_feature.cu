// A cache of keys turned so that each feature is a row, and scaled on the way.
#include <cstdio>

#define SCALE 0.0883883476f

__global__ void keys_by_feature(const float *key, float *turned, int positions, int features) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  int p = blockIdx.y * blockDim.y + threadIdx.y;
  if (f >= features || p >= positions)
    return;
  turned[f * positions + p] = key[p * features + f] * SCALE;
}

int main() {
  const int positions = 32768;
  const int features = 512;
  float *key, *turned;
  cudaMalloc(&key, sizeof(float) * positions * features);
  cudaMalloc(&turned, sizeof(float) * positions * features);
  dim3 grid((features + 31) / 32, (positions + 31) / 32);
  keys_by_feature<<<grid, dim3(32, 32)>>>(key, turned, positions, features);
  cudaDeviceSynchronize();
}
