// sm_90a
#include "../half_mma.cuh"
#include "../attention.cuh"
#include "../tensor_copies.cuh"
#include "../attention_wgmma.cuh"

// Of the widths that the test compiles; the family writes those that it needs (elements/wgmma_text.cpp).
template <bool kInRegisters> struct Multiply {
  static __device__ __forceinline__ void begin(float (&d)[8]) {
    asm volatile("wgmma.fence.sync.aligned;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])::"memory");
  }
  template <class A> static __device__ __forceinline__ void add(float (&d)[8], A a, unsigned long long b, bool = true) {
    if constexpr (kInRegisters)
      asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, 1, 1, 1, 1;"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    else
      asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                   : "l"(a), "l"(b));
  }
  template <int kLeft = 0> static __device__ __forceinline__ void finish(float (&d)[8]) {
    asm volatile("wgmma.wait_group.sync.aligned %8;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "n"(kLeft)
                 : "memory");
  }
};

template <int kGroupsOfWarps> struct FlashSizes {
  using Scores = Multiply<false>;
  using Values = Multiply<true>;
  static constexpr int kDepth = 72, kWidth = 16, kQueries = 1000, kLength = 999, kHeads = 4, kBatches = 6;
  static constexpr int kGroups = kGroupsOfWarps, kTurns = kGroupsOfWarps == 3, kKeys = 16, kStages = 2, kCachedKeys = 5000;
  static constexpr int kRegisters = kGroups == 3 ? 160 : 240, kLoadRegisters = 24;
  static constexpr int kInnerQ = 24, kInnerStepQ = 1, kOuterStepQ = 0, kInnerKeys = 6, kInnerStepKeys = 1, kOuterStepKeys = 0;
  static constexpr int kInnerValues = 3, kInnerStepValues = 1, kOuterStepValues = 1;
  static constexpr bool kBFloat16 = kGroupsOfWarps == 2;
  static __device__ float factor() { return 0.125f; }
};

template <class C>
__device__ void attend_tiles(const warpwright_tensor::Map &q, const warpwright_tensor::Map &k, const warpwright_tensor::Map &v, float *result) {
  warpwright_attention::Flash<C>::run(
      q, k, v, [](int row) { return warpwright_attention::Window{0, row / 4 < 999 ? row / 4 + 1 : 999}; },
      [](int, int, int, float (&values)[2]) { values[0] = warpwright_attention::tanh_of(values[0]); },
      [&](int batch, int row, int column, const float (&values)[4]) { result[batch + row + column] = values[0]; });
}

__global__ void __launch_bounds__(384, 1) two_groups(const __grid_constant__ warpwright_tensor::Map q, const __grid_constant__ warpwright_tensor::Map k,
                                                     const __grid_constant__ warpwright_tensor::Map v, float *result) {
  attend_tiles<FlashSizes<2>>(q, k, v, result);
}
__global__ void __launch_bounds__(512, 1) three_groups(const __grid_constant__ warpwright_tensor::Map q, const __grid_constant__ warpwright_tensor::Map k,
                                                       const __grid_constant__ warpwright_tensor::Map v, float *result) {
  attend_tiles<FlashSizes<3>>(q, k, v, result);
}
