// Kernels that only keep the tensor cores busy, for measuring their peak rate.
//
// Hopper (sm_90) uses wgmma, because its mma.sync reaches about half the rate. Ampere, Ada and
// consumer Blackwell use mma.sync. There is no kernel for data-center Blackwell (sm_100 to sm_110):
// its full rate needs tcgen05, which is not implemented here, and a rate that kernels can exceed
// would be no upper bound. Thread: pure functions.
#pragma once

#include <optional>
#include <string>

namespace warpwright::runner::cuda {

enum class TensorType { Tf32, Bf16 };

struct TensorKernel {
  std::string source;
  std::string name;          ///< takes (float *never_written, int iterations)
  unsigned threads = 0;      ///< per block
  double flops = 0;          ///< per block and iteration
  unsigned blocks_an_sm = 0; ///< enough to fill a multiprocessor
};

/// @param capability 10 * major + minor
std::optional<TensorKernel> tensor_kernel(int capability, TensorType type);

} // namespace warpwright::runner::cuda
