// Table of header names: the embedded headers and their aliases, and the headers that the backend
// refuses with a reason.
#include "runner/cpu/header_files.h"

#include "runner/cpu/embedded_headers.h"

#include <array>
#include <utility>

namespace warpwright::runner::cpu {
namespace {

using Names = std::pair<const char *, const char *>;

/// Headers that are empty here, because the prelude already declares their content.
constexpr std::array kEmpty = {"cuda.h",
                               "cuda_runtime.h",
                               "cuda_runtime_api.h",
                               "device_launch_parameters.h",
                               "vector_types.h",
                               "vector_functions.h",
                               "device_functions.h",
                               "device_atomic_functions.h",
                               "sm_20_intrinsics.h",
                               "sm_30_intrinsics.h",
                               "math_functions.h",
                               "builtin_types.h",
                               "host_defines.h",
                               "driver_types.h",
                               "cstddef",
                               "stddef.h",
                               "cmath",
                               "math.h",
                               "cassert",
                               "assert.h",
                               "cstdio",
                               "stdio.h",
                               "cstdlib",
                               "stdlib.h",
                               "cstring",
                               "string.h",
                               "cuda/std/cmath",
                               "cuda/std/cstddef"};

/// Pairs of a header name and the embedded header that it includes.
constexpr std::array kAliases = {Names{"climits", "climits.hpp"},
                                 Names{"limits.h", "climits.hpp"},
                                 Names{"cfloat", "climits.hpp"},
                                 Names{"float.h", "climits.hpp"},
                                 Names{"cstdint", "climits.hpp"},
                                 Names{"stdint.h", "climits.hpp"},
                                 Names{"math_constants.h", "climits.hpp"},
                                 Names{"cuda/std/cstdint", "climits.hpp"},
                                 Names{"limits", "limits.hpp"},
                                 Names{"cuda/std/limits", "limits.hpp"},
                                 Names{"type_traits", "type_traits.hpp"},
                                 Names{"cuda/std/type_traits", "type_traits.hpp"},
                                 Names{"utility", "type_traits.hpp"},
                                 Names{"cuda/std/utility", "type_traits.hpp"},
                                 Names{"algorithm", "type_traits.hpp"},
                                 Names{"cuda_fp16.hpp", "cuda_fp16.h"},
                                 Names{"cuda_bf16.hpp", "cuda_bf16.h"},
                                 Names{"cooperative_groups/reduce.h", "cooperative_groups.h"}};

/// Pairs of a header name and the unsupported feature that the header needs.
constexpr std::array kRefused = {Names{"cub/cub.cuh", "CUB"},
                                 Names{"cub/block/block_reduce.cuh", "CUB"},
                                 Names{"cub/warp/warp_reduce.cuh", "CUB"},
                                 Names{"mma.h", "tensor cores (wmma)"},
                                 Names{"cuda_pipeline.h", "asynchronous copies"},
                                 Names{"cuda/pipeline", "asynchronous copies"},
                                 Names{"cuda/barrier", "asynchronous barriers"},
                                 Names{"cuda/atomic", "cuda::atomic"},
                                 Names{"cuda/std/atomic", "cuda::std::atomic"},
                                 Names{"cooperative_groups/memcpy_async.h", "memcpy_async"},
                                 Names{"cooperative_groups/scan.h", "cooperative_groups scan"},
                                 Names{"cuda_fp8.h", "8-bit floating point"},
                                 Names{"curand_kernel.h", "cuRAND"},
                                 Names{"cuda_texture_types.h", "textures"},
                                 Names{"thrust/device_vector.h", "Thrust"},
                                 Names{"thrust/functional.h", "Thrust"}};

} // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(const std::string &source) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const std::string folder = std::string(kHeaderFolder) + "/";
  auto add = [&](const std::string &path, llvm::StringRef text) {
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  };
  for (const EmbeddedHeader &header : embedded_headers())
    add(folder + std::string(header.name), {header.text.data(), header.text.size()});
  for (const char *name : kEmpty)
    if (!files->exists(folder + name))
      add(folder + name, "");
  for (const auto &[name, target] : kAliases)
    add(folder + name, "#include <" + std::string(target) + ">\n");
  for (const auto &[name, reason] : kRefused)
    add(folder + name, "#error warpwright-unsupported: " + std::string(reason) + "\n");
  add(kMainFile, source);
  return files;
}

} // namespace warpwright::runner::cpu
