// sm_90a
#include "../half_pairs.cuh"
#include "../tensor_copies.cuh"
#include "../packed.cuh"

namespace {

using warpwright_split::Element;
using warpwright_split::Place;

template <Element kElement, int kTileN, int kWidth> __device__ void multiply(const unsigned char *packed,
                                                                           const warpwright_split::RowScale *scales, float *c) {
  warpwright_split::Tile<kElement, kTileN, kWidth, 4, 2>::template run<4>(
      8, [&](int item) { return Place{packed, packed, scales, scales, 4, 0, 128, item, 0, 0, 0}; },
      [&](const Place &, int row, int column, const float (&values)[4]) { c[row * kTileN + column] = values[0]; },
      [&](const Place &, int, int, float (&values)[4]) { values[0] = c[0]; });
}

template <bool kAlongK, int kWide> struct Load {
  const float *from;
  __device__ void operator()(int row, int k, float (&values)[kWide]) const {
    for (int i = 0; i < kWide; ++i)
      values[i] = from[row * 64 + k + i];
  }
};

} // namespace

__global__ void __launch_bounds__(512) pack(const float *from, unsigned char *packed,
                                            warpwright_split::RowScale *scales) {
  warpwright_split::pack<true, 4>(Load<true, 4>{from}, 64, 64, 0, 0, 2, 2, 128, packed, scales);
  warpwright_split::pack<false, 1>(Load<false, 1>{from}, 64, 64, 0, 0, 2, 2, 128, packed, scales);
}

__global__ void __launch_bounds__(384, 1) multiply_split(const unsigned char *packed,
                                                         const warpwright_split::RowScale *scales, float *c) {
  multiply<Element::Split, 64, 64>(packed, scales, c);
}
__global__ void __launch_bounds__(384, 1) multiply_float16(const unsigned char *packed,
                                                           const warpwright_split::RowScale *scales, float *c) {
  multiply<Element::Float16, 96, 96>(packed, scales, c);
}
__global__ void __launch_bounds__(384, 1) multiply_bfloat16(const unsigned char *packed,
                                                            const warpwright_split::RowScale *scales, float *c) {
  multiply<Element::BFloat16, 128, 128>(packed, scales, c);
}
__global__ void __launch_bounds__(384, 1) multiply_wide(const unsigned char *packed,
                                                        const warpwright_split::RowScale *scales, float *c) {
  multiply<Element::BFloat16, 192, 192>(packed, scales, c);
}
