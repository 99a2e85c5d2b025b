// Implementation of shuffles, votes, matches and reductions over at most 32 lanes.
#include "runner/cpu/warp_operations.h"

#include <algorithm>
#include <bit>

namespace warpwright::runner::cpu {
namespace {

using Requests = std::array<LaneRequest, kWarpSize>;

/// The lane that `lane` reads from.
int source_lane(int lane, const LaneRequest &request) {
  const int width = std::clamp(request.width, 1, 32);
  const int base = lane & ~(width - 1);
  int source = lane;
  switch (request.operation) {
  case WarpOperation::ShuffleIndex:
    return base + (request.argument & (width - 1));
  case WarpOperation::ShuffleUp:
    source = lane - request.argument;
    return source < base ? lane : source;
  case WarpOperation::ShuffleDown:
    source = lane + request.argument;
    return source >= base + width ? lane : source;
  default:
    source = lane ^ request.argument;
    return source >= base + width ? lane : source;
  }
}

template <class Visit>
void for_each_lane(std::uint32_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1)
    visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

std::uint32_t votes(std::uint32_t lanes, const Requests &requests) {
  std::uint32_t result = 0;
  for_each_lane(lanes, [&](unsigned lane) { result |= (requests[lane].value ? 1u : 0u) << lane; });
  return result;
}

std::uint32_t same_value(std::uint32_t lanes, const Requests &requests, std::uint64_t value) {
  std::uint32_t result = 0;
  for_each_lane(
      lanes, [&](unsigned lane) { result |= (requests[lane].value == value ? 1u : 0u) << lane; });
  return result;
}

std::uint32_t combine(WarpOperation operation, std::uint32_t a, std::uint32_t b) {
  const auto signed_a = static_cast<std::int32_t>(a), signed_b = static_cast<std::int32_t>(b);
  switch (operation) {
  case WarpOperation::ReduceAdd:
    return a + b;
  case WarpOperation::ReduceMinUnsigned:
    return std::min(a, b);
  case WarpOperation::ReduceMaxUnsigned:
    return std::max(a, b);
  case WarpOperation::ReduceMinSigned:
    return static_cast<std::uint32_t>(std::min(signed_a, signed_b));
  case WarpOperation::ReduceMaxSigned:
    return static_cast<std::uint32_t>(std::max(signed_a, signed_b));
  case WarpOperation::ReduceAnd:
    return a & b;
  case WarpOperation::ReduceOr:
    return a | b;
  default:
    return a ^ b;
  }
}

std::uint64_t common_result(WarpOperation operation, std::uint32_t lanes,
                            const Requests &requests) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  switch (operation) {
  case WarpOperation::Ballot:
    return votes(lanes, requests);
  case WarpOperation::Any:
    return votes(lanes, requests) != 0;
  case WarpOperation::All:
    return votes(lanes, requests) == lanes;
  case WarpOperation::Sync:
  case WarpOperation::ActiveMask:
    return lanes;
  case WarpOperation::MatchAll:
    return same_value(lanes, requests, requests[first].value) == lanes ? lanes : 0;
  default: {
    std::uint32_t result = static_cast<std::uint32_t>(requests[first].value);
    for_each_lane(lanes & (lanes - 1), [&](unsigned lane) {
      result = combine(operation, result, static_cast<std::uint32_t>(requests[lane].value));
    });
    return result;
  }
  }
}

} // namespace

std::string_view name(WarpOperation operation) {
  static constexpr std::string_view kNames[] = {
      "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
      "__ballot_sync",     "__any_sync",        "__all_sync",        "__syncwarp",
      "__activemask",      "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync",
      "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};
  return kNames[static_cast<int>(operation)];
}

void evaluate(std::uint32_t lanes, const Requests &requests,
              std::array<std::uint64_t, kWarpSize> &results) {
  if (!lanes)
    return;
  const WarpOperation operation =
      requests[static_cast<unsigned>(std::countr_zero(lanes))].operation;
  if (operation <= WarpOperation::ShuffleXor) {
    for_each_lane(lanes, [&](unsigned lane) {
      const int source = source_lane(static_cast<int>(lane), requests[lane]);
      results[lane] = lanes >> source & 1u ? requests[static_cast<unsigned>(source)].value : ~0ull;
    });
    return;
  }
  if (operation == WarpOperation::MatchAny) {
    for_each_lane(lanes, [&](unsigned lane) {
      results[lane] = same_value(lanes, requests, requests[lane].value);
    });
    return;
  }
  const std::uint64_t result = common_result(operation, lanes, requests);
  for_each_lane(lanes, [&](unsigned lane) { results[lane] = result; });
}

} // namespace warpwright::runner::cpu
