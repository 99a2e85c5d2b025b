// sm_90a
#include "../half_pairs.cuh"
#include "../tensor_copies.cuh"
#include "../packed.cuh"
#include "../product_tiles.cuh"
#include "../sum_again.cuh"
#include "../packed_matrices.cuh"

using namespace warpwright_split;

template <Element kKind> struct MatricesConfig {
  static constexpr Element kElement = kKind;
  static constexpr int kTileN = 128, kWidth = 128, kStages = 4, kPromote = 2, kRows = 1000, kColumns = 500, kDepth = 700, kBatches = 2;
  static constexpr int kSplits = 2, kPart = 12, kAlongA = 1, kWideA = 4, kAlongB = 0, kWideB = 1, kSharedA = 0, kSharedB = 1;
};

template <Element kKind> __device__ void pack_both(const float *a, unsigned char *packed, RowScale *scales) {
  Matrices<MatricesConfig<kKind>>::pack_both(
      packed, packed, scales, scales,
      [&](int batch, int row, int k, float (&values)[4]) { values[0] = values[1] = values[2] = values[3] = a[batch + row + k]; },
      [&](int batch, int column, int k, float (&values)[1]) { values[0] = a[batch + column + k]; });
}
template <Element kKind> __device__ void multiply(const float *a, const unsigned char *packed, const RowScale *scales, float *c) {
  const auto one = [&](int batch, int row, int k, float (&values)[1]) { values[0] = a[batch + row + k]; };
  Matrices<MatricesConfig<kKind>>::template multiply<4>(
      packed, packed, scales, scales, [&](int tile_m, int, int &first_k, int &) { first_k = tile_m > first_k ? tile_m : first_k; },
      [&](int batch, int split, int row, int column, const float (&values)[4]) { c[batch + split + row + column] = values[0]; }, one, one);
}

__global__ void __launch_bounds__(512, 2) pack_pairs(const float *a, unsigned char *packed, RowScale *scales) {
  pack_both<Element::Split>(a, packed, scales);
}
__global__ void __launch_bounds__(512, 2) pack_halves(const float *a, unsigned char *packed) {
  pack_both<Element::Float16>(a, packed, nullptr);
}
__global__ void __launch_bounds__(384, 1) multiply_pairs(const float *a, const unsigned char *packed, const RowScale *scales, float *c) {
  multiply<Element::Split>(a, packed, scales, c);
}
__global__ void __launch_bounds__(384, 1) multiply_halves(const float *a, const unsigned char *packed, float *c) {
  multiply<Element::BFloat16>(a, packed, nullptr, c);
}
