// Edits that replace a kernel by a template: its body, and the shapes of its launches.
#pragma once

#include "generator/text/source/index_form.h"

namespace warpwright::lift {

/// Extents of a grid and of a block, as text.
struct ShapeTexts {
  std::array<std::string, 3> grid, block;
};

/// Edits to a template's body and to the launch shapes that `shape` returns for the texts of `sizes`
/// at each launch. Errors: a launch whose arguments cannot be read.
Result<source::Edits>
replace_kernel(const source::KernelSource &source, const std::string &body,
               const std::vector<symbolic::Polynomial> &sizes,
               const std::function<ShapeTexts(const std::vector<std::string> &)> &shape);

/// A result of `rows` by `cols` elements, divided into tiles; each block computes one tile.
struct Tiling {
  symbolic::Polynomial rows, cols;
  int tile_rows = 0, tile_cols = 0;
  int threads_x = 0, threads_y = 1; ///< threads of a block
};
/// replace_kernel() with one block for each tile.
Result<source::Edits> replace_by_tiles(const source::KernelSource &source, const std::string &body,
                                       const Tiling &tiling);

/// The reason why no template may replace the kernel; empty when one may.
std::string refuses_templates(const source::KernelSource &source);

} // namespace warpwright::lift
