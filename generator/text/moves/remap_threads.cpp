// Move remap_threads(): swaps x and y where the fastest array index runs along threadIdx.y.
//
// Neighboring threads differ in x, so the last index should depend on x. The members x and y of all
// built-in indices are swapped in the kernel and in its launches, so the result stays the same.
// Illegal with shared memory or warp operations, whose layout may depend on the linear thread
// number.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/index_form.h"

namespace warpwright::moves {
namespace {

/// Number of accesses whose unit-stride index runs along an axis.
int unit_stride_accesses(const source::IndexReader &form, const std::string &axis) {
  int count = 0;
  for (const source::ElementAccess &element : form.accesses(form.source().body()))
    for (const char *prefix : {"gid.", "threadIdx."})
      count += element.index.coefficient_of(prefix + axis).number() == 1;
  return count;
}

/// Edits that swap `.x` and `.y` of built-in indices; nullopt where one comes from a macro.
std::optional<source::Edits> swapped_members(const source::KernelSource &source) {
  source::Edits edits;
  for (const auto *member : source::find_all<clang::MemberExpr>(source.body())) {
    const std::string name = source::builtin_of(member);
    if (name.empty() || name.ends_with(".z"))
      continue;
    const auto range = source.unit().range_of(clang::SourceRange(member->getMemberLoc()));
    if (!range)
      return std::nullopt;
    source::add_edits(edits, {{*range, name.ends_with(".x") ? "y" : "x"}});
  }
  return edits;
}

/// A grid's text with the block's members x and y exchanged, because the block's extents swap too.
std::string exchanged(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '.' && (text[i + 1] == 'x' || text[i + 1] == 'y') &&
        (i + 2 == text.size() || !is_word(text[i + 2]) || text[i + 2] == '_'))
      text[i + 1] = text[i + 1] == 'x' ? 'y' : 'x';
  return text;
}

} // namespace

Result<Offer> offer_remap_threads(const source::KernelSource &source) {
  const source::IndexReader form(source);
  if (source.body_text().contains("__shared__") || source::has_collective(source.body()))
    return fail("the kernel uses shared memory, a barrier or warp operations");
  if (unit_stride_accesses(form, "y") <= unit_stride_accesses(form, "x"))
    return fail("threadIdx.x already drives the fastest index");
  if (!source.can_change_launches())
    return fail("there is no launch with a shape that could be swapped");
  const auto swapped = swapped_members(source);
  if (!swapped)
    return fail("a built-in index comes from a macro");
  return Offer{{Parameters{}}, [&source, swapped = *swapped](const Parameters &) {
                 source::Edits edits = swapped;
                 for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
                   const source::LaunchSite site(source, launch);
                   for (const source::LaunchShape *shape : {&site.grid(), &site.block()})
                     if (shape->text(0) != shape->text(1))
                       source::add_edits(
                           edits, shape->replace({exchanged(shape->text(1)),
                                                  exchanged(shape->text(0)), shape->text(2)}));
                 }
                 return edits;
               }};
}

} // namespace warpwright::moves
