// The order in which blocks take the tiles of a product, and the sums of products whose k is split (families/matmul).
#ifndef WARPWRIGHT_PRODUCT_TILES
#define WARPWRIGHT_PRODUCT_TILES

namespace warpwright_tiles {

// `rank` is one of the blocks that share a tile, `split` a part of k.
struct Item {
  int rank, split, batch, tile_m, tile_n;
};

// The work with this number. Eight rows of tiles run together, so that they share operands in the second-level cache.
template <int kTilesM, int kTilesN, int kSplits, int kPerTile, typename Number>
__device__ __forceinline__ Item item_of(Number item) {
  Item here;
  here.rank = item % kPerTile;
  const int tile = item / kPerTile % (kTilesM * kTilesN);
  here.split = item / (kPerTile * kTilesM * kTilesN) % kSplits;
  here.batch = item / (kPerTile * kTilesM * kTilesN) / kSplits;
  const int band = tile / (8 * kTilesN) * 8;
  const int height = kTilesM - band < 8 ? kTilesM - band : 8;
  here.tile_m = band + tile % (8 * kTilesN) % height;
  here.tile_n = tile % (8 * kTilesN) / height;
  return here;
}

// Keeps neighbours of a row of one part of the product in `partial`, [split][batch][row][column].
template <int kBatches, int kRows, int kColumns, typename T, int kWide>
__device__ __forceinline__ void keep(T *partial, int split, int batch, int row, int column,
                                     const T (&values)[kWide]) {
  T *target = partial + ((static_cast<long long>(split) * kBatches + batch) * kRows + row) * kColumns + column;
#pragma unroll
  for (int i = 0; i < kWide; ++i)
    target[i] = values[i];
}

// Adds the parts in order, in blocks of 256 threads. `store(batch, row, column, values)` takes kWide neighbours of a row.
template <int kWide, int kBatches, int kRows, int kColumns, int kSplits, typename T, typename Store>
__device__ __forceinline__ void add(const T *__restrict__ partial, Store store) {
  constexpr long long kElements = static_cast<long long>(kBatches) * kRows * kColumns;
  const long long item = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (item >= kElements / kWide)
    return;
  const int column = item % (kColumns / kWide) * kWide;
  const int row = item / (kColumns / kWide) % kRows;
  const int batch = item / (kColumns / kWide) / kRows;
  T values[kWide] = {};
#pragma unroll 4
  for (int split = 0; split < kSplits; ++split)
#pragma unroll
    for (int i = 0; i < kWide; ++i)
      values[i] += partial[split * kElements + item * kWide + i];
  store(batch, row, column, values);
}

} // namespace warpwright_tiles
#endif
