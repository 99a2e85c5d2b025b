// What each warp operation gives each lane, once the lanes that take part are known.
//
// Pure: the scheduler decides who takes part and when. Semantics: CUDA programming guide, "Warp
// Shuffle Functions", "Warp Vote Functions", "Warp Match Functions", "Warp Reduce Functions".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace warpwright::runner::cpu {

inline constexpr unsigned kWarpSize = 32;

/// Numbers are those that shim/warp.h passes.
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

/// "__shfl_down_sync", ...
std::string_view name(WarpOperation operation);

/// What one lane brought.
struct LaneRequest {
  WarpOperation operation = WarpOperation::Sync;
  std::uint32_t mask = 0;
  std::uint64_t value = 0;
  int argument = 0; ///< lane, delta or lane mask of a shuffle
  int width = 32;
};

/// @param lanes the lanes that take part, as bits
/// @param requests of all 32 lanes; only those of `lanes` are read
/// @param results written for `lanes`; a lane that reads from one that takes no part gets all ones
void evaluate(std::uint32_t lanes, const std::array<LaneRequest, kWarpSize> &requests,
              std::array<std::uint64_t, kWarpSize> &results);

} // namespace warpwright::runner::cpu
