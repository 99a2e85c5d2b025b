// sm_80 sm_90a sm_100a sm_120
#include "../convolution_direct.cuh"

using namespace warpwright_direct;

template <bool kMemory, bool kStraightCode, bool kDepths, int kAlong> struct ConvolutionDirectSizes {
  static constexpr int kThreads = 128, kPixels = 2, kColumns = 8, kTogether = kAlong, kColumnBlocks = 2, kParts = 1;
  static constexpr int kInMemory = kMemory, kWhole = kAlong > 1, kDeep = kDepths, kUnroll = 2, kStraight = kStraightCode, kMasks = kMemory;
  static constexpr int kManyHeights = 1, kHeightCount = 1, kBitCount = 2, kLeavesD = kDepths, kLeavesH = 1, kLeavesW = 1;
  static constexpr int kDilationH = 1, kDilationW = 1, kPaddingH = 1, kPaddingW = 1;
  static constexpr int kBatch = 2, kGroupIn = 3, kGroupOut = 16, kChannelsIn = 3, kChannelsOut = 16, kTransposed = kAlong > 1, kOutW = 32;
  static constexpr int kInD = 1, kInH = 32, kInW = 32, kKernelD = 1, kKernelH = 3, kKernelW = 3;
  static constexpr int kInputStepD = 1, kInputStepH = 1, kInputStepW = 1, kOutputStepD = 1, kOutputStepH = 1, kOutputStepW = 1;
  static constexpr int kCountD = 1, kCountH = 32, kCountW = 32;
  static constexpr int kHeights[][3] = {{0, 0, 2}};
  static constexpr int kSteps[][5] = {{-1, 0, 1, 0, 1}, {0, 1, 2, 1, 3}};
  static constexpr int kProducts[][2] = {{0, 0}, {0, 4}, {kAlong - 1, 5}};
  static constexpr int kBits[][2] = {{1, -1}, {2, 1}};
};

__constant__ Part parts[1];
__constant__ Depth depths[1];

template <typename C> __device__ void convolution(const float *input, const float *weights, float *out) {
  const auto load = [&](int n, int channel, int d, int h, int w) { return input[((n * 3 + channel) * 32 + h + d) * 32 + w]; };
  const auto weight = [&](int o, int i, int d, int h, int w) { return weights[((o * 3 + i) * 3 + h + d) * 3 + w]; };
  const auto finish = [&](int n, int channel, int od, int oh, int ow, const auto &sums) {
    if constexpr (C::kWhole)
      out[((n * 16 + channel) * 32 + oh + od) * 32 + ow] = sums[0] + sums[1];
    else
      out[((n * 16 + channel) * 32 + oh + od) * 32 + ow] = sums;
  };
  multiply<C>(parts, depths, input, load, weight, finish);
}

__global__ void __launch_bounds__(128) from_memory(const float *input, const float *weights, float *out) {
  convolution<ConvolutionDirectSizes<true, true, false, 1>>(input, weights, out);
}
__global__ void __launch_bounds__(128) computed(const float *input, const float *weights, float *out) {
  convolution<ConvolutionDirectSizes<false, true, true, 2>>(input, weights, out);
}
__global__ void __launch_bounds__(128) by_lines(const float *input, const float *weights, float *out) {
  convolution<ConvolutionDirectSizes<false, false, true, 1>>(input, weights, out);
}
