// Views that lead back to memory: which buffer, offset and strides hold a value. Thread: pure functions.
#pragma once

#include "generator/ops/graph_index.h"

#include <map>
#include <string>

namespace warpwright::elements {

/// What an ATen step reads of a value: memory of another value, and the view of it.
struct MemoryView {
  std::string root; ///< a leaf, an anchor's result, or an inline value that must be materialised
  std::int64_t offset = 0;
  model::Shape shape, strides;
};
/// Follows permute, expand, slice and reshape back to memory as far as strides can say it.
/// @param strides of values that are not contiguous
MemoryView view_of(const ops::GraphIndex &graph, const std::string &value,
                   const std::map<std::string, model::Shape> &strides);

} // namespace warpwright::elements
