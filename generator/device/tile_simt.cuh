// A tile of a matrix product on ordinary cores: register tiles over double-buffered shared memory, any type.
//
// A warp covers 4 x 8 thread tiles, and a thread's rows and columns stand in groups of four, a quarter of the tile apart, so that loads from
// shared memory are vectors without bank conflicts. The next stage travels through registers while this one is multiplied; one
// barrier a stage is enough, since the buffers alternate. Sums over k are formed in k's own order.
#ifndef WARPWRIGHT_TILE_SIMT
#define WARPWRIGHT_TILE_SIMT

namespace warpwright_simt {

template <typename T> struct alignas(sizeof(T) * 4) Four {
  T v[4];
};

// `load(row, k, values)` gives kWide neighbours along the operand's fast dimension, and is asked only within `rows` and `depth`.
template <typename T, int kRows, int kDepth, bool kAlongK, int kWide, int kThreads> struct Operand {
  static constexpr int kStride = kRows + 4;
  static constexpr int kFast = (kAlongK ? kDepth : kRows) / kWide;
  static constexpr int kLoads = kRows * kDepth / kWide / kThreads;
  static_assert(kLoads * kWide * kThreads == kRows * kDepth, "whole loads a thread");
  T next[kLoads][kWide];

  template <typename Load>
  __device__ __forceinline__ void fetch(int first_row, int rows, int first_k, int depth, Load load) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int item = threadIdx.x + i * kThreads;
      const int fast = item % kFast * kWide, slow = item / kFast;
      const int row = first_row + (kAlongK ? slow : fast), k = first_k + (kAlongK ? fast : slow);
#pragma unroll
      for (int j = 0; j < kWide; ++j)
        next[i][j] = T(0);
      if (row < rows && k < depth)
        load(row, k, next[i]);
    }
  }

  __device__ __forceinline__ void store(T *tile) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int item = threadIdx.x + i * kThreads;
      const int fast = item % kFast * kWide, slow = item / kFast;
#pragma unroll
      for (int j = 0; j < kWide; ++j)
        tile[kAlongK ? (fast + j) * kStride + slow : slow * kStride + fast + j] = next[i][j];
    }
  }
};

template <typename T, int kTileM, int kTileN, int kTileK, int kThreadM, int kThreadN, bool kAlongA,
          int kWideA, bool kAlongB, int kWideB>
struct Tile {
  static constexpr int kThreads = kTileM / kThreadM * (kTileN / kThreadN);
  static constexpr int kWarpsN = kTileN / kThreadN / 8;
  using OperandA = Operand<T, kTileM, kTileK, kAlongA, kWideA, kThreads>;
  using OperandB = Operand<T, kTileN, kTileK, kAlongB, kWideB, kThreads>;

  // `store(row, column, values)` takes kWideC neighbours of a row, 1 or 4, and is called only within the matrix.
  template <int kWideC, typename LoadA, typename LoadB, typename Store>
  static __device__ __forceinline__ void run(int first_row, int rows, int first_column, int columns,
                                             int first_k, int last_k, LoadA load_a, LoadB load_b,
                                             Store store) {
    __shared__ Four<T> shared_a[2 * kTileK * OperandA::kStride / 4];
    __shared__ Four<T> shared_b[2 * kTileK * OperandB::kStride / 4];
    T *tiles_a = shared_a[0].v, *tiles_b = shared_b[0].v;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group_m = (warp / kWarpsN * 4 + lane / 8) * 4;
    const int group_n = (warp % kWarpsN * 8 + lane % 8) * 4;
    OperandA a;
    OperandB b;
    T sum[kThreadM][kThreadN] = {};
    if (first_k < last_k) {
      a.fetch(first_row, rows, first_k, last_k, load_a);
      b.fetch(first_column, columns, first_k, last_k, load_b);
      a.store(tiles_a);
      b.store(tiles_b);
    }
    __syncthreads();
    int buffer = 0;
    for (int step = first_k; step < last_k; step += kTileK) {
      const bool more = step + kTileK < last_k;
      if (more) {
        a.fetch(first_row, rows, step + kTileK, last_k, load_a);
        b.fetch(first_column, columns, step + kTileK, last_k, load_b);
      }
      const T *tile_a = tiles_a + buffer * kTileK * OperandA::kStride;
      const T *tile_b = tiles_b + buffer * kTileK * OperandB::kStride;
#pragma unroll
      for (int k = 0; k < kTileK; ++k) {
        Four<T> left[kThreadM / 4], right[kThreadN / 4];
#pragma unroll
        for (int i = 0; i < kThreadM / 4; ++i)
          left[i] = *reinterpret_cast<const Four<T> *>(
              tile_a + k * OperandA::kStride + i * 4 * (kTileM / kThreadM) + group_m);
#pragma unroll
        for (int j = 0; j < kThreadN / 4; ++j)
          right[j] = *reinterpret_cast<const Four<T> *>(
              tile_b + k * OperandB::kStride + j * 4 * (kTileN / kThreadN) + group_n);
#pragma unroll
        for (int i = 0; i < kThreadM; ++i)
#pragma unroll
          for (int j = 0; j < kThreadN; ++j)
            sum[i][j] += left[i / 4].v[i % 4] * right[j / 4].v[j % 4];
      }
      buffer ^= 1;
      if (more) {
        a.store(tiles_a + buffer * kTileK * OperandA::kStride);
        b.store(tiles_b + buffer * kTileK * OperandB::kStride);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
      const int row = first_row + i / 4 * 4 * (kTileM / kThreadM) + group_m + i % 4;
#pragma unroll
      for (int j = 0; j < kThreadN; j += kWideC) {
        const int column = first_column + j / 4 * 4 * (kTileN / kThreadN) + group_n + j % 4;
        T values[kWideC];
#pragma unroll
        for (int part = 0; part < kWideC; ++part)
          values[part] = sum[i][j + part];
        if (row < rows && column < columns)
          store(row, column, values);
      }
    }
  }
};

} // namespace warpwright_simt
#endif
