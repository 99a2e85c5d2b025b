// How often a kernel that computes values in place computes an element of one of them again.
#pragma once

#include "generator/ops/graph_index.h"

#include <functional>
#include <set>
#include <string>

namespace warpwright::elements {

/// Returns how often an element of `value` is computed, on average, where `nodes` are computed together: 1 where all
/// readers ask for it at the same place, 2 where each half of a value meets the other half and is read by two parts of
/// a `cat`. Reductions read each element of their operands once.
/// @param nodes consumers of the value, and theirs; other consumers do not count
double evaluations(const ops::GraphIndex &graph, const std::string &value,
                   const std::set<std::string> &nodes);

/// Returns the cost of an element of `value` from memory, in units of ops::recompute_cost(), at most 1000.
/// @param is_stored whether a value lies in memory
int cost_in_place(const ops::GraphIndex &graph, const std::string &value,
                  const std::function<bool(const std::string &)> &is_stored);

/// Returns how many elements in memory an element of `value` is computed from, at most 64: an element that several paths
/// reach counts once, and of a concatenation one part. Slices and pads move along a dimension; behind other views each
/// path counts.
/// @param is_stored whether a value lies in memory
int loads_in_place(const ops::GraphIndex &graph, const std::string &value,
                   const std::function<bool(const std::string &)> &is_stored);

/// Returns true for a value that costs more to compute for each of its readers in `nodes` than to store and read once.
bool is_computed_too_often(const ops::GraphIndex &graph, const std::string &value,
                           const std::set<std::string> &nodes);

} // namespace warpwright::elements
