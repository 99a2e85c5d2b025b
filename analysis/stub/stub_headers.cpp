// Built-in headers as bytes of the object file, and the words that select them for a text.
//
// The assembler embeds them (.incbin), so they remain plain files that an editor can open.
// Thread: any.
#include "analysis/stub/stub_headers.h"

#include <array>

#define WARPWRIGHT_EMBED(symbol, file)                                                             \
  __asm__(".pushsection .rodata.stub_" #symbol ",\"aR\",@progbits\n"                               \
          ".balign 16\n.global warpwright_stub_" #symbol "\n"                                      \
          "warpwright_stub_" #symbol ":\n"                                                         \
          ".incbin \"" file "\"\n"                                                                 \
          ".global warpwright_stub_" #symbol "_end\n"                                              \
          "warpwright_stub_" #symbol "_end:\n"                                                     \
          ".byte 0\n"                                                                              \
          ".popsection\n");                                                                        \
  extern "C" const char warpwright_stub_##symbol[], warpwright_stub_##symbol##_end[];

#define WARPWRIGHT_STUB(symbol)                                                                    \
  std::string_view(                                                                                \
      warpwright_stub_##symbol,                                                                    \
      static_cast<std::size_t>(warpwright_stub_##symbol##_end - warpwright_stub_##symbol))

WARPWRIGHT_EMBED(cuda, WARPWRIGHT_STUB_DIR "/cuda.h")
WARPWRIGHT_EMBED(runtime, WARPWRIGHT_STUB_DIR "/runtime.h")
WARPWRIGHT_EMBED(device, WARPWRIGHT_STUB_DIR "/device.h")
WARPWRIGHT_EMBED(helper, WARPWRIGHT_STUB_DIR "/helper.h")
WARPWRIGHT_EMBED(vector_math, WARPWRIGHT_STUB_DIR "/vector_math.h")
WARPWRIGHT_EMBED(standard, WARPWRIGHT_STUB_DIR "/std.h")
WARPWRIGHT_EMBED(getopt, WARPWRIGHT_STUB_DIR "/getopt.h")
WARPWRIGHT_EMBED(half, WARPWRIGHT_STUB_DIR "/half.h")
WARPWRIGHT_EMBED(cooperative_groups, WARPWRIGHT_STUB_DIR "/cooperative_groups.h")
WARPWRIGHT_EMBED(cub, WARPWRIGHT_STUB_DIR "/cub.h")
WARPWRIGHT_EMBED(wmma, WARPWRIGHT_STUB_DIR "/wmma.h")
WARPWRIGHT_EMBED(curand, WARPWRIGHT_STUB_DIR "/curand.h")
WARPWRIGHT_EMBED(torch, WARPWRIGHT_STUB_DIR "/torch.h")
WARPWRIGHT_EMBED(torch_modules, WARPWRIGHT_STUB_DIR "/torch_modules.h")
WARPWRIGHT_EMBED(precompiled, WARPWRIGHT_STUB_PCH)

namespace warpwright::analysis {
namespace {

using Words = std::array<std::string_view, 6>;

constexpr Words kHelperWords{"helper_", "checkCudaErrors", "sdkCreateTimer"};
constexpr Words kVectorWords{"helper_math", "cutil_math"};
constexpr Words kTorchWords{"torch", "ATen", "at::", "c10", "pybind11"};
constexpr Words kModuleWords{"Module", "TORCH_MODULE"};
constexpr Words kStandardWords{"std::", "namespace std", "cout", "torch", "ATen", "pybind11"};
constexpr Words kOptionWords{"getopt", "optarg"};
constexpr Words kHalfWords{"half", "bf16", "bfloat", "fp8", "wmma", "fp16"};
constexpr Words kGroupsWords{"cooperative_groups"};
constexpr Words kCubWords{"cub", "thrust", "cuda::", "cuda/"};
constexpr Words kWmmaWords{"wmma", "mma.h"};
constexpr Words kLibraryWords{"curand", "cublas", "cufft", "cudnn", "nccl", "cuComplex"};

} // namespace

std::span<const StubHeader> stub_headers() {
  static const std::array headers{
      StubHeader{"cuda.h", WARPWRIGHT_STUB(cuda), {}, true},
      StubHeader{"runtime.h", WARPWRIGHT_STUB(runtime), {}, true},
      StubHeader{"device.h", WARPWRIGHT_STUB(device), {}, true},
      StubHeader{"std.h", WARPWRIGHT_STUB(standard), kStandardWords, true},
      StubHeader{"helper.h", WARPWRIGHT_STUB(helper), kHelperWords},
      StubHeader{"vector_math.h", WARPWRIGHT_STUB(vector_math), kVectorWords},
      StubHeader{"getopt.h", WARPWRIGHT_STUB(getopt), kOptionWords},
      StubHeader{"half.h", WARPWRIGHT_STUB(half), kHalfWords},
      StubHeader{"cooperative_groups.h", WARPWRIGHT_STUB(cooperative_groups), kGroupsWords},
      StubHeader{"cub.h", WARPWRIGHT_STUB(cub), kCubWords},
      StubHeader{"wmma.h", WARPWRIGHT_STUB(wmma), kWmmaWords},
      StubHeader{"curand.h", WARPWRIGHT_STUB(curand), kLibraryWords},
      StubHeader{"torch.h", WARPWRIGHT_STUB(torch), kTorchWords},
      StubHeader{"torch_modules.h", WARPWRIGHT_STUB(torch_modules), kModuleWords},
  };
  return headers;
}

std::string_view stub_precompiled() { return WARPWRIGHT_STUB(precompiled); }

} // namespace warpwright::analysis
