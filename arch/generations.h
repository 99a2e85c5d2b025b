// Tables of NVIDIA GPU generations and of GPUs by name: the data behind arch/gpu.h.
// A new generation needs a row in kGenerations. If its tensor cores need instructions of their own, it also needs an
// enumerator of TensorCores, a header generator/device/mma_NAME.cuh with the interface of mma_sync.cuh, and a line for
// that header in families/matmul/matmul_split_tf32.cpp and families/convolution/convolution_kernel.cpp.
// tests/additions/ adds one in a scratch copy.
//
// Only files that name an enumerator include this file, so that a new row rebuilds few files.
// Source: CUDA C++ Programming Guide, technical specifications by compute capability.
#pragma once

#include "arch/gpu.h"

#include <cstdint>
#include <string_view>

namespace warpwright::arch {

/// Instructions by which a generation multiplies tiles: mma.sync with TF32 and bfloat16 operands, wgmma, tcgen05.
enum class TensorCores : int { None, Mma, Wgmma, Tcgen05 };

inline constexpr int kKiB = 1024;

/// Facts shared by all GPUs in a range of compute capabilities.
struct Generation {
  int first; ///< lowest capability; the range ends before the next row's
  int shared_bytes_block, shared_bytes_multiprocessor, threads_multiprocessor;
  TensorCores tensor_cores;
  bool clusters, vector_atomics, gangs;
  bool overlapped_launches;
  bool own_instructions; ///< the compile target "sm_NNa" has more instructions
};

// Rows by rising capability.
inline constexpr Generation kGenerations[] = {
    {50, 48 * kKiB, 64 * kKiB, 2048, TensorCores::None, false, false, false, false, false},
    {70, 96 * kKiB, 96 * kKiB, 2048, TensorCores::None, false, false, false, false, false},
    {75, 64 * kKiB, 64 * kKiB, 1024, TensorCores::None, false, false, false, false, false},
    {80, 163 * kKiB, 164 * kKiB, 2048, TensorCores::Mma, false, false, false, false, false},
    {81, 99 * kKiB, 100 * kKiB, 1536, TensorCores::Mma, false, false, false, false, false},
    {87, 163 * kKiB, 164 * kKiB, 1536, TensorCores::Mma, false, false, false, false, false},
    {89, 99 * kKiB, 100 * kKiB, 1536, TensorCores::Mma, false, false, false, false, false},
    {90, 227 * kKiB, 228 * kKiB, 2048, TensorCores::Wgmma, true, true, true, true, true},
    {100, 227 * kKiB, 228 * kKiB, 2048, TensorCores::Tcgen05, true, true, true, true, true},
    {110, 227 * kKiB, 228 * kKiB, 2048, TensorCores::Tcgen05, true, true, false, true, true},
    {120, 99 * kKiB, 100 * kKiB, 1536, TensorCores::Mma, true, true, false, true, true},
    // Later generations: the smallest values of any generation so far.
    {130, 64 * kKiB, 64 * kKiB, 1024, TensorCores::Mma, true, true, false, true, false},
};

/// A GPU that tools and tests select by name.
struct NamedGpu {
  std::string_view name;
  int capability, multiprocessors;
  std::int64_t l2_mib;
};
inline constexpr NamedGpu kNamedGpus[] = {
    {"a100", 80, 108, 40},
    {"rtx4090", 89, 128, 72},
    {"h100", 90, 132, 50},
    {"h200", 90, 132, 60},
    {"h20", 90, 78, 60},
    {"b200", 100, 148, 126},
    {"rtx5090", 120, 170, 96},
};

} // namespace warpwright::arch
