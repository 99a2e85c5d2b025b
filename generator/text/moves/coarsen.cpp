// Move coarsen(factor): each thread computes several elements at a distance of one block, so that a
// warp's accesses stay coalesced.
//
// A thread has more loads in flight, and fewer blocks start. Legal for a guarded element-wise
// kernel without barriers or early exits in the work; for a kernel that loops over its grid, see
// unroll.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/guarded.h"

namespace warpwright::moves {

Result<Offer> offer_coarsen(const source::KernelSource &source) {
  const auto guarded = match_straight(source::IndexReader(source));
  if (!guarded)
    return std::unexpected(guarded.error());
  if (!source.has_all_launches())
    return fail("there is no launch with a grid that could shrink");
  if (!has_one_dimensional_blocks(source))
    return fail("the block is not one-dimensional");
  const auto edits = [&source,
                      guarded = *guarded](const Parameters &choice) -> Result<source::Edits> {
    auto work = guarded.work_text(source);
    if (!work)
      return std::unexpected(work.error());
    // The values of a 64-bit index may exceed 32 bits.
    const bool wide = source.unit().context().getTypeSize(guarded.index->getType()) > 32;
    source::Edits made{guarded.replace(
        source,
        source::render("#pragma unroll\nfor (int $step = 0; $step < $factor; ++$step) {\n"
                       "  const $type $i = ($block * $factor + $step) * blockDim.x + threadIdx.x;\n"
                       "  if ($i < $bound)$open\n    $work$close\n}",
                       {{"factor", choice.at("factor")},
                        {"block", wide ? "(" + guarded.type + ")blockIdx.x" : "blockIdx.x"},
                        {"type", guarded.type},
                        {"i", guarded.name},
                        {"bound", guarded.bound},
                        {"open", guarded.has_braces ? " {" : ""},
                        {"close", guarded.has_braces ? "\n  }" : ""},
                        {"work", source::deepen(*work, "    ")}},
                       source.taken_names()))};
    change_grids(made, source, [&](const std::string &grid) {
      return source::ceil_div_text(grid, number(choice, "factor"));
    });
    return made;
  };
  return Offer{choices_of("factor", {2, 4, 8}), edits,
               [](const Parameters &choice) { return source::LaunchChange{.grid_divisors = {number(choice, "factor"), 1, 1}}; }};
}

} // namespace warpwright::moves
