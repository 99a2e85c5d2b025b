// The values that each pass over the rows reads, reduces, keeps and stores.
//
// A leaf is an input that lies in memory as the domain's elements do, so that a thread reads several neighbours at once; everything else
// is loaded element by element in place. A held value stays in registers from the pass that makes it to the last that needs it, so that
// memory is read once: only where a row fits. Thread: pure functions.
#pragma once

#include "generator/families/rows/row_program.h"

namespace warpwright::families::rows {

struct RowPass {
  std::vector<std::size_t> reductions; ///< in RowProgram::reductions
  std::vector<std::size_t> outputs;    ///< in RowProgram::outputs, those of elements
  std::vector<std::string> leaves;     ///< read as vectors in this pass
  std::vector<std::string> produced;   ///< computed here (not leaves) and held from now on
  std::vector<std::string> reused;     ///< held by an earlier pass, or a leaf of one
};

struct RowPasses {
  std::vector<RowPass> passes;
  std::vector<std::string> held; ///< leaves and nodes that live across passes
  /// Row values other than reductions that are computed once a row, in graph order.
  std::vector<std::string> row_values;
};

/// @param hold keeps in registers what later passes need
RowPasses plan_passes(const RowProgram &program, const ops::GraphIndex &graph, bool hold);

} // namespace warpwright::families::rows
