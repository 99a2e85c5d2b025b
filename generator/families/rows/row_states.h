// Accumulators of a row program: one struct per pass, with a field for each reduction that has its own accumulator.
#pragma once

#include "generator/families/rows/row_program.h"

namespace warpwright::families::rows {

class RowStates {
public:
  /// Both arguments must outlive the object.
  RowStates(const RowProgram &program, const ops::GraphIndex &graph);

  /// The accumulator of one reduction.
  struct Accumulator {
    std::string type;   ///< "warpwright_rows::Sum<float>"; empty: shared with another
    std::string field;  ///< of the pass's struct
    std::string result; ///< an expression with "$" for the accumulator
    int words = 1;      ///< 8-byte words
  };

  const Accumulator &of(std::size_t reduction) const { return accumulators_[reduction]; }
  /// Compute type of a reduction's operand.
  std::string operand_type(std::size_t reduction) const;
  bool has_reductions(int pass) const { return words(pass) > 0; }
  /// Size of a pass's struct in 8-byte words.
  int words(int pass) const;
  /// Definition of a pass's struct; empty if the pass reduces nothing.
  std::string text(int pass, const std::string &name) const;
  /// True if the accumulator also needs the positions of values.
  bool needs_position(std::size_t reduction) const;

private:
  Accumulator accumulator(const RowReduction &reduction) const;
  const RowReduction *companion(const RowReduction &of, ops::Reduction kind) const;

  const RowProgram &program_;
  const ops::GraphIndex &graph_;
  std::vector<Accumulator> accumulators_; ///< one for each reduction
};

} // namespace warpwright::families::rows
