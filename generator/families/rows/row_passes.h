// The values that each pass over the rows reads, reduces, keeps and stores.
//
// A leaf is an input with the memory order of the domain, so that a thread can read several neighbors at once. All
// other values are loaded element by element. A held value stays in registers from its first pass to its last use, so
// memory is read once; this requires that a row fits in registers.
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

/// @param hold keeps values that later passes need in registers
RowPasses plan_passes(const RowProgram &program, const ops::GraphIndex &graph, bool hold);

} // namespace warpwright::families::rows
