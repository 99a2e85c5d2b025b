// A region: nodes of the graph that one lowering computes together, and what it reads and writes.
//
// At most one node is the anchor (a reduction, softmax, matmul, pooling, scan...), which decides the family and the shape of the loops; the
// others are pointwise or views: before the anchor they are written in place where it loads (prologue), behind it where it stores
// (epilogue). A region without an anchor is pointwise. Thread: values.
#pragma once

#include "generator/graph/graph_index.h"

#include <string>
#include <vector>

namespace warpwright::generator {

struct Region {
  std::vector<std::string> nodes; ///< in graph order
  std::string anchor;             ///< empty: pointwise
  std::vector<std::string>
      inputs; ///< values read from memory: nodes outside, in order of first use
  std::vector<std::string>
      outputs; ///< nodes inside that others, the graph's outputs or its updates need
  bool operator==(const Region &) const = default;
};

} // namespace warpwright::generator
