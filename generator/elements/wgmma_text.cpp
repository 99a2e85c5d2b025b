#include "generator/elements/wgmma_text.h"

#include "generator/elements/window_text.h"

#include <functional>

namespace warpwright::elements {
namespace {

constexpr std::string_view kText = R"cuda(
struct @NAME@ {
  static __device__ __forceinline__ void begin(float (&d)[@COUNT@]) {
    asm volatile("wgmma.fence.sync.aligned;" : @SUMS@ :: "memory");
  }
  static __device__ __forceinline__ void add(float (&d)[@COUNT@], @LEFT@, unsigned long long b, bool adds = true) {
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %@ADDS@, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n@COLUMNS@@STEP@.f32.@TYPE@.@TYPE@ {@PLACES@}, @LEFT_PLACES@, %@RIGHT_PLACE@, adds, 1, 1@TURNS@;\n}\n"
                 : @SUMS@ : @LEFT_VALUES@, "l"(b), "r"(static_cast<int>(adds)));
  }
  template <int kLeft = 0> static __device__ __forceinline__ void finish(float (&d)[@COUNT@]) {
    asm volatile("wgmma.wait_group.sync.aligned %@COUNT@;" : @SUMS@ : "n"(kLeft) : "memory");
  }
};
)cuda";

constexpr int kLeftWords = 4; ///< of a step's left operand, in registers

std::string repeated(int count, const std::function<std::string(std::string)> &text) {
  std::string result;
  for (int i = 0; i < count; ++i)
    result += (i ? ", " : "") + text(std::to_string(i));
  return result;
}

std::string places_from(int first, int count) {
  return repeated(count,
                  [&](const std::string &i) { return "%" + std::to_string(first + std::stoi(i)); });
}

} // namespace

std::string wgmma_text(const std::string &name, int columns, model::Dtype dtype, Left left,
                       bool b_along_k) {
  const int count = columns / 2;
  const bool in_registers = left == Left::Registers;
  const int left_places = in_registers ? kLeftWords : 1;
  const auto turned = [](bool along_k) { return std::string(along_k ? ", 0" : ", 1"); };
  const bool is_half = model::size_bytes(dtype) == 2; // TF32 operands lie along k
  const std::string left_text = places_from(count, left_places);
  return fill_places(
      kText,
      {{"NAME", name},
       {"COUNT", std::to_string(count)},
       {"COLUMNS", std::to_string(columns)},
       {"STEP", is_half ? "k16" : "k8"},
       {"TYPE", !is_half                          ? "tf32"
                : dtype == model::Dtype::BFloat16 ? "bf16"
                                                  : "f16"},
       {"SUMS", repeated(count, [](const std::string &i) { return "\"+f\"(d[" + i + "])"; })},
       {"PLACES", places_from(0, count)},
       {"LEFT", in_registers ? "const unsigned *a" : "unsigned long long a"},
       {"LEFT_VALUES",
        in_registers
            ? repeated(kLeftWords, [](const std::string &i) { return "\"r\"(a[" + i + "])"; })
            : "\"l\"(a)"},
       {"LEFT_PLACES", in_registers ? "{" + left_text + "}" : left_text},
       {"RIGHT_PLACE", std::to_string(count + left_places)},
       {"ADDS", std::to_string(count + left_places + 1)},
       {"TURNS",
        !is_half ? "" : (in_registers ? "" : turned(left == Left::AlongK)) + turned(b_along_k)}});
}

} // namespace warpwright::elements
