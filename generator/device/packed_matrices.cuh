// Both operands of a product packed, and the product of the packed operands (packed.cuh), over batches and with k in parts.
#ifndef WARPWRIGHT_PACKED_MATRICES
#define WARPWRIGHT_PACKED_MATRICES

namespace warpwright_split {

// Two functors read the operands: load_a (batch, row, k, values) and load_b (batch, column, k, values).
// @tparam Config kElement, kTileN, kWidth, kStages, kPromote: of Tile; kRows, kColumns, kDepth, kBatches; kSplits: parts of k, of kPart chunks;
//   kAlongA, kWideA, kAlongB, kWideB: how an operand is read; kSharedA, kSharedB: the operand is the same for all batches
template <typename Config> struct Matrices {
  using C = Config;
  using Product = Tile<C::kElement, C::kTileN, C::kWidth, C::kStages, C::kPromote>;
  static constexpr bool kSplit = C::kElement == Element::Split;
  static constexpr int kSteps = kSplit ? kChunk : 64; // steps of k in a chunk
  // Numbers of tiles and rows are functions, since a product for a range of sizes reads them from memory.
  static __device__ __forceinline__ int tiles_m() { return (C::kRows + 127) / 128; }
  static __device__ __forceinline__ int tiles_n() { return (C::kColumns + C::kTileN - 1) / C::kTileN; }
  static __device__ __forceinline__ int rows_a() { return tiles_m() * 128; }
  static __device__ __forceinline__ int rows_b() { return tiles_n() * C::kTileN; }
  // Chunks in all and of a part: whole groups of those that are added at once.
  static constexpr int kGroup = kSteps * C::kPromote;
  static constexpr int kChunks = (C::kDepth + kGroup - 1) / kGroup * C::kPromote;
  static constexpr int kPart = C::kPart;
  static __device__ __forceinline__ long long batch_bytes_a() { return static_cast<long long>(rows_a()) * kChunks * 128; }
  static __device__ __forceinline__ long long batch_bytes_b() { return static_cast<long long>(rows_b()) * kChunks * 128; }
  static __device__ __forceinline__ int blocks_a() {
    return rows_a() / kStripRows * C::kSplits * (C::kSharedA ? 1 : C::kBatches);
  }

  // A block packs a strip of one operand.
  template <typename LoadA, typename LoadB>
  static __device__ __forceinline__ void pack_both(unsigned char *packed_a, unsigned char *packed_b, RowScale *scales_a,
                                                   RowScale *scales_b, LoadA load_a, LoadB load_b) {
    if (blockIdx.x < static_cast<unsigned>(blocks_a()))
      pack_one<C::kAlongA, C::kWideA>(blockIdx.x, C::kRows, rows_a(), 128, packed_a, batch_bytes_a(), scales_a, load_a);
    else
      pack_one<C::kAlongB, C::kWideB>(blockIdx.x - blocks_a(), C::kColumns, rows_b(), C::kTileN, packed_b, batch_bytes_b(),
                                      scales_b, load_b);
  }

  template <bool kAlongK, int kWide, typename Load>
  static __device__ __forceinline__ void pack_one(int block, int rows, int all_rows, int tile_rows, unsigned char *packed,
                                                  long long batch_bytes, RowScale *scales, Load load) {
    const int strips = all_rows / kStripRows;
    const int strip = block % strips, split = block / strips % C::kSplits, batch = block / strips / C::kSplits;
    const int first_chunk = split * kPart;
    const int chunks = first_chunk + kPart < kChunks ? kPart : kChunks - first_chunk;
    const auto load_row = [&](const int row, const int k, float (&values)[kWide]) { load(batch, row, k, values); };
    if constexpr (kSplit)
      pack<kAlongK, kWide>(load_row, rows, C::kDepth, strip * kStripRows, first_chunk, chunks, kChunks, tile_rows,
                           packed + batch * batch_bytes, scales + (batch * C::kSplits + split) * all_rows);
    else
      pack_plain<C::kElement == Element::BFloat16, kAlongK, kWide>(load_row, rows, C::kDepth, strip * kStripRows,
                                                                   first_chunk, chunks, kChunks, tile_rows,
                                                                   packed + batch * batch_bytes);
  }

  // @param narrow (tile_m, tile_n, int &first_k, int &last_k): leaves out steps of k that add nothing to a tile
  // @param store (batch, split, row, column, values): kWideC neighbours of a row, 1 or 4; called only within the matrix
  // @param load_a, load_b read one element each, for sums of half pairs that are in doubt
  template <int kWideC, typename Narrow, typename Store, typename LoadA, typename LoadB>
  static __device__ __forceinline__ void multiply(const unsigned char *packed_a, const unsigned char *packed_b,
                                                  const RowScale *scales_a, const RowScale *scales_b, Narrow narrow,
                                                  Store store, LoadA load_a, LoadB load_b) {
    const auto place = [&](const int number) {
      const warpwright_tiles::Item item = warpwright_tiles::item_of(tiles_m(), tiles_n(), C::kSplits, 1, number);
      const int batch_a = C::kSharedA ? 0 : item.batch, batch_b = C::kSharedB ? 0 : item.batch;
      int first_k = item.split * kPart * kSteps;
      int last_k = first_k + kPart * kSteps < kChunks * kSteps ? first_k + kPart * kSteps : kChunks * kSteps;
      narrow(item.tile_m, item.tile_n, first_k, last_k);
      first_k = first_k / kGroup * kGroup;
      last_k = (last_k + kGroup - 1) / kGroup * kGroup;
      Place here;
      here.a = packed_a + batch_a * batch_bytes_a() +
               (static_cast<long long>(item.tile_m) * kChunks + first_k / kSteps) * Product::kBytesA;
      here.b = packed_b + batch_b * batch_bytes_b() +
               (static_cast<long long>(item.tile_n) * kChunks + first_k / kSteps) * Product::kBytesB;
      if constexpr (kSplit) {
        here.scales_a = scales_a + (batch_a * C::kSplits + item.split) * rows_a() + item.tile_m * 128;
        here.scales_b = scales_b + (batch_b * C::kSplits + item.split) * rows_b() + item.tile_n * C::kTileN;
      } else {
        here.scales_a = here.scales_b = nullptr;
      }
      here.chunks = last_k > first_k ? (last_k - first_k) / kSteps : 0;
      here.first_k = first_k;
      here.last_k = last_k < C::kDepth ? last_k : C::kDepth;
      here.tile_m = item.tile_m;
      here.tile_n = item.tile_n;
      here.split = item.split;
      here.batch = item.batch;
      return here;
    };
    const int items = tiles_m() * tiles_n() * C::kSplits * C::kBatches;
    Product::template run<kWideC>(
        items, place,
        [&](const Place &here, const int in_row, const int in_column, const float (&values)[kWideC]) {
          const int row = here.tile_m * 128 + in_row, column = here.tile_n * C::kTileN + in_column;
          if (row < C::kRows && column < C::kColumns)
            store(here.batch, here.split, row, column, values);
        },
        [&](const Place &here, const int in_row, const int in_column, float (&values)[kWideC]) {
          if constexpr (kSplit) {
            const int row = here.tile_m * 128 + in_row, column = here.tile_n * C::kTileN + in_column;
            if (row >= C::kRows || column >= C::kColumns)
              return;
            warpwright_again::add(
                here.first_k, here.last_k,
                [&](const int k) {
                  float one[1];
                  load_a(here.batch, row, k, one);
                  return one[0];
                },
                [&](const int k, const int j) {
                  float one[1];
                  load_b(here.batch, column + j, k, one);
                  return one[0];
                },
                values);
          }
        });
  }
};

} // namespace warpwright_split
#endif
