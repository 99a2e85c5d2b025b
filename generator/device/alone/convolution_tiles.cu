// sm_80 sm_90a sm_100a sm_120
#include "../convolution_tiles.cuh"
#include "tile_sizes.h"

__global__ void packed_weights(const float *from, float *packed) {
  pack<TileSizes<true, 1>, Scalar<TileSizes<true, 1>>>(phases, taps, packed, [&](int o, int i, int d, int h, int w) { return from[o + i + d + h + w]; });
}
__global__ void __launch_bounds__(128) from_memory_Scalar(const float *packed, const float *input, float *out) {
  convolution<TileSizes<true, 1>, Scalar>(packed, input, out);
}
__global__ void __launch_bounds__(128) computed_Scalar(const float *packed, const float *input, float *out) {
  convolution<TileSizes<false, 2>, Scalar>(packed, input, out);
}
