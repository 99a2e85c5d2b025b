#include "generator/families/matmul/wgmma_text.h"

#include "generator/elements/window_text.h"

namespace warpwright::families::matmul {
namespace {

constexpr std::string_view kText = R"cuda(
struct @NAME@ {
  static __device__ __forceinline__ void begin(float (&d)[@COUNT@]) {
    asm volatile("wgmma.fence.sync.aligned;" : @SUMS@ :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[@COUNT@], unsigned long long a, unsigned long long b) {
    asm volatile("{\n.reg .pred all;\nsetp.eq.b32 all, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n@COLUMNS@@STEP@.f32.@TYPE@.@TYPE@ {@PLACES@}, %@COUNT@, %@AFTER@, all, 1, 1@TURNS@;\n}\n"
                 : @SUMS@ : "l"(a), "l"(b));
  }
  static __device__ __forceinline__ void finish(float (&d)[@COUNT@]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : @SUMS@ :: "memory");
  }
};
)cuda";

} // namespace

std::string wgmma_text(const std::string &name, int columns, model::Dtype dtype, bool a_along_k,
                       bool b_along_k) {
  const int count = columns / 2;
  std::string sums, places;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i), comma = i ? ", " : "";
    sums += comma + "\"+f\"(d[" + number + "])";
    places += comma + "%" + number;
  }
  const auto turned = [](bool along_k) { return std::string(along_k ? ", 0" : ", 1"); };
  const bool is_half = model::size_bytes(dtype) == 2; // TF32 operands lie along k
  return elements::fill_places(kText, {{"NAME", name},
                                       {"COUNT", std::to_string(count)},
                                       {"AFTER", std::to_string(count + 1)},
                                       {"COLUMNS", std::to_string(columns)},
                                       {"STEP", is_half ? "k16" : "k8"},
                                       {"TYPE", !is_half ? "tf32" : dtype == model::Dtype::BFloat16 ? "bf16" : "f16"},
                                       {"SUMS", sums},
                                       {"PLACES", places},
                                       {"TURNS", is_half ? turned(a_along_k) + turned(b_along_k) : ""}});
}

} // namespace warpwright::families::matmul
