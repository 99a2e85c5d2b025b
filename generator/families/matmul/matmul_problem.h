// A matmul node as loops see it: batches of rows x columns over a depth, and how either operand lies in memory.
//
// Batch dimensions of the left operand become rows where the right one is the same for all of them, so that a linear layer over sequences
// is one product. What fusion puts before an operand decides how it is read: along k or across it, and whether it is plain memory
// with strides (behind permute, expand, slice, and reshapes that need no copy) that copies to shared memory may address themselves.
// Thread: pure functions.
#pragma once

#include "generator/elements/family.h"

#include <optional>

namespace warpwright::families::matmul {

/// Memory behind an operand: element (batch, row, k) is in<input>[offset + sum batch[i] * batches[i] + row * rows + k * depth].
struct PlainOperand {
  int input = 0; ///< position in Region::inputs
  std::int64_t offset = 0;
  model::Shape batches; ///< one a dimension of MatmulProblem::batch
  std::int64_t rows = 0, depth = 0;
  /// Neighbours that may be copied at once, at multiples of their number, along the fast dimension: 4, 2 or 1.
  int vector = 1;
};

/// The left operand's rows, or the right operand's columns, are its "rows".
struct MatmulOperand {
  std::string value;
  bool along_k = true; ///< neighbours in memory are neighbours in k
  /// True where four neighbours along the fast dimension, at multiples of 4, lie within it and within one row of the tensor.
  bool fours = false;
  std::optional<PlainOperand> plain; ///< float32 without anything to compute on the way
};

struct MatmulProblem {
  std::int64_t rows = 1, columns = 1, depth = 1;
  model::Shape batch;    ///< of the result, those that are not rows
  model::Shape row_dims; ///< of the result, that `rows` flattens
  MatmulOperand a, b;
  model::Dtype dtype = model::Dtype::Float32; ///< of the result
  std::string type;                           ///< it is computed in

  std::int64_t batches() const { return model::elements_of(batch); }
  /// Indices of elements by texts: identifiers or in parentheses.
  elements::Index a_index(const std::string &batch_text, const std::string &row,
                          const std::string &k) const;
  elements::Index b_index(const std::string &batch_text, const std::string &k,
                          const std::string &column) const;
  elements::Index result_index(const std::string &batch_text, const std::string &row,
                               const std::string &column) const;

  model::Shape a_shape, b_shape; ///< of the operands
};

/// Errors: a node that is no matmul of two operands with at least two dimensions, or one without elements.
Result<MatmulProblem> matmul_problem(const ops::GraphIndex &index, const elements::Region &region);

} // namespace warpwright::families::matmul
