// Parameters of a kernel, and whether the kernel and its callees read or write through each
// pointer.
//
// A quick fix adds const to pointers that are not written, so this result must be certain. A
// pointer with a use that is not followed here (stored, returned, merged with another, passed to
// unknown code) counts as both read and written. Thread: the unit's thread.
#include "analysis/facts/kernel_context.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

struct Usage {
  bool is_read = false, is_written = false;
  void add(const Usage &other) {
    is_read |= other.is_read;
    is_written |= other.is_written;
  }
};
constexpr Usage kUnknown{true, true};
constexpr int kMaxCallDepth = 4;

/// Follows every use of pointer variables of one function up to the enclosing expressions.
class PointerUses {
public:
  PointerUses(const ASTContext &context, const FunctionDecl &function, int depth)
      : context_(context), function_(function), flow_(function.getBody()), depth_(depth) {}

  Usage of(const VarDecl *pointer) {
    if (!seen_.insert(pointer).second)
      return {};
    Usage usage;
    std::vector<const Stmt *> ancestors;
    visit(function_.getBody(), ancestors, pointer, usage);
    return usage;
  }

private:
  void visit(const Stmt *statement, std::vector<const Stmt *> &ancestors, const VarDecl *pointer,
             Usage &usage) {
    if (!statement || ancestors.size() > 400 || (usage.is_read && usage.is_written))
      return;
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
        reference && reference->getDecl() == pointer) {
      usage.add(climb(reference, ancestors));
      return;
    }
    ancestors.push_back(statement);
    for (const Stmt *child : statement->children())
      visit(child, ancestors, pointer, usage);
    ancestors.pop_back();
  }

  /// The usage of the pointer value `start`, whose enclosing statements are `ancestors`.
  Usage climb(const Expr *start, const std::vector<const Stmt *> &ancestors) {
    const Stmt *child = start;
    bool is_element = false; ///< `child` is an lvalue reached through the pointer
    for (std::size_t i = ancestors.size(); i-- > 0; child = ancestors[i]) {
      const Stmt *parent = ancestors[i];
      if (isa<ParenExpr>(parent) || isa<CastExpr>(parent) || isa<FullExpr>(parent)) {
        if (is_element && isa<ImplicitCastExpr>(parent) &&
            cast<CastExpr>(parent)->getCastKind() == CK_LValueToRValue)
          return {.is_read = true};
        if (isa<CastExpr>(parent) &&
            cast<CastExpr>(parent)->getCastKind() == CK_ArrayToPointerDecay)
          is_element = false;
        continue;
      }
      if (is_element) {
        if (const auto usage = element_under(parent, child, is_element))
          return *usage;
        continue;
      }
      if (const auto usage = pointer_under(parent, child, is_element))
        return *usage;
    }
    return {};
  }

  /// Usage of an element under `parent`; nullopt: continue with the next ancestor.
  std::optional<Usage> element_under(const Stmt *parent, const Stmt *child, bool &is_element) {
    if (const auto *binary = dyn_cast<BinaryOperator>(parent)) {
      if (!binary->isAssignmentOp() || binary->getLHS() != child)
        return Usage{.is_read = true};
      return Usage{.is_read = binary->isCompoundAssignmentOp(), .is_written = true};
    }
    if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp())
        return kUnknown;
      if (unary->getOpcode() == UO_AddrOf) {
        is_element = false;
        return std::nullopt;
      }
      return Usage{.is_read = true};
    }
    if (const auto *member = dyn_cast<MemberExpr>(parent))
      return isa<FieldDecl>(member->getMemberDecl()) ? std::nullopt : std::optional(kUnknown);
    if (isa<ArraySubscriptExpr>(parent))
      return Usage{.is_read = true};
    if (const auto *operation = dyn_cast<CXXOperatorCallExpr>(parent)) {
      const bool is_target = operation->getNumArgs() > 0 && operation->getArg(0) == child;
      if (is_target && operation->isAssignmentOp())
        return Usage{.is_read = operation->getOperator() != OO_Equal, .is_written = true};
      return Usage{.is_read = true};
    }
    if (const auto *call = dyn_cast<CallExpr>(parent))
      return reference_argument(call, child);
    if (const auto *declarations = dyn_cast<DeclStmt>(parent))
      return reference_binding(declarations, child);
    if (const auto *construct = dyn_cast<CXXConstructExpr>(parent))
      return construct->getConstructor()->isCopyOrMoveConstructor() ? Usage{.is_read = true}
                                                                    : kUnknown;
    if (isa<CXXMemberCallExpr>(parent) || isa<LambdaExpr>(parent) || isa<InitListExpr>(parent))
      return kUnknown;
    if (isa<Expr>(parent) && !isa<ConditionalOperator>(parent) &&
        !isa<CXXUnresolvedConstructExpr>(parent))
      return kUnknown;
    return Usage{.is_read = true};
  }

  std::optional<Usage> reference_argument(const CallExpr *call, const Stmt *child) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (!callee)
      return Usage{.is_read = true,
                   .is_written = isa<OverloadExpr>(call->getCallee()->IgnoreParenImpCasts())};
    for (unsigned i = 0; i < std::min(call->getNumArgs(), callee->getNumParams()); ++i) {
      const QualType type = callee->getParamDecl(i)->getType();
      if (call->getArg(i) == child && type->isLValueReferenceType() &&
          !type.getNonReferenceType().isConstQualified())
        return kUnknown;
    }
    return Usage{.is_read = true};
  }

  std::optional<Usage> reference_binding(const DeclStmt *declarations, const Stmt *child) {
    for (const Decl *declaration : declarations->decls()) {
      const auto *variable = dyn_cast_or_null<VarDecl>(declaration);
      if (variable && variable->getInit() == child && variable->getType()->isReferenceType() &&
          !variable->getType().getNonReferenceType().isConstQualified())
        return kUnknown;
    }
    return Usage{.is_read = true};
  }

  /// Usage of the pointer under `parent`; nullopt: continue with the next ancestor.
  std::optional<Usage> pointer_under(const Stmt *parent, const Stmt *child, bool &is_element) {
    if (isa<ArraySubscriptExpr>(parent)) {
      is_element = true;
      return std::nullopt;
    }
    if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      is_element = unary->getOpcode() == UO_Deref;
      if (unary->getOpcode() == UO_LNot)
        return Usage{};
      return is_element || unary->isIncrementDecrementOp() ? std::nullopt : std::optional(kUnknown);
    }
    if (const auto *member = dyn_cast<MemberExpr>(parent)) {
      is_element = member->isArrow() && isa<FieldDecl>(member->getMemberDecl());
      return is_element ? std::nullopt : std::optional(kUnknown);
    }
    if (const auto *binary = dyn_cast<BinaryOperator>(parent)) {
      if (binary->isComparisonOp() || binary->isLogicalOp())
        return Usage{};
      if (binary->isAdditiveOp())
        return std::nullopt;
      const VarDecl *target = named_variable(binary->getLHS());
      if (binary->getOpcode() == BO_Assign && binary->getRHS() == child && target)
        return followed(target);
      return binary->isAssignmentOp() && binary->getLHS() == child ? std::optional(Usage{})
                                                                   : std::optional(kUnknown);
    }
    if (const auto *declarations = dyn_cast<DeclStmt>(parent)) {
      for (const Decl *declaration : declarations->decls())
        if (const auto *variable = dyn_cast_or_null<VarDecl>(declaration);
            variable && variable->getInit() == child)
          return followed(variable);
      return kUnknown;
    }
    if (const auto *call = dyn_cast<CallExpr>(parent))
      return passed(call, child);
    if (isa<IfStmt>(parent) || isa<CompoundStmt>(parent))
      return Usage{};
    return kUnknown;
  }

  /// Usage of a local pointer that holds only this pointer plus steps.
  Usage followed(const VarDecl *local) {
    if (!local->hasLocalStorage() ||
        !(local->getType()->isAnyPointerType() || local->getType()->isUndeducedType()))
      return kUnknown;
    for (const Definition &definition : flow_.definitions_of(local))
      if (definition.update == Update::Unknown || definition.update == Update::Other)
        return kUnknown;
    return of(local);
  }

  Usage passed(const CallExpr *call, const Stmt *child) {
    const std::string name = callee_name(call);
    const auto argument = std::find(call->arg_begin(), call->arg_end(), child);
    if (argument == call->arg_end())
      return kUnknown;
    const unsigned index = static_cast<unsigned>(argument - call->arg_begin());
    if (name.starts_with("__ld"))
      return {.is_read = true};
    if (name.starts_with("__st") && index == 0)
      return {.is_written = true};
    if (name == "__pipeline_memcpy_async")
      return {.is_read = index == 1, .is_written = index == 0};
    const FunctionDecl *callee = resolved(call);
    const FunctionDecl *definition = nullptr;
    if (!callee || index >= callee->getNumParams())
      return kUnknown;
    const ParmVarDecl *parameter = callee->getParamDecl(index);
    const QualType pointee = parameter->getType()->getPointeeType();
    if (!pointee.isNull() && pointee.isConstQualified() && !parameter->getType()->isReferenceType())
      return {.is_read = true};
    if (!callee->hasBody(definition) || !definition || depth_ >= kMaxCallDepth ||
        !parameter->getType()->isAnyPointerType())
      return kUnknown;
    return PointerUses(context_, *definition, depth_ + 1).of(definition->getParamDecl(index));
  }

  /// The callee, or the only candidate of a call that depends on template parameters.
  static const FunctionDecl *resolved(const CallExpr *call) {
    if (const FunctionDecl *callee = call->getDirectCallee()) {
      const FunctionDecl *pattern = callee->getTemplateInstantiationPattern();
      return pattern ? pattern : callee;
    }
    const auto *overloads = dyn_cast<OverloadExpr>(call->getCallee()->IgnoreParenImpCasts());
    if (!overloads || overloads->getNumDecls() != 1)
      return nullptr;
    const NamedDecl *candidate = (*overloads->decls_begin())->getUnderlyingDecl();
    if (const auto *templated = dyn_cast<FunctionTemplateDecl>(candidate))
      return templated->getTemplatedDecl();
    return dyn_cast<FunctionDecl>(candidate);
  }

  const ASTContext &context_;
  const FunctionDecl &function_;
  Flow flow_;
  int depth_;
  std::set<const VarDecl *> seen_;
};

} // namespace

std::vector<Parameter> collect_parameters(KernelContext &context) {
  std::vector<Parameter> parameters;
  const ASTContext &ast = context.values.context();
  const PrintingPolicy policy(ast.getLangOpts());
  for (const ParmVarDecl *declaration : context.kernel.parameters()) {
    Parameter parameter;
    const QualType type = declaration->getType();
    parameter.name = declaration->getNameAsString();
    parameter.range = shown_range(context.unit, declaration->getSourceRange());
    parameter.is_pointer = type->isAnyPointerType();
    const QualType element =
        parameter.is_pointer ? type->getPointeeType() : type.getNonReferenceType();
    parameter.element_type = type_name(ast, element);
    parameter.is_const = element.isConstQualified();
    parameter.is_restrict = type.isRestrictQualified();
    parameter.type = type.getAsString(policy);
    if (const auto *info = declaration->getTypeSourceInfo(); info && !parameter.name.empty()) {
      const std::string_view written =
          context.unit.text_of(SourceRange(declaration->getBeginLoc(), declaration->getLocation()));
      if (written.size() > parameter.name.size() && written.ends_with(parameter.name)) {
        parameter.type = written.substr(0, written.size() - parameter.name.size());
        parameter.type.erase(parameter.type.find_last_not_of(" \t\n") + 1);
      }
    }
    if (parameter.is_pointer) {
      const Usage usage = PointerUses(ast, context.kernel, 0).of(declaration);
      parameter.is_read = usage.is_read;
      parameter.is_written = usage.is_written;
    } else {
      for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
        const auto *reference = dyn_cast<DeclRefExpr>(statement);
        parameter.is_read |= reference && reference->getDecl() == declaration;
      });
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

} // namespace warpwright::analysis
