#include "analysis/task/kernel_symbols.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/GlobalDecl.h>
#include <clang/AST/Mangle.h>

#include <llvm/Support/raw_ostream.h>

#include <memory>

namespace warpwright::analysis {

std::string symbol_of(const clang::FunctionDecl &kernel) {
  if (kernel.isDependentContext() || kernel.isInvalidDecl() || !kernel.hasAttr<clang::CUDAGlobalAttr>())
    return {};
  const std::unique_ptr<clang::MangleContext> names(kernel.getASTContext().createMangleContext());
  if (!names->shouldMangleDeclName(&kernel))
    return kernel.getNameAsString();
  std::string symbol;
  llvm::raw_string_ostream stream(symbol);
  names->mangleName(clang::GlobalDecl(&kernel, clang::KernelReferenceKind::Kernel), stream);
  return symbol;
}

const clang::FunctionDecl *with_symbol(const clang::FunctionDecl &kernel, const std::string &symbol) {
  const clang::FunctionTemplateDecl *pattern = kernel.getDescribedFunctionTemplate();
  if (!pattern)
    return symbol_of(kernel) == symbol ? &kernel : nullptr;
  for (const clang::FunctionDecl *instance : pattern->specializations())
    if (instance->getTemplateSpecializationKind() != clang::TSK_ExplicitSpecialization && symbol_of(*instance) == symbol)
      return instance;
  return nullptr;
}

} // namespace warpwright::analysis
