// sm_80 sm_90a sm_100a sm_120
#include "../half_mma.cuh"
#include "../attention.cuh"

template <int kHead, int kWarps, int kAlongKeys, int kTiles> struct AttentionTiles {
  static constexpr int kDepth = kHead, kWidth = kHead, kRows = 1000, kLength = 999, kRowWarps = kWarps, kKeyWarps = kAlongKeys;
  static constexpr int kRowTiles = kTiles, kKeys = 64, kStages = 2, kParts = kAlongKeys, kKeepsKeys = kAlongKeys > 1, kKeepsValues = kAlongKeys > 1;
  static constexpr bool kBFloat16 = kHead > 64;
  static __device__ float factor() { return 0.125f; }
};

template <class C> __device__ void attend(const unsigned short *q, const unsigned short *k, float *result, float *partial) {
  using Attention = warpwright_attention::Attention<C>;
  unsigned short *const kept = reinterpret_cast<unsigned short *>(partial);
  const auto row_of = [&](auto *from) { return [=](int row) { return from + row * C::kDepth; }; };
  const auto put = [&](int row, int column, const float (&values)[4]) { result[row * C::kWidth + column] = values[0]; };
  Attention::run(
      blockIdx.x, blockIdx.y, row_of(q), row_of(k), row_of(k), row_of(kept), row_of(kept),
      [&](int row) { return warpwright_attention::Window{0, row < C::kLength ? row + 1 : C::kLength}; },
      [&](int, int, float (&values)[2]) { values[0] = warpwright_attention::tanh_of(values[0]); }, put, put,
      [&](int row, float most, float sum) { partial[row] = most + sum; });
  float values[4] = {};
  Attention::join(values, [&](int part) { return result + part * 4; }, [&](int part) { return partial + part * 2; });
  put(0, 0, values);
}

__global__ void __launch_bounds__(128) prefill(const unsigned short *q, const unsigned short *k, float *result, float *partial) {
  attend<AttentionTiles<128, 4, 1, 1>>(q, k, result, partial);
}
__global__ void __launch_bounds__(128) decode(const unsigned short *q, const unsigned short *k, float *result, float *partial) {
  attend<AttentionTiles<72, 1, 4, 1>>(q, k, result, partial);
}
__global__ void __launch_bounds__(128) tall(const unsigned short *q, const unsigned short *k, float *result, float *partial) {
  attend<AttentionTiles<64, 4, 1, 2>>(q, k, result, partial);
}
