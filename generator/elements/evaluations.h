// How often a kernel that computes values in place computes an element of one of them again.
#pragma once

#include "generator/ops/graph_index.h"

#include <set>
#include <string>

namespace warpwright::elements {

/// Returns how often an element of `value` is computed, on average, where `nodes` are computed together: 1 where all
/// readers ask for it at the same place, 2 where each half of a value meets the other half and is read by two parts of
/// a `cat`. Reductions read each element of their operands once.
/// @param nodes consumers of the value, and theirs; other consumers do not count
double evaluations(const ops::GraphIndex &graph, const std::string &value,
                   const std::set<std::string> &nodes);

/// Returns true for a value that costs more to compute for each of its readers in `nodes` than to store and read once.
bool is_computed_too_often(const ops::GraphIndex &graph, const std::string &value,
                           const std::set<std::string> &nodes);

} // namespace warpwright::elements
