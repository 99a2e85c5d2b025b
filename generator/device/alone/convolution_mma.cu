// sm_80 sm_90a sm_100a sm_120
#include "../tf32.cuh"

#include "../convolution.cuh"
#include "../convolution_mma.cuh"
#include "convolution_sizes.h"

using Plain = ConvolutionSizes<Fetch::OneTapInMemory, 32, false, 1>;

__global__ void packed_weights(const float *from, float *packed) {
  pack<Plain, Mma<Plain>>(phases, taps, packed, [&](int o, int i, int d, int h, int w) { return from[o + i + d + h + w]; });
}
__global__ void __launch_bounds__(128) products(const float *packed, const float *input, float *out) {
  convolution<Plain, Mma>(packed, input, nullptr, out);
}
