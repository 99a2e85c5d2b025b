// Move shuffle_reduction(): a tree over a shared array becomes warp shuffles and one pass over the
// warps' results.
//
// Ten barriers become three. Legal for
// `for (s = blockDim.x / 2; s > 0; s >>= 1) if (t < s) a[t] op= a[t + s];` with a barrier, in
// one-dimensional blocks of a known multiple of 32. All trees of the kernel are rewritten.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/tree_reduction.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::moves {
namespace {

constexpr std::string_view kShuffles = R"cuda({
  $type $value = $array[$thread];
$warp  __syncthreads();
  if ($thread % 32 == 0)
    $array[$thread / 32] = $value;
  __syncthreads();
  if ($thread < 32) {
    $value = $thread < blockDim.x / 32 ? $array[$thread] : $identity;
$last    if ($thread == 0)
      $array[0] = $value;
  }
  __syncthreads();
})cuda";

/// Edits that replace one tree by shuffles. Errors: a tree from a macro.
Result<TextEdit> replace_tree(const source::KernelSource &source, const source::Tree &tree) {
  const auto range = source.range_of(tree.loop), whole = source.statement_range(tree.loop);
  if (!range || !whole)
    return fail("the reduction comes from a macro");
  const std::string value = source::fresh_name("value", source.taken_names());
  const std::string warp = templates::render_warp_combine(tree.combine, tree.type, value);
  const std::string text =
      source::render(kShuffles, {{"type", tree.type},
                                 {"value", value},
                                 {"array", tree.array},
                                 {"thread", source::parenthesised(tree.thread)},
                                 {"warp", source::indent(warp, "  ", "  ")},
                                 {"last", source::indent(warp, "    ", "  ")},
                                 {"identity", identity_text(tree.combine, tree.type)}});
  const std::string placed =
      source::indent(text, indentation_at(source.text(), range->begin), source.indent_step());
  return TextEdit{{range->begin, whole->end}, placed.substr(placed.find('{'))};
}

} // namespace

Result<Offer> offer_shuffle_reduction(const source::KernelSource &source) {
  const source::IndexReader form(source);
  if (!form.has_whole_warps() || *form.block()[0] < 64)
    return fail("the block is not known to be whole warps in one dimension");
  const auto trees = find_trees(form);
  if (trees.empty())
    return fail("there is no tree reduction over a shared array");
  return Offer{{Parameters{}}, [&source, trees](const Parameters &) -> Result<source::Edits> {
                 source::Edits edits;
                 for (const source::Tree &tree : trees) {
                   auto edit = replace_tree(source, tree);
                   if (!edit)
                     return std::unexpected(edit.error());
                   edits.push_back(std::move(*edit));
                 }
                 return edits;
               }};
}

} // namespace warpwright::moves
