// sm_121a
// Products for an example of a generation: the interface of mma_sync.cuh, in plain multiplications.
#ifndef WARPWRIGHT_MMA_EXAMPLE
#define WARPWRIGHT_MMA_EXAMPLE

namespace warpwright_mma_example {

// sum += a * b of fragments of 16 x 8 x 8, which lie among the lanes of a warp as PTX says of mma.m16n8k8.
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  const int lane = threadIdx.x % 32;
  for (int part = 0; part < 4; ++part)
    for (int k = 0; k < 8; ++k) {
      const int row = lane / 4 + part / 2 * 8, column = lane % 4 * 2 + part % 2;
      const unsigned low = __shfl_sync(0xffffffffu, a[k / 4 * 2], row % 8 * 4 + k % 4);
      const unsigned high = __shfl_sync(0xffffffffu, a[k / 4 * 2 + 1], row % 8 * 4 + k % 4);
      const unsigned other = __shfl_sync(0xffffffffu, b[k / 4], column * 4 + k % 4);
      sum[part] += __uint_as_float(row < 8 ? low : high) * __uint_as_float(other);
    }
}

// A tile of kTileM x kTileN of C; each thread adds up its elements by `again`, which is exact.
template <int kTileM, int kTileN, int kTileK, int kWarpM, int kWarpN, int kStages, bool kAlongA,
          int kVectorA, bool kAlongB, int kVectorB, int kCluster>
struct Tile {
  template <int kWideC, typename SourceA, typename SourceB, typename Store, typename Again>
  static __device__ __forceinline__ void run(int first_row, int rows, int first_column, int columns,
                                             int, int, SourceA, SourceB, Store store, Again again) {
    constexpr int kVectors = kTileN / kWideC;
    for (int item = threadIdx.x / 32; item < kTileM * kVectors; item += blockDim.x / 32) {
      const int row = first_row + item / kVectors, column = first_column + item % kVectors * kWideC;
      float values[kWideC] = {};
      again(row, column, values);
      if (threadIdx.x % 32 == 0 && row < rows && column < columns)
        store(row, column, values);
    }
  }
};

} // namespace warpwright_mma_example
#endif
