// The order in which blocks take the tiles of a product, and the sums of products whose k is split (families/matmul).
#ifndef WARPWRIGHT_PRODUCT_TILES
#define WARPWRIGHT_PRODUCT_TILES

namespace warpwright_tiles {

// `rank` is one of the blocks that share a tile, `split` a part of k.
struct Item {
  int rank, split, batch, tile_m, tile_n;
};

// The work with this number. Eight rows of tiles run together, so that they share operands in the second-level cache.
// Numbers of a product are arguments, not parameters of templates: a kernel for a range of sizes reads them from memory.
template <typename Number>
__device__ __forceinline__ Item item_of(const int tiles_m, const int tiles_n, const int splits, const int per_tile, const Number item) {
  Item here;
  here.rank = item % per_tile;
  const int tile = item / per_tile % (tiles_m * tiles_n);
  here.split = item / (per_tile * tiles_m * tiles_n) % splits;
  here.batch = item / (per_tile * tiles_m * tiles_n) / splits;
  const int band = tile / (8 * tiles_n) * 8;
  const int height = tiles_m - band < 8 ? tiles_m - band : 8;
  here.tile_m = band + tile % (8 * tiles_n) % height;
  here.tile_n = tile % (8 * tiles_n) / height;
  return here;
}

// Keeps neighbours of a row of one part of the product in `partial`, [split][batch][row][column].
template <typename T, int kWide>
__device__ __forceinline__ void keep(T *partial, const int batches, const int rows, const int columns, int split, int batch, int row,
                                     int column, const T (&values)[kWide]) {
  T *target = partial + ((static_cast<long long>(split) * batches + batch) * rows + row) * columns + column;
#pragma unroll
  for (int i = 0; i < kWide; ++i)
    target[i] = values[i];
}

// Adds the parts in order, in blocks of 256 threads. `store(batch, row, column, values)` takes kWide neighbours of a row.
template <int kWide, int kSplits, typename T, typename Store>
__device__ __forceinline__ void add(const int batches, const int rows, const int columns, const T *__restrict__ partial, Store store) {
  const long long elements = static_cast<long long>(batches) * rows * columns;
  const long long item = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (item >= elements / kWide)
    return;
  const int column = item % (columns / kWide) * kWide;
  const int row = item / (columns / kWide) % rows;
  const int batch = item / (columns / kWide) / rows;
  T values[kWide] = {};
#pragma unroll 4
  for (int split = 0; split < kSplits; ++split)
#pragma unroll
    for (int i = 0; i < kWide; ++i)
      values[i] += partial[split * elements + item * kWide + i];
  store(batch, row, column, values);
}

} // namespace warpwright_tiles
#endif
