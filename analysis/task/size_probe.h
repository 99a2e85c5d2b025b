// A drafted launch at concrete sizes: the ranges of its accesses, the legality of a binding, and
// the expression over the sizes that explains a number at several bindings.
//
// It uses numbers instead of symbolic algebra. A bound is evaluated at the measured binding and at
// probes whose sizes are distinct primes times 1024, so kernels that need multiples stay legal. The
// simplest product of sizes with the same numbers is chosen. Thread: the unit's thread.
#pragma once

#include "analysis/task/kernel_ranges.h"
#include "analysis/task/launch_draft.h"

#include <functional>

namespace warpwright::analysis {

/// The bytes of one buffer that a launch accesses.
struct BufferUse {
  bool is_read = false, is_written = false, is_atomic = false, is_uncertain_write = false;
  bool is_unbounded = false;             ///< some access has no bound, because its index was loaded
  std::optional<symbolic::Interval> read, written; ///< hull of the bounded accesses, in bytes
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

  /// A probe at given sizes; nullopt if the launch cannot be evaluated: an empty shape or an
  /// unbound name.
  std::optional<Probe> at(const symbolic::Sizes &sizes) const;
  /// Bindings whose numbers cannot be confused: distinct primes times 1024.
  static std::vector<symbolic::Sizes> distinct(const symbolic::Sizes &sizes);
  /// The simplest expression over the sizes and the grid that equals `value` at every probe.
  std::optional<symbolic::Expression>
  explain(const std::vector<Probe> &probes,
          const std::function<std::optional<std::int64_t>(const Probe &)> &value) const;

private:
  const clang::ASTContext &context_;
  const LaunchDraft &draft_;
};

} // namespace warpwright::analysis
