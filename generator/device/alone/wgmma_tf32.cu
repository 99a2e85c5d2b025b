// sm_90a
#include "../wgmma_tf32.cuh"

using namespace warpwright_convolution;

template <int kColumns> __device__ void product(const float *from, float *to) {
  __shared__ __align__(128) float tile[kColumns * 8];
  copy_16(tile, from);
  copy_4(tile + 4, from, threadIdx.x < 4);
  copied();
  __syncthreads();
  float sums[1][kColumns / 2] = {}, a[4] = {from[0], from[1], from[2], from[3]};
  float4 four[1][2] = {};
  pin(four);
  pin(a);
  pin(sums);
  begin_products();
  multiply_add<kColumns>(sums[0], a, describe(tile));
  finish_products();
  pin(sums);
  to[threadIdx.x] = sums[0][0];
}

__global__ void __launch_bounds__(128) columns_16(const float *from, float *to) { product<16>(from, to); }
__global__ void __launch_bounds__(128) columns_32(const float *from, float *to) { product<32>(from, to); }
__global__ void __launch_bounds__(128) columns_48(const float *from, float *to) { product<48>(from, to); }
__global__ void __launch_bounds__(128) columns_64(const float *from, float *to) { product<64>(from, to); }
__global__ void __launch_bounds__(128) columns_96(const float *from, float *to) { product<96>(from, to); }
__global__ void __launch_bounds__(128) columns_128(const float *from, float *to) { product<128>(from, to); }
