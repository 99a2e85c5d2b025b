// remap_threads(): swaps the roles of x and y where the fastest array index runs along threadIdx.y.
//
// Neighbouring threads differ in x, so x must drive the last index. Everything with x and y of a built-in index
// is swapped in the kernel and in its launches, so what is computed stays the same. Illegal with shared memory
// or warp operations, whose layout may depend on the linear thread number.
#include "generator/text/moves/move_kind.h"

#include <cctype>

namespace warpwright::generator {

namespace {

/// How often the unit-stride index runs along an axis.
int unit_stride_accesses(const IndexReader &form, const std::string &axis) {
  int count = 0;
  for_each_node(form.source().body(), [&](const clang::Stmt *node) {
    const auto *expression = clang::dyn_cast<clang::Expr>(node);
    auto element = expression ? form.access(expression) : std::nullopt;
    if (!element || element->expression != expression)
      return;
    for (const char *prefix : {"gid.", "threadIdx."})
      count += element->index.coefficient_of(prefix + axis).number() == 1;
  });
  return count;
}

/// Where `.x` and `.y` of built-in indices stand, with their swapped letter.
std::optional<Edits> swapped_members(const KernelSource &source) {
  Edits edits;
  bool editable = true;
  for (const auto *member : find_all<clang::MemberExpr>(source.body())) {
    const std::string name = builtin_of(member);
    if (name.empty() || name.ends_with(".z"))
      continue;
    auto range = source.unit().range_of(clang::SourceRange(member->getMemberLoc()));
    editable &= range.has_value();
    if (range)
      add_edits(edits, {{*range, name.ends_with(".x") ? "y" : "x"}});
  }
  return editable ? std::optional(edits) : std::nullopt;
}

/// A grid may be computed from the block's members, which trade places too.
std::string exchanged(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '.' && (text[i + 1] == 'x' || text[i + 1] == 'y') &&
        (i + 2 == text.size() || !std::isalnum(static_cast<unsigned char>(text[i + 2]))))
      text[i + 1] = text[i + 1] == 'x' ? 'y' : 'x';
  return text;
}

} // namespace

Choices check_remap_threads(const KernelSource &source) {
  const IndexReader form(source);
  const std::string body(
      source.text().substr(source.body_inside().begin, source.body_inside().size()));
  if (body.find("__shared__") != std::string::npos || has_collective(source.body()))
    return Choices::none("the kernel uses shared memory, a barrier or warp operations");
  const int along_x = unit_stride_accesses(form, "x"), along_y = unit_stride_accesses(form, "y");
  if (along_y <= along_x)
    return Choices::none("threadIdx.x already drives the fastest index");
  if (source.launches().empty())
    return Choices::none("there is no launch whose shape could be swapped");
  if (!swapped_members(source))
    return Choices::none("a built-in index comes from a macro");
  return {{Parameters{}}, {}};
}

Result<Edits> apply_remap_threads(const KernelSource &source, const Parameters &) {
  auto edits = swapped_members(source);
  if (!edits)
    return fail("a built-in index comes from a macro");
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    for (const LaunchShape *shape : {&site.grid(), &site.block()})
      if (shape->text(0) != shape->text(1))
        add_edits(*edits, shape->replace({exchanged(shape->text(1)), exchanged(shape->text(0)),
                                          shape->text(2)}));
  }
  return *edits;
}

} // namespace warpwright::generator
