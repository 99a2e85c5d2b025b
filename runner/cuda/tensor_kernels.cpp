// Sources of the tensor-core kernels. See PTX ISA 9.0, "Matrix multiply-accumulate" and
// "Asynchronous warpgroup level matrix instructions". The operands are zeros, because a peak rate
// needs the highest clock. The kernels store their results under a condition that is never true, so
// that the compiler keeps the computation.
#include "runner/cuda/tensor_kernels.h"

#include "arch/generations.h"

namespace warpwright::runner::cuda {
namespace {

/// Number of independent accumulators per warp, which hide each other's latency.
constexpr int kChains = 8;
/// Accumulator registers per thread of one wgmma: 64 x 256 results in a warpgroup of 128 threads.
constexpr int kWgmmaRegisters = 128;
/// Number of wgmmas between two waits.
constexpr int kWgmmasAnIteration = 8;

constexpr const char *kMmaSource = R"(
extern "C" __global__ void ww_tensor(float *never, int iterations) {
  float d[CHAINS][4] = {};
  unsigned a[4] = {}, b[2] = {};
  for (int i = 0; i < iterations; ++i)
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
      asm volatile("mma.sync.aligned.SHAPE {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float sum = 0;
  for (int k = 0; k < CHAINS; ++k) sum += d[k][0] + d[k][1] + d[k][2] + d[k][3];
  if (sum == 12345.678f) *never = sum;
}
)";

/// Tiles have no swizzle: 8 rows of 16 bytes form one block of 128 bytes, and two blocks form the
/// depth.
constexpr const char *kWgmmaSource = R"(
__device__ inline unsigned long long tile(const void *shared) {
  unsigned long long address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  return (address & 0x3ffff) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}
extern "C" __global__ void __launch_bounds__(128) ww_tensor(float *never, int iterations) {
  __shared__ __align__(1024) unsigned char a[64 * 32], b[256 * 32];
  for (int i = threadIdx.x; i < 64 * 32; i += 128) a[i] = 0;
  for (int i = threadIdx.x; i < 256 * 32; i += 128) b[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned long long left = tile(a), right = tile(b);
  float d[128] = {};
  for (int i = 0; i < iterations; ++i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < WGMMAS; ++k)
      asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"
                   "wgmma.mma_async.sync.aligned.SHAPE {REGISTERS}, %128, %129, p, 1, 1TRANSPOSE;\n}"
                   : OPERANDS
                   : "l"(left), "l"(right));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
  for (int k = 0; k < 128; ++k) sum += d[k];
  if (sum == 12345.678f) *never = sum;
}
)";

void replace(std::string &text, const std::string &word, const std::string &by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
    text.replace(at, word.size(), by);
}

TensorKernel mma_kernel(TensorType type) {
  const bool tf32 = type == TensorType::Tf32;
  TensorKernel kernel{kMmaSource, "ww_tensor", 256, 0, 8};
  replace(kernel.source, "SHAPE",
          tf32 ? "m16n8k8.row.col.f32.tf32.tf32.f32" : "m16n8k16.row.col.f32.bf16.bf16.f32");
  replace(kernel.source, "CHAINS", std::to_string(kChains));
  kernel.flops = 2.0 * 16 * 8 * (tf32 ? 8 : 16) * kChains * (kernel.threads / 32);
  return kernel;
}

TensorKernel wgmma_kernel(TensorType type) {
  const bool tf32 = type == TensorType::Tf32;
  TensorKernel kernel{kWgmmaSource, "ww_tensor", 128, 0, 2};
  std::string registers, operands;
  for (int i = 0; i < kWgmmaRegisters; ++i) {
    const std::string index = std::to_string(i), comma = i ? ", " : "";
    registers += comma + "%" + index;
    operands += comma + "\"+f\"(d[" + index + "])";
  }
  replace(kernel.source, "SHAPE", tf32 ? "m64n256k8.f32.tf32.tf32" : "m64n256k16.f32.bf16.bf16");
  replace(kernel.source, "REGISTERS", registers);
  replace(kernel.source, "OPERANDS", operands);
  replace(kernel.source, "TRANSPOSE", tf32 ? "" : ", 0, 0");
  replace(kernel.source, "WGMMAS", std::to_string(kWgmmasAnIteration));
  kernel.flops = 2.0 * 64 * 256 * (tf32 ? 8 : 16) * kWgmmasAnIteration;
  return kernel;
}

} // namespace

std::optional<TensorKernel> tensor_kernel(int capability, TensorType type) {
  const arch::TensorCores cores = arch::tensor_cores_of(capability);
  if (cores == arch::TensorCores::Wgmma)
    return wgmma_kernel(type);
  if (cores == arch::TensorCores::Mma)
    return mma_kernel(type);
  return std::nullopt;
}

} // namespace warpwright::runner::cuda
