// sm_90a
#include "../tf32.cuh"
#include "../wgmma_tf32.cuh"

#include "../convolution_tiles.cuh"
#include "../convolution_tiles_wgmma.cuh"
#include "tile_sizes.h"

__global__ void packed_weights(const float *from, float *packed) {
  pack<TileSizes<true, 1>, Split<TileSizes<true, 1>>>(phases, taps, packed, [&](int o, int i, int d, int h, int w) { return from[o + i + d + h + w]; });
}
__global__ void __launch_bounds__(128) from_memory_Wgmma(const float *packed, const float *input, float *out) {
  convolution<TileSizes<true, 1>, Wgmma>(packed, input, out);
}
__global__ void __launch_bounds__(128) computed_Wgmma(const float *packed, const float *input, float *out) {
  convolution<TileSizes<false, 2>, Wgmma>(packed, input, out);
}
__global__ void __launch_bounds__(128) from_memory_Split(const float *packed, const float *input, float *out) {
  convolution<TileSizes<true, 1>, Split>(packed, input, out);
}
__global__ void __launch_bounds__(128) computed_Split(const float *packed, const float *input, float *out) {
  convolution<TileSizes<false, 2>, Split>(packed, input, out);
}
