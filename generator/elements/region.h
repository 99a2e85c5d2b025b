// A region: nodes of the graph that one lowering computes together, and what it reads and writes.
//
// At most one node is the anchor (a reduction, softmax, matmul, pooling, scan...), which decides the family and the
// shape of the loops; the others are pointwise or views: before the anchor they are written in place where it loads
// (prologue), behind it where it stores (epilogue). A region without an anchor is pointwise.
//
// A region of a family that grows its own (Family::grow) may hold several reductions over the same dimensions of the
// same elements, with pointwise nodes between them, as normalizations, softmax variants and losses have. Its anchor is
// the first reduction.
#pragma once

#include "generator/ops/graph_index.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace warpwright::elements {

/// Where a value lies within the memory of another one.
struct Place {
  std::string whole;
  std::int64_t offset = 0; ///< in elements; a multiple of 16 bytes
  bool operator==(const Place &) const = default;
};

/// Limit of nodes in one region: a kernel's text should stay readable, and compile.
inline constexpr std::size_t kMostNodes = 400;

struct Region {
  std::vector<std::string> nodes; ///< in graph order
  std::string anchor;             ///< empty: pointwise
  std::vector<std::string>
      inputs; ///< values read from memory: nodes outside, in order of first use
  std::vector<std::string>
      outputs; ///< nodes inside that others, the graph's outputs or its updates need
  /// Strides, in elements, of inputs and outputs that are not contiguous in memory. The strides in the graph's types
  /// are those of the traced module; a plan lays out its own values.
  std::map<std::string, model::Shape> strides;
  /// Outputs that are parts of a `cat`, which then needs no copy. `strides` holds the strides of the whole.
  std::map<std::string, Place> places;
  bool operator==(const Region &) const = default;
};

/// Returns the dtype, shape and strides of an input or output as it lies in memory.
inline model::TensorType region_type(const ops::GraphIndex &graph, const Region &region,
                                     const std::string &value) {
  const model::TensorType &type = graph.node(value).type();
  const auto strides = region.strides.find(value);
  return {type.dtype, type.shape, strides == region.strides.end() ? model::Shape{} : strides->second};
}

/// Returns the elements from the first to the last in memory; 0 without elements.
std::int64_t memory_extent(const model::TensorType &type);

/// Returns the region of a set of nodes: its inputs and outputs, and the nodes in graph order.
Region region_of(const ops::GraphIndex &graph, const std::set<std::string> &nodes,
                 const std::string &anchor);

} // namespace warpwright::elements
