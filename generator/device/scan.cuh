// Cumulative sums, products, extremes and logarithms of sums of rows and of columns (families/scan).
//
// A block walks one row, or a piece of it, in chunks that stay in registers: each thread scans kItems neighbours, a warp joins its threads by
// shuffles, the block joins its warps, and the running total enters the next chunk. The order of all additions is fixed.
#ifndef WARPWRIGHT_SCAN
#define WARPWRIGHT_SCAN

namespace warpwright_scan {

struct Sum {
  template <typename T> static __device__ __forceinline__ T identity() { return T(0); }
  template <typename T> static __device__ __forceinline__ T join(T left, T right) { return left + right; }
};
struct Product {
  template <typename T> static __device__ __forceinline__ T identity() { return T(1); }
  template <typename T> static __device__ __forceinline__ T join(T left, T right) { return left * right; }
};
// Extremes; what is no number stays one, as in PyTorch.
template <typename T> __device__ __forceinline__ T lowest() {
  if constexpr (T(0.5) != T(0))
    return T(-__int_as_float(0x7f800000));
  else
    return T(-1) < T(0) ? T(1ull << (8 * sizeof(T) - 1)) : T(0);
}
template <typename T> __device__ __forceinline__ T highest() {
  if constexpr (T(0.5) != T(0))
    return -lowest<T>();
  else
    return T(~lowest<T>());
}
struct Maximum {
  template <typename T> static __device__ __forceinline__ T identity() { return lowest<T>(); }
  template <typename T> static __device__ __forceinline__ T join(T left, T right) {
    return left > right || left != left ? left : right;
  }
};
struct Minimum {
  template <typename T> static __device__ __forceinline__ T identity() { return highest<T>(); }
  template <typename T> static __device__ __forceinline__ T join(T left, T right) {
    return left < right || left != left ? left : right;
  }
};
// log(e^a + e^b).
struct LogSumExp {
  template <typename T> static __device__ __forceinline__ T identity() { return lowest<T>(); }
  template <typename T> static __device__ __forceinline__ T join(T left, T right) {
    const T high = left > right ? left : right, low = left > right ? right : left;
    return high == low ? high + T(0.6931471805599453) : high + log1p(exp(low - high));
  }
};

// Totals of the pieces of a row, or the scan itself, which starts each piece from the totals of the pieces before it.
enum class Pass { Totals, Scan };

// A warp's part of a chunk, 32 * kItems neighbours from `base` on. Elements pass through shared memory, so that memory sees neighbouring
// lanes on neighbouring elements.
// @tparam Config Value, Join; kThreads; kItems of a thread; kVector: elements that a functor moves at once
template <typename Config, bool kVectors = (Config::kVector > 1)> struct Part {
  using Value = typename Config::Value;
  using Join = typename Config::Join;
  static constexpr int kItems = Config::kItems;
  Value scanned[kItems], prefix;

  static __device__ __forceinline__ Value *tile_of_warp() {
    __shared__ Value tiles[Config::kThreads / 32][32 * (kItems + 1)];
    return tiles[threadIdx.x / 32];
  }

  // @return the scan over the totals of the lanes
  template <typename Load>
  __device__ __forceinline__ Value scan(int row, int base, int end, Load load) {
    Value *const tile = tile_of_warp();
    const int lane = threadIdx.x % 32;
    Value loaded[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j * 32 + lane;
      loaded[j] = Join::template identity<Value>();
      if (k < end)
        load(row, 0, k, loaded + j);
    }
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      tile[j * 32 + lane + (j * 32 + lane) / kItems] = loaded[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      scanned[j] = tile[lane * (kItems + 1) + j];
#pragma unroll
    for (int j = 1; j < kItems; ++j)
      scanned[j] = Join::join(scanned[j - 1], scanned[j]);
    Value inclusive = scanned[kItems - 1];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Value lower = __shfl_up_sync(0xffffffffu, inclusive, distance);
      if (lane >= distance)
        inclusive = Join::join(lower, inclusive);
    }
    prefix = __shfl_up_sync(0xffffffffu, inclusive, 1);
    if (lane == 0)
      prefix = Join::template identity<Value>();
    return inclusive;
  }

  // @param below what lies below the warp's part
  template <typename Store>
  __device__ __forceinline__ void store_all(int row, int base, int end, Value below, Store store) {
    Value *const tile = tile_of_warp();
    const int lane = threadIdx.x % 32;
    prefix = Join::join(below, prefix);
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      tile[lane * (kItems + 1) + j] = Join::join(prefix, scanned[j]);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j * 32 + lane;
      if (k < end) {
        const Value element = tile[j * 32 + lane + (j * 32 + lane) / kItems];
        store(row, 0, k, &element);
      }
    }
    __syncwarp();
  }
};

// Each lane holds whole vectors; groups of 32 vectors follow one another.
template <typename Config> struct Part<Config, true> {
  using Value = typename Config::Value;
  using Join = typename Config::Join;
  static constexpr int kItems = Config::kItems, kVector = Config::kVector;
  Value scanned[kItems], prefixes[kItems / kVector];

  template <typename Load>
  __device__ __forceinline__ Value scan(int row, int base, int end, Load load) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kItems / kVector; ++j) {
      const int k = base / kVector + j * 32 + lane;
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        scanned[j * kVector + v] = Join::template identity<Value>();
      if (k * kVector < end)
        load(row, 0, k, scanned + j * kVector);
    }
    Value inclusive = Join::template identity<Value>();
#pragma unroll
    for (int j = 0; j < kItems / kVector; ++j) {
#pragma unroll
      for (int v = 1; v < kVector; ++v)
        scanned[j * kVector + v] = Join::join(scanned[j * kVector + v - 1], scanned[j * kVector + v]);
      Value group = scanned[j * kVector + kVector - 1];
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const Value lower = __shfl_up_sync(0xffffffffu, group, distance);
        if (lane >= distance)
          group = Join::join(lower, group);
      }
      const Value lower = __shfl_up_sync(0xffffffffu, group, 1);
      prefixes[j] = lane == 0 ? inclusive : Join::join(inclusive, lower);
      inclusive = Join::join(inclusive, __shfl_sync(0xffffffffu, group, 31));
    }
    return inclusive;
  }

  template <typename Store>
  __device__ __forceinline__ void store_all(int row, int base, int end, Value below, Store store) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kItems / kVector; ++j) {
      const int k = base / kVector + j * 32 + lane;
      if (k * kVector < end) {
        const Value prefix = Join::join(below, prefixes[j]);
        Value elements[kVector];
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          elements[v] = Join::join(prefix, scanned[j * kVector + v]);
        store(row, 0, k, elements);
      }
    }
  }
};

// Rows along the last dimension.
// @tparam Config also kLength of a row, kPiece of a piece, kPieces of a row
// @param load (row, column, k, Value *values): kVector elements from k * kVector on; called only within the row
// @param store (row, column, k, const Value *elements)
template <typename Config, Pass kPass, typename Load, typename Store>
__device__ __forceinline__ void rows(typename Config::Value *piece_totals, Load load, Store store) {
  using Value = typename Config::Value;
  using Join = typename Config::Join;
  constexpr int kWarps = Config::kThreads / 32, kChunk = Config::kThreads * Config::kItems;
  Part<Config> part;
  __shared__ Value totals[2][kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.x / Config::kPieces, piece = blockIdx.x % Config::kPieces;
  const int begin = piece * Config::kPiece;
  const int end = begin + Config::kPiece < Config::kLength ? begin + Config::kPiece : Config::kLength;
  Value carry = Join::template identity<Value>();
  if constexpr (kPass == Pass::Scan && Config::kPieces > 1)
    for (int p = 0; p < piece; ++p)
      carry = Join::join(carry, piece_totals[(long long)row * Config::kPieces + p]);
  int phase = 0;
  for (int start = begin; start < end; start += kChunk, phase ^= 1) {
    const int base = start + warp * 32 * Config::kItems;
    const Value inclusive = part.scan(row, base, end, load);
    if (lane == 31)
      totals[phase][warp] = inclusive;
    __syncthreads();
    Value below = carry;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp)
        below = carry;
      carry = Join::join(carry, totals[phase][w]);
    }
    if constexpr (kPass == Pass::Scan)
      part.store_all(row, base, end, below, store);
  }
  if constexpr (kPass == Pass::Totals)
    if (threadIdx.x == 0)
      piece_totals[(long long)row * Config::kPieces + piece] = carry;
}

// Rows of at most 32 vectors: kGroup lanes of a warp hold one, so that a block has several.
// @tparam Config also kLength of a row, kGroup, kRows
template <typename Config, Pass kPass, typename Load, typename Store>
__device__ __forceinline__ void short_rows(typename Config::Value *, Load load, Store store) {
  using Value = typename Config::Value;
  using Join = typename Config::Join;
  constexpr int kVector = Config::kVector, kGroup = Config::kGroup;
  const int row = blockIdx.x * (Config::kThreads / kGroup) + threadIdx.x / kGroup, lane = threadIdx.x % kGroup;
  const bool inside = row < Config::kRows && lane * kVector < Config::kLength;
  Value scanned[kVector];
#pragma unroll
  for (int v = 0; v < kVector; ++v)
    scanned[v] = Join::template identity<Value>();
  if (inside)
    load(row, 0, lane, scanned);
#pragma unroll
  for (int v = 1; v < kVector; ++v)
    scanned[v] = Join::join(scanned[v - 1], scanned[v]);
  Value inclusive = scanned[kVector - 1];
#pragma unroll
  for (int distance = 1; distance < kGroup; distance *= 2) {
    const Value lower = __shfl_up_sync(0xffffffffu, inclusive, distance, kGroup);
    if (lane >= distance)
      inclusive = Join::join(lower, inclusive);
  }
  if constexpr (kGroup > 1) {
    const Value lower = __shfl_up_sync(0xffffffffu, inclusive, 1, kGroup);
    if (lane > 0)
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        scanned[v] = Join::join(lower, scanned[v]);
  }
  if (inside)
    store(row, 0, lane, scanned);
}

// Columns, for scans along other dimensions: the threads of a line of the block stand on neighbouring columns.
// @tparam Config also kColumns of a block, kInner: columns of a row, kColumnBlocks: blocks beside each other
template <typename Config, Pass kPass, typename Load, typename Store>
__device__ __forceinline__ void columns(typename Config::Value *piece_totals, Load load, Store store) {
  using Value = typename Config::Value;
  using Join = typename Config::Join;
  constexpr int kItems = Config::kItems, kColumns = Config::kColumns, kLines = Config::kThreads / kColumns;
  __shared__ Value totals[2][kLines][kColumns];
  const int x = threadIdx.x % kColumns, line = threadIdx.x / kColumns;
  const int piece = blockIdx.x % Config::kPieces;
  const int column = (blockIdx.x / Config::kPieces) % Config::kColumnBlocks * kColumns + x;
  const int row = blockIdx.x / Config::kPieces / Config::kColumnBlocks;
  const bool inside = column < Config::kInner;
  const int begin = piece * Config::kPiece;
  const int end = begin + Config::kPiece < Config::kLength ? begin + Config::kPiece : Config::kLength;
  Value carry = Join::template identity<Value>();
  if constexpr (kPass == Pass::Scan && Config::kPieces > 1)
    for (int p = 0; inside && p < piece; ++p)
      carry = Join::join(carry, piece_totals[((long long)row * Config::kInner + column) * Config::kPieces + p]);
  int phase = 0;
  for (int start = begin; start < end; start += kLines * kItems, phase ^= 1) {
    const int base = start + line * kItems;
    Value scanned[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int k = base + j;
      scanned[j] = Join::template identity<Value>();
      if (inside && k < end)
        load(row, column, k, scanned + j);
    }
#pragma unroll
    for (int j = 1; j < kItems; ++j)
      scanned[j] = Join::join(scanned[j - 1], scanned[j]);
    totals[phase][line][x] = scanned[kItems - 1];
    __syncthreads();
    Value prefix = carry;
#pragma unroll 8
    for (int l = 0; l < kLines; ++l) {
      if (l == line)
        prefix = carry;
      carry = Join::join(carry, totals[phase][l][x]);
    }
    if constexpr (kPass == Pass::Scan)
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        const int k = base + j;
        if (inside && k < end) {
          const Value element = Join::join(prefix, scanned[j]);
          store(row, column, k, &element);
        }
      }
  }
  if constexpr (kPass == Pass::Totals)
    if (inside && line == 0)
      piece_totals[((long long)row * Config::kInner + column) * Config::kPieces + piece] = carry;
}

} // namespace warpwright_scan
#endif
