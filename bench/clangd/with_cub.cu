// Input of edit_latency.py: a CUDA file behind heavy headers.
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

template <int Block>
__global__ void block_sums(const float *x, float *sums, int n) {
  using Reduce = cub::BlockReduce<float, Block>;
  __shared__ typename Reduce::TempStorage storage;
  int i = blockIdx.x * Block + threadIdx.x;
  float total = Reduce(storage).Sum(i < n ? x[i] : 0.0f);
  if (threadIdx.x == 0)
    sums[blockIdx.x] = total;
}

__global__ void halve(const __half *x, __half *y, int n) {
  auto block = cg::this_thread_block();
  int i = block.group_index().x * blockDim.x + block.thread_rank();
  if (i < n)
    y[i] = __hmul(x[i], __float2half(0.5f));
}

void run(const float *x, float *sums, const __half *h, __half *g, int n, cudaStream_t stream) {
  block_sums<256><<<(n + 255) / 256, 256, 0, stream>>>(x, sums, n);
  halve<<<(n + 255) / 256, 256, 0, stream>>>(h, g, n);
}
