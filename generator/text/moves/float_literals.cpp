// Move float_literals(): `0.5` becomes `0.5f` in kernels that otherwise compute in float.
//
// One double literal turns a whole expression into double precision, at 1/2 to 1/64 of the speed.
// Also in device functions that only this kernel runs. Illegal where the kernel mentions double,
// because double precision is then intended; a function that mentions double stays as it is.
#include "generator/text/moves/move_kind.h"

#include <algorithm>

namespace warpwright::moves {

Result<Offer> offer_float_literals(const source::KernelSource &source) {
  const auto kernel = source.unit().range_of(source.kernel()->getSourceRange());
  if (!kernel || mentions(source.text_of(*kernel), "double"))
    return fail("the kernel uses double on purpose");
  source::Edits edits;
  auto bodies = source.own_bodies();
  std::erase_if(bodies, [&](const clang::Stmt *body) { return mentions(source.text_of(body), "double"); });
  for (const auto *literal : source::find_all<clang::FloatingLiteral>(bodies))
    if (const auto range = source.range_of(literal);
        range && literal->getType().getAsString() == "double")
      if (const std::string text = source.text_of(*range);
          text.find_first_not_of("0123456789.eE+-") == std::string::npos)
        source::add_edits(edits, {{*range, text + "f"}});
  if (edits.empty())
    return fail("the kernel has no double literal");
  return Offer{{Parameters{}}, [edits](const Parameters &) { return edits; }};
}

} // namespace warpwright::moves
