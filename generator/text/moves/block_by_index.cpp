// Edits of launches to other blocks with as many threads; see block_by_index.h.
#include "generator/text/moves/block_by_index.h"

#include "generator/text/source/global_index.h"

#include <algorithm>
#include <array>

namespace warpwright::moves {
namespace {

using Block = std::array<std::int64_t, 3>;

/// Edits between <<< and >>>: variables of the shape keep their values, since the new texts use them.
constexpr std::size_t kAtLaunch = std::string::npos;

/// The block of every launch, by the text or by the task. Errors: it is not known, or launches differ.
Result<Block> launched_block(const source::KernelSource &source) {
  std::optional<Block> found;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const source::LaunchSite site(source, launch);
    if (site.has_shared_bytes())
      return fail("the launch has dynamic shared memory, which may depend on the block");
    Block block{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto written = source.can_change_launches() ? site.block().value(axis) : std::nullopt;
      const auto extent = written ? written : source.launch_extent(std::string("blockDim.") + "xyz"[axis]);
      if (!extent)
        return fail("the block's size is not known");
      block[axis] = *extent;
    }
    if (found && *found != block)
      return fail("launches use different blocks");
    found = block;
  }
  return *found;
}

/// True if a grid of whole blocks has exactly as many threads as before, or surplus threads stop at a bounds check.
bool suits(const source::GlobalIndex &index, const Block &block, const Parameters &choice) {
  const std::array extents{number(choice, "x"), number(choice, "y")};
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] > 0 && !index.is_bounded[axis] && block[axis] % extents[axis] != 0)
      return false;
  return true;
}

} // namespace

Result<Offer> block_size_by_index(const source::KernelSource &source) {
  if (!source.has_all_launches())
    return fail("there is no launch");
  if (source.kernel()->hasAttr<clang::CUDALaunchBoundsAttr>())
    return fail("__launch_bounds__ fixes the block");
  const source::GlobalIndex index = TRY(only_global_index(source::IndexReader(source)));
  const Block block = TRY(launched_block(source));
  const bool is_two_dimensional = block[1] != 1;
  if (block[2] != 1 || (is_two_dimensional && !index.is_used[1]))
    return fail("threads of the block do the same work");
  auto choices = block_choices(is_two_dimensional, block[0], block[1]);
  std::erase_if(choices, [&](const Parameters &choice) { return !suits(index, block, choice); });
  if (choices.empty())
    return fail("no bounds check stops the threads that another block adds");
  const int axes = is_two_dimensional ? 2 : 1;
  return Offer{choices,
               [&source, axes](const Parameters &choice) {
                 source::Edits edits;
                 const std::array extents{number(choice, "x"), number(choice, "y")};
                 for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
                   const source::LaunchSite site(source, launch);
                   std::array<std::string, 3> grid, wanted;
                   for (int axis = 0; axis < 3; ++axis) {
                     const std::string &blocks = site.grid().text(axis), &threads = site.block().text(axis);
                     const bool changes = axis < axes;
                     grid[axis] = changes ? source::ceil_div_text(source::parenthesised(blocks) + " * " +
                                                                      source::parenthesised(threads),
                                                                  extents[axis])
                                          : blocks;
                     wanted[axis] = changes ? std::to_string(extents[axis]) : threads;
                   }
                   source::add_edits(edits, site.grid().replace(grid, kAtLaunch));
                   source::add_edits(edits, site.block().replace(wanted, kAtLaunch));
                 }
                 return edits;
               },
               [axes](const Parameters &choice) {
                 source::LaunchChange change;
                 change.block[0] = number(choice, "x");
                 change.block[1] = axes == 2 ? number(choice, "y") : 0;
                 return change;
               }};
}

} // namespace warpwright::moves
