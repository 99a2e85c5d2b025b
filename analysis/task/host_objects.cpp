// Resolver of host values other than integers: dim3 values, fields, pointers and floating-point
// scalars.
// Thread: the unit's thread.
#include "analysis/task/host_expression.h"

#include <cmath>

namespace warpwright::analysis {
namespace {

constexpr int kMaxDepth = 40;

/// False also for an expression without a type, as in patterns of templates.
bool is_dim3(clang::QualType type) {
  const clang::RecordDecl *record =
      type.isNull() ? nullptr : type.getNonReferenceType()->getAsRecordDecl();
  return record && record->getName() == "dim3";
}

/// The expression with which the constructor of an object, or its class, begins a field; null: there is none.
const clang::Expr *first_value(const clang::FieldDecl &field, const clang::Expr *construction) {
  const auto *made = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(
      construction ? construction->IgnoreImplicit() : nullptr);
  const clang::FunctionDecl *definition = nullptr;
  if (made && made->getConstructor()->isDefined(definition)) {
    for (const clang::CXXCtorInitializer *one :
         llvm::cast<clang::CXXConstructorDecl>(definition)->inits())
      if (one->isWritten() && one->getMember() == &field)
        return one->getInit();
    if (const auto *body = llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody()))
      for (const clang::Stmt *statement : body->body())
        if (const auto *assignment = llvm::dyn_cast<clang::BinaryOperator>(statement);
            assignment && assignment->getOpcode() == clang::BO_Assign)
          if (const auto *left =
                  llvm::dyn_cast<clang::MemberExpr>(assignment->getLHS()->IgnoreParenImpCasts());
              left && left->getMemberDecl() == &field &&
              llvm::isa<clang::CXXThisExpr>(left->getBase()->IgnoreParenImpCasts()))
            return assignment->getRHS();
  }
  return field.getInClassInitializer();
}

} // namespace

std::optional<std::array<HostValue, 3>> HostResolver::dim3(const clang::Expr *expression,
                                                           const HostFrame &frame) {
  expression = expression ? strip(expression) : nullptr;
  if (!expression || expression->containsErrors() || !may_follow(kMaxDepth))
    return std::nullopt;
  std::array<HostValue, 3> shape{make_value(1), make_value(1), make_value(1)};
  const auto fill = [&](auto begin, auto end) {
    std::size_t i = 0;
    for (; begin != end && i < 3; ++begin, ++i) {
      const auto value = integer(*begin, frame);
      if (!value)
        return false;
      shape[i] = *value;
    }
    return true;
  };
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression))
    return fill(list->inits().begin(), list->inits().end()) ? std::optional(shape) : std::nullopt;
  // `dim3 grid(n);` in a template's pattern: the list of expressions as written, without a type.
  if (const auto *list = llvm::dyn_cast<clang::ParenListExpr>(expression)) {
    const auto written = const_cast<clang::ParenListExpr *>(list)->exprs();
    return fill(written.begin(), written.end()) ? std::optional(shape) : std::nullopt;
  }
  if (!is_dim3(expression->getType())) {
    const auto value = integer(expression, frame);
    if (value)
      shape[0] = *value;
    return value ? std::optional(shape) : std::nullopt;
  }
  const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(expression);
  if (construction && construction->getNumArgs() == 1 && is_dim3(construction->getArg(0)->getType()))
    return dim3(construction->getArg(0), frame); // a copy
  if (construction)
    return fill(construction->arg_begin(), construction->arg_end()) ? std::optional(shape)
                                                                    : std::nullopt;
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression))
    return dim3(choice->getFalseExpr(), frame);
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression)) {
    const clang::FunctionDecl *callee =
        call->getDirectCallee() ? call->getDirectCallee()->getDefinition() : nullptr;
    const auto *body =
        callee ? llvm::dyn_cast_or_null<clang::CompoundStmt>(callee->getBody()) : nullptr;
    const auto *result = body && !body->body_empty()
                             ? llvm::dyn_cast<clang::ReturnStmt>(body->body_back())
                             : nullptr;
    const HostFrame inner{callee, call, &frame};
    ++depth_;
    const auto returned = result ? dim3(result->getRetValue(), inner) : std::nullopt;
    --depth_;
    return returned;
  }
  return dim3_variable(*expression, frame);
}

/// Value of a dim3 variable or parameter, with later assignments such as `grid.x = ...`.
std::optional<std::array<HostValue, 3>> HostResolver::dim3_variable(const clang::Expr &expression,
                                                                    const HostFrame &frame) {
  const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(&expression);
  if (!reference)
    return std::nullopt;
  const clang::ValueDecl &variable = *reference->getDecl();
  const HostFrame *own = frame_of(variable, frame);
  std::optional<std::array<HostValue, 3>> shape;
  ++depth_; // terminates for `dim3 grid = grid;`
  if (const auto *parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    if (!own->call && caller_of(*own))
      own = own_frames_.at(own->function).get();
    const clang::Expr *argument =
        own->call ? argument_of(*own->call, parameter->getFunctionScopeIndex()) : nullptr;
    shape = argument ? dim3(argument, *own->caller) : std::nullopt;
  } else if (const clang::Expr *definition = definition_of(variable)) {
    shape = dim3(definition, *own);
  }
  --depth_;
  for (std::size_t i = 0; shape && i < 3; ++i)
    if (const clang::Expr *assigned =
            program_.member_assignment(variable, std::string(1, "xyz"[i])))
      // A conditional assignment counts only if its value is known; a value of the command line is
      // not.
      if (const auto value = program_.conditional.contains(assigned) ? known(assigned, *own)
                                                                     : integer(assigned, *own))
        (*shape)[i] = *value;
  return shape;
}

std::optional<double> HostResolver::floating(const clang::Expr *expression,
                                             const HostFrame &frame) {
  expression = expression ? strip(expression) : nullptr;
  if (!expression || expression->containsErrors() || !may_follow(kMaxDepth))
    return std::nullopt;
  if (const auto *literal = llvm::dyn_cast<clang::FloatingLiteral>(expression))
    return literal->getValueAsApproximateDouble();
  if (const auto *literal = llvm::dyn_cast<clang::IntegerLiteral>(expression))
    return static_cast<double>(literal->getValue().getLimitedValue());
  clang::Expr::EvalResult result;
  if (!expression->isValueDependent() && expression->EvaluateAsRValue(result, unit_.context())) {
    if (result.Val.isFloat())
      return result.Val.getFloat().convertToDouble();
    if (result.Val.isInt())
      return static_cast<double>(result.Val.getInt().getExtValue());
  }
  if (const auto *reader = llvm::dyn_cast<clang::CallExpr>(expression))
    if (const auto number = read_number(*reader, frame))
      return number;
  ++depth_;
  std::optional<double> value;
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const HostFrame *own = frame_of(*reference->getDecl(), frame);
    if (const auto *parameter = llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl())) {
      if (!own->call && caller_of(*own))
        own = own_frames_.at(own->function).get();
      const clang::Expr *argument =
          own->call ? argument_of(*own->call, parameter->getFunctionScopeIndex()) : nullptr;
      value = argument ? floating(argument, *own->caller) : std::nullopt;
    } else if (const clang::Expr *definition = definition_of(*reference->getDecl())) {
      value = floating(definition, *own);
    }
  } else if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    const auto left = floating(operation->getLHS(), frame),
               right = floating(operation->getRHS(), frame);
    if (left && right)
      switch (operation->getOpcode()) {
      case clang::BO_Add:
        value = *left + *right;
        break;
      case clang::BO_Sub:
        value = *left - *right;
        break;
      case clang::BO_Mul:
        value = *left * *right;
        break;
      case clang::BO_Div:
        value = *right != 0 ? std::optional(*left / *right) : std::nullopt;
        break;
      default:
        break;
      }
  } else if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    value = floating(operation->getSubExpr(), frame);
    if (value && operation->getOpcode() == clang::UO_Minus)
      value = -*value;
  } else if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression);
             call && call->getNumArgs() == 1) {
    const std::string name = callee_name(*call);
    value = floating(call->getArg(0), frame);
    if (value && (name == "sqrt" || name == "sqrtf"))
      value = std::sqrt(*value);
    else if (value && (name == "rsqrtf" || name == "rsqrt"))
      value = 1 / std::sqrt(*value);
    else if (!name.starts_with("__float2"))
      value.reset();
  }
  --depth_;
  return value;
}

std::optional<HostPointer> HostResolver::pointer(const clang::Expr *expression,
                                                 const HostFrame &frame) {
  expression = expression ? strip(expression) : nullptr;
  if (!expression || !may_follow(kMaxDepth))
    return std::nullopt;
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression))
    return pointer_variable(*reference->getDecl(), frame);
  if (const auto *sum = llvm::dyn_cast<clang::BinaryOperator>(expression);
      sum && sum->getOpcode() == clang::BO_Add) {
    const bool left_is_pointer = sum->getLHS()->getType()->isPointerType();
    auto base = pointer(left_is_pointer ? sum->getLHS() : sum->getRHS(), frame);
    const auto offset = integer(left_is_pointer ? sum->getRHS() : sum->getLHS(), frame);
    if (!base || !offset)
      return std::nullopt;
    base->offset = base->offset ? combine("+", *base->offset, *offset) : *offset;
    return base;
  }
  if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(expression);
      address && address->getOpcode() == clang::UO_AddrOf)
    if (const auto *element =
            llvm::dyn_cast<clang::ArraySubscriptExpr>(strip(address->getSubExpr()))) {
      auto base = pointer(element->getBase(), frame);
      const auto offset = integer(element->getIdx(), frame);
      if (!base || !offset)
        return std::nullopt;
      base->offset = base->offset ? combine("+", *base->offset, *offset) : *offset;
      return base;
    }
  if (const auto *access = llvm::dyn_cast<clang::MemberExpr>(expression))
    return HostPointer{access->getMemberDecl(),
                       std::string(unit_.text_anywhere(expression->getSourceRange())),
                       {}};
  if (const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    auto base = pointer(element->getBase(), frame);
    if (base)
      base->text = unit_.text_anywhere(expression->getSourceRange());
    return base;
  }
  // Covers thrust::raw_pointer_cast(v.data()), v.data().get() and t.data_ptr<float>().
  if (const auto *method = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression))
    return pointer(method->getImplicitObjectArgument(), frame);
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression);
      call && call->getNumArgs() == 1)
    return pointer(call->getArg(0), frame);
  return std::nullopt;
}

std::optional<HostPointer> HostResolver::pointer_variable(const clang::ValueDecl &variable,
                                                          const HostFrame &frame) {
  const HostFrame *own = frame_of(variable, frame);
  ++depth_;
  std::optional<HostPointer> found;
  if (const auto *parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    if (!own->call && caller_of(*own))
      own = own_frames_.at(own->function).get();
    const clang::Expr *argument =
        own->call ? argument_of(*own->call, parameter->getFunctionScopeIndex()) : nullptr;
    found = argument ? pointer(argument, *own->caller) : std::nullopt;
  } else if (const auto *declared = llvm::dyn_cast<clang::VarDecl>(&variable);
             declared && variable.getType()->isPointerType() && declared->getAnyInitializer()) {
    found = pointer(declared->getAnyInitializer(), *own);
  }
  --depth_;
  return found ? found : HostPointer{&variable, variable.getNameAsString(), {}};
}

std::optional<HostValue> HostResolver::member(const clang::MemberExpr &member,
                                              const HostFrame &frame) {
  const std::string name = member.getMemberDecl()->getNameAsString();
  const clang::Expr *base = strip(member.getBase());
  if (auto fact = device_fact(name, name))
    return fact;
  if (is_dim3(base->getType()))
    if (const auto shape = dim3(base, frame);
        shape && name.size() == 1 && name[0] >= 'x' && name[0] <= 'z')
      return (*shape)[static_cast<std::size_t>(name[0] - 'x')];
  const auto *object = llvm::dyn_cast<clang::DeclRefExpr>(base);
  const auto *field = llvm::dyn_cast<clang::FieldDecl>(member.getMemberDecl());
  if (!object || !field)
    return std::nullopt;
  const HostFrame *own = frame_of(*object->getDecl(), frame);
  const clang::Expr *value = program_.member_assignment(*object->getDecl(), name);
  if (const auto *list =
          llvm::dyn_cast_or_null<clang::InitListExpr>(definition_of(*object->getDecl()));
      list && !value)
    value = field->getFieldIndex() < list->getNumInits() ? list->getInit(field->getFieldIndex())
                                                         : nullptr;
  const std::string symbol = symbol_name(object->getDecl()->getNameAsString() + "_" + name);
  if (!value)
    if (const clang::Expr *first = first_value(*field, definition_of(*object->getDecl())))
      if (const auto number = integer(first, HostFrame{}); number && number->number) {
        assume(object->getDecl()->getNameAsString() + "." + name + " is " + number->text +
               ", as its class begins it");
        return root(symbol, number->number);
      }
  const auto result = value ? integer(value, *own) : std::nullopt;
  if (!result)
    return root(symbol, in_run(&member, frame));
  return result->number ? root(symbol, result->number) : *result;
}

} // namespace warpwright::analysis
