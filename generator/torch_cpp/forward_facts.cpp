// Where a module's forward and constructor are written, and whether another body may stand for forward's.
//
// A plan gives what forward returns and the tensors that it changes. Whatever else forward changes, a member that it counts up or a list that
// it fills, would not happen, so such a forward stays as it is. An object that was made with other values than the task's may compute
// something else with tensors of the same shapes, so what it was made with must be comparable.
#include "generator/torch_cpp/module_classes.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <set>

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

/// Whether an expression is a member of the object that runs, or of one that it holds.
bool is_member(const clang::Expr *expression) {
  for (;;) {
    expression = expression->IgnoreParenImpCasts();
    if (const auto *member = dyn_cast<clang::MemberExpr>(expression)) {
      if (llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()))
        return true;
      expression = member->getBase();
    } else if (const auto *call = dyn_cast<clang::CXXOperatorCallExpr>(expression);
               call && call->getNumArgs() > 0) {
      expression = call->getArg(0);
    } else if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(expression)) {
      expression = subscript->getBase();
    } else {
      return false;
    }
  }
}

/// The first place where a method, or one of the file that it calls, changes what the object holds otherwise than in a tensor's memory.
class Writes : public clang::RecursiveASTVisitor<Writes> {
public:
  const clang::Expr *first = nullptr;

  void follow(const clang::FunctionDecl *function) {
    const clang::FunctionDecl *definition = nullptr;
    if (function && function->hasBody(definition) && seen_.insert(definition).second)
      TraverseStmt(definition->getBody());
  }
  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    return !operation->isAssignmentOp() || check(*operation, operation->getLHS());
  }
  bool VisitUnaryOperator(clang::UnaryOperator *operation) {
    return !operation->isIncrementDecrementOp() || check(*operation, operation->getSubExpr());
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr *call) {
    const bool is_view = is_tensor(call->getArg(0)->getType()) &&
                         !llvm::isa<clang::MemberExpr>(call->getArg(0)->IgnoreParenImpCasts());
    return call->getOperator() != clang::OO_Equal || is_view || check(*call, call->getArg(0));
  }
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr *call) {
    const clang::CXXMethodDecl *method = call->getMethodDecl();
    const clang::Expr *object = call->getImplicitObjectArgument();
    follow(method);
    const bool changes = method && !method->isConst() && !is_tensor(object->getType()) &&
                         !held_module(object->getType());
    return !changes || check(*call, object);
  }
  bool VisitCallExpr(clang::CallExpr *call) {
    if (held_module(call->getType()) == nullptr && call->getNumArgs() > 0 &&
        llvm::isa<clang::CXXOperatorCallExpr>(call))
      if (const clang::CXXRecordDecl *held = held_module(call->getArg(0)->getType()))
        follow(forward_of(*held, call->getNumArgs() - 1));
    return true;
  }

private:
  bool check(const clang::Expr &write, const clang::Expr *target) {
    if (!first && is_member(target))
      first = &write;
    return !first;
  }

  std::set<const clang::FunctionDecl *> seen_;
};

/// Whether `==` tells two values of a type apart.
bool is_comparable(clang::QualType type) {
  type = type.getNonReferenceType().getUnqualifiedType();
  if (type->isArithmeticType())
    return true;
  const auto *record = type->getAsCXXRecordDecl();
  if (record && record->getName() == "string")
    return true;
  const auto *list = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  return list && list->getName() == "vector" && list->getTemplateArgs().size() > 0 &&
         list->getTemplateArgs().get(0).getKind() == clang::TemplateArgument::Type &&
         list->getTemplateArgs().get(0).getAsType()->isArithmeticType();
}

void add_constructor(const analysis::ParsedUnit &unit, const ModuleClass &module,
                     const ModuleInputs &inputs, analysis::CppForward &facts) {
  const clang::CXXConstructorDecl *constructor = constructor_of(*module.type);
  if (!constructor || constructor->getNumParams() == 0)
    return;
  const clang::FunctionDecl *definition = nullptr;
  const auto body = constructor->hasBody(definition)
                        ? unit.range_of(definition->getBody()->getSourceRange())
                        : std::nullopt;
  if (!body) {
    facts.obstacle = "the body of its constructor is not in this file";
    return;
  }
  facts.constructor_body = body->begin + 1;
  for (unsigned i = 0; i < constructor->getNumParams() && i < inputs.init.size(); ++i) {
    const clang::ParmVarDecl &parameter = *constructor->getParamDecl(i);
    const Value &value = inputs.init[i].value;
    const std::string name = definition->getParamDecl(i)->getNameAsString();
    if (!is_comparable(parameter.getType()) || name.empty())
      facts.obstacle = "what its constructor is given for '" + parameter.getNameAsString() +
                       "' cannot be compared";
    facts.made_with.emplace_back(
        name, value.as<Absent>() ? std::string(unit.text_of(parameter.getDefaultArgRange()))
                                 : cpp_literal(value));
  }
}

} // namespace

std::string cpp_literal(const Value &value) {
  if (const auto *flag = value.as<bool>())
    return *flag ? "true" : "false";
  if (const auto *integer = value.as<std::int64_t>())
    return std::to_string(*integer);
  if (const auto *text = value.as<std::string>())
    return '"' + *text + '"';
  if (const auto number = value.number()) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", *number);
    return digits;
  }
  std::string list = "{";
  for (const std::int64_t one : value.integers().value_or(model::Shape{}))
    list += (list.size() > 1 ? ", " : "") + std::to_string(one);
  return list + "}";
}

std::optional<analysis::CppForward> forward_facts(const analysis::ParsedUnit &unit,
                                                  const ModuleClass &module,
                                                  const ModuleInputs &inputs) {
  const auto range = unit.range_of(module.forward->getSourceRange());
  const auto name = unit.range_of(module.forward->getNameInfo().getSourceRange());
  const auto whole = unit.range_of(module.type->getBraceRange());
  if (!range || !name || !whole)
    return std::nullopt; // made by a macro
  analysis::CppForward facts{.range = *range, .name_range = *name};
  facts.class_end = whole->end - 1;
  if (const clang::FunctionDecl *declaration = module.forward->getCanonicalDecl();
      declaration != module.forward)
    facts.declaration = unit.range_of(declaration->getSourceRange()).value_or(Range{});
  add_constructor(unit, module, inputs, facts);
  Writes writes;
  writes.follow(module.forward);
  if (writes.first)
    facts.obstacle =
        "line " +
        std::to_string(unit.sources().getExpansionLineNumber(writes.first->getBeginLoc())) +
        " changes a member of the object, which a plan does not do";
  return facts;
}

} // namespace warpwright::generator::torch_cpp
