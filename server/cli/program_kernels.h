// The kernels that a program's run launched, with their sources, by what they could save. Thread: main.
#pragma once

#include "server/cli/optimize_run.h"
#include "server/cli/report/program_report.h"
#include "server/program/kernel_savings.h"

namespace warpwright::cli {

/// Where a launched kernel's source is.
struct KernelSource {
  std::filesystem::path path; ///< as the server knows the file
  std::string qualified_name;
  bool inferred = false;          ///< a search can be made
  std::string why_not;            ///< a sentence, where it cannot
  std::optional<double> floor_ns; ///< least time of a launch by its bytes and operations; absent: not known
};

struct LaunchedKernel {
  ProgramKernel reported;
  std::optional<KernelSource> source;
};

/// Kernels with a smaller share of the GPU time are not optimized.
inline constexpr double kLeastShare = 0.01;

/// @param times of a recorded run @param run_s wall time of a run without recording
/// @param folder the program's, absolute
/// @return kernels by what they could save of the run, most first; files that cannot be read are failures of the run
std::vector<LaunchedKernel> launched_kernels(Run &run, const program::RunTimes &times, std::optional<double> run_s,
                                             const std::vector<std::filesystem::path> &sources,
                                             const std::filesystem::path &folder);

/// What all launches of a kernel could save, in ns.
double could_save_ns(const LaunchedKernel &kernel);

} // namespace warpwright::cli
