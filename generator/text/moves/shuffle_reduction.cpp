// shuffle_reduction(): a tree over a shared array becomes warp shuffles and one pass over the warps' results.
//
// Ten barriers become three. Legal for `for (s = blockDim.x / 2; s > 0; s >>= 1) if (t < s) a[t] op= a[t + s];`
// with a barrier, one-dimensional blocks of a known multiple of 32. All trees of the kernel are rewritten.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/render.h"
#include "generator/text/source/tree_reduction.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::generator {

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

} // namespace

Choices check_shuffle_reduction(const KernelSource &source) {
  const IndexReader form(source);
  const auto block = form.block();
  if (!block[0] || block[1] != 1 || block[2] != 1 || *block[0] % 32 != 0 || *block[0] < 64)
    return Choices::none("the block is not known to be whole warps in one dimension");
  if (find_trees(form).empty())
    return Choices::none("there is no tree reduction over a shared array");
  return {{Parameters{}}, {}};
}

Result<Edits> apply_shuffle_reduction(const KernelSource &source, const Parameters &) {
  const IndexReader form(source);
  Edits edits;
  for (const Tree &tree : find_trees(form)) {
    auto range = source.statement_range(tree.loop);
    if (!range)
      return fail("the reduction comes from a macro");
    const std::size_t begin = source.range_of(tree.loop)->begin;
    const std::string value = render("$value", {}, source.taken_names());
    const std::string warp = render_warp_combine(tree.combine, tree.type, value);
    const std::string text =
        render(kShuffles, {{"type", tree.type},
                           {"value", value},
                           {"array", tree.array},
                           {"thread", parenthesised(tree.thread)},
                           {"warp", indent(warp, "  ", "  ")},
                           {"last", indent(warp, "    ", "  ")},
                           {"identity", identity_text(tree.combine, tree.type)}});
    const std::string placed =
        indent(text, indentation_at(source.text(), begin), source.indent_step());
    edits.push_back({{begin, range->end}, placed.substr(placed.find('{'))});
  }
  return edits;
}

} // namespace warpwright::generator
