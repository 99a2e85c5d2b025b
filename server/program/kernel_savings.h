// What the kernels of a recorded run could save, and the division of a search's time over them.
// Thread: values, any.
#pragma once

#include "runner/capture/files/capture_files.h"

#include <chrono>
#include <span>

namespace warpwright::program {

/// All launches of the kernels of one name in a run.
struct KernelTime {
  std::string name;           ///< as capture::base_name gives it
  std::uint64_t launches = 0; ///< those in graphs, too
  double total_ns = 0;
  double mean_ns() const { return launches > 0 ? total_ns / static_cast<double>(launches) : 0; }
};

struct RunTimes {
  std::vector<KernelTime> kernels; ///< most GPU time first
  double kernels_ns = 0, copies_ns = 0;
  double gpu_ns() const { return kernels_ns + copies_ns; }
};

RunTimes times_of(const std::vector<capture::ProcessFolder> &processes);

/// The part of its time that a kernel could save. @param floor_ns the least time of a launch that its bytes and
/// operations allow; nullopt or 0: not known, so that all of it counts
double possible_saving(double mean_ns, std::optional<double> floor_ns);

/// By which factor a run ends sooner at best, if `part` of it takes no time (Amdahl's law).
double ceiling(double part);

/// Divides time in proportion to `savings`. Where a part would be under `shortest`, the smallest
/// savings get none, so that the others have enough; the largest always gets a part.
std::vector<std::chrono::milliseconds> split_budget(std::chrono::milliseconds total, std::span<const double> savings,
                                                    std::chrono::milliseconds shortest);

} // namespace warpwright::program
