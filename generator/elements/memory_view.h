// Views as strides on memory: the buffer, offset and strides that hold a value.
#pragma once

#include "generator/ops/graph_index.h"

#include <map>
#include <string>

namespace warpwright::elements {

/// A value as an ATen step reads it: the memory of another value, and the view of it.
struct MemoryView {
  std::string root; ///< a leaf, an anchor's result, or an inline value that must be materialised
  std::int64_t offset = 0;
  model::Shape shape, strides;
  bool operator==(const MemoryView &) const = default;
};
/// Follows permute, expand, slice and reshape back to memory as far as strides can express them.
/// @param strides of values that are not contiguous
MemoryView view_of(const ops::GraphIndex &graph, const std::string &value,
                   const std::map<std::string, model::Shape> &strides);

/// Returns the value that an anchor reads for an operand: keys and values of a half-precision attention before they are
/// repeated for the query heads that share them, else the operand.
const std::string &unrepeated_operand(const ops::GraphIndex &graph, const model::Node &anchor,
                                      std::size_t operand);

} // namespace warpwright::elements
