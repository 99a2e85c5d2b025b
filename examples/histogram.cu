// How often each byte value occurs in 16 MiB: one global atomicAdd a byte, all on the same 256 counters.
//
//   nvcc -O3 histogram.cu -o histogram && ./histogram
//   warpwright optimize histogram.cu
#include <cstdio>
#include <vector>

#define BINS 256

__global__ void histogram(const unsigned char *data, unsigned int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[data[i]], 1u);
}

int main() {
  const int n = 1 << 24;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i)
    data[i] = ((i * 2654435761u) >> 24) & ((i * 40503u) >> 8);

  unsigned char *d_data;
  unsigned int *d_bins;
  cudaMalloc(&d_data, n);
  cudaMalloc(&d_bins, BINS * sizeof(unsigned int));
  cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, BINS * sizeof(unsigned int));

  histogram<<<(n + 255) / 256, 256>>>(d_data, d_bins, n);

  unsigned int bins[BINS];
  cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("histogram: %s\n", cudaGetErrorString(error));
    return 1;
  }

  unsigned long long checksum = 0;
  for (int i = 0; i < BINS; ++i)
    checksum += (unsigned long long)bins[i] * (i + 1);
  printf("histogram: checksum %llu\n", checksum);
  cudaFree(d_data);
  cudaFree(d_bins);
  return 0;
}
