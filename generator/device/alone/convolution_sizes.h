// Sizes of a convolution, and its call, for the files here that compile a kind of arithmetic each. Behind convolution.cuh.
#pragma once

using namespace warpwright_convolution;

template <Fetch kHow, int kOwnGroupIn, bool kGathers, int kOwnParts> struct ConvolutionSizes {
  static constexpr int kThreads = 128, kPixels = 128, kChannels = 32, kDepth = 16;
  static constexpr int kWarpPixels = 32, kWarpChannels = 32, kParts = kOwnParts, kGather = kGathers, kPhases = 1, kTaps = 9;
  static constexpr int kRows = 9 * kOwnGroupIn, kColumnBlocks = 1, kPaddedOut = 32, kAllPixels = 3600, kTableAt = 16384;
  static constexpr int kLeavesD = 0, kLeavesH = 1, kLeavesW = 1, kStrideW = 1;
  static constexpr int kBatch = 4, kGroupIn = kOwnGroupIn, kGroupOut = 30, kChannelsIn = kGroupIn, kChannelsOut = 30;
  static constexpr int kTransposed = kGathers, kInD = 1, kInH = 30, kInW = 30, kKernelD = 1, kKernelH = 3, kKernelW = 3;
  static constexpr int kInputStepD = 1, kInputStepH = 1, kInputStepW = 1, kOutputStepD = 1, kOutputStepH = 1, kOutputStepW = 1;
  static constexpr int kCountD = 1, kCountH = 30, kCountW = 30;
  static constexpr Fetch kFetch = kHow;
};

__constant__ Phase phases[1];
__constant__ Tap taps[9];

template <typename C, template <typename> class Math>
__device__ void convolution(const float *packed, const float *input, float *partial, float *out) {
  const auto load = [&](int n, int channel, int d, int h, int w) {
    return input[((n * C::kGroupIn + channel) * C::kInH + h + d) * C::kInW + w];
  };
  const auto finish = [&](int n, int channel, int od, int oh, int ow, float sum) {
    out[((n * 30 + channel) * 30 + oh + od) * 30 + ow] = sum;
  };
  multiply<C, Math<C>>(phases, taps, packed, input, partial, load, finish);
}
