// Facts about a module's forward and constructor, and whether another body can replace forward's.
//
// A plan computes the results of forward and the tensors that it changes. Other effects (a member
// that it counts up, a list that it fills) would be lost, so such a forward is not replaced. An
// object with other values than the task's may compute something else for tensors of the same
// shapes. Therefore its constructor arguments and the numbers among its members must be comparable.
// Numbers of held modules are not compared, because they follow from the constructor arguments.
// Thread: the unit's thread.
#include "analysis/torch_cpp/module_classes.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <set>

namespace warpwright::analysis::torch_cpp {
namespace {

using llvm::dyn_cast;

/// Whether an expression is a member of `this`, or part of such a member.
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

/// Finds the first place where a method, or a function of the file that it calls, changes the
/// object other than in a tensor's memory.
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

/// Whether `==` distinguishes two values of a type.
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

void add_constructor(const ParsedUnit &unit, const ModuleClass &module,
                     const ModuleInputs &inputs, CppForward &facts) {
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

/// Assignments to members in the body of a constructor.
class Assignments : public clang::RecursiveASTVisitor<Assignments> {
public:
  explicit Assignments(const clang::Stmt *body) {
    if (const auto *block = llvm::dyn_cast_or_null<clang::CompoundStmt>(body))
      for (const clang::Stmt *statement : block->body())
        if (const auto *expression = dyn_cast<clang::Expr>(statement))
          outer_.insert(expression->IgnoreImplicit());
    TraverseStmt(const_cast<clang::Stmt *>(body));
  }
  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    const auto *member = dyn_cast<clang::MemberExpr>(operation->getLHS()->IgnoreParenImpCasts());
    if (!operation->isAssignmentOp() || !member ||
        !llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()))
      return true;
    const bool is_plain = operation->getOpcode() == clang::BO_Assign && outer_.contains(operation);
    found[member->getMemberDecl()->getCanonicalDecl()] = is_plain ? operation->getRHS() : nullptr;
    return true;
  }

  std::map<const clang::Decl *, const clang::Expr *> found; ///< null: conditional or compound

private:
  std::set<const clang::Expr *> outer_;
};

/// The constructor's parameters with the task's values.
Bindings bindings_of(const ParsedUnit &unit, const clang::FunctionDecl &constructor,
                     const ModuleInputs &inputs) {
  Bindings known;
  for (unsigned i = 0; i < constructor.getNumParams() && i < inputs.init.size(); ++i) {
    const clang::ParmVarDecl *parameter = constructor.getParamDecl(i);
    const Value &given = inputs.init[i].value;
    if (!given.as<Absent>())
      known[parameter] = given;
    else if (parameter->hasDefaultArg() && !parameter->hasUninstantiatedDefaultArg())
      known[parameter] = constant(unit, *parameter->getDefaultArg());
  }
  return known;
}

/// Adds the numbers among the object's members as its constructor sets them. A number whose value
/// is unknown cannot be compared later, so it is an obstacle.
void add_numbers(const ParsedUnit &unit, const ModuleClass &module, const ModuleInputs &inputs,
                 CppForward &facts) {
  const clang::CXXConstructorDecl *constructor = constructor_of(*module.type);
  const clang::FunctionDecl *definition = nullptr;
  std::map<const clang::Decl *, const clang::Expr *> values;
  for (const clang::FieldDecl *field : module.type->fields())
    if (field->hasInClassInitializer())
      values[field->getCanonicalDecl()] = field->getInClassInitializer();
  Bindings known;
  if (constructor && constructor->hasBody(definition)) {
    known = bindings_of(unit, *definition, inputs);
    for (const clang::CXXCtorInitializer *one :
         llvm::cast<clang::CXXConstructorDecl>(definition)->inits())
      if (one->isAnyMemberInitializer() && one->isWritten())
        values[one->getAnyMember()->getCanonicalDecl()] = one->getInit();
    for (const auto &[field, value] : Assignments(definition->getBody()).found)
      values[field] = value;
  }
  for (const clang::FieldDecl *field : module.type->fields()) {
    const auto given = values.find(field->getCanonicalDecl());
    if (given == values.end() || !field->getType()->isArithmeticType())
      continue;
    const Value value = given->second ? constant(unit, *given->second, known) : Value();
    const std::string name = field->getNameAsString();
    if (value.is_number())
      facts.numbers.emplace_back(name, cpp_literal(value));
    else if (!field->getType().isConstQualified())
      facts.obstacle = "the value that its constructor gives to '" + name +
                       "' is not known, so it cannot be compared";
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
  if (const auto number = value.number())
    return exact_number(*number);
  std::string list = "{";
  for (const std::int64_t one : value.integers().value_or(model::Shape{}))
    list += (list.size() > 1 ? ", " : "") + std::to_string(one);
  return list + "}";
}

std::optional<CppForward> forward_facts(const ParsedUnit &unit,
                                                  const ModuleClass &module,
                                                  const ModuleInputs &inputs) {
  const auto range = unit.range_of(module.forward->getSourceRange());
  const auto name = unit.range_of(module.forward->getNameInfo().getSourceRange());
  const auto whole = unit.range_of(module.type->getBraceRange());
  if (!range || !name || !whole)
    return std::nullopt; // produced by a macro
  CppForward facts{.range = *range, .name_range = *name};
  facts.class_end = whole->end - 1;
  if (const clang::FunctionDecl *declaration = module.forward->getCanonicalDecl();
      declaration != module.forward)
    facts.declaration = unit.range_of(declaration->getSourceRange()).value_or(Range{});
  add_constructor(unit, module, inputs, facts);
  add_numbers(unit, module, inputs, facts);
  Writes writes;
  writes.follow(module.forward);
  if (writes.first)
    facts.obstacle =
        "line " +
        std::to_string(unit.sources().getExpansionLineNumber(writes.first->getBeginLoc())) +
        " changes a member of the object, which a plan does not do";
  return facts;
}

} // namespace warpwright::analysis::torch_cpp
