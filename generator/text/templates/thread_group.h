// A group of neighboring threads that share the work of one: up to a warp, or a whole block.
//
// All threads of a group run the same statements with the same values, but for the iterations of
// loops that they share. So the texts may stand wherever one thread's statements may.
#pragma once

#include "generator/text/source/combine.h"

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace warpwright::templates {

struct ThreadGroup {
  int threads = 32; ///< a power of two; more than 32: the block has this many threads
  /// Names of the thread's place in the group, and of the mask of the group's lanes in the warp.
  std::string lane, mask;
  std::string lane_in_warp = "threadIdx.x % 32"; ///< the thread's place in its warp
  std::set<std::string> taken; ///< names that the texts must not declare

  bool is_block() const { return threads > 32; }
  /// The declarations of lane and mask, at the start of the kernel.
  std::string declarations() const;
  /// A statement behind which each thread of the group sees what the others stored.
  std::string barrier() const;
};

/// A value that each thread of a group has its own part of.
struct GroupValue {
  std::string place, type; ///< "sum", or of an array, its name and the type of its elements
  std::vector<std::int64_t> extents;
  source::Combine combine = source::Combine::Sum;
  std::string constant; ///< a thread may have set the place to this number; `combine` has no meaning then
};

/// The best of values that each thread of a group, up to a warp, has its own of, and what belongs to it.
struct GroupSelection {
  std::string best, type;
  bool is_maximum = false;
  std::vector<std::pair<std::string, std::string>> chosen; ///< names and types
  std::string place, place_type;                           ///< the iteration that gave the thread's best
  bool prefers_larger_place = false;                       ///< of equal values
};
/// Statements that give each thread the best value of all, and what belongs to it.
std::string select_text(const ThreadGroup &group, const GroupSelection &selection);

/// Statements that start the value in all threads but the first from what changes no result; empty
/// where each thread may start from the same.
std::string start_text(const ThreadGroup &group, const GroupValue &value);
/// Statements that give each thread the value combined from all.
std::string combine_text(const ThreadGroup &group, const GroupValue &value);

} // namespace warpwright::templates
