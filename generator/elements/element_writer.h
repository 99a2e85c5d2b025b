// CUDA C++ text for elements of a region's values: producers in place where an element is loaded, consumers in place
// where the anchor's element is stored.
//
// Families write the loops and call this for what happens at an element, so that every family fuses with every
// pointwise op and view.
// Values are computed in float (double for float64, the integer type for integers; float16 and bfloat16 convert at
// memory).
// Names of kernel parameters are the region's: `in0`, `in1`, ... for Region::inputs and `out0`, ... for
// Region::outputs, which parameters() declares with `const T *__restrict__` and arguments() binds. Local names that it
// writes start with `e_`.
//
// Indices simplify where their ranges are known: call bound("i", n) for loop variables inside expressions ("4 * i +
// 1"). A variable that is a whole index by itself is known to lie in the dimension. Variables and the operands of / and
// % are taken to be 0 or more. Buffers start at multiples of 16 bytes.
#pragma once

#include "generator/elements/element_pass.h"
#include "support/model/plan.h"

#include <span>

namespace warpwright::elements {

/// A C++ integer expression for each dimension of a value, of type int, or long where elements exceed 2^31.
using Index = std::vector<std::string>;

class ElementWriter {
public:
  /// The graph and the region must outlive the writer.
  ElementWriter(const ops::GraphIndex &graph, const Region &region);
  ElementWriter(const ElementWriter &) = delete; ///< its environment points into it

  /// Returns a list such as "const float *__restrict__ in0, float *__restrict__ out0".
  std::string parameters() const;
  /// Returns the buffers of these parameters, in the same order; values keep the names of their nodes.
  std::vector<model::Argument> arguments() const;

  /// States that a variable of index expressions is at least 0 and below `size`, wherever it appears.
  void bound(const std::string &variable, std::int64_t size);

  /// Returns the expression of the element of `value` at `index`, a name or a literal, and appends the statements that
  /// it needs to `before`. Inlines all pointwise ops and views between memory and `value`; computes equal
  /// sub-expressions once.
  std::string load(const std::string &value, const Index &index, std::string &before);
  /// Loads at several indices ("lanes": 2, 4 or 8 of them). Lanes that are consecutive in memory and start at a
  /// multiple of their number are one vector access.
  std::vector<std::string> load(const std::string &value, std::span<const Index> lanes,
                                std::string &before);
  /// Returns statements that store the anchor's element, where `element` is an expression of its compute type. They
  /// compute the region's nodes behind the anchor and write every output that this element decides. Other operands are
  /// loaded in place. Without an anchor, `index` is that of the first output, and `element` is not used.
  /// @param result number of the result, for an anchor with several
  std::string store(const Index &index, const std::string &element, int result = 0);
  std::string store(std::span<const Index> lanes, std::span<const std::string> elements,
                    int result = 0);
  struct Stored {
    std::string values; ///< statements that compute the outputs
    std::string stores; ///< statements that write them, for the same scope
  };
  /// Returns what store() returns in two parts, so that loads of other elements can stand before the stores.
  Stored values_and_stores(std::span<const Index> lanes, std::span<const std::string> elements,
                           int result = 0);
  /// Returns statements that compute one output at its own indices, from memory and bound values, and store it.
  std::string store_output(const std::string &output, std::span<const Index> lanes);

  /// Returns the place of an output's element in its memory, in elements.
  std::string offset(const std::string &output, const Index &index) const;

  /// Makes load() use `expression` (of the value's compute type) for `value` at every index, so that families can pass
  /// on values in registers or reduced values. A later bind replaces the expression; an empty one ends it.
  void bind(const std::string &value, const std::string &expression);
  /// Binds one expression for each lane; loads then take as many lanes.
  void bind(const std::string &value, std::vector<std::string> lanes);

  /// Returns the C++ type in which a value is computed: "float", "double", "int", "long long", "bool".
  std::string compute_type(const std::string &value) const;

  /// Returns the number of elements along the last dimension in one vector access, at multiples of that number: the
  /// largest of 8, 4, 2, 1 with which loading `value`, or storing the anchor's result, needs no scalar access besides
  /// those that all lanes share.
  int load_width(const std::string &value) const;
  int store_width() const;
  /// Returns the width along another dimension.
  int load_width(const std::string &value, std::size_t dim) const;
  int store_width(std::size_t dim) const;
  /// Returns the largest width at which store() of consecutive elements, at an index of row_major_index(), is one
  /// vector access for every output, and for every operand that is not much smaller.
  int flat_width() const;
  /// Returns the indices of `width` consecutive elements of the shape that store() runs over, from `width * group` on,
  /// in row-major order; without an anchor, in the order in which the first output lies in memory.
  /// @param group name of a variable, which is bound here
  std::vector<Index> row_major_index(const std::string &group, int width);
  /// Returns the least of store_width() and load_width() of the anchor's operands that have its last dimension.
  int vector_width() const;

  /// Returns the distance in memory between neighbors along a dimension of a chain of views; 0 where it is not fixed.
  std::int64_t stride(const std::string &value, std::size_t dim) const;

  /// Returns the device functions that the texts use, to be included once per source. Sources that mention __half or
  /// __nv_bfloat16 include cuda_fp16.h, cuda_bf16.h.
  static const char *prelude();

  /// Returns the shape over which store() runs: the anchor's, or the first output's.
  const model::Shape &stored_shape() const;

private:
  /// Returns the largest number of lanes along a dimension for which `write` needs no scalar access.
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
