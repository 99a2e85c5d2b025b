// Convolution as an implicit matrix product: rows are output pixels, columns output channels, and
// the summed dimension runs over filter taps, input channels fastest.
//
// Weights are packed first, padded with zeros, so that a step of the main kernel reads whole
// vectors of them and knows one tap for all its input channels. Input elements are fetched where
// the tap says, by threads on neighbouring pixels, into registers while the step before is
// computed, and then through a double buffer in shared memory. Sums leave through shared memory, so
// that neighbouring threads store neighbouring pixels.
//
// A configuration C says the sizes (constants kPixels, kChannels, ...;
// generator/families/convolution/convolution_kernel.cpp writes it). A Math says how a block
// multiplies: Scalar<C> here, Mma<C> in convolution_mma.cuh, Wgmma<C> and Split<C> in
// convolution_wgmma.cuh.
#ifndef WARPWRIGHT_CONVOLUTION
#define WARPWRIGHT_CONVOLUTION

namespace warpwright_convolution {

// Outputs that share their taps, at first + q * output step, q in [0, count): their first block,
// taps and first row of packed weights.
struct Phase {
  int first[3], count[3], block, tap, taps, row;
};

// A filter tap of a phase: offset of its input from the phase's position, place in the filter,
// first row of its packed weights.
struct Tap {
  int offset[3], weight, row;
};

// Weights packed as [group][row][output channel], for arithmetic that reads vectors of channels;
// they pass through registers.
template <typename C, typename Math> struct RowWeights {
  static constexpr int kStride = C::kChannels + 8, kBuffer = C::kDepth * kStride;
  static constexpr int kVectors = C::kDepth * C::kChannels / 4;
  static constexpr int kLoads = (kVectors + C::kThreads - 1) / C::kThreads;
  const float *const weights;
  float4 fetched[kLoads];

  __device__ __forceinline__ RowWeights(const float *packed, int group, int first_row, int column0)
      : weights(packed + ((long long)group * C::kRows + first_row) * C::kPaddedOut + column0) {}

  static __device__ __forceinline__ bool has(int e) {
    return kVectors % C::kThreads == 0 || e < kVectors;
  }

  __device__ __forceinline__ void fetch(int chunk, float *) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int e = threadIdx.x + i * C::kThreads;
      if (has(e))
        fetched[i] = *reinterpret_cast<const float4 *>(
            weights + (chunk * C::kDepth + e / (C::kChannels / 4)) * C::kPaddedOut + e % (C::kChannels / 4) * 4);
    }
  }

  __device__ __forceinline__ void put(float *tile) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int e = threadIdx.x + i * C::kThreads;
      if (has(e))
        *reinterpret_cast<float4 *>(tile + e / (C::kChannels / 4) * kStride + e % (C::kChannels / 4) * 4) =
            fetched[i];
    }
  }

  static __device__ __forceinline__ void pack(float *packed, int group, int first_row, int row, int column,
                                              float value) {
    packed[((long long)group * C::kRows + first_row + row) * C::kPaddedOut + column] = Math::round(value);
  }
};

// FP32 products on ordinary cores: eight pixels a thread, in two vectors half a tile apart.
template <typename C> struct Scalar {
  using Weights = RowWeights<C, Scalar>;
  static constexpr int kColumns = C::kChannels * C::kPixels / 8 / C::kThreads;
  static constexpr int kTogether = kColumns < 4 ? kColumns : 4;
  static constexpr int kPasses = kColumns / kTogether;
  static constexpr int kStagedRows = C::kChannels / kColumns * kTogether;
  const int tx = threadIdx.x % (C::kPixels / 8), ty = threadIdx.x / (C::kPixels / 8);
  float sums[kColumns][8];

  static __device__ __forceinline__ float round(float value) { return value; }

  __device__ __forceinline__ Scalar() {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sums[j][i] = 0;
  }

  __device__ __forceinline__ void multiply(const float *a_tile, const float *b_tile) {
    constexpr int kAStride = C::kPixels + 8;
#pragma unroll
    for (int k = 0; k < C::kDepth; ++k) {
      const float4 low = *reinterpret_cast<const float4 *>(a_tile + k * kAStride + tx * 4);
      const float4 high =
          *reinterpret_cast<const float4 *>(a_tile + k * kAStride + C::kPixels / 2 + tx * 4);
      const float a[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const float b = b_tile[k * Weights::kStride + ty * kColumns + j];
#pragma unroll
        for (int i = 0; i < 8; ++i)
          sums[j][i] += a[i] * b;
      }
    }
  }

  // Writes the sums of one pass as rows of kPixels + 4; row_channel() says whose they are.
  __device__ __forceinline__ void stage(int pass, float *shared) const {
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const float *const from = sums[pass * kTogether + j];
      float *const to = shared + (ty * kTogether + j) * (C::kPixels + 4) + tx * 4;
      *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
      *reinterpret_cast<float4 *>(to + C::kPixels / 2) = make_float4(from[4], from[5], from[6], from[7]);
    }
  }

  static __device__ __forceinline__ int row_channel(int pass, int row) {
    return row / kTogether * kColumns + pass * kTogether + row % kTogether;
  }
};

// `weight(output channel, input channel, tap d, h, w)` at a flat position in the filter, for
// channels of a group.
template <typename C, typename Weight>
__device__ __forceinline__ float weight_at(int group, int output, int input, int tap, Weight weight) {
  const int tap_d = tap / (C::kKernelH * C::kKernelW), tap_h = tap / C::kKernelW % C::kKernelH, tap_w = tap % C::kKernelW;
  const int input_channel = C::kTransposed ? group * C::kGroupIn + input : input;
  const int output_channel = C::kTransposed ? output : group * C::kGroupOut + output;
  return weight(output_channel, input_channel, tap_d, tap_h, tap_w);
}

// Packs the weights of a phase (blockIdx.y) and group (blockIdx.z), an element a thread.
template <typename C, typename Math, typename Weight>
__device__ __forceinline__ void pack(const Phase *phases, const Tap *taps, float *packed, Weight weight) {
  const Phase phase = phases[blockIdx.y];
  const int group = blockIdx.z, rows = (phase.taps * C::kGroupIn + C::kDepth - 1) / C::kDepth * C::kDepth;
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int row = i / C::kPaddedOut, column = i % C::kPaddedOut;
  if (row >= rows)
    return;
  float value = 0;
  if (row < phase.taps * C::kGroupIn && column < C::kGroupOut) {
    const int tap = taps[phase.tap + row / C::kGroupIn].weight;
    value = weight_at<C>(group, column, row % C::kGroupIn, tap, weight);
  }
  Math::Weights::pack(packed, group, phase.row, row, column, value);
}

// The same where each step of the sum has one tap: eight output channels of kIn inputs and all taps
// pass through shared memory, so that weights are read as they lie in memory and written as whole
// sectors.
template <typename C, typename Math, int kIn, typename Weight>
__device__ __forceinline__ void pack_blocks(const Tap *taps, float *packed, Weight weight) {
  constexpr int kTaps = C::kKernelD * C::kKernelH * C::kKernelW, kLine = kIn * kTaps + 1;
  __shared__ float tile[8 * kLine];
  const int group = blockIdx.z, column0 = blockIdx.x * 8, input0 = blockIdx.y * kIn;
  for (int e = threadIdx.x; e < 8 * kIn * kTaps; e += 256) {
    const int tap = e % kTaps;
    const int to = C::kTransposed ? e / kTaps % 8 : e / (kTaps * kIn);
    const int from = C::kTransposed ? e / (kTaps * 8) : e / kTaps % kIn;
    float value = 0;
    if (column0 + to < C::kGroupOut && input0 + from < C::kGroupIn)
      value = weight_at<C>(group, column0 + to, input0 + from, tap, weight);
    tile[to * kLine + from * kTaps + tap] = value;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < 8 * kIn * C::kTaps; e += 256) {
    const int from = e % 4 + e / 32 % (kIn / 4) * 4, to = e / 4 % 8, slot = e / (8 * kIn);
    const Tap &entry = taps[slot];
    if (input0 + from < C::kGroupIn) {
      const int row = entry.row + input0 + from, column = column0 + to;
      Math::Weights::pack(packed, group, 0, row, column, tile[to * kLine + from * kTaps + entry.weight]);
    }
  }
}

// Ways in which a block fetches its input.
enum class Fetch {
  OneTap,         // all elements of a step share one tap; `load` computes them
  OneTapInMemory, // and they are read from `input`
  Table,          // read from `input`, at places that a table in shared memory says relative to the pixel's
  AnyTap,         // the tap of each element is looked up; `load` computes it
};

// A block of the product. `load(n, channel, d, h, w)` computes an element of the input; `finish(n,
// channel, od, oh, ow, sum)` stores a result. With kParts > 1 blocks share a sum: each writes its
// part to `partial`, and join() finishes.
template <typename C, typename Math, typename Load, typename Finish>
__device__ __forceinline__ void multiply(const Phase *phases, const Tap *all_taps, const float *packed,
                                         const float *input, float *partial, Load load, Finish finish) {
  using Weights = typename Math::Weights;
  constexpr int kLines = C::kThreads / C::kPixels, kLoads = C::kDepth / kLines;
  constexpr int kAStride = C::kPixels + 8, kCStride = C::kPixels + 4;
  constexpr int kInD = C::kInD, kInH = C::kInH, kInW = C::kInW;
  extern __shared__ __align__(16) float shared[];
  float *const shared_a = shared, *const shared_b = shared + 2 * C::kDepth * kAStride;

  int block = blockIdx.x, which = 0;
  if constexpr (C::kPhases > 1)
    while (which + 1 < C::kPhases && block >= phases[which + 1].block)
      ++which;
  const Phase &phase = phases[which];
  constexpr bool kOne = C::kPhases == 1;
  const int count_d = kOne ? C::kCountD : phase.count[0], count_h = kOne ? C::kCountH : phase.count[1];
  const int count_w = kOne ? C::kCountW : phase.count[2], taps = kOne ? C::kTaps : phase.taps;
  block -= phase.block;
  const int group = blockIdx.y, column0 = block % C::kColumnBlocks * C::kChannels;
  // The same for all lanes of a warp, which the compiler learns from the shuffle.
  const int line = __shfl_sync(0xffffffffu, threadIdx.x / C::kPixels, 0), local = threadIdx.x % C::kPixels;
  const int pixel = block / C::kColumnBlocks * C::kPixels + local;
  const bool inside = pixel < C::kBatch * count_d * count_h * count_w;
  const int qw = pixel % count_w, qh = pixel / count_w % count_h;
  const int qd = pixel / (count_w * count_h) % count_d, n = pixel / (count_w * count_h * count_d);
  const int d0 = qd * C::kInputStepD, h0 = qh * C::kInputStepH, w0 = qw * C::kInputStepW;
  const int all_chunks = (taps * C::kGroupIn + C::kDepth - 1) / C::kDepth;
  const int part = blockIdx.z, share = (all_chunks + C::kParts - 1) / C::kParts;
  const int first_chunk = part * share;
  const int chunks = first_chunk + share < all_chunks ? first_chunk + share : all_chunks;

  const float *source = nullptr;
  int2 *table = nullptr;
  if constexpr (C::kFetch == Fetch::Table) {
    source = input + ((((long long)n * C::kChannelsIn + group * C::kGroupIn) * kInD + d0) * kInH + h0) * kInW + w0;
    table = reinterpret_cast<int2 *>(shared + C::kTableAt);
    for (int k = threadIdx.x; k < taps * C::kGroupIn; k += C::kThreads) {
      const Tap &tap = all_taps[phase.tap + k / C::kGroupIn];
      table[k] = make_int2(
          ((k % C::kGroupIn * kInD + tap.offset[0]) * kInH + tap.offset[1]) * kInW + tap.offset[2],
          (tap.offset[0] + 512) << 20 | (tap.offset[1] + 512) << 10 | (tap.offset[2] + 512));
    }
    __syncthreads();
  }
  // With kGather the outputs of the last dimension stay together, and most strided taps meet no
  // input there.
  float fetched[kLoads];
  Weights weights(packed, group, phase.row, column0);
  Math math;
  auto fetch = [&](int chunk, int buffer) {
    if constexpr (C::kFetch == Fetch::OneTap || C::kFetch == Fetch::OneTapInMemory) {
      const int k0 = chunk * C::kDepth;
      const Tap &tap = all_taps[phase.tap + k0 / C::kGroupIn];
      const int d = d0 + tap.offset[0], h = h0 + tap.offset[1], w = C::kGather ? (w0 + tap.offset[2]) / C::kStrideW : w0 + tap.offset[2];
      const bool valid = inside && (!C::kGather || (w0 + tap.offset[2]) % C::kStrideW == 0) && d >= 0 && d < kInD &&
                         h >= 0 && h < kInH && w >= 0 && w < kInW;
      const float *from = nullptr;
      if constexpr (C::kFetch == Fetch::OneTapInMemory)
        from = input +
               ((((long long)n * C::kChannelsIn + group * C::kGroupIn + k0 % C::kGroupIn + line) * kInD + d) * kInH + h) *
                   kInW + w;
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const int channel = group * C::kGroupIn + k0 % C::kGroupIn + line + i * kLines;
        float value = 0;
        if (valid) {
          if constexpr (C::kFetch == Fetch::OneTapInMemory)
            value = from[i * kLines * (kInD * kInH * kInW)];
          else
            value = load(n, channel, d, h, w);
        }
        fetched[i] = value;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const int k = chunk * C::kDepth + line + i * kLines;
        float value = 0;
        if (inside && k < taps * C::kGroupIn) {
          if constexpr (C::kFetch == Fetch::Table) {
            const int2 entry = table[k];
            if ((!C::kLeavesD || (unsigned)(d0 + (entry.y >> 20) - 512) < kInD) &&
                (!C::kLeavesH || (unsigned)(h0 + (entry.y >> 10 & 1023) - 512) < kInH) &&
                (!C::kLeavesW || (unsigned)(w0 + (entry.y & 1023) - 512) < kInW))
              value = source[entry.x];
          } else {
            const Tap &tap = all_taps[phase.tap + k / C::kGroupIn];
            const int d = d0 + tap.offset[0], h = h0 + tap.offset[1], w = C::kGather ? (w0 + tap.offset[2]) / C::kStrideW : w0 + tap.offset[2];
            if ((!C::kGather || (w0 + tap.offset[2]) % C::kStrideW == 0) && d >= 0 && d < kInD && h >= 0 &&
                h < kInH && w >= 0 && w < kInW)
              value = load(n, group * C::kGroupIn + k % C::kGroupIn, d, h, w);
          }
        }
        fetched[i] = value;
      }
    }
    weights.fetch(chunk, shared_b + buffer * Weights::kBuffer);
  };
  auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      shared_a[(buffer * C::kDepth + line + i * kLines) * kAStride + local] = Math::round(fetched[i]);
    weights.put(shared_b + buffer * Weights::kBuffer);
  };
  if (first_chunk < chunks) {
    fetch(first_chunk, 0);
    put(0);
  }
  __syncthreads();
  for (int chunk = first_chunk; chunk < chunks; ++chunk) {
    const int buffer = (chunk - first_chunk) % 2;
    if (chunk + 1 < chunks)
      fetch(chunk + 1, buffer ^ 1);
    math.multiply(shared_a + buffer * C::kDepth * kAStride, shared_b + buffer * Weights::kBuffer);
    if (chunk + 1 < chunks)
      put(buffer ^ 1);
    __syncthreads();
  }
  const int od = qd * C::kOutputStepD + phase.first[0], oh = qh * C::kOutputStepH + phase.first[1];
  const int ow = qw * C::kOutputStepW + phase.first[2];
#pragma unroll
  for (int pass = 0; pass < Math::kPasses; ++pass) {
    math.stage(pass, shared);
    __syncthreads();
#pragma unroll 4
    for (int row = line; row < Math::kStagedRows; row += kLines) {
      const int column = column0 + Math::row_channel(pass, row);
      if (inside && column < C::kGroupOut) {
        const int channel = group * C::kGroupOut + column;
        const float sum = shared[row * kCStride + local];
        if constexpr (C::kParts > 1)
          partial[((long long)part * C::kChannelsOut + channel) * C::kAllPixels + pixel] = sum;
        else
          finish(n, channel, od, oh, ow, sum);
      }
    }
    __syncthreads();
  }
}

// Adds the parts of sums, a pixel a thread, and finishes them.
template <typename C, typename Finish>
__device__ __forceinline__ void join(const float *partial, Finish finish) {
  const int pixel = blockIdx.x * 256 + threadIdx.x, channel = blockIdx.y;
  if (pixel >= C::kAllPixels)
    return;
  constexpr int kW = C::kCountW, kH = C::kCountH, kD = C::kCountD;
  float sum = 0;
#pragma unroll
  for (int part = 0; part < C::kParts; ++part)
    sum += partial[((long long)part * C::kChannelsOut + channel) * C::kAllPixels + pixel];
  finish(pixel / (kW * kH * kD), channel, pixel / (kW * kH) % kD, pixel / kW % kH, pixel % kW, sum);
}

} // namespace warpwright_convolution
#endif
