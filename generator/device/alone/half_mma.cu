// sm_80 sm_90a sm_100a sm_120
#include "../half_mma.cuh"

template <bool kBFloat16> __device__ void product(const uint4 *a, float *c) {
  __shared__ uint4 tile[2][32];
  warpwright_mma::copy_16(&tile[0][threadIdx.x], a + threadIdx.x, threadIdx.x < 16);
  warpwright_mma::commit_copies();
  warpwright_mma::wait_copies<0>();
  __syncthreads();
  unsigned left[4], right[4];
  warpwright_mma::load_matrices(left, &tile[0][threadIdx.x]);
  warpwright_mma::load_transposed(right, &tile[1][threadIdx.x]);
  float sum[4] = {};
  warpwright_mma::multiply<kBFloat16>(sum, left, right[0], right[1]);
  c[threadIdx.x] = warpwright_mma::power_of_two(sum[0]) +
                   static_cast<float>(warpwright_mma::pair_of<kBFloat16>(sum[1], sum[2]));
}

__global__ void halves(const uint4 *a, float *c) { product<false>(a, c); }
__global__ void bfloat16s(const uint4 *a, float *c) { product<true>(a, c); }
