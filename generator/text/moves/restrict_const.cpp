// Move restrict_const(): `const` on pointers that are only read and `__restrict__` on all, so that
// the compiler may reorder loads and use the read-only cache.
//
// Illegal when a launch passes one pointer twice, or when a pointer is used other than by its
// elements.
#include "generator/text/moves/move_kind.h"

namespace warpwright::moves {
namespace {

/// True if only elements of the parameter are used and none is written. Assignments to elements of
/// class types are calls of operators, which this function does not see.
bool is_only_read(const source::KernelSource &source, const clang::ParmVarDecl *parameter) {
  std::size_t elements = 0;
  bool is_written = false;
  const auto is_element = [&](const clang::Expr *expression) {
    const auto *subscript = source::as<clang::ArraySubscriptExpr>(expression);
    return subscript && source::variable_of(subscript->getBase()) == parameter;
  };
  source::for_each_node(source.body(), [&](const clang::Stmt *node) {
    if (const auto *subscript = clang::dyn_cast<clang::ArraySubscriptExpr>(node))
      elements += is_element(subscript);
    if (const auto *binary = clang::dyn_cast<clang::BinaryOperator>(node))
      is_written |= binary->isAssignmentOp() && is_element(binary->getLHS());
    if (const auto *unary = clang::dyn_cast<clang::UnaryOperator>(node))
      is_written |= source::writes_operand(unary) && is_element(unary->getSubExpr());
  });
  return elements > 0 && source::uses_of(source.body(), parameter).size() == elements &&
         !is_written;
}

source::Edits qualifiers(const source::KernelSource &source) {
  source::Edits edits;
  for (const clang::ParmVarDecl *parameter : source.kernel()->parameters()) {
    const clang::QualType type = parameter->getType();
    if (!type->isPointerType() || type.isRestrictQualified())
      continue;
    const auto whole = source.unit().range_of(parameter->getSourceRange());
    const auto name = source.unit().range_of(clang::SourceRange(parameter->getLocation()));
    if (!whole || !name)
      continue;
    const clang::QualType element = type->getPointeeType();
    if ((element->isArithmeticType() || element->isDependentType()) &&
        !element.isConstQualified() && is_only_read(source, parameter))
      edits.push_back({{whole->begin, whole->begin}, "const "});
    if (!parameter->getOriginalType()->isArrayType()) {
      edits.push_back({{name->begin, name->begin}, "__restrict__ "});
    } else if (const std::size_t end = source.text_of({name->end, whole->end}).find(']');
               end != std::string::npos) { // x[][8] is (*x)[8]
      edits.push_back({{name->begin, name->end + end + 1}, "(*__restrict__ " + source.text_of(*name) + ")"});
    }
  }
  return edits;
}

} // namespace

Result<Offer> offer_restrict_const(const source::KernelSource &source) {
  for (const clang::CUDAKernelCallExpr *launch : source.all_launches()) {
    std::set<std::string_view> pointers;
    for (const clang::Expr *argument : launch->arguments())
      if (argument->getType()->isPointerType() && !pointers.insert(source.unit().text_anywhere(argument->getSourceRange())).second)
        return fail("a launch passes the same pointer twice");
  }
  const clang::FunctionDecl *kernel = source.kernel();
  if (kernel->getPreviousDecl() || kernel->getMostRecentDecl() != kernel)
    return fail("the kernel is also declared elsewhere");
  const source::Edits edits = qualifiers(source);
  if (edits.empty())
    return fail("every pointer already is __restrict__");
  return Offer{{Parameters{}}, [edits](const Parameters &) { return edits; }};
}

} // namespace warpwright::moves
