// CUDA C++ text for single elements of a region's values: producers in place where an element is loaded, consumers in place where the
// anchor's element is stored.
//
// Families write the loops and call this for what happens at an element, so that every family fuses with every pointwise op and view.
// Values are computed in float (double for float64, the integer type for integers; float16 and bfloat16 convert at memory).
// Names of kernel parameters are the region's: `in0`, `in1`, ... for Region::inputs and `out0`, ... for Region::outputs, which
// parameters() declares with `const T *__restrict__` and arguments() binds. Thread: one.
#pragma once

#include "generator/fusion/region.h"
#include "support/model/plan.h"

#include <span>

namespace warpwright::generator {

/// A C++ integer expression for each dimension of a value, of type int, or long where elements exceed 2^31.
using Index = std::vector<std::string>;

class ElementWriter {
public:
  ElementWriter(const GraphIndex &graph, const Region &region);

  /// "const float *__restrict__ in0, float *__restrict__ out0"
  std::string parameters() const;
  /// The buffers behind them, in the same order; values keep the names of their nodes.
  std::vector<model::Argument> arguments() const;

  /// Statements that a load needs first (appended to `before`), and the expression of the element of `value` at `index`. Inlines every
  /// pointwise op and view of the region between memory and `value`; equal sub-expressions are computed once.
  std::string load(const std::string &value, const Index &index, std::string &before);
  /// Statements that store the anchor's element, `element` being an expression of its compute type: runs the region's nodes behind the anchor
  /// and writes every output that this element decides. Other operands of those nodes are loaded in place.
  std::string store(const Index &index, const std::string &element);
  /// The C++ type in which a value is computed: "float", "double", "int", "long long", "bool".
  std::string compute_type(const std::string &value) const;
  /// `n` consecutive elements of the last dimension may be loaded and stored as one vector access at multiples of n (alignment, contiguity
  /// of inputs and outputs, no padding or gathering between): the largest n of 4, 2, 1 (8 for 16-bit types).
  int vector_width() const;

  /// Device functions that the texts use, once a source: warpwright_erf, conversions, ...
  static const char *prelude();
};

} // namespace warpwright::generator
