// sm_80 sm_90a sm_100a sm_120
// The interface of all headers mma_NAME.cuh. HEADER and SPACE name one and its namespace.
#include HEADER

namespace {

// @tparam kVector above 0: addresses are copied from; below: values are given
template <int kVector, int kWide, int kCluster> __device__ void product(const float *a, const float *b, float *c) {
  const auto address = [&](int row, int k) { return a + row * 256 + k; };
  const auto values = [&](int row, int k, float (&given)[4]) {
    for (int i = 0; i < 4; ++i)
      given[i] = b[row * 256 + k + i];
  };
  const auto store = [&](int row, int column, const float (&given)[kWide]) { c[row * 256 + column] = given[0]; };
  const auto again = [&](int row, int column, float (&given)[kWide]) { given[0] = c[row + column]; };
  using Tile = SPACE::Tile<64, 64, 32, 32, 32, 3, true, kVector, true, -4, kCluster>;
  Tile::template run<kWide>(0, 64, 0, 64, 0, 256, address, values, store, again);
}

} // namespace

__global__ void tile(const float *a, const float *b, float *c) {
  product<4, 4, 1>(a, b, c);
  product<1, 1, 1>(a, b, c);
}
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2) tile_of_cluster(const float *a, const float *b, float *c) {
  product<4, 4, 2>(a, b, c);
}
#endif

__global__ void fragments(const unsigned (*a)[4], const unsigned (*b)[2], float (*sum)[4]) {
  SPACE::multiply(sum[threadIdx.x], a[threadIdx.x], b[threadIdx.x]);
}
