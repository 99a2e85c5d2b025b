// Move grid_stride(blocks): a loop of each thread over elements one grid apart, in a capped grid.
//
// Fewer blocks start, and the setup of a thread serves many elements. Legal for a guarded
// element-wise kernel without barriers or early exits in the work. Kernels over two dimensions are
// not supported.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/guarded.h"

namespace warpwright::moves {

Result<Offer> offer_grid_stride(const source::KernelSource &source) {
  const auto guarded = match_straight(source::IndexReader(source));
  if (!guarded)
    return std::unexpected(guarded.error());
  if (!source.can_change_launches())
    return fail("there is no launch with a grid that could be capped");
  const int all = source.gpu().multiprocessors;
  const auto edits = [&source,
                      guarded = *guarded](const Parameters &choice) -> Result<source::Edits> {
    auto work = guarded.work_text(source);
    if (!work)
      return std::unexpected(work.error());
    source::Edits made{guarded.replace(
        source, guarded.loop_head("blockDim.x * gridDim.x") + (guarded.has_braces ? " {" : "") +
                    "\n  " + source::deepen(*work, "  ") + (guarded.has_braces ? "\n}" : ""))};
    change_grids(made, source, [blocks = choice.at("blocks")](const std::string &text) {
      const std::string grid = source::as_summand(text);
      return grid + " < " + blocks + " ? " + grid + " : " + blocks;
    });
    return made;
  };
  return Offer{choices_of("blocks", {4 * all, 8 * all, 16 * all}), edits};
}

} // namespace warpwright::moves
