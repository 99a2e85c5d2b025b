// Products of matrices in packed tiles on tensor cores: FP32 as pairs of float16 (half_pairs.inc), float16 and bfloat16 as they are.
//
// The product of pairs is high * low + low * high, then 2^-11 of that + high * high; the tensor cores truncate what they accumulate, so
// that a partial sum of a few steps over k is added to the total in ordinary registers, rounded to nearest. Rows of either operand are
// packed in tiles just as shared memory wants them: 32 steps of k are 128 bytes, 64 of the high parts, 64 of the low ones, swizzled in atoms
// of eight rows, so that a stage of the pipeline is one bulk copy an operand and no tensor map is needed. Operands that are float16 or
// bfloat16 already are packed as they are, 64 steps of k in the 128 bytes.
#ifndef WARPWRIGHT_SPLIT_HALF
#define WARPWRIGHT_SPLIT_HALF
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace warpwright_split {

constexpr int kChunk = 32;     // steps of k a packed row of 128 bytes
constexpr int kStripRows = 8;  // rows that a block packs: an atom of the swizzle
constexpr int kPackThreads = 512;
constexpr int kHeld = 4;       // chunks that a warp keeps in registers between its two passes

// A chunk of a strip in a warp's registers, eight elements a lane. Along k: four neighbours of row lane / 8 and of row lane / 8 + 4;
// across k: eight neighbours in k of row lane % 8, so that lanes of a load are neighbours in memory either way. `load(row, k, values)` gives
// kWide elements, neighbours in k, where kAlongK (then 1 or 4, and `depth` a multiple), else one; it is asked only within the matrix.
template <bool kAlongK, int kWide, typename Load>
__device__ __forceinline__ void read(Load load, int first_row, int rows, int first_k, int depth,
                                     float (&values)[8]) {
  const int lane = threadIdx.x % 32;
  constexpr int kSteps = kAlongK ? kWide : 1;
#pragma unroll
  for (int i = 0; i < 8; i += kSteps) {
    const int row = first_row + (kAlongK ? lane / 8 + i / 4 * 4 : lane % 8);
    const int k = first_k + (kAlongK ? lane % 8 * 4 + i % 4 : lane / 8 * 8 + i);
    float part[kSteps] = {};
    if (row < rows && k < depth)
      load(row, k, part);
#pragma unroll
    for (int j = 0; j < kSteps; ++j)
      values[i + j] = part[j];
  }
}

// @param small adds up the small elements of the lane's rows
template <bool kAlongK, bool kInfinite>
__device__ __forceinline__ void write(const float (&values)[8], const unsigned *largest,
                                      unsigned char *target, int (&small)[2]) {
  const int lane = threadIdx.x % 32;
  unsigned short high[8], low[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned top = largest[kAlongK ? lane / 8 + i / 4 * 4 : lane % 8];
    small[kAlongK ? i / 4 : 0] += kInfinite ? split_any(values[i], top, high[i], low[i])
                                            : split(values[i], top, high[i], low[i]);
  }
  const auto pair = [](const unsigned short *from) {
    return static_cast<unsigned>(from[0]) | static_cast<unsigned>(from[1]) << 16;
  };
  if constexpr (kAlongK) {
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      const int row = lane / 8 + i, octet = lane % 8 / 2;
      unsigned char *line = target + row * 128 + lane % 2 * 8;
      *reinterpret_cast<uint2 *>(line + (octet ^ row) * 16) =
          make_uint2(pair(high + i), pair(high + i + 2));
      *reinterpret_cast<uint2 *>(line + ((octet + 4) ^ row) * 16) =
          make_uint2(pair(low + i), pair(low + i + 2));
    }
  } else {
    const int row = lane % 8, octet = lane / 8;
    *reinterpret_cast<uint4 *>(target + row * 128 + (octet ^ row) * 16) =
        make_uint4(pair(high), pair(high + 2), pair(high + 4), pair(high + 6));
    *reinterpret_cast<uint4 *>(target + row * 128 + ((octet + 4) ^ row) * 16) =
        make_uint4(pair(low), pair(low + 2), pair(low + 4), pair(low + 6));
  }
}

// Packs `kStripRows` rows from `first_row` on over `chunks` chunks of k from `first_chunk` on. The packed matrix lies as [tile of
// `tile_rows` rows][chunk of all_chunks][row of the tile][128 bytes].
template <bool kAlongK, int kWide, typename Load>
__device__ __forceinline__ void pack(Load load, int rows, int depth, int first_row, int first_chunk,
                                     int chunks, int all_chunks, int tile_rows, unsigned char *packed,
                                     RowScale *scales) {
  __shared__ unsigned largest[kStripRows];
  __shared__ int all_small[kStripRows];
  constexpr int kWarps = kPackThreads / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < kStripRows) {
    largest[threadIdx.x] = 0;
    all_small[threadIdx.x] = 0;
  }
  __syncthreads();
  float held[kHeld][8];
  unsigned top[2] = {};
  const auto note = [&](const float (&values)[8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      top[kAlongK ? i / 4 : 0] =
          max(top[kAlongK ? i / 4 : 0], __float_as_uint(values[i]) & 0x7fffffffu);
  };
#pragma unroll
  for (int i = 0; i < kHeld; ++i)
    if (warp + i * kWarps < chunks)
      read<kAlongK, kWide>(load, first_row, rows, (first_chunk + warp + i * kWarps) * kChunk, depth,
                           held[i]);
#pragma unroll
  for (int i = 0; i < kHeld; ++i)
    if (warp + i * kWarps < chunks)
      note(held[i]);
#pragma unroll 2
  for (int chunk = warp + kHeld * kWarps; chunk < chunks; chunk += kWarps) {
    float values[8];
    read<kAlongK, kWide>(load, first_row, rows, (first_chunk + chunk) * kChunk, depth, values);
    note(values);
  }
#pragma unroll
  for (int i = 0; i < (kAlongK ? 2 : 1); ++i) {
#pragma unroll
    for (int distance = kAlongK ? 1 : 8; distance < (kAlongK ? 8 : 32); distance *= 2)
      top[i] = max(top[i], __shfl_xor_sync(0xffffffffu, top[i], distance));
    if (kAlongK ? lane % 8 == 0 : lane < 8)
      atomicMax(&largest[kAlongK ? lane / 8 + i * 4 : lane], top[i]);
  }
  __syncthreads();

  int small[2] = {};
  const size_t tile = first_row / tile_rows;
  const auto target = [&](int chunk) {
    return packed + ((tile * all_chunks + first_chunk + chunk) * tile_rows + first_row % tile_rows) * 128;
  };
  bool infinite = false;
#pragma unroll
  for (int row = 0; row < kStripRows; ++row)
    infinite = infinite || largest[row] == kInfinity;
  if (infinite) {
#pragma unroll 1
    for (int chunk = warp; chunk < chunks; chunk += kWarps) {
      float values[8];
      read<kAlongK, kWide>(load, first_row, rows, (first_chunk + chunk) * kChunk, depth, values);
      write<kAlongK, true>(values, largest, target(chunk), small);
    }
  } else {
#pragma unroll 2
    for (int chunk = warp + kHeld * kWarps; chunk < chunks; chunk += kWarps) {
      float values[8];
      read<kAlongK, kWide>(load, first_row, rows, (first_chunk + chunk) * kChunk, depth, values);
      write<kAlongK, false>(values, largest, target(chunk), small);
    }
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (warp + i * kWarps < chunks)
        write<kAlongK, false>(held[i], largest, target(warp + i * kWarps), small);
  }
#pragma unroll
  for (int i = 0; i < (kAlongK ? 2 : 1); ++i)
    if (small[i] > 0)
      atomicAdd(&all_small[kAlongK ? lane / 8 + i * 4 : lane % 8], small[i]);
  __syncthreads();
  if (threadIdx.x < kStripRows)
    scales[first_row + threadIdx.x] = scale_of(largest[threadIdx.x], all_small[threadIdx.x]);
}

template <bool kBFloat16> __device__ __forceinline__ unsigned pair_of(float first, float second) {
  if constexpr (kBFloat16) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return *reinterpret_cast<const unsigned *>(&pair);
  } else {
    const __half2 pair = __floats2half2_rn(first, second);
    return *reinterpret_cast<const unsigned *>(&pair);
  }
}

// Packs operands of 16 bits as they are: chunks of 64 steps of k, in the same layout. A lane takes eight or sixteen neighbours in k, such that
// neighbouring lanes are neighbours in memory.
template <bool kBFloat16, bool kAlongK, int kWide, typename Load>
__device__ __forceinline__ void pack_plain(Load load, int rows, int depth, int first_row, int first_chunk,
                                           int chunks, int all_chunks, int tile_rows,
                                           unsigned char *packed) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t tile = first_row / tile_rows;
#pragma unroll 2
  for (int chunk = warp; chunk < chunks; chunk += kPackThreads / 32) {
    unsigned char *target =
        packed + ((tile * all_chunks + first_chunk + chunk) * tile_rows + first_row % tile_rows) * 128;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = kAlongK ? lane / 8 + half * 4 : lane % 8;
      const int octet = kAlongK ? lane % 8 : lane / 8 * 2 + half;
      const int k = (first_chunk + chunk) * 64 + octet * 8;
      constexpr int kSteps = kAlongK ? kWide : 1;
      float values[8];
#pragma unroll
      for (int i = 0; i < 8; i += kSteps) {
        float part[kSteps] = {};
        if (first_row + row < rows && k + i < depth)
          load(first_row + row, k + i, part);
#pragma unroll
        for (int j = 0; j < kSteps; ++j)
          values[i + j] = part[j];
      }
      *reinterpret_cast<uint4 *>(target + row * 128 + (octet ^ row) * 16) =
          make_uint4(pair_of<kBFloat16>(values[0], values[1]), pair_of<kBFloat16>(values[2], values[3]),
                     pair_of<kBFloat16>(values[4], values[5]), pair_of<kBFloat16>(values[6], values[7]));
    }
  }
}

using warpwright_tensor::descriptor;
using warpwright_tensor::expect;
using warpwright_tensor::shared_address;
using warpwright_tensor::wait;

__device__ __forceinline__ void copy(unsigned target, const void *source, int bytes,
                                     unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                   "r"(target), "l"(source), "r"(bytes), "r"(barrier)
               : "memory");
}

enum class Element { Split, Float16, BFloat16 };

template <int kWidth, bool kBFloat16> struct Multiply;
template <> struct Multiply<64, false> {
  static __device__ __forceinline__ void begin(float (&d)[32]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[32], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[32]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) :: "memory");
  }
};
template <> struct Multiply<64, true> {
  static __device__ __forceinline__ void begin(float (&d)[32]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[32], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[32]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) :: "memory");
  }
};
template <> struct Multiply<96, false> {
  static __device__ __forceinline__ void begin(float (&d)[48]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[48], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[48]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) :: "memory");
  }
};
template <> struct Multiply<96, true> {
  static __device__ __forceinline__ void begin(float (&d)[48]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[48], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[48]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) :: "memory");
  }
};
template <> struct Multiply<128, false> {
  static __device__ __forceinline__ void begin(float (&d)[64]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[64], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[64]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) :: "memory");
  }
};
template <> struct Multiply<128, true> {
  static __device__ __forceinline__ void begin(float (&d)[64]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[64], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[64]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) :: "memory");
  }
};
template <> struct Multiply<192, false> {
  static __device__ __forceinline__ void begin(float (&d)[96]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[96], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, %96, %97, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[96]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]) :: "memory");
  }
};
template <> struct Multiply<192, true> {
  static __device__ __forceinline__ void begin(float (&d)[96]) {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]) :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[96], unsigned long long a,
                                             unsigned long long b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, %96, %97, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]) : "l"(a), "l"(b), "r"(accumulate));
  }
  static __device__ __forceinline__ void finish(float (&d)[96]) {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]) :: "memory");
  }
};


// The operands of one item of a block.
struct Place {
  const unsigned char *a, *b; // packed, at the first chunk
  const RowScale *scales_a, *scales_b;
  int chunks, first_k, last_k;
  int tile_m, tile_n, split, batch;
};

// Tiles of 128 rows and kTileN columns, one after another: a warp loads ahead, two groups of four warps multiply 64 rows each. The total of
// a group's rows stays in registers; a partial sum of kInstructionN columns over kPromote chunks goes through the tensor cores.
template <Element kElement, int kTileN, int kInstructionN, int kStages, int kPromote> struct Tile {
  using Product = Multiply<kInstructionN, kElement == Element::BFloat16>;
  static constexpr int kTileM = 128;
  static constexpr int kBytesA = kTileM * 128, kBytesB = kTileN * 128;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kPiece = 32;         // columns that a warp stages of C
  static constexpr int kStagingStride = 40; // without bank conflicts either way
  static constexpr int kStagingBytes = 8 * 16 * kStagingStride * 4;
  static_assert(kStages >= kPromote, "a partial sum needs all its stages");
  static_assert(kInstructionN % kPiece == 0 && kTileN % kInstructionN == 0, "whole pieces");

  // `place(item)` says what the block's items are; `store(place, row, column, values)` takes kWideC neighbours of a row of the tile, 1 or 4,
  // and is called for all of the tile, within the matrix or not. `again(place, row, column, values)` adds them up in FP32, by a warp.
  template <int kWideC, typename PlaceOf, typename Store, typename Again>
  static __device__ __forceinline__ void run(int items, PlaceOf place, Store store, Again again) {
    extern __shared__ unsigned char dynamic[];
    unsigned char *stages = reinterpret_cast<unsigned char *>(
        (reinterpret_cast<size_t>(dynamic) + 1023) & ~static_cast<size_t>(1023));
    const unsigned base = shared_address(stages);
    const unsigned full = base + kStages * kStageBytes + kStagingBytes, empty = full + kStages * 8;
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < kStages; ++stage) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + stage * 8));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" ::"r"(empty + stage * 8));
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp >= 8) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == 256)
        load(items, place, base, full, empty);
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      float *staging = reinterpret_cast<float *>(stages + kStages * kStageBytes) +
                       warp * 16 * kStagingStride;
      multiply<kWideC>(items, place, base, full, empty, warp, lane, staging, store, again);
    }
  }

  template <typename PlaceOf>
  static __device__ __forceinline__ void load(int items, PlaceOf place, unsigned base, unsigned full,
                                              unsigned empty) {
    int stage = 0, parity = 1;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
      const Place here = place(item);
      for (int chunk = 0; chunk < here.chunks; ++chunk) {
        wait(empty + stage * 8, parity);
        expect(full + stage * 8, kStageBytes);
        copy(base + stage * kStageBytes, here.a + static_cast<size_t>(chunk) * kBytesA, kBytesA,
             full + stage * 8);
        copy(base + stage * kStageBytes + kBytesA, here.b + static_cast<size_t>(chunk) * kBytesB, kBytesB,
             full + stage * 8);
        if (++stage == kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  }

  template <int kWideC, typename PlaceOf, typename Store, typename Again>
  static __device__ __forceinline__ void multiply(int items, PlaceOf place, unsigned base, unsigned full,
                                                  unsigned empty, int warp, int lane, float *staging,
                                                  Store store, Again again) {
    const int group = warp / 4;
    constexpr int kParts = kTileN / kInstructionN, kRegisters = kInstructionN / 2;
    int stage = 0, parity = 0;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
      const Place here = place(item);
      float total[kParts][kRegisters];
#pragma unroll
      for (int part = 0; part < kParts; ++part)
#pragma unroll
        for (int i = 0; i < kRegisters; ++i)
          total[part][i] = 0.0f;
      for (int chunk = 0; chunk < here.chunks; chunk += kPromote) {
        const int first_stage = stage;
#pragma unroll
        for (int step = 0; step < kPromote; ++step) {
          wait(full + stage * 8, parity);
          if (++stage == kStages) {
            stage = 0;
            parity ^= 1;
          }
        }
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          float sum[kRegisters];
          Product::begin(sum);
          const auto place_a = [&](int step) {
            const int at = first_stage + step < kStages ? first_stage + step : first_stage + step - kStages;
            return base + at * kStageBytes + group * 64 * 128;
          };
          const unsigned to_b = kBytesA + part * kInstructionN * 128 - group * 64 * 128;
          if constexpr (kElement == Element::Split) {
#pragma unroll
            for (int step = 0; step < kPromote; ++step) {
              const unsigned a = place_a(step), b = a + to_b;
              Product::add(sum, descriptor(a), descriptor(b + 64), step > 0);
              Product::add(sum, descriptor(a + 32), descriptor(b + 96), 1);
              Product::add(sum, descriptor(a + 64), descriptor(b), 1);
              Product::add(sum, descriptor(a + 96), descriptor(b + 32), 1);
            }
            Product::finish(sum);
#pragma unroll
            for (int i = 0; i < kRegisters; ++i)
              sum[i] *= 1.0f / 2048;
            Product::begin(sum);
#pragma unroll
            for (int step = 0; step < kPromote; ++step) {
              const unsigned a = place_a(step), b = a + to_b;
              Product::add(sum, descriptor(a), descriptor(b), 1);
              Product::add(sum, descriptor(a + 32), descriptor(b + 32), 1);
            }
          } else {
#pragma unroll
            for (int step = 0; step < kPromote; ++step) {
              const unsigned a = place_a(step), b = a + to_b;
#pragma unroll
              for (int i = 0; i < 128; i += 32)
                Product::add(sum, descriptor(a + i), descriptor(b + i), step > 0 || i > 0);
            }
          }
          Product::finish(sum);
          if (part == kParts - 1 && lane == 0) {
#pragma unroll
            for (int step = 0; step < kPromote; ++step) {
              const int released = first_stage + step < kStages ? first_stage + step
                                                                : first_stage + step - kStages;
              asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + released * 8)
                           : "memory");
            }
          }
#pragma unroll
          for (int i = 0; i < kRegisters; ++i)
            total[part][i] += sum[i];
        }
      }
      // Through shared memory, so that a warp stores whole lines.
      const int first_row = group * 64 + warp % 4 * 16;
      constexpr int kPieces = kTileN / kPiece;
      constexpr int kLanes = kPiece / kWideC; // across a row
      constexpr int kTurns = kLanes / 2;      // rows of a lane
      unsigned doubts[(kPieces * kTurns + 31) / 32] = {};
#pragma unroll 1 // what `store` does may be long, and stands here once a turn
      for (int piece = 0; piece < kPieces; ++piece) {
        __syncwarp();
#pragma unroll
        for (int one = 0; one < kPieces; ++one)
          if (one == piece)
#pragma unroll
            for (int i = 0; i < kPiece / 8; ++i) {
              const float *from = total[one * kPiece / kInstructionN] + (one * kPiece % kInstructionN / 8 + i) * 4;
              float *line = staging + lane / 4 * kStagingStride + i * 8 + lane % 4 * 2;
              *reinterpret_cast<float2 *>(line) = make_float2(from[0], from[1]);
              *reinterpret_cast<float2 *>(line + 8 * kStagingStride) = make_float2(from[2], from[3]);
            }
        __syncwarp();
        const int column = lane % kLanes * kWideC;
        RowScale scale_b[kWideC] = {};
        if constexpr (kElement == Element::Split)
#pragma unroll
          for (int j = 0; j < kWideC; ++j)
            scale_b[j] = here.scales_b[piece * kPiece + column + j];
#pragma unroll 4
        for (int turn = 0; turn < kTurns; ++turn) {
          const int i = lane / kLanes + turn * (32 / kLanes);
          float values[kWideC];
          if constexpr (kElement == Element::Split) {
            const RowScale scale_a = here.scales_a[first_row + i];
            bool doubtful = false;
#pragma unroll
            for (int j = 0; j < kWideC; ++j)
              doubtful |= value_of(staging[i * kStagingStride + column + j],
                                   scale_a.shift + scale_b[j].shift, scale_a.doubt + scale_b[j].doubt,
                                   values[j]);
#pragma unroll
            for (int word = 0; word < (kPieces * kTurns + 31) / 32; ++word)
              if (doubtful && piece * kTurns / 32 == word)
                doubts[word] |= 1u << (piece * kTurns % 32 + turn);
          } else {
#pragma unroll
            for (int j = 0; j < kWideC; ++j)
              values[j] = staging[i * kStagingStride + column + j];
          }
          store(here, first_row + i, piece * kPiece + column, values);
        }
      }
      if constexpr (kElement == Element::Split)
        if (here.chunks > 0)
          settle<kWideC, kTurns>(here, first_row, lane, doubts, store, again);
    }
  }

  // Stores what is in doubt anew. A lane's bit says: this vector of this turn of this piece.
  template <int kWideC, int kTurns, int kWords, typename Store, typename Again>
  static __device__ __forceinline__ void settle(const Place &here, int first_row, int lane,
                                                const unsigned (&doubts)[kWords], Store store,
                                                Again again) {
    constexpr int kLanes = kPiece / kWideC;
#pragma unroll 1
    for (int word = 0; word < kWords; ++word) {
      unsigned mine = 0;
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        mine = i == word ? doubts[i] : mine;
#pragma unroll 1
      for (unsigned asking = __ballot_sync(0xffffffffu, mine != 0); asking != 0; asking &= asking - 1) {
        const int other = __ffs(asking) - 1;
#pragma unroll 1
        for (unsigned theirs = __shfl_sync(0xffffffffu, mine, other); theirs != 0; theirs &= theirs - 1) {
          const int bit = word * 32 + __ffs(theirs) - 1;
          const int row = first_row + other / kLanes + bit % kTurns * (32 / kLanes);
          const int column = bit / kTurns * kPiece + other % kLanes * kWideC;
          float values[kWideC] = {};
          again(here, row, column, values);
          if (lane == other)
            store(here, row, column, values);
        }
      }
    }
  }
};

} // namespace warpwright_split
#endif
