// Which bytes of its buffers a kernel touches at given sizes: an interpreter of the kernel over
// intervals.
//
// All threads at once: threadIdx.x is [0, blockDim.x - 1], a guard narrows what it compares, a loop
// widens what it changes. Correlations between variables are lost, except that a local that is
// defined once is evaluated again where it is used. So the ranges are upper bounds, and exact for
// the affine indices and guards of real kernels. Run at several bindings, the numbers give extents,
// directions, preconditions and distributions (infer_task.cpp). Never fails: what it cannot follow
// is unbounded. Thread: the unit's.
#pragma once

#include "support/symbolic/interval.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::analysis {

/// A launch at one binding of the sizes.
struct BoundLaunch {
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::map<std::string, std::int64_t> scalars; ///< integer parameters by name
};

/// `value = coefficient * load from buffer + [rest]`.
struct LoadedValue {
  std::string buffer;
  std::int64_t coefficient = 1;
  symbolic::Interval rest = symbolic::Interval::of(0);
};

struct RangedAccess {
  std::string buffer; ///< parameter
  symbolic::Interval bytes; ///< first and last byte, from the start of the parameter
  bool is_write = false, is_atomic = false;
  bool is_uncertain = false;         ///< under a condition on data, or on something not understood
  std::optional<LoadedValue> loaded; ///< when the index was loaded: coefficients in bytes
};

struct KernelRanges {
  std::vector<RangedAccess> accesses;
  std::set<std::string> positive; ///< buffers whose values are divided by, or go into sqrt or log
  std::set<std::string> loop_bounds; ///< integer buffers whose values bound loops, as in CSR
  std::set<std::string> escaped;     ///< pointers passed to something without a body
  std::int64_t reduction_length =
      1; ///< trips of the loops around the longest floating-point accumulation
  std::int64_t atomic_adds = 0; ///< of floating point, over all threads
};

/// @param kernel with a body; the specialisation that runs, where there is one
KernelRanges kernel_ranges(const clang::ASTContext &context, const clang::FunctionDecl &kernel,
                           const BoundLaunch &launch);

} // namespace warpwright::analysis
