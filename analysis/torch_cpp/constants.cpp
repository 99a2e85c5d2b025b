#include "analysis/torch_cpp/constants.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

namespace warpwright::analysis::torch_cpp {
namespace {

using llvm::dyn_cast;

/// Name of a class type: "vector" for std::vector<int64_t>; otherwise empty.
std::string class_name(clang::QualType type) {
  const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record ? record->getNameAsString() : "";
}

Value enumerator(const clang::EnumConstantDecl &constant) {
  using enum model::Dtype;
  static const std::map<std::string, model::Dtype> kTypes = {
      {"Byte", UInt8}, {"Char", Int8},        {"Short", Int16},   {"Int", Int32},
      {"Long", Int64}, {"Half", Float16},     {"Float", Float32}, {"Double", Float64},
      {"Bool", Bool},  {"BFloat16", BFloat16}};
  const auto *type = dyn_cast<clang::EnumDecl>(constant.getDeclContext());
  if (type && type->getName() == "ScalarType") {
    const auto found = kTypes.find(constant.getNameAsString());
    return found == kTypes.end() ? Value() : Value(found->second);
  }
  return static_cast<std::int64_t>(constant.getInitVal().getExtValue());
}

class Evaluator {
public:
  Evaluator(const ParsedUnit &unit, const Bindings &known) : unit_(unit), known_(known) {}

  Value evaluate(const clang::Expr *expression) const {
    if (!expression || expression->isValueDependent() || expression->containsErrors())
      return {};
    expression = expression->IgnoreParens();
    if (const auto *full = dyn_cast<clang::FullExpr>(expression))
      return evaluate(full->getSubExpr());
    if (const auto *temporary = dyn_cast<clang::MaterializeTemporaryExpr>(expression))
      return evaluate(temporary->getSubExpr());
    if (const auto *bound = dyn_cast<clang::CXXBindTemporaryExpr>(expression))
      return evaluate(bound->getSubExpr());
    if (const auto *list = dyn_cast<clang::CXXStdInitializerListExpr>(expression))
      return evaluate(list->getSubExpr());
    if (const auto *initial = dyn_cast<clang::CXXDefaultInitExpr>(expression))
      return evaluate(initial->getExpr());
    if (const auto *cast = dyn_cast<clang::CastExpr>(expression))
      return converted(cast->getCastKind(), cast->getType(), evaluate(cast->getSubExpr()));
    if (const auto *text = dyn_cast<clang::StringLiteral>(expression))
      return text->getString().str();
    if (llvm::isa<clang::CXXNullPtrLiteralExpr>(expression))
      return None{};
    if (const auto *reference = dyn_cast<clang::DeclRefExpr>(expression))
      return referenced(*reference->getDecl());
    if (const auto *construction = dyn_cast<clang::CXXConstructExpr>(expression))
      return constructed(*construction);
    if (const auto *list = dyn_cast<clang::InitListExpr>(expression))
      return listed(*list);
    if (const auto *unary = dyn_cast<clang::UnaryOperator>(expression);
        unary && unary->getOpcode() == clang::UO_Minus)
      return negated(evaluate(unary->getSubExpr()));
    if (const auto *binary = dyn_cast<clang::BinaryOperator>(expression))
      if (Value value = combined(binary->getOpcode(), evaluate(binary->getLHS()),
                                 evaluate(binary->getRHS()));
          value.is_number())
        return value;
    return evaluated_by_clang(*expression);
  }

private:
  static Value converted(clang::CastKind kind, clang::QualType type, Value value) {
    switch (kind) {
    case clang::CK_IntegralToFloating:
      return value.number() ? Value(*value.number()) : value;
    case clang::CK_FloatingToIntegral:
      return value.number() ? Value(static_cast<std::int64_t>(*value.number())) : value;
    case clang::CK_IntegralToBoolean:
    case clang::CK_FloatingToBoolean:
      return value.number() ? Value(*value.number() != 0) : value;
    case clang::CK_IntegralCast:
      return value.as<bool>() && !type->isBooleanType() ? Value(*value.integer()) : value;
    default:
      return value;
    }
  }

  Value referenced(const clang::ValueDecl &declaration) const {
    if (const auto known = known_.find(&declaration); known != known_.end())
      return known->second;
    if (const auto *constant = dyn_cast<clang::EnumConstantDecl>(&declaration))
      return enumerator(*constant);
    if (class_name(declaration.getType()) == "nullopt_t")
      return None{};
    const auto *variable = dyn_cast<clang::VarDecl>(&declaration);
    return variable && variable->hasGlobalStorage() && variable->getType().isConstQualified()
               ? evaluate(variable->getAnyInitializer())
               : Value();
  }

  Value constructed(const clang::CXXConstructExpr &construction) const {
    const std::string type = class_name(construction.getType());
    List arguments;
    for (const clang::Expr *argument : construction.arguments())
      if (!llvm::isa<clang::CXXDefaultArgExpr>(argument))
        arguments.push_back(evaluate(argument));
    if (arguments.empty())
      return type == "vector" || type == "ArrayRef"   ? Value(List{})
             : type == "Tensor" || type == "optional" ? Value(None{})
                                                      : Value();
    // The constructors std::vector(count) and std::vector(count, value).
    if (type == "vector" && arguments[0].integer() && !construction.isListInitialization()) {
      constexpr std::int64_t kMost = 64;
      const std::int64_t count = *arguments[0].integer();
      const Value filler = arguments.size() == 2 ? arguments[1] : Value(std::int64_t{0});
      return arguments.size() <= 2 && count >= 0 && count <= kMost
                 ? Value(List(static_cast<std::size_t>(count), filler))
                 : Value();
    }
    return arguments.size() == 1 ? arguments.front() : Value();
  }

  Value listed(const clang::InitListExpr &list) const {
    const clang::InitListExpr *semantic =
        list.isSemanticForm() || !list.getSemanticForm() ? &list : list.getSemanticForm();
    const clang::CXXRecordDecl *record = semantic->getType()->getAsCXXRecordDecl();
    if (record && record->getName() != "array")
      return {};
    if (semantic->getNumInits() == 1 && (record || semantic->getType()->isScalarType()))
      return evaluate(semantic->getInit(0));
    List items;
    for (const clang::Expr *item : semantic->inits())
      items.push_back(evaluate(item));
    return items;
  }

  static Value negated(const Value &value) {
    if (value.as<double>())
      return -*value.number();
    return value.integer() ? Value(-*value.integer()) : Value();
  }

  /// Arithmetic on numbers, which may be parameters' values. Clang evaluates other operations.
  static Value combined(clang::BinaryOperatorKind kind, const Value &a, const Value &b) {
    if (!a.is_number() || !b.is_number())
      return {};
    if (a.integer() && b.integer()) {
      const std::int64_t left = *a.integer(), right = *b.integer();
      std::int64_t result = 0;
      if (kind == clang::BO_Add && !__builtin_add_overflow(left, right, &result))
        return result;
      if (kind == clang::BO_Sub && !__builtin_sub_overflow(left, right, &result))
        return result;
      if (kind == clang::BO_Mul && !__builtin_mul_overflow(left, right, &result))
        return result;
      return kind == clang::BO_Div && right > 0 ? Value(left / right) : Value();
    }
    const double left = *a.number(), right = *b.number();
    switch (kind) {
    case clang::BO_Add:
      return left + right;
    case clang::BO_Sub:
      return left - right;
    case clang::BO_Mul:
      return left * right;
    case clang::BO_Div:
      return left / right;
    default:
      return {};
    }
  }

  Value evaluated_by_clang(const clang::Expr &expression) const {
    clang::Expr::EvalResult result;
    if (!expression.EvaluateAsRValue(result, unit_.context()) || result.HasSideEffects)
      return {};
    if (result.Val.isInt() && expression.getType()->isBooleanType())
      return result.Val.getInt() != 0;
    if (result.Val.isInt())
      return static_cast<std::int64_t>(result.Val.getInt().getExtValue());
    if (result.Val.isFloat())
      return result.Val.getFloat().convertToDouble();
    return {};
  }

  const ParsedUnit &unit_;
  const Bindings &known_;
};

} // namespace

std::optional<double> Value::number() const {
  if (const auto *real = as<double>())
    return *real;
  const auto whole = integer();
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto *flag = as<bool>())
    return *flag ? 1 : 0;
  const auto *integer = as<std::int64_t>();
  return integer ? std::optional(*integer) : std::nullopt;
}

std::optional<model::Shape> Value::integers() const {
  if (const auto single = integer())
    return model::Shape{*single};
  const auto *list = as<List>();
  if (!list)
    return std::nullopt;
  model::Shape result;
  for (const Value &item : *list) {
    const auto value = item.integer();
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

Value constant(const ParsedUnit &unit, const clang::Expr &expression, const Bindings &known) {
  return Evaluator(unit, known).evaluate(&expression);
}

} // namespace warpwright::analysis::torch_cpp
