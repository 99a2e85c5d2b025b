// A 16-bit matrix times a few 16-bit vectors on tensor cores, sums in FP32. Behind half_mma.cuh.
//
// The matrix is read once, from memory to registers. A block has 16 of its rows, and the warps of the
// block share k. Any order of k serves a sum, so a lane takes eight neighbors of k, of matrix and
// vectors alike, as two pairs for each of two products.
#ifndef WARPWRIGHT_THIN_HALF
#define WARPWRIGHT_THIN_HALF

namespace warpwright_thin_half {

// @tparam C kRows: of the matrix; kVectors; kDepth: a multiple of 8; kBatches; kWarps; kUnroll: lines of 128 bytes of a row that a
//   warp has under way; kTwins: two matrices are multiplied by the same vectors; kBFloat16
template <class C> struct Product {
  static constexpr int kTileRows = 16, kTiles = (C::kVectors + 7) / 8, kMatrices = C::kTwins ? 2 : 1;
  static constexpr int kLine = 64; // elements of k
  static constexpr int kStride = kTileRows + 4;
  static constexpr int kPart = kTiles * 8 * kStride; // sums of a warp: vectors by rows
  using Half = unsigned short;

  static __device__ __forceinline__ int strips() { return (C::kRows + kTileRows - 1) / kTileRows; }

  static __device__ __forceinline__ uint4 eight(const Half *from, bool there) {
    return there ? *reinterpret_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
  }

  // @param block, blocks this block's number, and how many share the strips of rows
  // @param matrix, vector (which or batch, row): address of a row, whose elements are neighbors, aligned to 16 bytes
  // @param store (batch, row, vector, values, others): kWide rows from a multiple of kWide on, within the matrix
  template <int kWide, class Matrix, class Vector, class Store>
  static __device__ __forceinline__ void run(int block, int blocks, Matrix matrix, Vector vector, Store store) {
    extern __shared__ unsigned char dynamic[];
    float *const parts = reinterpret_cast<float *>(dynamic);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int item = block; item < strips() * C::kBatches; item += blocks) {
      const int batch = item / strips(), first_row = item % strips() * kTileRows;
      const Half *rows[kMatrices][2];
#pragma unroll
      for (int which = 0; which < kMatrices; ++which)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = first_row + half * 8 + lane / 4;
          rows[which][half] = matrix(which, batch, row < C::kRows ? row : C::kRows - 1);
        }
      const Half *vectors[kTiles];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const int number = tile * 8 + lane / 4;
        vectors[tile] = vector(batch, number < C::kVectors ? number : C::kVectors - 1);
      }
      float sums[kMatrices][kTiles][4] = {};
      constexpr int kStep = C::kWarps * kLine;
      for (int line = warp * kLine; line < C::kDepth; line += kStep * C::kUnroll) {
        uint4 left[C::kUnroll][kMatrices][2][2];
#pragma unroll
        for (int i = 0; i < C::kUnroll; ++i)
#pragma unroll
          for (int which = 0; which < kMatrices; ++which)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
              for (int j = 0; j < 2; ++j) {
                const int k = line + i * kStep + j * 32 + lane % 4 * 8;
                left[i][which][half][j] = warpwright_mma::read_16(rows[which][half] + k, k < C::kDepth);
              }
#pragma unroll
        for (int i = 0; i < C::kUnroll; ++i)
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const int k = line + i * kStep + j * 32 + lane % 4 * 8;
#pragma unroll
            for (int tile = 0; tile < kTiles; ++tile) {
              const uint4 right = eight(vectors[tile] + k, k < C::kDepth);
#pragma unroll
              for (int which = 0; which < kMatrices; ++which) {
                const uint4 low = left[i][which][0][j], high = left[i][which][1][j];
                const unsigned first[4] = {low.x, high.x, low.y, high.y}, second[4] = {low.z, high.z, low.w, high.w};
                warpwright_mma::multiply<C::kBFloat16>(sums[which][tile], first, right.x, right.y);
                warpwright_mma::multiply<C::kBFloat16>(sums[which][tile], second, right.z, right.w);
              }
            }
          }
      }

      // The warps' sums are added in order, through shared memory.
#pragma unroll
      for (int which = 0; which < kMatrices; ++which)
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            parts[(warp * kMatrices + which) * kPart + (tile * 8 + lane % 4 * 2 + i % 2) * kStride + i / 2 * 8 + lane / 4] =
                sums[which][tile][i];
      __syncthreads();
      constexpr int kGroups = kTileRows / kWide;
      for (int group = threadIdx.x; group < C::kVectors * kGroups; group += C::kWarps * 32) {
        const int number = group / kGroups, row = group % kGroups * kWide;
        float values[kMatrices][kWide] = {};
#pragma unroll
        for (int which = 0; which < kMatrices; ++which)
#pragma unroll
          for (int other = 0; other < C::kWarps; ++other)
#pragma unroll
            for (int i = 0; i < kWide; ++i)
              values[which][i] += parts[(other * kMatrices + which) * kPart + number * kStride + row + i];
        if (first_row + row < C::kRows)
          store(batch, first_row + row, number, values[0], values[kMatrices - 1]);
      }
      __syncthreads();
    }
  }
};

} // namespace warpwright_thin_half
#endif
