// Each track of a recording through the same 16 taps, samples already padded; the thread's x is the track.
#include <cstdio>

#define TAPS 16

// warpwright: padded: in float[tracks * (samples + 16)]
__global__ void echo(const float *padded, const float *tap, float *heard, int tracks, int samples) {
  int track = blockIdx.x * blockDim.x + threadIdx.x;
  int s = blockIdx.y * blockDim.y + threadIdx.y;
  if (track < tracks && s < samples) {
    float sum = 0.0;
    for (int k = 0; k < TAPS; k++)
      sum += tap[k] * padded[track * (samples + TAPS) + s + k];
    heard[track * samples + s] = 0.5 * sum;
  }
}

int main() {
  const int tracks = 256;
  const int samples = 16384;
  float *padded, *tap, *heard;
  cudaMalloc(&padded, tracks * (samples + TAPS) * sizeof(float));
  cudaMalloc(&tap, TAPS * sizeof(float));
  cudaMalloc(&heard, tracks * samples * sizeof(float));
  dim3 block(8, 32);
  dim3 grid((tracks + 7) / 8, (samples + 31) / 32);
  echo<<<grid, block>>>(padded, tap, heard, tracks, samples);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
