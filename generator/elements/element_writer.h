// CUDA C++ text for elements of a region's values: producers in place where an element is loaded, consumers in place where the
// anchor's element is stored.
//
// Families write the loops and call this for what happens at an element, so that every family fuses with every pointwise op and view.
// Values are computed in float (double for float64, the integer type for integers; float16 and bfloat16 convert at memory).
// Names of kernel parameters are the region's: `in0`, `in1`, ... for Region::inputs and `out0`, ... for Region::outputs, which
// parameters() declares with `const T *__restrict__` and arguments() binds. Local names that it writes start with `e_`.
//
// Indices simplify where their ranges are known: say bound("i", n) of loop variables that appear inside expressions ("4 * i + 1"); a variable
// that is a whole index by itself is known to lie in the dimension. Variables and the operands of / and % are taken to be 0 or more.
// Buffers start at multiples of 16 bytes. Thread: one.
#pragma once

#include "generator/elements/element_pass.h"
#include "support/model/plan.h"

#include <span>

namespace warpwright::elements {

/// A C++ integer expression for each dimension of a value, of type int, or long where elements exceed 2^31.
using Index = std::vector<std::string>;

class ElementWriter {
public:
  /// Both must outlive the writer.
  ElementWriter(const ops::GraphIndex &graph, const Region &region);
  ElementWriter(const ElementWriter &) = delete; ///< its environment points into it

  /// "const float *__restrict__ in0, float *__restrict__ out0"
  std::string parameters() const;
  /// The buffers behind them, in the same order; values keep the names of their nodes.
  std::vector<model::Argument> arguments() const;

  /// A variable of index expressions is at least 0 and below `size`, wherever it appears.
  void bound(const std::string &variable, std::int64_t size);

  /// Statements that a load needs first (appended to `before`), and the expression of the element of `value` at `index`: a name or a literal.
  /// Inlines every pointwise op and view of the region between memory and `value`; equal sub-expressions are computed once.
  std::string load(const std::string &value, const Index &index, std::string &before);
  /// The same at several indices ("lanes": 2, 4 or 8 of them). Where they are consecutive in memory and start at a multiple of their number,
  /// they are one vector access.
  std::vector<std::string> load(const std::string &value, std::span<const Index> lanes,
                                std::string &before);
  /// Statements that store the anchor's element, `element` being an expression of its compute type: runs the region's nodes behind the anchor
  /// and writes every output that this element decides. Other operands of those nodes are loaded in place. Without an anchor,
  /// `index` is that of the first output, and `element` is not used.
  /// @param result of an anchor with several
  std::string store(const Index &index, const std::string &element, int result = 0);
  std::string store(std::span<const Index> lanes, std::span<const std::string> elements,
                    int result = 0);
  /// Statements that compute one output at indices of its own, from memory and from what is bound, and store it.
  std::string store_output(const std::string &output, std::span<const Index> lanes);

  /// From now on load() takes `expression` (of the value's compute type) for `value`, whatever the index, and neither reads memory for it
  /// nor looks behind it: how a family hands over what it holds in registers or has reduced. A later bind replaces it; an empty one ends it.
  void bind(const std::string &value, const std::string &expression);
  /// One expression a lane: loads then take as many lanes.
  void bind(const std::string &value, std::vector<std::string> lanes);

  /// The C++ type in which a value is computed: "float", "double", "int", "long long", "bool".
  std::string compute_type(const std::string &value) const;

  /// Elements along the last dimension that are one vector access, at multiples of that number: the largest of 8, 4, 2, 1 with which loading
  /// `value`, or storing the anchor's result, needs no scalar access besides those that all lanes share.
  int load_width(const std::string &value) const;
  int store_width() const;
  /// The same along another dimension.
  int load_width(const std::string &value, std::size_t dim) const;
  int store_width(std::size_t dim) const;
  /// The largest with which store() of consecutive elements in row-major order is one vector access for every output and for every operand
  /// that is not much smaller: `index` is then row_major_index()'s.
  int flat_width() const;
  /// Indices of `width` consecutive elements of the shape that store() runs over, from `width * group` on, in row-major order; without an
  /// anchor, in the order in which the first output lies in memory.
  /// @param group a variable, which is bound here
  std::vector<Index> row_major_index(const std::string &group, int width);
  /// The least of store_width() and load_width() of the anchor's operands that have its last dimension.
  int vector_width() const;

  /// How far memory moves from an element of `value`, a chain of views, to the next along a dimension; 0 when that is no fixed distance.
  std::int64_t stride(const std::string &value, std::size_t dim) const;

  /// Device functions that the texts use, once a source. Sources that mention __half or __nv_bfloat16 include cuda_fp16.h, cuda_bf16.h.
  static const char *prelude();

  /// The shape over which store() runs: the anchor's, or the first output's.
  const model::Shape &stored_shape() const;

private:
  /// The largest number of lanes along a dimension for which `write` needs no scalar access.
  int widest(const model::Shape &shape, std::size_t dim,
             const std::function<void(ElementPass &, const ops::Lanes &)> &write) const;
  ops::Lanes parse(ElementPass &pass, std::span<const Index> lanes,
                   const model::Shape &shape) const;
  void write(ElementPass &pass, std::size_t output, const ops::Lanes &lanes) const;
  void store_all(ElementPass &pass, const ops::Lanes &lanes, LaneValues elements, int result) const;
  const ops::GraphIndex &graph_;
  const Region &region_;
  ElementPass::Environment environment_;
  int names_ = 0;
};

} // namespace warpwright::elements
