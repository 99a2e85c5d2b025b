// FP32 product on the tensor cores of sm_80 and later, in one kernel: operands split into two TF32 parts as they leave shared memory,
// low * high + high * low + high * high, partial sums of 32 steps of k added to the total in ordinary registers, since tensor cores
// truncate.
//
// Infinities and what rounds to one make parts that are no numbers. A sum that is not finite is therefore added again in FP32.
//
// For small and middling shapes, where packing beforehand (packed.inc) costs more than it saves. A cluster of blocks may share a tile,
// each taking a part of k; they add their sums over distributed shared memory in one order, so that results repeat bit by bit.
#ifndef WARPWRIGHT_SPLIT_TF32
#define WARPWRIGHT_SPLIT_TF32

namespace warpwright_tf32 {

__device__ __forceinline__ unsigned shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void split(float value, unsigned &high, unsigned &low) {
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high) : "f"(value));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(value - __uint_as_float(high)));
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One operand's tile of kRows x kDepth in shared memory, as the operand lies in memory: along k or across it. The padding keeps both
// fragment loads free of bank conflicts.
template <int kRows, int kDepth, bool kAlongK> struct Panel {
  static constexpr int kStride = kAlongK ? kDepth + 4 : kRows + 8;
  static constexpr int kElements = kAlongK ? kRows * kStride : kDepth * kStride;
  static __device__ __forceinline__ int at(int row, int k) {
    return kAlongK ? row * kStride + k : k * kStride + row;
  }
};

// Fills a panel. kVector > 0: `source(row, k)` is the address of an element, of which kVector lie side by side, aligned together, and the
// copy runs on behind. kVector <= 0: `source(row, k, values)` gives -kVector neighbours. Zeros beyond `rows` and `depth`.
template <int kRows, int kDepth, bool kAlongK, int kVector, int kThreads, typename Source>
__device__ __forceinline__ void fill(float *panel, int first_row, int rows, int first_k, int depth,
                                     Source source) {
  using Layout = Panel<kRows, kDepth, kAlongK>;
  constexpr int kWide = kVector > 0 ? kVector : -kVector;
  constexpr int kFast = (kAlongK ? kDepth : kRows) / kWide;
  constexpr int kCopies = kRows * kDepth / kWide;
#pragma unroll
  for (int copy = threadIdx.x; copy < kCopies; copy += kThreads) {
    const int fast = copy % kFast * kWide, slow = copy / kFast;
    const int row = kAlongK ? slow : fast, k = kAlongK ? fast : slow;
    const bool inside = first_row + row < rows && first_k + k < depth;
    float *target = panel + Layout::at(row, k);
    if constexpr (kVector > 0) {
      const float *from = inside ? source(first_row + row, first_k + k) : source(0, 0);
      if constexpr (kVector == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(target)),
                     "l"(from), "r"(inside ? 16 : 0)
                     : "memory");
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(target)),
                     "l"(from), "n"(kVector * 4), "r"(inside ? kVector * 4 : 0)
                     : "memory");
    } else {
      float values[kWide] = {};
      if (inside)
        source(first_row + row, first_k + k, values);
#pragma unroll
      for (int i = 0; i < kWide; ++i)
        target[i] = values[i];
    }
  }
}

// Changes all values that a lane holds of a warp's tile: `change(value, i, j, part)`.
template <int kM, int kN, typename Change>
__device__ __forceinline__ void each(float (&sums)[kM][kN][4], Change change) {
#pragma unroll
  for (int i = 0; i < kM; ++i)
#pragma unroll
    for (int j = 0; j < kN; ++j)
#pragma unroll
      for (int part = 0; part < 4; ++part)
        change(sums[i][j][part], i, j, part);
}

// A tile of kTileM x kTileN of C, kTileK steps of k a stage; warps of kWarpM x kWarpN.
template <int kTileM, int kTileN, int kTileK, int kWarpM, int kWarpN, int kStages, bool kAlongA,
          int kVectorA, bool kAlongB, int kVectorB, int kCluster>
struct Tile {
  static constexpr int kWarpsN = kTileN / kWarpN;
  static constexpr int kThreads = kTileM / kWarpM * kWarpsN * 32;
  using PanelA = Panel<kTileM, kTileK, kAlongA>;
  using PanelB = Panel<kTileN, kTileK, kAlongB>;
  static constexpr int kStageFloats = PanelA::kElements + PanelB::kElements;
  static constexpr int kStagingStride = kTileN + 8;
  static constexpr int kSharedFloats = kStages * kStageFloats > kTileM * kStagingStride
                                           ? kStages * kStageFloats
                                           : kTileM * kStagingStride;

  // `first_k` to `last_k` is this block's part of k; `store(row, column, values)` takes kWideC neighbours of a row, 1 or 4, and is called
  // only within the matrix. `again(row, column, values)` adds them up in FP32, by a warp, over the cluster's part of k.
  template <int kWideC, typename SourceA, typename SourceB, typename Store, typename Again>
  static __device__ __forceinline__ void run(int first_row, int rows, int first_column, int columns,
                                             int first_k, int last_k, SourceA source_a,
                                             SourceB source_b, Store store, Again again) {
    extern __shared__ float4 dynamic[];
    float *shared = reinterpret_cast<float *>(dynamic);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / kWarpsN * kWarpM, warp_column = warp % kWarpsN * kWarpN;
    constexpr int kM = kWarpM / 16, kN = kWarpN / 8;
    float total[kM][kN][4] = {};
    const int steps = (last_k - first_k + kTileK - 1) / kTileK;
    auto load = [&](int step) {
      if (step < steps) {
        float *stage = shared + step % kStages * kStageFloats;
        fill<kTileM, kTileK, kAlongA, kVectorA, kThreads>(stage, first_row, rows,
                                                          first_k + step * kTileK, last_k, source_a);
        fill<kTileN, kTileK, kAlongB, kVectorB, kThreads>(stage + PanelA::kElements, first_column,
                                                          columns, first_k + step * kTileK, last_k,
                                                          source_b);
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
    };
#pragma unroll
    for (int step = 0; step < kStages - 1; ++step)
      load(step);
    for (int step = 0; step < steps; ++step) {
      asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
      __syncthreads();
      load(step + kStages - 1);
      const float *panel_a = shared + step % kStages * kStageFloats;
      const float *panel_b = panel_a + PanelA::kElements;
      float sum[kM][kN][4];
#pragma unroll
      for (int k = 0; k < kTileK; k += 8) {
        if (k % 32 == 0)
          each(sum, [](float &value, int, int, int) { value = 0.0f; });
        unsigned high_a[kM][4], low_a[kM][4], high_b[kN][2], low_b[kN][2];
#pragma unroll
        for (int i = 0; i < kM; ++i)
#pragma unroll
          for (int part = 0; part < 4; ++part)
            split(panel_a[PanelA::at(warp_row + i * 16 + lane / 4 + part % 2 * 8,
                                     k + lane % 4 + part / 2 * 4)],
                  high_a[i][part], low_a[i][part]);
#pragma unroll
        for (int j = 0; j < kN; ++j)
#pragma unroll
          for (int part = 0; part < 2; ++part)
            split(panel_b[PanelB::at(warp_column + j * 8 + lane / 4, k + lane % 4 + part * 4)],
                  high_b[j][part], low_b[j][part]);
#pragma unroll
        for (int i = 0; i < kM; ++i)
#pragma unroll
          for (int j = 0; j < kN; ++j)
            multiply(sum[i][j], low_a[i], high_b[j]);
#pragma unroll
        for (int i = 0; i < kM; ++i)
#pragma unroll
          for (int j = 0; j < kN; ++j)
            multiply(sum[i][j], high_a[i], low_b[j]);
#pragma unroll
        for (int i = 0; i < kM; ++i)
#pragma unroll
          for (int j = 0; j < kN; ++j)
            multiply(sum[i][j], high_a[i], high_b[j]);
        if (k % 32 == 24 || k + 8 >= kTileK)
          each(total, [&](float &value, int i, int j, int part) { value += sum[i][j][part]; });
      }
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();

    // Through shared memory, so that neighbouring lanes store neighbouring columns.
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        float *line = shared + (warp_row + i * 16 + lane / 4) * kStagingStride + warp_column + j * 8 +
                      lane % 4 * 2;
        *reinterpret_cast<float2 *>(line) = make_float2(total[i][j][0], total[i][j][1]);
        *reinterpret_cast<float2 *>(line + 8 * kStagingStride) =
            make_float2(total[i][j][2], total[i][j][3]);
      }
    unsigned rank = 0;
    if constexpr (kCluster > 1) {
      asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                       : "memory");
      asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    } else {
      __syncthreads();
    }
    constexpr int kRowsABlock = (kTileM + kCluster - 1) / kCluster;
    constexpr int kVectors = kTileN / kWideC, kItems = kRowsABlock * kVectors;
    for (int warps = threadIdx.x - lane; warps < kItems; warps += kThreads) {
      const int item = warps + lane;
      const int row = rank * kRowsABlock + item / kVectors, column = item % kVectors * kWideC;
      const bool mine = item < kItems && row < kTileM && first_row + row < rows &&
                        first_column + column < columns;
      float values[kWideC] = {};
      if (mine) {
        if constexpr (kCluster > 1) {
          const unsigned address = shared_address(shared + row * kStagingStride + column);
          float parts[kCluster][kWideC];
#pragma unroll
          for (int other = 0; other < kCluster; ++other) {
            unsigned remote;
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(other));
            if constexpr (kWideC == 4)
              asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                           : "=f"(parts[other][0]), "=f"(parts[other][1 % kWideC]),
                             "=f"(parts[other][2 % kWideC]), "=f"(parts[other][3 % kWideC])
                           : "r"(remote));
            else
              asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(parts[other][0]) : "r"(remote));
          }
#pragma unroll
          for (int other = 0; other < kCluster; ++other)
#pragma unroll
            for (int i = 0; i < kWideC; ++i)
              values[i] += parts[other][i];
        } else {
#pragma unroll
          for (int i = 0; i < kWideC; ++i)
            values[i] = shared[row * kStagingStride + column + i];
        }
      }
      bool finite = true;
#pragma unroll
      for (int i = 0; i < kWideC; ++i)
        finite = finite && isfinite(values[i]);
#pragma unroll 1
      for (unsigned asking = __ballot_sync(0xffffffffu, !finite); asking != 0; asking &= asking - 1) {
        const int other = __ffs(asking) - 1, there = warps + other;
        float exact[kWideC];
        again(first_row + static_cast<int>(rank) * kRowsABlock + there / kVectors,
              first_column + there % kVectors * kWideC, exact);
        if (lane == other)
#pragma unroll
          for (int i = 0; i < kWideC; ++i)
            values[i] = exact[i];
      }
      if (mine)
        store(first_row + row, first_column + column, values);
    }
    if constexpr (kCluster > 1)
      asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                       : "memory");
  }
};

} // namespace warpwright_tf32
#endif
