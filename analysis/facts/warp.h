// How one warp touches memory: the byte address of each of its 32 lanes, and what that costs.
//
// Addresses are evaluated lane by lane rather than read off coefficients, so that divisions, remainders, swizzles and
// small blocks need no cases of their own. Unknown sizes get two sets of large values that are multiples of 128;
// what differs between the two sets is symbolic. Thread: any.
#pragma once

#include "analysis/facts/affine.h"
#include "analysis/facts/launch_shape.h"

namespace warpwright::analysis {

struct WarpAccess {
  AccessPattern pattern = AccessPattern::Irregular;
  std::optional<std::int64_t>
      stride;                 ///< elements between neighbouring lanes, where it is one number
  int bank_conflict_ways = 1; ///< as if in shared memory
};

/// @param bytes address relative to the base, which is taken to be aligned to 128 bytes
WarpAccess simulate_warp(const symbolic::Polynomial &bytes, int element_bytes,
                         const SymbolTable &symbols, const KernelShape &shape);

/// Threads that a block is taken to have along x when launches do not say.
inline constexpr std::int64_t kAssumedBlock = 256;

} // namespace warpwright::analysis
