// restrict_const(): `const` on pointers that are only read and `__restrict__` on all, so that loads may move and
// take the read-only path.
//
// Illegal when a launch passes one pointer twice, or when a pointer is used other than by its elements.
#include "generator/text/moves/move_kind.h"

namespace warpwright::generator {

using clang::dyn_cast;

namespace {

struct PointerUse {
  bool only_elements = false, is_written = false;
};

PointerUse use_of(const KernelSource &source, const clang::ParmVarDecl *parameter) {
  std::size_t uses = 0, elements = 0;
  PointerUse use;
  auto is_element = [&](const clang::Expr *expression) {
    const auto *subscript = clang::dyn_cast_or_null<clang::ArraySubscriptExpr>(strip(expression));
    return subscript && variable_of(subscript->getBase()) == parameter;
  };
  for_each_node(source.body(), [&](const clang::Stmt *node) {
    const auto *reference = dyn_cast<clang::DeclRefExpr>(node);
    uses += reference && reference->getDecl() == parameter;
    const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(node);
    elements += subscript && variable_of(subscript->getBase()) == parameter;
    if (const auto *binary = dyn_cast<clang::BinaryOperator>(node);
        binary && binary->isAssignmentOp())
      use.is_written |= is_element(binary->getLHS());
    if (const auto *unary = dyn_cast<clang::UnaryOperator>(node))
      use.is_written |=
          (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf) &&
          is_element(unary->getSubExpr());
  });
  use.only_elements = uses == elements && uses > 0;
  return use;
}

/// Element assignments to class types go through operators, which the walk above does not see.
bool is_plain(clang::QualType pointee) {
  return pointee->isArithmeticType() || pointee->isDependentType();
}

Edits qualifiers(const KernelSource &source) {
  Edits edits;
  for (const clang::ParmVarDecl *parameter : source.kernel()->parameters()) {
    const clang::QualType type = parameter->getType();
    if (!type->isPointerType() || type.isRestrictQualified())
      continue;
    auto whole = source.unit().range_of(parameter->getSourceRange());
    auto name = source.unit().range_of(clang::SourceRange(parameter->getLocation()));
    if (!whole || !name)
      continue;
    const PointerUse use = use_of(source, parameter);
    if (use.only_elements && !use.is_written && is_plain(type->getPointeeType()) &&
        !type->getPointeeType().isConstQualified())
      edits.push_back({{whole->begin, whole->begin}, "const "});
    edits.push_back({{name->begin, name->begin}, "__restrict__ "});
  }
  return edits;
}

} // namespace

Choices check_restrict_const(const KernelSource &source) {
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    std::set<std::string> pointers;
    for (const clang::Expr *argument : launch->arguments())
      if (argument->getType()->isPointerType() && !pointers.insert(source.text_of(argument)).second)
        return Choices::none("a launch passes the same pointer twice");
  }
  const clang::FunctionDecl *kernel = source.kernel();
  if (kernel->getPreviousDecl() || kernel->getMostRecentDecl() != kernel)
    return Choices::none("the kernel is also declared elsewhere");
  if (qualifiers(source).empty())
    return Choices::none("every pointer already is __restrict__");
  return {{Parameters{}}, {}};
}

Result<Edits> apply_restrict_const(const KernelSource &source, const Parameters &) {
  return qualifiers(source);
}

} // namespace warpwright::generator
