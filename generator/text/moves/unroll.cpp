// unroll(factor): `#pragma unroll` before the innermost loops, so that more loads are in flight.
//
// Legal while the kernel has no such pragma and has a loop without a barrier in it.
#include "generator/text/moves/move_kind.h"

namespace warpwright::generator {

namespace {

std::vector<const clang::ForStmt *> innermost_loops(const KernelSource &source) {
  std::vector<const clang::ForStmt *> loops;
  for (const auto *loop : find_all<clang::ForStmt>(source.body())) {
    const bool nests = !find_all<clang::ForStmt>(loop->getBody()).empty() ||
                       !find_all<clang::WhileStmt>(loop->getBody()).empty();
    auto range = source.range_of(loop);
    const bool starts_line =
        range &&
        source.text().find_last_not_of(" \t", range->begin - 1) != std::string_view::npos &&
        source.text()[source.text().find_last_not_of(" \t", range->begin - 1)] == '\n';
    if (!nests && starts_line && !has_collective(loop->getBody()))
      loops.push_back(loop);
  }
  return loops;
}

} // namespace

Choices check_unroll(const KernelSource &source) {
  const std::string_view body =
      source.text().substr(source.body_inside().begin, source.body_inside().size());
  if (body.find("#pragma unroll") != std::string_view::npos)
    return Choices::none("the kernel already has an unrolled loop");
  if (innermost_loops(source).empty())
    return Choices::none("there is no loop without a barrier");
  return {choices_of("factor", {2, 4, 8}), {}};
}

Result<Edits> apply_unroll(const KernelSource &source, const Parameters &parameters) {
  Edits edits;
  for (const clang::ForStmt *loop : innermost_loops(source)) {
    const std::size_t begin = source.range_of(loop)->begin;
    edits.push_back({{begin, begin},
                     "#pragma unroll " + parameters.at("factor") + "\n" +
                         indentation_at(source.text(), begin)});
  }
  return edits;
}

} // namespace warpwright::generator
