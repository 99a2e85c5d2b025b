// Sizes of convolution tiles, and their call, for the files here that compile a kind of arithmetic each. Behind convolution_tiles.cuh.
#pragma once

using namespace warpwright_tiles;

template <bool kMemory, int kAlong> struct TileSizes {
  static constexpr int kThreads = 128, kPositions = 128, kWidth = 16, kColumns = 16, kFragments = 2, kTogether = kAlong;
  static constexpr int kLine = 18, kPlane = 200, kRows = 10, kStage = 4096, kFirstRow = -1, kFirstColumn = -1;
  static constexpr int kColumnBlocks = 1, kChunks = 2, kParts = 1, kHeightPhases = kAlong, kInMemory = kMemory, kWhole = kAlong > 1;
  static constexpr int kBatch = 2, kGroupIn = 12, kGroupOut = 16, kChannelsIn = 12, kChannelsOut = 16, kTransposed = 0, kOutW = 32;
  static constexpr int kInD = 1, kInH = 32, kInW = 32, kKernelD = 1, kKernelH = 3, kKernelW = 3;
  static constexpr int kInputStepD = 1, kInputStepH = 1, kInputStepW = 1, kOutputStepD = 1, kOutputStepH = 1, kOutputStepW = 1;
  static constexpr int kCountD = 1, kCountH = 32, kCountW = 32;
  static constexpr long long kWeights = 4096;
  static constexpr int kTaps[][2] = {{0, 0}, {1, 0}, {1, kAlong - 1}, {18, 0}};
  static constexpr int kPhaseEnds[] = {0, 2, 4};
};

__constant__ Part parts[1];
__constant__ Depth depths[1];
__constant__ HeightPhase phases[2];
__constant__ Tap taps[4];

template <typename C, template <typename> class Math>
__device__ void convolution(const float *packed, const float *input, float *out) {
  const auto load = [&](int n, int channel, int d, int h, int w) { return input[((n * 12 + channel) * 32 + h + d) * 32 + w]; };
  const auto finish = [&](int n, int channel, int od, int oh, int ow, const auto &sums) {
    if constexpr (C::kWhole)
      out[((n * 16 + channel) * 32 + oh + od) * 32 + ow] = sums[0] + sums[1];
    else
      out[((n * 16 + channel) * 32 + oh + od) * 32 + ow] = sums;
  };
  multiply<C, Math<C>>(parts, depths, phases, packed, input, load, finish);
}
