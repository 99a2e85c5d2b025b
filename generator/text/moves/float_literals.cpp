// float_literals(): `0.5` becomes `0.5f` in kernels that otherwise compute in float.
//
// One double literal turns a whole expression into double precision, at 1/2 to 1/64 of the speed. Illegal where
// the kernel mentions double itself, because then it is meant.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/render.h"

namespace warpwright::generator {

namespace {

std::vector<std::pair<Range, std::string>> double_literals(const KernelSource &source) {
  std::vector<std::pair<Range, std::string>> found;
  for (const auto *literal : find_all<clang::FloatingLiteral>(source.body()))
    if (auto range = source.range_of(literal);
        range && literal->getType().getAsString() == "double")
      if (const std::string text = source.text_of(literal);
          text.find_first_not_of("0123456789.eE+-") == std::string::npos)
        found.push_back({*range, text});
  return found;
}

} // namespace

Choices check_float_literals(const KernelSource &source) {
  auto kernel = source.unit().range_of(source.kernel()->getSourceRange());
  if (!kernel || mentions(source.text().substr(kernel->begin, kernel->size()), "double"))
    return Choices::none("the kernel uses double on purpose");
  if (double_literals(source).empty())
    return Choices::none("the kernel has no double literal");
  return {{Parameters{}}, {}};
}

Result<Edits> apply_float_literals(const KernelSource &source, const Parameters &) {
  Edits edits;
  for (const auto &[range, text] : double_literals(source))
    edits.push_back({range, text + "f"});
  return edits;
}

} // namespace warpwright::generator
