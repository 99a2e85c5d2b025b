// Gradient of a linear layer's weights, the transposed activations times the deltas, averaged over the batch.
#include <cstdio>

#define BATCH 4096
#define INPUTS 512
#define OUTPUTS 512

__global__ void weight_gradient(const float *activation, const float *delta, float *gradient,
                                int batch, int inputs, int outputs) {
  int in = blockIdx.y * blockDim.y + threadIdx.y;
  int out = blockIdx.x * blockDim.x + threadIdx.x;
  if (in >= inputs)
    return;
  if (out >= outputs)
    return;
  float g = 0.f;
  for (int b = 0; b < batch; b++)
    g += activation[b * inputs + in] * delta[b * outputs + out];
  gradient[in * outputs + out] = g / batch;
}

int main() {
  float *activation, *delta, *gradient;
  cudaMalloc(&activation, BATCH * INPUTS * sizeof(float));
  cudaMalloc(&delta, BATCH * OUTPUTS * sizeof(float));
  cudaMalloc(&gradient, INPUTS * OUTPUTS * sizeof(float));
  dim3 threads(16, 4);
  dim3 blocks((OUTPUTS + 15) / 16, (INPUTS + 3) / 4);
  weight_gradient<<<blocks, threads>>>(activation, delta, gradient, BATCH, INPUTS, OUTPUTS);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
