// The recurrence h = sigmoid(a) h + b over time for every channel of a time-major sequence, constants in double, a warp a block.
#include <cstdlib>

__global__ void recurrence(const float *a, const float *b, float *h, int time, int channels) {
  int channel = threadIdx.x + blockDim.x * blockIdx.x;
  if (channel >= channels)
    return;
  float state = 0.0f;
  for (int t = 0; t < time; ++t) {
    float gate = 1.0 / (1.0 + expf(-a[t * channels + channel]));
    state = gate * state + b[t * channels + channel];
    h[t * channels + channel] = state;
  }
}

int main(int argc, char **argv) {
  const int time = 512;
  const int channels = 16384;
  size_t bytes = sizeof(float) * time * channels;
  float *a, *b, *h;
  cudaMalloc(&a, time * channels * sizeof(float));
  cudaMalloc(&b, time * channels * sizeof(float));
  cudaMalloc(&h, time * channels * sizeof(float));
  cudaMemset(a, 0, bytes);
  cudaMemset(b, 0, bytes);
  recurrence<<<(channels + 31) / 32, 32>>>(a, b, h, time, channels);
  cudaDeviceSynchronize();
  return EXIT_SUCCESS;
}
