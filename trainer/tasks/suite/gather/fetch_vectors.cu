// Vectors of a codebook fetched by code, one thread a code, which copies all 32 values by itself and scales them.
#include <cstdio>

constexpr int kWidth = 32;

// warpwright: items = 200000, entries = 8192, check items = 3 entries = 10
// warpwright: code: in int[items] integers 0..entries, book: in float[entries * 32]
__global__ void fetch(const int *code, const float *book, float *out, int items) {
  int item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= items)
    return;
  int entry = code[item];
  for (int d = 0; d < kWidth; d++)
    out[item * kWidth + d] = book[entry * kWidth + d] * 0.5;
}

void fetch_all(const int *code, const float *book, float *out, int items, int entries) {
  fetch<<<(items + 511) / 512, 512>>>(code, book, out, items);
  if (cudaGetLastError() != cudaSuccess)
    printf("fetch failed\n");
}
