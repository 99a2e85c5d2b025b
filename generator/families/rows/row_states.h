// Accumulators of a row program: one struct a pass, with a field for each reduction that shares none.
// Thread: values.
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
  /// The compute type of what a reduction reads.
  std::string operand_type(std::size_t reduction) const;
  bool has_reductions(int pass) const { return words(pass) > 0; }
  /// 8-byte words of a pass's struct.
  int words(int pass) const;
  /// The struct of a pass; empty where it reduces nothing.
  std::string text(int pass, const std::string &name) const;
  /// An accumulator that wants the positions of values too.
  bool needs_position(std::size_t reduction) const;

private:
  Accumulator accumulator(const RowReduction &reduction) const;
  const RowReduction *companion(const RowReduction &of, ops::Reduction kind) const;

  const RowProgram &program_;
  const ops::GraphIndex &graph_;
  std::vector<Accumulator> accumulators_; ///< one for each reduction
};

} // namespace warpwright::families::rows
