// Plan of move vectorize: the work for one element, and the parts of arrays that a thread reads or
// writes at neighboring elements.
#pragma once

#include "generator/text/moves/move_kind.h"

#include "generator/text/source/element_uses.h"
#include "generator/text/source/element_work.h"

namespace warpwright::moves {

/// Elements of an array that belong to one element of the work, at one distance from its index:
/// `x[i]`, `x[row * n + i]`, or `x[3 * i]`, `x[3 * i + 1]` and `x[3 * i + 2]`.
struct VectorPart {
  std::string array, element; ///< names of the parameter and of the element's type
  int bytes = 0;              ///< of an element
  int elements = 1;           ///< for each index; 3 in `x[3 * i + 1]`
  symbolic::Polynomial base;  ///< distance of the elements of index 0
  std::string base_text;      ///< empty: 0
  bool is_written = false;
  bool needs_load = false; ///< it is read, or written in part
  /// Accesses, and which of the index's elements each of them takes.
  std::vector<std::pair<Range, int>> accesses;

  /// Bytes of the part for `width` indices, and of the widest loads that such parts allow.
  int whole_bytes(int width) const { return bytes * elements * width; }
  int load_bytes(int width) const;
  /// The address of the elements of the index `first`: "x + first".
  std::string address(const std::string &first) const;
};

struct VectorWork {
  source::ElementWork element;
  std::vector<VectorPart> parts;
};

/// One straight work, with a grid that can shrink, or loops.
struct VectorPlan {
  std::vector<VectorWork> works;
};

/// Errors: the reason why vectors would be wrong or useless.
Result<VectorPlan> vector_plan(const source::IndexReader &form);

} // namespace warpwright::moves
