// A drafted launch at concrete sizes: ranges of its accesses, whether a binding is legal, and the
// expression over the sizes that explains a number seen at several bindings.
//
// Numbers instead of symbolic algebra: a bound is evaluated at the measured binding and at probes
// whose sizes are distinct primes times 1024 (so that kernels that need multiples stay legal), and
// the simplest product of sizes that gives the same numbers is taken. Thread: the unit's.
#pragma once

#include "analysis/task/kernel_ranges.h"
#include "analysis/task/launch_draft.h"

#include <functional>

namespace warpwright::analysis {

/// Bytes of one buffer that a launch touches.
struct BufferUse {
  bool is_read = false, is_written = false, is_atomic = false, is_uncertain_write = false;
  bool is_unbounded = false;             ///< some access has no bound: its index was loaded
  std::optional<symbolic::Interval> read, written; ///< hull of the bounded accesses, bytes
};

struct Probe {
  symbolic::Sizes sizes;
  BoundLaunch launch;
  KernelRanges ranges;
  std::map<std::string, BufferUse> uses; ///< by buffer name
};

class SizeProbe {
public:
  SizeProbe(const clang::ASTContext &context, const LaunchDraft &draft)
      : context_(context), draft_(draft) {}

  /// nullopt when the launch cannot be evaluated: a shape of zero, an unbound name.
  std::optional<Probe> at(const symbolic::Sizes &sizes) const;
  /// Bindings near nothing else: distinct primes times 1024.
  static std::vector<symbolic::Sizes> distinct(const symbolic::Sizes &sizes);
  /// The simplest expression over the sizes, the grid and the block that equals `value` at every
  /// probe.
  std::optional<symbolic::Expression>
  explain(const std::vector<Probe> &probes,
          const std::function<std::optional<std::int64_t>(const Probe &)> &value) const;

private:
  const clang::ASTContext &context_;
  const LaunchDraft &draft_;
};

} // namespace warpwright::analysis
