// sm_90a
#include "../product_tiles.cuh"
#include "../tensor_copies.cuh"
#include "../half_product.cuh"

// Of the width that the test compiles; the family writes the one that it needs (families/matmul/wgmma_text.cpp).
struct Wgmma {
  static __device__ __forceinline__ void begin(float (&d)[8]) {
    asm volatile("wgmma.fence.sync.aligned;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])::"memory");
  }
  static __device__ __forceinline__ void add(float (&d)[8], unsigned long long a, unsigned long long b, bool = true) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "l"(a), "l"(b));
  }
  static __device__ __forceinline__ void finish(float (&d)[8]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])::"memory");
  }
};

template <int kShared, int kSpatial = 0> struct Config {
  using Multiply = Wgmma;
  static constexpr int kGroupM = 64, kTileN = 16, kTogether = kShared, kStages = 4, kStepK = 64, kAcross = 0, kTwins = kShared, kUnrolled = kShared;
  static constexpr int kPiece = kShared ? 8 : 16;
  static constexpr int kAlongA = kSpatial > 0, kAlongB = 1, kRows = 1000, kColumns = 50, kDepth = 700, kBatches = 6, kSplits = 2, kPart = 6;
  static constexpr int kInnerA = 2, kInnerStepA = 1, kOuterStepA = 1, kInnerB = 1, kInnerStepB = 0, kOuterStepB = 0;
  static constexpr int kWindow = kSpatial, kTapChunks = 2;
  static constexpr int kOutW = 10, kStepW = 1, kFirstW = -1, kDilationW = 1, kKernelW = 3;
  static constexpr int kOutH = 10, kStepH = 2, kFirstH = -1, kDilationH = 1, kKernelH = 3;
  static constexpr int kOutD = 1, kStepD = 1, kFirstD = 0, kDilationD = 1, kKernelD = 1;
};

template <class C> __device__ void multiply(const warpwright_tensor::Map &a, const warpwright_tensor::Map &b, float *c) {
  warpwright_half::Product<C>::template run<4>(
      blockIdx.x, gridDim.x, a, b, b, [&](int tile_m, int, int &first_k, int &) { first_k = tile_m > first_k ? tile_m : first_k; },
      [&](int batch, int split, int row, int column, const float (&values)[4], const float (&others)[4]) {
        c[batch + split + row + column] = values[0] + others[1];
      });
}

__global__ void __launch_bounds__(384, 1) multiply_together(const __grid_constant__ warpwright_tensor::Map a,
                                                            const __grid_constant__ warpwright_tensor::Map b, float *c) {
  multiply<Config<1>>(a, b, c);
}
__global__ void __launch_bounds__(384, 1) multiply_in_turns(const __grid_constant__ warpwright_tensor::Map a,
                                                            const __grid_constant__ warpwright_tensor::Map b, float *c) {
  multiply<Config<0>>(a, b, c);
}
__global__ void __launch_bounds__(384, 1) convolve_images(const __grid_constant__ warpwright_tensor::Map a,
                                                          const __grid_constant__ warpwright_tensor::Map b, float *c) {
  multiply<Config<0, 2>>(a, b, c);
}
__global__ void __launch_bounds__(384, 1) convolve_volumes(const __grid_constant__ warpwright_tensor::Map a,
                                                           const __grid_constant__ warpwright_tensor::Map b, float *c) {
  multiply<Config<0, 3>>(a, b, c);
}
