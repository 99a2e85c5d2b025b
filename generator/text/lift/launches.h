// Edits that put a template in a kernel's place: its body, and launches of the shape that it needs.
#pragma once

#include "generator/text/source/index_form.h"

namespace warpwright::lift {

/// Extents of a grid and of a block, as text.
struct ShapeTexts {
  std::array<std::string, 3> grid, block;
};

/// A template's body, and launches of the shape that `shape` makes of the texts of `sizes` there.
/// Errors: a launch whose arguments cannot be read.
Result<source::Edits>
replace_kernel(const source::KernelSource &source, const std::string &body,
               const std::vector<symbolic::Polynomial> &sizes,
               const std::function<ShapeTexts(const std::vector<std::string> &)> &shape);

/// A result of `rows` by `cols` elements, cut into tiles that one block each computes.
struct Tiling {
  symbolic::Polynomial rows, cols;
  int tile_rows = 0, tile_cols = 0;
  int threads_x = 0, threads_y = 1; ///< of a block
};
/// replace_kernel() with a grid of one block a tile.
Result<source::Edits> replace_by_tiles(const source::KernelSource &source, const std::string &body,
                                       const Tiling &tiling);

/// The reason to refuse every template; empty when there is none.
std::string refuses_templates(const source::KernelSource &source);

} // namespace warpwright::lift
