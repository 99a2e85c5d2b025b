// sm_80 sm_90a sm_100a sm_120
#include "../product_tiles.cuh"

__global__ void product_tiles(float *partial) {
  const warpwright_tiles::Item item = warpwright_tiles::item_of(20, 3, 2, 4, blockIdx.x);
  const float values[4] = {1, 2, 3, 4};
  warpwright_tiles::keep(partial, 2, 64, 64, item.split, item.batch, item.tile_m, item.tile_n * 4 + item.rank, values);
}

template <typename T, int kWide> __device__ void sum(const T *partial, T *to) {
  warpwright_tiles::add<kWide, 3>(2, 64, 64, partial, [&](int batch, int row, int column, const T(&values)[kWide]) {
    to[batch + row + column] = values[kWide - 1];
  });
}
__global__ void sum_floats(const float *partial, float *to) { sum<float, 4>(partial, to); }
__global__ void sum_integers(const long long *partial, long long *to) { sum<long long, 1>(partial, to); }
