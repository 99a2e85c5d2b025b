// Energy of a signal: squares into shared memory, a tree, one atomic for each block of 512 samples.
#include <cuda_runtime.h>

constexpr int kBlock = 512;

// warpwright: energy: inout float[1]
__global__ void signal_energy(const float *samples, float *energy, int count) {
  __shared__ float cache[kBlock];
  const int lane = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cache[lane] = i < count ? samples[i] * samples[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (lane < half)
      cache[lane] += cache[lane + half];
    __syncthreads();
  }
  if (lane == 0)
    atomicAdd(energy, cache[0]);
}

int main() {
  const int count = 10000000;
  float *samples = nullptr, *energy = nullptr;
  cudaMalloc(&samples, sizeof(float) * count);
  cudaMalloc(&energy, sizeof(float));
  cudaMemset(energy, 0, sizeof(float));
  signal_energy<<<(count + kBlock - 1) / kBlock, kBlock>>>(samples, energy, count);
  cudaDeviceSynchronize();
}
