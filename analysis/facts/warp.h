// Memory access of one warp: the byte address of each of its 32 lanes, and its cost.
//
// Addresses are evaluated for each lane instead of being derived from coefficients. Divisions,
// remainders, swizzles and small blocks thus need no special cases. Unknown sizes get two sets of
// large values that are multiples of 128; an address that differs between the two sets is symbolic.
// Thread: any.
#pragma once

#include "analysis/facts/affine.h"
#include "analysis/facts/launch_shape.h"

namespace warpwright::analysis {

struct WarpAccess {
  AccessPattern pattern = AccessPattern::Irregular;
  std::optional<std::int64_t> stride; ///< elements between neighboring lanes, if it is one number
  int bank_conflict_ways = 1;         ///< number of requests if the access were in shared memory
};

/// @param bytes address relative to the base, which is assumed to be aligned to 128 bytes
WarpAccess simulate_warp(const symbolic::Polynomial &bytes, int element_bytes,
                         const SymbolTable &symbols, const KernelShape &shape);

/// Assumed number of threads of a block along x if the launches do not tell.
inline constexpr std::int64_t kAssumedBlock = 256;

} // namespace warpwright::analysis
