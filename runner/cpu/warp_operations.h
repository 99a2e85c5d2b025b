// Results of warp operations for a given set of participating lanes.
//
// The functions have no state; the scheduler decides which lanes participate and when. Semantics:
// CUDA programming guide, "Warp Shuffle Functions", "Warp Vote Functions", "Warp Match Functions",
// "Warp Reduce Functions".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace warpwright::runner::cpu {

inline constexpr unsigned kWarpSize = 32;

/// The numeric values must match shim/warp.h.
enum class WarpOperation : int {
  ShuffleIndex,
  ShuffleUp,
  ShuffleDown,
  ShuffleXor,
  Ballot,
  Any,
  All,
  Sync,
  ActiveMask,
  MatchAny,
  MatchAll,
  ReduceAdd,
  ReduceMinUnsigned,
  ReduceMaxUnsigned,
  ReduceMinSigned,
  ReduceMaxSigned,
  ReduceAnd,
  ReduceOr,
  ReduceXor
};

/// The CUDA name of an operation, for example "__shfl_down_sync".
std::string_view name(WarpOperation operation);

/// Operands of one lane.
struct LaneRequest {
  WarpOperation operation = WarpOperation::Sync;
  std::uint32_t mask = 0;
  std::uint64_t value = 0;
  int argument = 0; ///< lane, delta or lane mask of a shuffle
  int width = 32;
  const void *site = nullptr; ///< the place of the call in the kernel's machine code
};

/// Evaluates one warp operation.
/// @param lanes bit mask of the participating lanes
/// @param requests one per lane; only the requests of `lanes` are read
/// @param results written for `lanes`; a lane that reads from a lane outside `lanes` gets all ones
void evaluate(std::uint32_t lanes, const std::array<LaneRequest, kWarpSize> &requests,
              std::array<std::uint64_t, kWarpSize> &results);

} // namespace warpwright::runner::cpu
