// sm_90a
#include "../tf32.cuh"
#include "../wgmma_tf32.cuh"

#include "../convolution.cuh"
#include "../convolution_wgmma.cuh"
#include "convolution_sizes.h"

using Plain = ConvolutionSizes<Fetch::OneTapInMemory, 32, false, 1>;

__global__ void packed_weights(const float *from, float *packed) {
  pack<Plain, Split<Plain>>(phases, taps, packed, [&](int o, int i, int d, int h, int w) { return from[o + i + d + h + w]; });
}
__global__ void __launch_bounds__(128) rounded(const float *packed, const float *input, float *out) {
  convolution<Plain, Wgmma>(packed, input, nullptr, out);
}
__global__ void __launch_bounds__(128) split(const float *packed, const float *input, float *out) {
  convolution<Plain, Split>(packed, input, nullptr, out);
}
