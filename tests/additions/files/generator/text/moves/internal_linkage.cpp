// internal_linkage(): makes the kernel static, so that the compiler may drop it where nothing launches it.
//
// Illegal where the kernel is static already, or declared elsewhere.
#include "generator/text/moves/move_kind.h"

namespace warpwright::moves {

Result<Offer> offer_internal_linkage(const source::KernelSource &source) {
  const clang::FunctionDecl *kernel = source.kernel();
  if (kernel->getStorageClass() == clang::SC_Static)
    return fail("the kernel is static already");
  if (kernel->getPreviousDecl() || kernel->getMostRecentDecl() != kernel)
    return fail("the kernel is also declared elsewhere");
  const auto name = source.unit().range_of(clang::SourceRange(kernel->getLocation()));
  if (!name)
    return fail("the kernel's name comes from a macro");
  const source::Edits edits{{{name->begin, name->begin}, "static "}};
  return Offer{{Parameters{}}, [edits](const Parameters &) { return edits; }};
}

} // namespace warpwright::moves
