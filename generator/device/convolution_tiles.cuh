// Convolution with a block's input once in shared memory: a block makes a rectangle of positions
// and C::kColumns output channels.
//
// The input of eight channels and one depth of the filter, with the rim that the filter reaches,
// comes into shared memory as it lies (copied while the step before is computed), and every tap
// reads it there at an offset of its own, in straight code. Weights are packed first, the taps of a
// step in one piece. A transposed convolution makes all phases of the last dimension together
// (kTogether); other phases are blocks of their own. Sums leave through shared memory, so that
// neighbouring threads store neighbouring positions.
//
// A configuration C says the sizes and, in kTaps and kPhaseEnds, the taps of each phase of heights
// (generator/families/convolution/tile_convolution.cpp writes it). A Math multiplies and copies:
// Scalar<C> here, Tensor<C> in convolution_tiles_wgmma.cuh.
#ifndef WARPWRIGHT_CONVOLUTION_TILES
#define WARPWRIGHT_CONVOLUTION_TILES

namespace warpwright_tiles {

// Phases that a block makes: first depth and height, counts of positions, phase of heights, depths
// of the filter, tiles.
struct Part {
  int first[2], count[3], height_phase, first_depth, depths, tiles;
};
// A depth of the filter: offset of its input, place in the filter.
struct Depth {
  int offset, place;
};
// Taps of a phase of heights: those of phases before it, its own.
struct HeightPhase {
  int before, taps;
};
// Place of a tap in the filter.
struct Tap {
  int h, w;
};

// Place of an element of packed weights in its tile of eight inputs by kColumns, as wgmma reads it.
__device__ __forceinline__ int packed_place(int input, int column) {
  return column / 8 * 64 + input / 4 * 32 + column % 8 * 4 + input % 4;
}

// FP32 products on ordinary cores, a position a thread.
template <typename C> struct Scalar {
  static constexpr int kCopies = 1;
  const int at = (int)threadIdx.x / C::kWidth * (C::kInputStepH * C::kLine) + (int)threadIdx.x % C::kWidth * C::kInputStepW;
  float sums[C::kTogether][C::kColumns];

  static __device__ __forceinline__ void copy_16(float *to, const float *from) {
    for (int i = 0; i < 4; ++i)
      to[i] = from[i];
  }
  static __device__ __forceinline__ void copy_4(float *to, const float *from, bool there) {
    *to = there ? *from : 0;
  }
  static __device__ __forceinline__ void copied() {}
  static __device__ __forceinline__ void pack(float *tile, float value) { tile[0] = value; }

  __device__ __forceinline__ Scalar() {
#pragma unroll
    for (int i = 0; i < C::kTogether * C::kColumns; ++i)
      sums[i / C::kColumns][i % C::kColumns] = 0;
  }

  template <int kTap, int kEnd> __device__ __forceinline__ void multiply(const float *tile, const float *weights) {
    if constexpr (kTap < kEnd) {
      constexpr int kPlace = C::kTaps[kTap][0], kPhase = C::kTaps[kTap][1];
      for (int k = 0; k < 8; ++k) {
        const float x = tile[kPlace + at + k * C::kPlane];
#pragma unroll
        for (int n = 0; n < C::kColumns; ++n)
          sums[kPhase][n] += x * weights[packed_place(k, n)];
      }
      multiply<kTap + 1, kEnd>(tile, weights + 8 * C::kColumns);
    }
  }

  __device__ __forceinline__ void unload(float *shared) const {
#pragma unroll
    for (int i = 0; i < C::kTogether * C::kColumns; ++i)
      shared[i * (C::kPositions + 4) + threadIdx.x] = sums[i / C::kColumns][i % C::kColumns];
  }
};

// Packs the weights as (depth, eight inputs, tap, element), with zeros for channels beyond the
// last; an element a thread, neighbours reading neighbouring output channels. blockIdx.y is the
// phase of heights, blockIdx.z the group and the block of columns.
template <typename C, typename Math, typename Weight>
__device__ __forceinline__ void pack(const HeightPhase *phases, const Tap *all_taps, float *packed, Weight weight) {
  const int i = blockIdx.x * 256 + threadIdx.x, group = blockIdx.z / C::kColumnBlocks;
  const HeightPhase &phase = phases[blockIdx.y];
  const int taps = phase.taps;
  if (i >= C::kKernelD * C::kChunks * taps * 8 * C::kColumns)
    return;
  const int n = i % C::kColumns, k = i / C::kColumns % 8, slot = i / (8 * C::kColumns) % taps;
  const int step = i / (8 * C::kColumns * taps);
  const int from = step % C::kChunks * 8 + k, to = blockIdx.z % C::kColumnBlocks * C::kColumns + n;
  const Tap &tap = all_taps[phase.before + slot];
  const int tap_d = step / C::kChunks, tap_h = tap.h, tap_w = tap.w;
  float value = 0;
  if (from < C::kGroupIn && to < C::kGroupOut) {
    const int input_channel = C::kTransposed ? group * C::kGroupIn + from : from;
    const int output_channel = C::kTransposed ? to : group * C::kGroupOut + to;
    value = weight(output_channel, input_channel, tap_d, tap_h, tap_w);
  }
  Math::pack(packed + (long long)blockIdx.z * C::kWeights +
                 ((long long)phase.before * (C::kKernelD * C::kChunks) + (long long)step * taps + slot) *
                     (8 * C::kColumns * Math::kCopies) +
                 packed_place(k, n),
             value);
}

// Multiplies the taps of the block's phase of heights.
template <typename C, int kPhase = 0, typename Math>
__device__ __forceinline__ void multiply_phase(Math &math, int phase, const float *tile, const float *weights) {
  if constexpr (kPhase < C::kHeightPhases) {
    if (C::kHeightPhases == 1 || phase == kPhase)
      math.template multiply<C::kPhaseEnds[kPhase], C::kPhaseEnds[kPhase + 1]>(tile, weights);
    multiply_phase<C, kPhase + 1>(math, phase, tile, weights);
  }
}

// A block. The input lies in memory at `input` (C::kInMemory), or `load(n, channel, d, h, w)`
// computes an element of it. `finish(n, channel, od, oh, position)` stores results: all kTogether
// of a position at once where C::kWhole, else one at a time.
template <typename C, typename Math, typename Load, typename Finish>
__device__ __forceinline__ void multiply(const Part *parts, const Depth *depths, const HeightPhase *phases,
                                         const float *packed, const float *input, Load load, Finish finish) {
  constexpr int kThreads = C::kThreads, kPositions = C::kPositions, kWidth = C::kWidth, kHeight = kPositions / kWidth;
  constexpr int kN = C::kColumns, kLine = C::kLine, kPlane = C::kPlane;
  constexpr int kInD = C::kInD, kInH = C::kInH, kInW = C::kInW;
  constexpr int kTapWeights = 8 * kN * Math::kCopies;
  constexpr int kElements = 8 * kPlane, kLoads = (kElements + kThreads - 1) / kThreads;
  extern __shared__ __align__(128) float shared[];
  const Part &part = parts[blockIdx.z];
  constexpr bool kOne = C::kParts == 1;
  const int count_d = kOne ? C::kCountD : part.count[0], count_h = kOne ? C::kCountH : part.count[1];
  const int count_w = kOne ? C::kCountW : part.count[2];
  const int height_phase = part.height_phase, tiles_w = (count_w + kWidth - 1) / kWidth;
  const int tiles_h = (count_h + kHeight - 1) / kHeight;
  if (blockIdx.x >= part.tiles)
    return;
  int tile_index = blockIdx.x;
  const int first_qw = tile_index % tiles_w * kWidth;
  tile_index /= tiles_w;
  const int first_qh = tile_index % tiles_h * kHeight;
  tile_index /= tiles_h;
  const int qd = tile_index % count_d, n = tile_index / count_d;
  const int group = blockIdx.y / C::kColumnBlocks, column0 = blockIdx.y % C::kColumnBlocks * kN;
  const int h_first = first_qh * C::kInputStepH + C::kFirstRow, w_first = first_qw * C::kInputStepW + C::kFirstColumn;
  const int taps = phases[height_phase].taps;
  const float *const weights = packed + (long long)blockIdx.y * C::kWeights +
                               (long long)phases[height_phase].before * (C::kKernelD * C::kChunks * kTapWeights);
  // Places of this thread's elements of the block's input, from the first channel of a step on; -1:
  // outside.
  int places[C::kInMemory ? kLoads : 1];
  if constexpr (C::kInMemory) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int e = threadIdx.x + i * kThreads, c = e / kPlane, row = e % kPlane / kLine;
      const int h = h_first + row, w = w_first + e % kPlane % kLine;
      places[i] = e < kElements && row < C::kRows && h >= 0 && h < kInH && w >= 0 && w < kInW
                      ? (c * kInD * kInH + h) * kInW + w
                      : -1;
    }
  }
  Math math;
  auto fetch = [&](int step, int buffer) {
    const int chunk = step % C::kChunks;
    const Depth &depth = depths[part.first_depth + step / C::kChunks];
    const int d = qd * C::kInputStepD + depth.offset;
    const bool within = d >= 0 && d < kInD;
    float *const tile = shared + buffer * C::kStage;
    if constexpr (C::kInMemory) {
      const float *const source =
          input + (((long long)n * C::kChannelsIn + group * C::kGroupIn + chunk * 8) * kInD + (within ? d : 0)) * (kInH * kInW);
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const int e = threadIdx.x + i * kThreads;
        const bool there =
            within && places[i] >= 0 && (C::kGroupIn % 8 == 0 || chunk * 8 + e / kPlane < C::kGroupIn);
        if (kElements % kThreads == 0 || e < kElements)
          Math::copy_4(tile + e, there ? source + places[i] : input, there);
      }
    } else {
#pragma unroll 4
      for (int e = threadIdx.x; e < kElements; e += kThreads) {
        const int c = e / kPlane, row = e % kPlane / kLine, h = h_first + row, w = w_first + e % kPlane % kLine;
        float value = 0;
        if (within && chunk * 8 + c < C::kGroupIn && row < C::kRows && h >= 0 && h < kInH && w >= 0 && w < kInW)
          value = load(n, group * C::kGroupIn + chunk * 8 + c, d, h, w);
        tile[e] = value;
      }
    }
    const float *const from = weights + (long long)(depth.place * C::kChunks + chunk) * taps * kTapWeights;
    for (int e = threadIdx.x * 4; e < taps * kTapWeights; e += kThreads * 4)
      Math::copy_16(tile + kElements + e, from + e);
  };
  const int steps = part.depths * C::kChunks;
  if (steps > 0)
    fetch(0, 0);
  for (int step = 0; step < steps; ++step) {
    Math::copied();
    __syncthreads();
    if (step + 1 < steps)
      fetch(step + 1, (step + 1) % 2);
    const float *const tile = shared + step % 2 * C::kStage;
    multiply_phase<C>(math, height_phase, tile, tile + kElements);
  }
  __syncthreads();
  math.unload(shared);
  __syncthreads();
#pragma unroll 4
  for (int e = threadIdx.x; e < kN * kPositions; e += kThreads) {
    const int position = e % kPositions, column = e / kPositions;
    const int qh = first_qh + position / kWidth, qw = first_qw + position % kWidth;
    if (qh < count_h && qw < count_w && column0 + column < C::kGroupOut) {
      const int channel = group * C::kGroupOut + column0 + column;
      const int od = qd * C::kOutputStepD + part.first[0], oh = qh * C::kOutputStepH + part.first[1];
      const float *const from = shared + column * (kPositions + 4) + position;
      if constexpr (C::kWhole) {
        float sums[C::kTogether];
#pragma unroll
        for (int phase = 0; phase < C::kTogether; ++phase)
          sums[phase] = from[phase * (kN * (kPositions + 4))];
        finish(n, channel, od, oh, qw, sums);
      } else {
#pragma unroll
        for (int phase = 0; phase < C::kTogether; ++phase) {
          const int ow = qw * C::kTogether + phase;
          if (ow < C::kOutW)
            finish(n, channel, od, oh, ow, from[phase * (kN * (kPositions + 4))]);
        }
      }
    }
  }
}

} // namespace warpwright_tiles
#endif
