// Convolution with short sums (few input channels, small filters) as products in registers: FP32
// throughout, one kernel, nothing packed before it.
//
// A thread makes kColumns output channels of kPixels positions, the lanes of a warp side by side,
// so that loads and stores of a step are whole lines. The filter lies in shared memory, laid out by
// the block when it starts, and reaches all lanes as one broadcast of four channels. A transposed
// convolution makes all outputs along the last dimension that belong to an input position; the
// phases of the other dimensions are blocks of their own, each with its own taps in straight code.
//
// A configuration C says the sizes and the taps
// (generator/families/convolution/direct_convolution.cpp writes it): kHeights lists the phases of
// heights (first height, steps from, to), kSteps their inputs (offsets h and w, mask, products
// from, to), kProducts the products of an input (phase of the last dimension, place in the filter's
// slice), kBits what a mask's bits say (dimension, offset that lies in the input).
#ifndef WARPWRIGHT_CONVOLUTION_DIRECT
#define WARPWRIGHT_CONVOLUTION_DIRECT

namespace warpwright_direct {

// Phases that a block makes: first depth and height, counts of positions, depths of the filter.
struct Part {
  int first[2], count[3], first_depth, depths;
};
// A depth of the filter: offset of its input, place in the filter.
struct Depth {
  int offset, place;
};

// The positions of a thread and their sums.
template <typename C> struct Block {
  static constexpr int kP = C::kPixels, kC = C::kColumns, kSlice = C::kKernelH * C::kKernelW;
  int start[kP]; // index of the input element at offset 0, where it lies in memory
  int n0[kP], d0[kP], h0[kP], w0[kP];
  int seen_around[kP]; // bits of kBits
  float sums[C::kTogether][kP][kC];

  static __device__ __forceinline__ bool within(int at, int size) { return (unsigned)at < (unsigned)size; }

  // Input channels change with `step`: the element of position p at an offset.
  template <typename Load>
  __device__ __forceinline__ float element(const float *input, Load load, int channel, int p, int d, int h, int w) const {
    if constexpr (C::kInMemory)
      return input[start[p] + (d * C::kInH + h) * C::kInW + w];
    else
      return load(n0[p], channel, d0[p] + d, h0[p] + h, w0[p] + w);
  }

  __device__ __forceinline__ bool compared(int p, int d, int h, int w) const {
    return (!C::kLeavesD || within(d0[p] + d, C::kInD)) && (!C::kLeavesH || within(h0[p] + h, C::kInH)) &&
           (!C::kLeavesW || within(w0[p] + w, C::kInW));
  }

  __device__ __forceinline__ void add(const float (&x)[kP], float (&sum)[kP][kC], const float *weights) {
#pragma unroll
    for (int c = 0; c < kC; c += 4) {
      const float4 four = *reinterpret_cast<const float4 *>(weights + c);
#pragma unroll
      for (int p = 0; p < kP; ++p) {
        sum[p][c] += x[p] * four.x;
        sum[p][c + 1] += x[p] * four.y;
        sum[p][c + 2] += x[p] * four.z;
        sum[p][c + 3] += x[p] * four.w;
      }
    }
  }

  template <int kBit = 0> __device__ __forceinline__ int seen_of(int p) const {
    if constexpr (kBit < C::kBitCount) {
      constexpr int kOffset = C::kBits[kBit][1];
      const bool inside = C::kBits[kBit][0] == 1 ? within(h0[p] + kOffset, C::kInH) : within(w0[p] + kOffset, C::kInW);
      return (inside ? 1 << kBit : 0) | seen_of<kBit + 1>(p);
    } else {
      return 0;
    }
  }

  template <int kProduct, int kEnd> __device__ __forceinline__ void products(const float (&x)[kP], const float *row) {
    if constexpr (kProduct < kEnd) {
      constexpr int kPhase = C::kProducts[kProduct][0], kPlace = C::kProducts[kProduct][1];
      add(x, sums[kPhase], row + kPlace * kC);
      products<kProduct + 1, kEnd>(x, row);
    }
  }

  // Inputs from kStep on, at one depth, each with all its products. `element(p, d, h, w)` reads.
  template <int kStep, int kEnd, typename Element>
  __device__ __forceinline__ void steps(Element element, const int (&seen)[kP], const float *row, int d) {
    if constexpr (kStep < kEnd) {
      constexpr int kH = C::kSteps[kStep][0], kW = C::kSteps[kStep][1], kMask = C::kSteps[kStep][2];
      constexpr int kFrom = C::kSteps[kStep][3], kTo = C::kSteps[kStep][4];
      float x[kP];
#pragma unroll
      for (int p = 0; p < kP; ++p) {
        float value = 0;
        if (!C::kMasks ? compared(p, d, kH, kW) : kMask ? (seen[p] & kMask) == kMask : !C::kLeavesD || seen[p] != 0)
          value = element(p, d, kH, kW);
        x[p] = value;
      }
      products<kFrom, kTo>(x, row);
      steps<kStep + 1, kEnd>(element, seen, row, d);
    }
  }

  template <int kHeight, typename Element>
  __device__ __forceinline__ void heights(Element element, const int (&seen)[kP], const float *row, int d, int first) {
    if constexpr (kHeight < C::kHeightCount) {
      constexpr int kFirst = C::kHeights[kHeight][0], kFrom = C::kHeights[kHeight][1], kTo = C::kHeights[kHeight][2];
      if (!C::kManyHeights || first == kFirst)
        steps<kFrom, kTo>(element, seen, row, d);
      heights<kHeight + 1>(element, seen, row, d, first);
    }
  }

  // A long line of the filter, its width in straight code.
  template <int kTap, typename Element>
  __device__ __forceinline__ void line(Element element, const float *row, int d, int h) {
    if constexpr (kTap < C::kKernelW) {
      constexpr int kW = kTap * C::kDilationW - C::kPaddingW;
      float x[kP];
#pragma unroll
      for (int p = 0; p < kP; ++p) {
        float value = 0;
        if (compared(p, d, h, kW))
          value = element(p, d, h, kW);
        x[p] = value;
      }
      add(x, sums[0], row + kTap * kC);
      line<kTap + 1>(element, row, d, h);
    }
  }

  // One depth of the filter.
  template <typename Element>
  __device__ __forceinline__ void slice(Element element, const float *row, int d, int first_height) {
    if constexpr (C::kStraight) {
      int seen[kP];
      if constexpr (C::kMasks) {
#pragma unroll
        for (int p = 0; p < kP; ++p)
          seen[p] = C::kLeavesD && !within(d0[p] + d, C::kInD) ? 0 : C::kBitCount > 0 ? seen_around[p] : 1;
      }
      heights<0>(element, seen, row, d, first_height);
    } else {
#pragma unroll 1
      for (int kh = 0; kh < C::kKernelH; ++kh)
        line<0>(element, row + kh * C::kKernelW * kC, d, kh * C::kDilationH - C::kPaddingH);
    }
  }
};

// A block: blockIdx.x positions, blockIdx.y group and output channels, blockIdx.z part. The input
// lies in memory at `input` (C::kInMemory), or `load(n, channel, d, h, w)` computes an element of
// it. `weight(output channel, input channel, d, h, w)` is the filter. `finish(n, channel, od, oh,
// position)` stores results: all kTogether of a position at once where C::kWhole, else one at a
// time.
template <typename C, typename Load, typename Weight, typename Finish>
__device__ __forceinline__ void multiply(const Part *parts, const Depth *depths, const float *input, Load load,
                                         Weight weight, Finish finish) {
  constexpr int kThreads = C::kThreads, kP = C::kPixels, kC = C::kColumns;
  constexpr int kSlice = C::kKernelH * C::kKernelW, kTaps = C::kKernelD * kSlice;
  constexpr int kWeights = kTaps * C::kGroupIn * kC;
  __shared__ __align__(16) float weights[kWeights];
  const Part &part = parts[blockIdx.z];
  constexpr bool kOne = C::kParts == 1;
  const int count_d = kOne ? C::kCountD : part.count[0], count_h = kOne ? C::kCountH : part.count[1];
  const int count_w = kOne ? C::kCountW : part.count[2];
  const int pixels = C::kBatch * count_d * count_h * count_w;
  const int pixel0 = blockIdx.x * (kThreads * kP) + threadIdx.x;
  if (pixel0 - (int)threadIdx.x >= pixels)
    return;
  const int group = blockIdx.y / C::kColumnBlocks, column0 = blockIdx.y % C::kColumnBlocks * kC;
#pragma unroll 4
  for (int e = threadIdx.x; e < kWeights; e += kThreads) {
    const int tap = e % kTaps;
    const int to = C::kTransposed ? e / kTaps % kC : e / (kTaps * C::kGroupIn);
    const int from = C::kTransposed ? e / (kTaps * kC) : e / kTaps % C::kGroupIn;
    const int tap_d = tap / kSlice, tap_h = tap / C::kKernelW % C::kKernelH, tap_w = tap % C::kKernelW;
    float value = 0;
    if (column0 + to < C::kGroupOut) {
      const int input_channel = C::kTransposed ? group * C::kGroupIn + from : from;
      const int output_channel = C::kTransposed ? column0 + to : group * C::kGroupOut + column0 + to;
      value = weight(output_channel, input_channel, tap_d, tap_h, tap_w);
    }
    weights[(from * kTaps + tap) * kC + to] = value;
  }
  Block<C> block;
#pragma unroll
  for (int p = 0; p < kP; ++p) {
    int pixel = pixel0 + p * kThreads;
    pixel = pixel < pixels ? pixel : 0;
    const int qw = pixel % count_w, qh = pixel / count_w % count_h;
    const int qd = pixel / (count_w * count_h) % count_d, n = pixel / (count_w * count_h * count_d);
    block.n0[p] = n;
    block.d0[p] = qd * C::kInputStepD;
    block.h0[p] = qh * C::kInputStepH;
    block.w0[p] = qw * C::kInputStepW;
    if constexpr (C::kInMemory)
      block.start[p] =
          (((n * C::kChannelsIn + group * C::kGroupIn) * C::kInD + qd * C::kInputStepD) * C::kInH + qh * C::kInputStepH) *
              C::kInW + qw * C::kInputStepW;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < C::kTogether * kP * kC; ++i)
    block.sums[i / (kP * kC)][i / kC % kP][i % kC] = 0;
  if constexpr (C::kMasks && C::kBitCount > 0) {
#pragma unroll
    for (int p = 0; p < kP; ++p)
      block.seen_around[p] = block.seen_of(p);
  }
#pragma unroll C::kUnroll
  for (int input_channel = 0; input_channel < C::kGroupIn; ++input_channel) {
    const int channel = group * C::kGroupIn + input_channel;
    const auto element = [&](int p, int d, int h, int w) { return block.element(input, load, channel, p, d, h, w); };
    const float *const row = weights + input_channel * (kTaps * kC);
    if constexpr (C::kDeep) {
#pragma unroll 1
      for (int i = 0; i < part.depths; ++i) {
        const Depth &depth = depths[part.first_depth + i];
        block.slice(element, row + depth.place * kSlice * kC, depth.offset, part.first[1]);
      }
    } else {
      block.slice(element, row, 0, part.first[1]);
    }
    if constexpr (C::kInMemory) {
#pragma unroll
      for (int p = 0; p < kP; ++p)
        block.start[p] += C::kInD * C::kInH * C::kInW;
    }
  }
#pragma unroll
  for (int c = 0; c < kC; ++c) {
    if (column0 + c < C::kGroupOut) {
      const int channel = group * C::kGroupOut + column0 + c;
#pragma unroll
      for (int p = 0; p < kP; ++p) {
        const int pixel = pixel0 + p * kThreads;
        const int qw = pixel % count_w, qh = pixel / count_w % count_h;
        const int qd = pixel / (count_w * count_h) % count_d, n = pixel / (count_w * count_h * count_d);
        const int od = qd * C::kOutputStepD + part.first[0], oh = qh * C::kOutputStepH + part.first[1];
        if (pixel < pixels) {
          if constexpr (C::kWhole) {
            float sums[C::kTogether];
#pragma unroll
            for (int phase = 0; phase < C::kTogether; ++phase)
              sums[phase] = block.sums[phase][p][c];
            finish(n, channel, od, oh, qw, sums);
          } else {
#pragma unroll
            for (int phase = 0; phase < C::kTogether; ++phase) {
              const int ow = qw * C::kTogether + phase;
              if (ow < C::kOutW)
                finish(n, channel, od, oh, ow, block.sums[phase][p][c]);
            }
          }
        }
      }
    }
  }
}

} // namespace warpwright_direct
#endif
