// Products of 16-bit or TF32 matrices on wgmma, with sums in FP32 over all of k. Behind tensor_copies.cuh. One thread copies
// tiles of both operands into a ring of stages by tensor maps; two groups of four warps multiply,
// either one tile together or a tile each.
//
// The left operand may be the windows of a convolution on channels-last images: a row is a position
// of the window, and k runs over the channels, a stage at a time, of one tap after another. The
// copy engine finds the elements (im2col maps).
#ifndef WARPWRIGHT_HALF_PRODUCT
#define WARPWRIGHT_HALF_PRODUCT

namespace warpwright_half {

using namespace warpwright_tensor;

constexpr int kGroups = 2;  // of four warps that multiply
constexpr int kThreads = (kGroups + 1) * 128;

// Copies channels of a tap, for as many positions of the window as the map says, from the position at (w, h, d) of image
// n on.
template <int kSpatial>
__device__ __forceinline__ void copy_window(unsigned target, const Map &map, int channel, int w, int h, int d, int n, int tap_w,
                                            int tap_h, int tap_d, unsigned barrier) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(&map);
  const unsigned short offset_w = static_cast<unsigned short>(tap_w), offset_h = static_cast<unsigned short>(tap_h),
                       offset_d = static_cast<unsigned short>(tap_d);
  if constexpr (kSpatial == 2)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(target),
                 "l"(address), "r"(channel), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(offset_w), "h"(offset_h)
                 : "memory");
  else
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(target),
                 "l"(address), "r"(channel), "r"(w), "r"(h), "r"(d), "r"(n), "r"(barrier), "h"(offset_w), "h"(offset_h),
                 "h"(offset_d)
                 : "memory");
}

// Where a tile of a convolution's positions begins.
// @tparam C kWindow: spatial dimensions, 2 or 3; kOutW, kOutH, kOutD; kFirstW and so on: of the window's first tap at the
//   first position; kStepW, kDilationW, kKernelW and so on; kTapChunks: stages of a tap
template <class C> struct Positions {
  int w, h, d, n;

  __device__ __forceinline__ explicit Positions(int row) {
    w = row % C::kOutW * C::kStepW + C::kFirstW;
    row /= C::kOutW;
    h = row % C::kOutH * C::kStepH + C::kFirstH;
    row /= C::kOutH;
    d = row % C::kOutD * C::kStepD + C::kFirstD;
    n = row / C::kOutD;
  }
  __device__ __forceinline__ void load(unsigned target, const Map &map, int tap, int channel, unsigned barrier) const {
    copy_window<C::kWindow>(target, map, channel, w, h, d, n, tap % C::kKernelW * C::kDilationW,
                            tap / C::kKernelW % C::kKernelH * C::kDilationH,
                            tap / C::kKernelW / C::kKernelH * C::kDilationD, barrier);
  }
};

// An operand's panel of a stage: 64 steps of k of 16 bits, or 32 of TF32. Along k, a row of the matrix is a row of 128
// bytes. Else the panel is a sequence of chunks of 64 matrix rows, in which a step of k is a row of 128 bytes.
template <bool kAlongK> struct Panel {
  static constexpr int kChunkBytes = 64 * 128;

  template <int kRows>
  static __device__ __forceinline__ void load(unsigned target, const Map &map, int row, int k, int inner, int outer,
                                              unsigned barrier) {
    if constexpr (kAlongK) {
      copy(target, map, k, row, inner, outer, barrier);
    } else {
#pragma unroll
      for (int i = 0; i < kRows / 64; ++i)
        copy(target + i * kChunkBytes, map, row + i * 64, k, inner, outer, barrier);
    }
  }

  // The descriptor for a quarter of the stage's steps of k.
  static __device__ __forceinline__ unsigned long long descriptor(unsigned panel, int quarter) {
    return warpwright_tensor::descriptor(panel + quarter * (kAlongK ? 32 : 2048), kAlongK ? 16 : kChunkBytes);
  }
  // Address of the rows from `row` on, a multiple of 64.
  static __device__ __forceinline__ unsigned rows_from(unsigned panel, int row) { return panel + row * 128; }
};

// @tparam C kGroupM: rows of a group of warps, 64 or 128; kTileN: columns of a tile; kTogether: the groups share a
//   tile, of 2 * kGroupM rows; kStages; kStepK: of a stage; Multiply: wgmma with kTileN columns; kAlongA, kAlongB: panels; kRows,
//   kColumns, kDepth, kBatches; kInnerA, kInnerB: extents of the inner batch dimension; kInnerStepA and so on: 1, or 0
//   where the operand is the same along that dimension; kPiece: columns that a warp stores at once; kSplits: parts of
//   k, of kPart stages; kAcross: values are neighbours in a column; kTwins: the right half of a tile holds the same
//   columns of a second product; kWindow: 0, or see Positions: kDepth then counts whole stages of taps
template <class C> struct Product {
  static constexpr int kTileM = C::kTogether ? C::kGroupM * kGroups : C::kGroupM;
  static constexpr int kBytesA = kTileM * 128, kBytesB = C::kTileN * 128, kStageBytes = kBytesA + kBytesB;
  static constexpr int kParts = C::kGroupM / 64, kRegisters = C::kTileN / 2;
  static constexpr int kWidth = C::kTwins ? C::kTileN / 2 : C::kTileN; // columns of the result in a tile
  static constexpr int kPiece = C::kPiece;                             // columns that a warp stages at once
  static constexpr int kStagingStride = (kPiece < 32 ? 32 : kPiece) + 8;
  static constexpr int kStagingBytes = kGroups * 4 * 16 * kStagingStride * 4;
  using PanelA = Panel<C::kAlongA>;
  using PanelB = Panel<C::kAlongB>;
  static_assert(kWidth % kPiece == 0, "whole pieces");
  static_assert(C::kAlongA || kTileM % 64 == 0, "whole chunks of rows");
  static_assert(C::kAlongB || kWidth % 64 == 0, "whole chunks of columns");

  struct Place {
    int tile_m, tile_n, split, batch, first_chunk, chunks;
  };

  // Numbers of tiles are functions, since a product for a range of sizes reads them from memory.
  static __device__ __forceinline__ int tiles_m() { return (C::kRows + kTileM - 1) / kTileM; }
  static __device__ __forceinline__ int tiles_n() { return (C::kColumns + kWidth - 1) / kWidth; }
  static __device__ __forceinline__ int items() { return tiles_m() * tiles_n() * C::kSplits * C::kBatches; }

  template <class Narrow> static __device__ __forceinline__ Place place(int number, Narrow narrow) {
    const warpwright_tiles::Item item = warpwright_tiles::item_of(tiles_m(), tiles_n(), C::kSplits, 1, number);
    Place here{item.tile_m, item.tile_n, item.split, item.batch, 0, 0};
    int first_k = item.split * C::kPart * C::kStepK, last_k = first_k + C::kPart * C::kStepK;
    last_k = last_k < C::kDepth ? last_k : C::kDepth;
    narrow(here.tile_m, here.tile_n, first_k, last_k);
    here.first_chunk = first_k / C::kStepK;
    here.chunks = last_k > first_k ? (last_k + C::kStepK - 1) / C::kStepK - here.first_chunk : 0;
    return here;
  }

  // @param block, blocks this block's number, and how many share the tiles
  // @param narrow (tile_m, tile_n, int &first_k, int &last_k): leaves out steps of k that add nothing to a tile
  // @param map_twin of the second product's right operand; not read without kTwins
  // @param store (batch, split, row, column, values, others): kWideC neighbours, 1 or 4, of both products; called only
  //   within the matrix
  template <int kWideC, class Narrow, class Store>
  static __device__ __forceinline__ void run(int block, int blocks, const Map &map_a, const Map &map_b, const Map &map_twin,
                                             Narrow narrow, Store store) {
    extern __shared__ unsigned char dynamic[];
    unsigned char *stages = reinterpret_cast<unsigned char *>(
        (reinterpret_cast<size_t>(dynamic) + 1023) & ~static_cast<size_t>(1023));
    const unsigned base = shared_address(stages);
    const unsigned full = base + C::kStages * kStageBytes + kStagingBytes, empty = full + C::kStages * 8;
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    if (threadIdx.x == 0) {
      constexpr int kReaders = 4 * (C::kTogether ? kGroups : 1); // warps
      for (int stage = 0; stage < C::kStages; ++stage) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + stage * 8));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + stage * 8), "n"(kReaders));
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp >= kGroups * 4) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == kGroups * 128)
        load(block, blocks, map_a, map_b, map_twin, narrow, base, full, empty);
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      float *staging =
          reinterpret_cast<float *>(stages + C::kStages * kStageBytes) + warp * 16 * kStagingStride;
      multiply<kWideC>(block, blocks, narrow, base, full, empty, warp, staging, store);
    }
  }

  template <class Narrow>
  static __device__ __forceinline__ void load(int block, int blocks, const Map &map_a, const Map &map_b, const Map &map_twin,
                                              Narrow narrow, unsigned base,
                                              unsigned full, unsigned empty) {
    int stage = 0, parity = 1;
    for (int number = block; number < items(); number += blocks) {
      const Place here = place(number, narrow);
      const int inner_a = here.batch % C::kInnerA * C::kInnerStepA, outer_a = here.batch / C::kInnerA * C::kOuterStepA;
      const int inner_b = here.batch % C::kInnerB * C::kInnerStepB, outer_b = here.batch / C::kInnerB * C::kOuterStepB;
      for (int chunk = 0; chunk < here.chunks; ++chunk) {
        const unsigned target = base + stage * kStageBytes, barrier = full + stage * 8;
        [[maybe_unused]] const int k = (here.first_chunk + chunk) * C::kStepK;
        wait(empty + stage * 8, parity);
        expect(barrier, kStageBytes);
        if constexpr (C::kWindow > 0) {
          const int tap = (here.first_chunk + chunk) / C::kTapChunks,
                    channel = (here.first_chunk + chunk) % C::kTapChunks * C::kStepK;
          Positions<C>(here.tile_m * kTileM).load(target, map_a, tap, channel, barrier);
          PanelB::template load<kWidth>(target + kBytesA, map_b, here.tile_n * kWidth, channel, tap, 0, barrier);
        } else {
          PanelA::template load<kTileM>(target, map_a, here.tile_m * kTileM, k, inner_a, outer_a, barrier);
          PanelB::template load<kWidth>(target + kBytesA, map_b, here.tile_n * kWidth, k, inner_b, outer_b, barrier);
        }
        if constexpr (C::kTwins)
          PanelB::template load<kWidth>(target + kBytesA + kBytesB / 2, map_twin, here.tile_n * kWidth, k, inner_b,
                                        outer_b, barrier);
        if (++stage == C::kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  }

  // Groups with tiles of their own multiply in turns: whoever waits for a stage may be at most one phase of its barrier
  // ahead, and a group that stores leaves the tensor cores to the other.
  static __device__ __forceinline__ void await_turn(int group) {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(kGroups * 128) : "memory");
  }
  static __device__ __forceinline__ void give_turn(int group) {
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + (group + 1) % kGroups), "n"(kGroups * 128) : "memory");
  }

  template <int kWideC, class Narrow, class Store>
  static __device__ __forceinline__ void multiply(int block, int blocks, Narrow narrow, unsigned base, unsigned full, unsigned empty,
                                                  int warp, float *staging, Store store) {
    const int group = warp / 4;
    int stage = 0, parity = 0, turn = 0;
    if (!C::kTogether && group == kGroups - 1)
      give_turn(group);
    for (int number = block; number < items(); number += blocks, ++turn) {
      const Place here = place(number, narrow);
      if (!C::kTogether && turn % kGroups != group) { // the other group's tile
        const int position = stage + here.chunks;
        parity ^= position / C::kStages & 1;
        stage = position % C::kStages;
        continue;
      }
      float sums[kParts][kRegisters];
#pragma unroll
      for (int part = 0; part < kParts; ++part)
#pragma unroll
        for (int i = 0; i < kRegisters; ++i)
          sums[part][i] = 0.0f;
      const int group_row = C::kTogether ? group * C::kGroupM : 0;
      int before = 0;
      if constexpr (!C::kTogether)
        await_turn(group);
      for (int chunk = 0; chunk < here.chunks; ++chunk) {
        wait(full + stage * 8, parity);
        const unsigned panel_a = PanelA::rows_from(base + stage * kStageBytes, group_row);
        const unsigned panel_b = base + stage * kStageBytes + kBytesA;
#pragma unroll
        for (int part = 0; part < kParts; ++part)
          C::Multiply::begin(sums[part]);
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter)
#pragma unroll
          for (int part = 0; part < kParts; ++part)
            C::Multiply::add(sums[part], PanelA::descriptor(PanelA::rows_from(panel_a, part * 64), quarter),
                             PanelB::descriptor(panel_b, quarter));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (chunk > 0) {
          asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
          release(empty + before * 8);
        }
        before = stage;
        if (++stage == C::kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
      if constexpr (!C::kTogether)
        give_turn(group);
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        C::Multiply::finish(sums[part]);
      if (here.chunks > 0)
        release(empty + before * 8);
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        keep<kWideC>(here, group_row + part * 64 + warp % 4 * 16, sums[part], staging, store);
    }
  }

  // Place of an element in a warp's staging memory: neither neighbours in a row nor every fourth row of a column share
  // banks.
  static __device__ __forceinline__ int staged(int row, int column) {
    return row * kStagingStride + (column ^ row / 4 * 8);
  }

  // Puts a piece of 16 rows into the warp's staging memory, from the sums from kFirst on.
  template <int kFirst>
  static __device__ __forceinline__ void stage(const float (&sums)[kRegisters], int piece, float *staging) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int one = 0; one < kWidth / kPiece; ++one) // registers have no index at run time
      if (one == piece)
#pragma unroll
        for (int i = 0; i < kPiece / 8; ++i) {
          const float *from = sums + kFirst + one * kPiece / 2 + i * 4;
          const int row = lane / 4, column = i * 8 + lane % 4 * 2;
          *reinterpret_cast<float2 *>(staging + staged(row, column)) = make_float2(from[0], from[1]);
          *reinterpret_cast<float2 *>(staging + staged(row + 8, column)) = make_float2(from[2], from[3]);
        }
    __syncwarp();
  }

  // Stores 16 rows of a tile, through shared memory, so that a warp stores whole lines, or whole sectors of columns.
  template <int kWideC, class Store>
  static __device__ __forceinline__ void keep(const Place &here, int first_row, const float (&sums)[kRegisters],
                                              float *staging, Store store) {
    const int lane = threadIdx.x % 32;
    constexpr int kVectors = 16 * kPiece / kWideC, kTurns = (kVectors + 31) / 32;
    const auto row_of = [&](int vector) {
      return C::kAcross ? vector % (16 / kWideC) * kWideC : vector / (kPiece / kWideC);
    };
    const auto column_of = [&](int vector) {
      return C::kAcross ? vector / (16 / kWideC) : vector % (kPiece / kWideC) * kWideC;
    };
    const auto take = [&](int vector, float (&values)[kWideC]) {
      const int row = row_of(vector), column = column_of(vector);
      if constexpr (!C::kAcross && kWideC % 4 == 0) {
        // Eight neighbours are two accesses; every other row makes them in the other order, so that rows share no banks.
        const auto *from = reinterpret_cast<const float4 *>(staging + staged(row, column));
        const bool turned = kWideC == 8 && row % 2 == 1;
        const float4 first = from[turned], second = from[kWideC == 8 && !turned];
        const float4 low = turned ? second : first, high = turned ? first : second;
        values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
        if constexpr (kWideC == 8)
          values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
      } else {
#pragma unroll
        for (int i = 0; i < kWideC; ++i)
          values[i] = staging[staged(row + (C::kAcross ? i : 0), column + (C::kAcross ? 0 : i))];
      }
    };
    constexpr int kPieces = kWidth / kPiece, kPiecesAtOnce = C::kUnrolled ? kPieces : 1;
#pragma unroll kPiecesAtOnce
    for (int piece = 0; piece < kPieces; ++piece) {
      float others[C::kTwins ? kTurns : 1][kWideC];
      if constexpr (C::kTwins) {
        stage<kRegisters / 2>(sums, piece, staging);
#pragma unroll
        for (int turn = 0; turn < kTurns; ++turn)
          if (lane + turn * 32 < kVectors)
            take(lane + turn * 32, others[turn]);
      }
      stage<0>(sums, piece, staging);
      const int piece_row = here.tile_m * kTileM + first_row, piece_column = here.tile_n * kWidth + piece * kPiece;
      const auto keep_vector = [&](int turn) {
        const int vector = lane + turn * 32;
        float values[kWideC];
        take(vector, values);
        store(here.batch, here.split, piece_row + row_of(vector), piece_column + column_of(vector), values,
              others[C::kTwins ? turn : 0]);
      };
      // Without conditions, the compiler loads all that a piece's elements are combined with before it stores the first.
      if (kVectors % 32 == 0 && piece_row + 16 <= C::kRows && piece_column + kPiece <= C::kColumns) {
#pragma unroll
        for (int turn = 0; turn < kTurns; ++turn)
          keep_vector(turn);
      } else {
        constexpr int kAtOnce = C::kTwins ? kTurns : 1; // twins are in registers
#pragma unroll kAtOnce
        for (int turn = 0; turn < kTurns; ++turn)
          if (const int vector = lane + turn * 32; vector < kVectors && piece_row + row_of(vector) < C::kRows &&
                                                   piece_column + column_of(vector) < C::kColumns)
            keep_vector(turn);
      }
    }
  }
};

} // namespace warpwright_half
#endif
