// internal_linkage(): makes the kernel static, so that the compiler may drop it where nothing launches it.
//
// Illegal where the kernel is static already, or declared elsewhere.
#include "generator/text/moves/move_kind.h"

namespace warpwright::generator {

Choices check_internal_linkage(const KernelSource &source) {
  const clang::FunctionDecl *kernel = source.kernel();
  if (kernel->getStorageClass() == clang::SC_Static)
    return Choices::none("the kernel is static already");
  if (kernel->getPreviousDecl() || kernel->getMostRecentDecl() != kernel)
    return Choices::none("the kernel is also declared elsewhere");
  if (!source.unit().range_of(clang::SourceRange(kernel->getLocation())))
    return Choices::none("the kernel's name comes from a macro");
  return {{Parameters{}}, {}};
}

Result<Edits> apply_internal_linkage(const KernelSource &source, const Parameters &) {
  const auto name = source.unit().range_of(clang::SourceRange(source.kernel()->getLocation()));
  return Edits{{{name->begin, name->begin}, "static "}};
}

} // namespace warpwright::generator
