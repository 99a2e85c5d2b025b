// Bytes mapped through a table of 256 floats that is read from global memory.
#include <cstdio>

// warpwright: table: in float[256]
__global__ void lookup_table(const unsigned char *codes, const float *table, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[codes[i]];
}

int main() {
  const int n = 16000000;
  unsigned char *codes;
  float *table, *out;
  cudaMalloc(&codes, n);
  cudaMalloc(&table, 256 * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  lookup_table<<<(n + 255) / 256, 256>>>(codes, table, out, n);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
