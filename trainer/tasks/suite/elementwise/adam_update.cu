// A step of Adam with double constants and blocks of one warp; the bias correction is done outside.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
  if ((call) != cudaSuccess)                                                                       \
  exit(1)

// warpwright: second: inout float[count] positive
__global__ void adam(float *weight, const float *grad, float *first, float *second, int count) {
  const unsigned id = threadIdx.x + blockIdx.x * blockDim.x;
  if (id >= count)
    return;
  const float g = grad[id];
  first[id] = 0.9 * first[id] + 0.1 * g;
  second[id] = 0.999 * second[id] + 0.001 * g * g;
  weight[id] = weight[id] - 0.001 * first[id] / (sqrt(second[id]) + 1e-6);
}

int main() {
  const int count = 4194304;
  float *weight, *grad, *first, *second;
  CHECK(cudaMalloc((void **)&weight, count * sizeof(float)));
  CHECK(cudaMalloc((void **)&grad, count * sizeof(float)));
  CHECK(cudaMalloc((void **)&first, count * sizeof(float)));
  CHECK(cudaMalloc((void **)&second, count * sizeof(float)));
  adam<<<(count + 31) / 32, 32>>>(weight, grad, first, second, count);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
