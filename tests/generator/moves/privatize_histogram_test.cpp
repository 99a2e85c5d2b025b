// privatize_histogram: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("privatize_histogram: a block counts in shared memory") {
  check_move(R"cuda(__global__ void ^hist(const int *keys, unsigned int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(&counts[keys[i]], 1u);
}
void run(int n, int *k, unsigned int *c) { hist<<<(n + 255) / 256, 256>>>(k, c, n); }
)cuda",
             "privatize_histogram(bins=1024)",
             R"cuda(__global__ void hist(const int *keys, unsigned int *counts, int n) {
  __shared__ unsigned int private_bins[1024];
  for (int bin = threadIdx.x; bin < 1024; bin += blockDim.x)
    private_bins[bin] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {
      const auto bin = keys[i];
      if (bin >= 0 && bin < 1024)
        atomicAdd(&private_bins[bin], 1u);
      else
        atomicAdd(&counts[bin], 1u);
    }
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 1024; bin += blockDim.x)
    if (private_bins[bin] != 0)
      atomicAdd(&counts[bin], private_bins[bin]);
}
void run(int n, int *k, unsigned int *c) { hist<<<(n + 255) / 256, 256>>>(k, c, n); }
)cuda");
}

TEST_CASE("privatize_histogram: a used result is refused") {
  check_refused(R"cuda(__global__ void ^hist(const int *keys, unsigned int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned int old = atomicAdd(&counts[keys[i]], 1u);
}
void run(int n, int *k, unsigned int *c) { hist<<<(n + 255) / 256, 256>>>(k, c, n); }
)cuda",
                "privatize_histogram(bins=256)", "the result of the atomicAdd is used");
}

TEST_CASE("privatize_histogram: one address for all is refused") {
  check_refused(R"cuda(__global__ void ^count(const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (x[i] > 0)
      atomicAdd(out, 1);
  }
}
void run(int n, float *x, int *out) { count<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda",
                "privatize_histogram(bins=256)", "the atomicAdd has one address for all threads");
}
