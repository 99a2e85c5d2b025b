// Kernels that keep the tensor cores busy and do nothing else, for measuring what they reach.
//
// wgmma on Hopper (sm_90), whose mma.sync reaches about half; mma.sync on Ampere, Ada and consumer Blackwell.
// None for data-centre Blackwell (sm_100 to sm_110): its tensor cores are reached by tcgen05 alone, which this
// leaves out, and a rate that kernels can surpass would be no ceiling. Thread: pure functions.
#pragma once

#include <optional>
#include <string>

namespace warpwright::runner::cuda {

enum class TensorType { Tf32, Bf16 };

struct TensorKernel {
  std::string source;
  std::string name;          ///< takes (float *never_written, int iterations)
  unsigned threads = 0;      ///< a block
  double flops = 0;          ///< of one block and iteration
  unsigned blocks_an_sm = 0; ///< enough to fill it
};

/// @param capability 10 * major + minor
std::optional<TensorKernel> tensor_kernel(int capability, TensorType type);

} // namespace warpwright::runner::cuda
