// combine_atomics: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("combine_atomics: atomics at one address are combined over the active threads of a warp") {
  check_move(R"cuda(__global__ void ^count(const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n; i += 4096)
    if (x[i] > 0)
      atomicAdd(&out[1], int(x[i]));
}
void run(int n, float *x, int *out) { count<<<16, 256>>>(x, out, n); }
)cuda",
             "combine_atomics(kind=warp)",
             R"cuda(__global__ void count(const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n; i += 4096)
    if (x[i] > 0)
      {
        int *const place = &out[1];
        int own = int(x[i]);
        const unsigned lane = threadIdx.x % 32;
        const unsigned peers = __activemask();
        unsigned rank = __popc(peers & ((1u << lane) - 1));
        const bool is_first = rank == 0;
        for (unsigned above = peers & (0xfffffffeu << lane); __any_sync(peers, above != 0); rank >>= 1) {
          const unsigned next = above != 0 ? __ffs(above) - 1 : lane;
          const int other = __shfl_sync(peers, own, next);
          if (above != 0)
            own = own + other;
          above &= __ballot_sync(peers, (rank & 1) == 0);
        }
        if (is_first)
          atomicAdd(place, own);
        __syncwarp(peers);
      }
}
void run(int n, float *x, int *out) { count<<<16, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("combine_atomics: atomics at addresses from data are combined where these are equal") {
  check_move(R"cuda(__global__ void ^largest(const int *keys, const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
  if (i < n && lane != 3)
    atomicMax(out + keys[i], x[i] > 0);
}
void run(int n, int *keys, float *x, int *out) { largest<<<(n + 31) / 32, dim3(8, 4)>>>(keys, x, out, n); }
)cuda",
             "combine_atomics(kind=peers)",
             R"cuda(__global__ void largest(const int *keys, const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
  if (i < n && lane != 3)
    {
      int *const place = out + keys[i];
      int own = x[i] > 0;
      const unsigned lane_ = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
      const unsigned peers = __match_any_sync(__activemask(), (unsigned long long)place);
      unsigned rank = __popc(peers & ((1u << lane_) - 1));
      const bool is_first = rank == 0;
      for (unsigned above = peers & (0xfffffffeu << lane_); __any_sync(peers, above != 0); rank >>= 1) {
        const unsigned next = above != 0 ? __ffs(above) - 1 : lane_;
        const int other = __shfl_sync(peers, own, next);
        if (above != 0)
          own = own < other ? other : own;
        above &= __ballot_sync(peers, (rank & 1) == 0);
      }
      if (is_first)
        atomicMax(place, own);
      __syncwarp(peers);
    }
}
void run(int n, int *keys, float *x, int *out) { largest<<<(n + 31) / 32, dim3(8, 4)>>>(keys, x, out, n); }
)cuda");
}

TEST_CASE("combine_atomics: a minimum is written only where it is lower, also by the program's own function") {
  check_move(R"cuda(__device__ float atomicMin(float *at, float value);
__global__ void ^lowest(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicMin(out, x[i]);
  }
}
void run(int n, float *x, float *out) { lowest<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda",
             "combine_atomics(kind=test)",
             R"cuda(__device__ float atomicMin(float *at, float value);
__global__ void lowest(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {
      float *const place = out;
      const float own = x[i];
      if (own < *place)
        atomicMin(place, own);
    }
  }
}
void run(int n, float *x, float *out) { lowest<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("combine_atomics: a maximum of an array that the kernel also uses otherwise is not tested first") {
  check_refused(R"cuda(__global__ void ^highest(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicMax(out, x[i]);
  if (i == n)
    out[0] = 0;
}
void run(int n, int *x, int *out) { highest<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda",
                "combine_atomics(kind=test)", "these parameters are not among the legal ones");
}

TEST_CASE("combine_atomics: atomics of one thread, with used results and at a thread's own element are refused") {
  check_refused(R"cuda(__global__ void ^sums(const float *x, float *out, int *next, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    atomicAdd(out, x[i]);
  atomicAdd(&out[i + 1], x[i]);
  int at = atomicAdd(next, 1);
  out[at] = 0;
}
void run(int n, float *x, float *out, int *next) { sums<<<(n + 255) / 256, 256>>>(x, out, next, n); }
)cuda",
                "combine_atomics(kind=warp)",
                "no atomic with an unused result may meet others of its warp at one address");
}
