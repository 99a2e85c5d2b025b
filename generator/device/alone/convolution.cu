// sm_80 sm_90a sm_100a sm_120
#include "../convolution.cuh"
#include "convolution_sizes.h"

using Blocks = ConvolutionSizes<Fetch::OneTap, 32, false, 1>;

__global__ void pack_rows(const float *from, float *packed) {
  pack<Blocks, Scalar<Blocks>>(phases, taps, packed, [&](int o, int i, int d, int h, int w) { return from[o + i + d + h + w]; });
}
__global__ void pack_in_blocks(const float *from, float *packed) {
  pack_blocks<Blocks, Scalar<Blocks>, 32>(taps, packed, [&](int o, int i, int d, int h, int w) { return from[o + i + d + h + w]; });
}
__global__ void __launch_bounds__(128) one_tap(const float *packed, const float *input, float *out) {
  convolution<Blocks, Scalar>(packed, input, nullptr, out);
}
__global__ void __launch_bounds__(128) gathered(const float *packed, const float *input, float *out) {
  convolution<ConvolutionSizes<Fetch::AnyTap, 12, true, 1>, Scalar>(packed, input, nullptr, out);
}
__global__ void __launch_bounds__(128) from_memory(const float *packed, const float *input, float *partial) {
  convolution<ConvolutionSizes<Fetch::OneTapInMemory, 32, false, 2>, Scalar>(packed, input, partial, nullptr);
}
__global__ void __launch_bounds__(128) by_table(const float *packed, const float *input, float *out) {
  convolution<ConvolutionSizes<Fetch::Table, 12, false, 1>, Scalar>(packed, input, nullptr, out);
}
__global__ void joined(const float *partial, float *out) {
  join<ConvolutionSizes<Fetch::OneTapInMemory, 32, false, 2>>(partial, [&](int n, int channel, int od, int oh, int ow, float sum) {
    out[((n * 30 + channel) * 30 + oh + od) * 30 + ow] = sum;
  });
}
