// A matmul node as loops see it: batches, rows, columns and depth, and the memory layout of both operands.
//
// Batch dimensions of the left operand become rows if the right operand is the same for all
// of them, so that a linear layer over sequences is one product. The ops fused before an
// operand decide how it is read: along k or across it, and whether it is plain strided memory
// (behind permute, expand, slice, and reshapes without a copy) that async copies can address.
#pragma once

#include "generator/elements/convolution_shape.h"
#include "generator/elements/family.h"

#include <optional>

namespace warpwright::families::matmul {

/// Memory of an operand: element (batch, row, k) is in<input>[offset
/// + sum batch[i] * batches[i] + row * rows + k * depth].
struct PlainOperand {
  int input = 0; ///< position in Region::inputs
  std::int64_t offset = 0;
  model::Shape batches; ///< one a dimension of MatmulProblem::batch
  std::int64_t rows = 0, depth = 0;
  model::Dtype dtype = model::Dtype::Float32; ///< of the memory; where 16 bits, the operand may be its float32 copy
  /// Neighbors along the fast dimension that one aligned copy may take: 4, 2 or 1.
  int vector = 1;
};

/// An operand of the product. "Rows" are the left operand's rows or the right operand's columns.
struct MatmulOperand {
  std::string value;
  bool along_k = true; ///< neighbors in memory are neighbors in k
  /// True if each aligned group of four along the fast dimension lies within it and within one row of the tensor.
  bool fours = false;
  std::optional<PlainOperand> plain; ///< float32 or 16-bit memory, with nothing to compute but a wider copy
};

/// The left operand of a convolution of channels-last images: a row holds what the window covers at one position, the
/// channels of one tap after those of another.
struct WindowOperand {
  elements::ConvolutionShape shape;
  model::Dtype dtype = model::Dtype::Float32;
  std::string image, filter; ///< values of (N, C, spatial...) and (outputs, C, spatial...)
};

struct MatmulProblem {
  std::int64_t rows = 1, columns = 1, depth = 1;
  model::Shape batch;    ///< batch dimensions of the result that are not rows
  /// True if `batch` are dimensions that a reshape of both operands joins: the result has one dimension for them.
  bool joins_batches = false;
  model::Shape row_dims; ///< dimensions of the result that `rows` flattens
  MatmulOperand a, b;
  /// The right operand of a second product that the region computes with the same left operand; `twin` is its node.
  std::optional<MatmulOperand> twin_b;
  std::string twin;
  std::optional<WindowOperand> window; ///< in place of `a` and `b`; rows are positions of the window
  int epilogue_cost = 0; ///< of an element behind the product, in units of ops::recompute_cost()
  bool epilogue_reads = false; ///< the epilogue reads another value of the result's size, as a residual
  /// Neighbors in a column that can be stored at once, where those in a row cannot, as of a result that is kept
  /// transposed; else 1.
  int store_down = 1;
  model::Dtype dtype = model::Dtype::Float32; ///< of the result
  std::string type;                           ///< C++ type of the computation

  std::int64_t batches() const { return model::elements_of(batch); }
  /// Indices of an operand's elements; the arguments are identifiers or expressions in parentheses.
  elements::Index a_index(const std::string &batch_text, const std::string &row,
                          const std::string &k) const;
  elements::Index b_index(const std::string &batch_text, const std::string &k,
                          const std::string &column) const;
  elements::Index result_index(const std::string &batch_text, const std::string &row,
                               const std::string &column) const;

  model::Shape a_shape, b_shape; ///< of the operands
};

/// Fills in `epilogue_cost`, `epilogue_reads` and `store_down`.
void describe_epilogue(const ops::GraphIndex &index, const elements::Region &region, MatmulProblem &problem);

/// Errors: the node is not a matmul of two operands with at least two dimensions, or has no elements.
Result<MatmulProblem> matmul_problem(const ops::GraphIndex &index, const elements::Region &region);

} // namespace warpwright::families::matmul
