// Byte ranges of the buffers that a kernel accesses at given sizes, from an interpreter over
// intervals.
//
// It treats all threads at once: threadIdx.x is [0, blockDim.x - 1], a guard narrows the values
// that it compares, and a loop widens the values that it changes. Correlations between variables
// are lost, except that a local with one definition is evaluated again at its use. The ranges are
// therefore upper bounds, and exact for the affine indices and guards of real kernels.
// infer_task.cpp derives extents, directions, preconditions and distributions from the numbers at
// several bindings. The interpreter never fails: values that it cannot follow are unbounded.
// Thread: the unit's thread.
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
  std::map<std::string, std::int64_t> scalars; ///< integer parameters, and fields of structs, by name
};

/// `value = coefficient * load from buffer + [rest]`.
struct LoadedValue {
  std::string buffer;
  std::int64_t coefficient = 1;
  symbolic::Interval rest = symbolic::Interval::of(0);
};

struct RangedAccess {
  std::string buffer;       ///< name of the parameter
  symbolic::Interval bytes; ///< first and last byte, from the start of the parameter
  bool is_write = false, is_atomic = false;
  bool is_uncertain = false;         ///< under a condition on data or an unknown one
  std::optional<LoadedValue> loaded; ///< if the index was loaded: coefficients in bytes
};

struct KernelRanges {
  std::vector<RangedAccess> accesses;
  std::set<std::string> positive;    ///< buffers of divisors or of arguments of sqrt or log
  std::set<std::string> loop_bounds; ///< integer buffers whose values bound loops, as in CSR
  std::set<std::string> escaped;     ///< buffers whose pointers are passed to external code
  std::int64_t reduction_length = 1; ///< trips of the loops around the longest floating-point sum
  std::int64_t atomic_adds = 0;      ///< number of floating-point additions in all threads
};

/// @param kernel must have a body; the specialization that runs, if there is one
KernelRanges kernel_ranges(const clang::ASTContext &context, const clang::FunctionDecl &kernel,
                           const BoundLaunch &launch);

} // namespace warpwright::analysis
