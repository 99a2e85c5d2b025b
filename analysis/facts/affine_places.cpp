// Places of pointers and lvalues: a base variable and an offset in bytes; see affine.h.
//
// Offsets are in bytes, so that reinterpret_cast<float4 *>(x)[i], struct members and
// multi-dimensional arrays have one form. Sizes that depend on template parameters stay symbolic. A
// pointer that was loaded from memory is a separate base. Thread: the unit's thread.
#include "analysis/facts/affine.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecordLayout.h>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr int kDependentBytes = 4; ///< assumed size of a type that depends on a template parameter

bool is_pointer_like(QualType type) {
  return !type.isNull() && (type->isAnyPointerType() || type->isArrayType());
}

/// The type that a pointer or array leads to; null for other types.
QualType pointee(const ASTContext &context, QualType type) {
  if (type.isNull())
    return {};
  if (const ArrayType *array = context.getAsArrayType(type))
    return array->getElementType();
  return type->isAnyPointerType() ? type->getPointeeType() : QualType();
}

MemorySpace space_of(const VarDecl *variable) {
  if (variable->hasAttr<CUDASharedAttr>())
    return MemorySpace::Shared;
  if (variable->hasAttr<CUDAConstantAttr>())
    return MemorySpace::Constant;
  return variable->hasLocalStorage() ? MemorySpace::Local : MemorySpace::Global;
}

bool is_complete_record(QualType type) {
  const auto *record = type->getAsCXXRecordDecl();
  return !record ||
         (record->isCompleteDefinition() && !record->isInvalidDecl() && !record->isDependentType());
}

} // namespace

symbolic::Polynomial AffineAnalysis::size_of(QualType type) {
  if (type.isNull())
    return kDependentBytes;
  type = type.getNonReferenceType();
  if (const ArrayType *array = context_.getAsArrayType(type)) {
    const symbolic::Polynomial element = size_of(array->getElementType());
    if (const auto *constant = dyn_cast<ConstantArrayType>(array))
      return element * symbolic::Polynomial(constant->getSize().getSExtValue());
    if (const auto *dependent = dyn_cast<DependentSizedArrayType>(array);
        dependent && dependent->getSizeExpr())
      return element * value(dependent->getSizeExpr());
    if (const auto *variable = dyn_cast<VariableArrayType>(array);
        variable && variable->getSizeExpr())
      return element * value(variable->getSizeExpr());
    return element;
  }
  if (type->isDependentType() || type->isUndeducedType())
    return kDependentBytes;
  if (type->isVoidType() || type->isFunctionType() || type->isIncompleteType() ||
      type->isPlaceholderType())
    return 1;
  if (!is_complete_record(type))
    return kDependentBytes;
  return context_.getTypeSizeInChars(type).getQuantity();
}

std::optional<Place> AffineAnalysis::base_place(const VarDecl *variable) {
  return Place{variable, variable->getNameAsString(), space_of(variable), symbolic::Polynomial(0)};
}

std::optional<Place> AffineAnalysis::pointer_variable(const VarDecl *variable,
                                                      const DeclRefExpr *use) {
  if (variable->getType()->isArrayType() || variable->hasGlobalStorage())
    return base_place(variable);
  const bool is_parameter = isa<ParmVarDecl>(variable);
  const auto position = flow_.position_of(use);
  if (is_parameter && (!position || flow_.definitions_of(variable).empty())) {
    auto place = base_place(variable);
    place->space = MemorySpace::Global;
    return place;
  }
  const auto key = std::pair(variable, position ? position->order : 0);
  if (!position || depth_ > 200 || ++steps_ > 100'000 || !in_progress_.insert(key).second)
    return std::nullopt;
  const Reaching found = reaching(variable, *position);
  std::optional<Place> place;
  if (!found.base && is_parameter)
    place =
        Place{variable, variable->getNameAsString(), MemorySpace::Global, symbolic::Polynomial(0)};
  else if (found.base && found.base->update == Update::Assign && found.base->value)
    place = pointer(found.base->value);
  if (place && (!found.updates.empty() || (found.base && found.base->update != Update::Assign))) {
    const std::string name = variable->getNameAsString();
    const bool steps =
        advances_uniformly(found) && (!found.base || found.base->update == Update::Assign);
    place->bytes = place->bytes + (steps ? opaque("trip(" + name + ")", SymbolKind::Loop) *
                                               size_of(pointee(context_, variable->getType()))
                                         : opaque(name, SymbolKind::Varying));
  }
  in_progress_.erase(key);
  return place;
}

std::optional<Place> AffineAnalysis::pointer_sum(const BinaryOperator *expression) {
  if (!expression->isAdditiveOp())
    return std::nullopt;
  const Expr *base = expression->getLHS(), *offset = expression->getRHS();
  if (!is_pointer_like(base->getType()) && expression->getOpcode() == BO_Add &&
      is_pointer_like(offset->getType()))
    std::swap(base, offset);
  auto place = pointer(base);
  if (!place)
    return std::nullopt;
  const QualType type = pointee(context_, base->getType());
  const symbolic::Polynomial elements = value(offset);
  place->bytes = place->bytes + size_of(type) * (expression->getOpcode() == BO_Sub
                                                     ? symbolic::Polynomial(0) - elements
                                                     : elements);
  return place;
}

std::optional<Place> AffineAnalysis::pointer(const Expr *e) {
  if (!e || depth_ > 200 || ++steps_ > 100'000)
    return std::nullopt;
  ++depth_;
  const auto found = [&]() -> std::optional<Place> {
    e = e->IgnoreParenImpCasts();
    if (const auto *use = dyn_cast<DeclRefExpr>(e)) {
      const auto *variable = dyn_cast<VarDecl>(use->getDecl());
      const bool is_plain = variable && (is_pointer_like(variable->getType()) ||
                                         variable->getType()->isReferenceType());
      return variable && (is_plain || variable->getType()->isDependentType() ||
                          variable->getType()->isUndeducedType())
                 ? pointer_variable(variable, use)
                 : std::nullopt;
    }
    if (const auto *binary = dyn_cast<BinaryOperator>(e))
      return binary->getOpcode() == BO_Assign ? pointer(binary->getRHS()) : pointer_sum(binary);
    if (const auto *unary = dyn_cast<UnaryOperator>(e)) {
      if (unary->getOpcode() == UO_AddrOf)
        return place(unary->getSubExpr());
      if (unary->isIncrementDecrementOp())
        return pointer(unary->getSubExpr());
    }
    if (const auto *cast = dyn_cast<ExplicitCastExpr>(e))
      return pointer(cast->getSubExpr());
    if (const auto *choice = dyn_cast<ConditionalOperator>(e)) {
      auto yes = pointer(choice->getTrueExpr()), no = pointer(choice->getFalseExpr());
      return yes && no && yes->base == no->base ? yes : std::nullopt;
    }
    if (e->getType()->isArrayType())
      return place(e);
    // A pointer read from memory is a separate base, identified by its spelling.
    if (isa<MemberExpr>(e) || isa<ArraySubscriptExpr>(e)) {
      const Expr *root = e;
      while (const auto *inner = dyn_cast<MemberExpr>(root))
        root = inner->getBase()->IgnoreParenImpCasts();
      if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(root))
        root = subscript->getLHS()->IgnoreParenImpCasts();
      const VarDecl *variable = named_variable(root);
      if (variable && e->getType()->isAnyPointerType())
        return Place{variable, expression_text(context_, e), MemorySpace::Global,
                     varies(e) ? opaque(e, SymbolKind::Varying) : symbolic::Polynomial(0)};
    }
    return std::nullopt;
  }();
  --depth_;
  return found;
}

std::optional<Place> AffineAnalysis::element(const Expr *base, const Expr *index, QualType type) {
  if (!is_pointer_like(base->getType()) && is_pointer_like(index->getType()))
    std::swap(base, index);
  auto place = pointer(base);
  if (!place)
    return std::nullopt;
  if (const QualType pointed = pointee(context_, base->IgnoreParenImpCasts()->getType());
      !pointed.isNull())
    type = pointed;
  place->bytes = place->bytes + size_of(type) * value(index);
  return place;
}

std::optional<Place> AffineAnalysis::member(const MemberExpr *expression) {
  auto base = expression->isArrow() ? pointer(expression->getBase()) : place(expression->getBase());
  const auto *field = dyn_cast<FieldDecl>(expression->getMemberDecl());
  if (!base || !field)
    return base;
  const RecordDecl *record = field->getParent();
  if (record->isCompleteDefinition() && !record->isInvalidDecl() && !record->isDependentType() &&
      !field->isBitField())
    base->bytes = base->bytes + symbolic::Polynomial(static_cast<std::int64_t>(
                                    context_.getFieldOffset(field) / context_.getCharWidth()));
  base->name += "." + field->getNameAsString();
  return base;
}

std::optional<Place> AffineAnalysis::place(const Expr *lvalue) {
  if (!lvalue || depth_ > 200 || ++steps_ > 100'000)
    return std::nullopt;
  ++depth_;
  const auto found = [&]() -> std::optional<Place> {
    lvalue = lvalue->IgnoreParenImpCasts();
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue))
      return element(subscript->getLHS(), subscript->getRHS(), lvalue->getType());
    if (const auto *unary = dyn_cast<UnaryOperator>(lvalue);
        unary && unary->getOpcode() == UO_Deref)
      return pointer(unary->getSubExpr());
    if (const auto *access = dyn_cast<MemberExpr>(lvalue))
      return member(access);
    if (const auto *call = dyn_cast<CXXOperatorCallExpr>(lvalue);
        call && call->getOperator() == OO_Subscript && call->getNumArgs() == 2)
      return element(call->getArg(0), call->getArg(1), lvalue->getType());
    const VarDecl *variable = named_variable(lvalue);
    if (!variable)
      return std::nullopt;
    const QualType type = variable->getType();
    const bool in_memory = variable->hasGlobalStorage() || type->isArrayType();
    if (in_memory && !variable->getNameAsString().empty() && builtin_index(lvalue).empty())
      return base_place(variable);
    // A reference has the place of its initializer.
    if (type->isReferenceType() && !isa<ParmVarDecl>(variable) && variable->getInit())
      return place(variable->getInit());
    return std::nullopt;
  }();
  --depth_;
  return found;
}

} // namespace warpwright::analysis
