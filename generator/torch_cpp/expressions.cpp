// Values of expressions: literals, names, arithmetic on sizes, objects of the standard library.
#include "generator/torch_cpp/interpreter.h"
#include "generator/torch_cpp/module_classes.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecordLayout.h>

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

/// "Tensor" of at::Tensor; empty for what is no class.
std::string class_of(clang::QualType type) {
  const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record ? record->getNameAsString() : "";
}

std::optional<model::Dtype> scalar_type(const std::string &name) {
  using enum model::Dtype;
  static const std::map<std::string, model::Dtype> kTypes = {
      {"Byte", UInt8}, {"Char", Int8},        {"Short", Int16},   {"Int", Int32},
      {"Long", Int64}, {"Half", Float16},     {"Float", Float32}, {"Double", Float64},
      {"Bool", Bool},  {"BFloat16", BFloat16}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

Value enumerator(const clang::EnumConstantDecl &constant) {
  const auto *type = dyn_cast<clang::EnumDecl>(constant.getDeclContext());
  const std::string name = constant.getNameAsString(), of = type ? type->getNameAsString() : "";
  if (of == "ScalarType")
    if (const auto dtype = scalar_type(name))
      return *dtype;
  if (of == "WwReduction" || of == "WwMode" || of == "DeviceType" || of == "MemoryFormat" ||
      of == "Layout" || of == "ScalarType")
    return name;
  return static_cast<std::int64_t>(constant.getInitVal().getExtValue());
}

template <class Number>
Value compared(clang::BinaryOperatorKind kind, Number a, Number b) {
  switch (kind) {
  case clang::BO_LT:
    return a < b;
  case clang::BO_LE:
    return a <= b;
  case clang::BO_GT:
    return a > b;
  case clang::BO_GE:
    return a >= b;
  case clang::BO_EQ:
    return a == b;
  default:
    return a != b;
  }
}

/// std::vector(count, value).
Value filled(std::int64_t count, const Value &value) {
  constexpr std::int64_t kMost = 65536;
  if (count < 0 || count > kMost)
    return Unknown{"a list is too long"};
  return List(static_cast<std::size_t>(count), value);
}

Value on_integers(clang::BinaryOperatorKind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
  case clang::BO_Add:
    return a + b;
  case clang::BO_Sub:
    return a - b;
  case clang::BO_Mul:
    return a * b;
  case clang::BO_Div:
    return b == 0 || b == -1 ? (b ? Value(-a) : Value(Unknown{"divides by zero"})) : Value(a / b);
  case clang::BO_Rem:
    return b == 0 ? Value(Unknown{"divides by zero"}) : Value(b == -1 ? std::int64_t{0} : a % b);
  case clang::BO_Shl:
    return b < 0 || b > 62 ? Value(Unknown{"shifts too far"}) : Value(a << b);
  case clang::BO_Shr:
    return b < 0 || b > 62 ? Value(Unknown{"shifts too far"}) : Value(a >> b);
  case clang::BO_And:
    return a & b;
  case clang::BO_Or:
    return a | b;
  case clang::BO_Xor:
    return a ^ b;
  default:
    return compared(kind, a, b);
  }
}

Value on_numbers(clang::BinaryOperatorKind kind, double a, double b) {
  switch (kind) {
  case clang::BO_Add:
    return a + b;
  case clang::BO_Sub:
    return a - b;
  case clang::BO_Mul:
    return a * b;
  case clang::BO_Div:
    return a / b;
  default:
    return compared(kind, a, b);
  }
}

Value arithmetic(clang::BinaryOperatorKind kind, const Value &a, const Value &b) {
  for (const Value *value : {&a, &b})
    if (const auto *unknown = value->as<Unknown>())
      return *unknown;
  if (const auto *left = a.as<model::Dtype>())
    if (const auto *right = b.as<model::Dtype>())
      return compared(kind, static_cast<int>(*left), static_cast<int>(*right));
  if (const auto *left = a.as<std::string>())
    if (const auto *right = b.as<std::string>())
      return compared(kind, left->compare(*right), 0);
  if (!a.is_number() || !b.is_number())
    return Unknown{"computes with something that is no number"};
  if (a.as<double>() || b.as<double>())
    return on_numbers(kind, *a.number(), *b.number());
  return on_integers(kind, *a.integer(), *b.integer());
}

} // namespace

std::size_t Interpreter::line_of(const clang::SourceLocation &location) const {
  return unit_.sources().getExpansionLineNumber(location);
}

std::string Interpreter::text_of(const clang::Expr &expression) const {
  return std::string(unit_.text_of(expression.getSourceRange()).substr(0, 80));
}

Unknown Interpreter::unknown(const std::string &what) const { return {what, line_}; }

Value Interpreter::refuse(const std::string &message, std::size_t line) {
  if (!refusal_)
    refusal_ = Refusal{message, line ? line : line_};
  return Unknown{message, line_};
}

Value Interpreter::evaluate(const clang::Expr *expression) {
  if (!expression || stopped())
    return Unknown{"is not reached"};
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
  if (llvm::isa<clang::CXXDefaultArgExpr>(expression))
    return Absent{};
  if (const auto *cast = dyn_cast<clang::CastExpr>(expression))
    return evaluated_cast(*cast);
  if (const auto *integer = dyn_cast<clang::IntegerLiteral>(expression))
    return static_cast<std::int64_t>(integer->getValue().getLimitedValue());
  if (const auto *real = dyn_cast<clang::FloatingLiteral>(expression))
    return real->getValueAsApproximateDouble();
  if (const auto *flag = dyn_cast<clang::CXXBoolLiteralExpr>(expression))
    return flag->getValue();
  if (const auto *text = dyn_cast<clang::StringLiteral>(expression))
    return text->getString().str();
  if (llvm::isa<clang::CXXNullPtrLiteralExpr>(expression))
    return None{};
  if (const auto *reference = dyn_cast<clang::DeclRefExpr>(expression))
    return evaluated_reference(*reference->getDecl());
  if (const auto *member = dyn_cast<clang::MemberExpr>(expression))
    return evaluated_member(*member);
  if (const auto *call = dyn_cast<clang::CallExpr>(expression))
    return called(*call);
  if (const auto *construction = dyn_cast<clang::CXXConstructExpr>(expression))
    return constructed(*construction);
  if (const auto *allocation = dyn_cast<clang::CXXNewExpr>(expression))
    return evaluate(allocation->getInitializer());
  if (const auto *list = dyn_cast<clang::InitListExpr>(expression))
    return listed(*list);
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expression))
    return evaluated_unary(*unary);
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(expression))
    return evaluated_binary(*binary);
  if (const auto *choice = dyn_cast<clang::ConditionalOperator>(expression)) {
    const auto taken = decided(choice->getCond());
    return taken ? evaluate(*taken ? choice->getTrueExpr() : choice->getFalseExpr())
                 : Value(Unknown{"is not reached"});
  }
  if (const auto *element = dyn_cast<clang::ArraySubscriptExpr>(expression))
    if (const Storage place = place_of(element))
      return *place;
  if (llvm::isa<clang::CXXThisExpr>(expression) && this_)
    return *this_;
  // A name whose declaration could not be resolved: what it was declared with says why.
  if (llvm::isa<clang::RecoveryExpr>(expression))
    for (const std::string name = text_of(*expression); const auto &[variable, place] : variables_)
      if (variable->getNameAsString() == name)
        return *place;
  clang::Expr::EvalResult result;
  if (!expression->isValueDependent() && !expression->containsErrors() &&
      expression->EvaluateAsInt(result, unit_.context()))
    return static_cast<std::int64_t>(result.Val.getInt().getExtValue());
  return unknown("'" + text_of(*expression) + "' cannot be followed");
}

Value Interpreter::evaluated_cast(const clang::CastExpr &cast) {
  Value value = evaluate(cast.getSubExpr());
  switch (cast.getCastKind()) {
  case clang::CK_IntegralToFloating:
    return value.number() ? Value(*value.number()) : value;
  case clang::CK_FloatingToIntegral:
    return value.number() ? Value(static_cast<std::int64_t>(*value.number())) : value;
  case clang::CK_IntegralToBoolean:
  case clang::CK_FloatingToBoolean:
    return value.number() ? Value(*value.number() != 0) : value;
  case clang::CK_IntegralCast:
    return value.as<bool>() && !cast.getType()->isBooleanType() ? Value(*value.integer()) : value;
  default:
    return value;
  }
}

Value Interpreter::evaluated_reference(const clang::ValueDecl &declaration) {
  if (const auto known = variables_.find(&declaration); known != variables_.end())
    return *known->second;
  if (const auto *constant = dyn_cast<clang::EnumConstantDecl>(&declaration))
    return enumerator(*constant);
  const std::string name = declaration.getNameAsString(), type = class_of(declaration.getType());
  if (type == "nullopt_t" || type == "None_")
    return None{};
  if (type == "Ellipsis_")
    return std::string("...");
  const auto *variable = dyn_cast<clang::VarDecl>(&declaration);
  if (variable && variable->getAnyInitializer() && variable->hasGlobalStorage() &&
      variable->getType().isConstQualified())
    return evaluate(variable->getAnyInitializer());
  return unknown("the value of '" + name + "' is not known");
}

Value Interpreter::evaluated_member(const clang::MemberExpr &member) {
  if (const auto *variable = dyn_cast<clang::VarDecl>(member.getMemberDecl()))
    return evaluated_reference(*variable);
  const Value object = evaluate(member.getBase());
  const std::string name = member.getMemberDecl()->getNameAsString();
  const auto *module = object.as<Module>();
  if (const auto *fields = module ? &(*module)->members : object.as<Fields>())
    if (const auto found = fields->find(name); found != fields->end())
      return found->second;
  if (const auto *list = object.as<List>(); list && list->size() == 2)
    if (name == "first" || name == "second")
      return (*list)[name == "second"];
  if (const auto *unknown = object.as<Unknown>())
    return *unknown;
  return unknown("the value of '" + name + "' is not known");
}

Value Interpreter::evaluated_unary(const clang::UnaryOperator &operation) {
  if (operation.isIncrementDecrementOp()) {
    const Storage place = place_of(operation.getSubExpr());
    const auto before = place ? place->integer() : std::nullopt;
    if (!before)
      return unknown("'" + text_of(operation) + "' counts something that is not known");
    *place = *before + (operation.isIncrementOp() ? 1 : -1);
    return operation.isPrefix() ? *place : Value(*before);
  }
  const Value value = evaluate(operation.getSubExpr());
  switch (operation.getOpcode()) {
  case clang::UO_LNot:
    if (value.is_number())
      return *value.number() == 0;
    if (value.as<None>() || value.as<Tensor>())
      return value.as<None>() != nullptr;
    return value;
  case clang::UO_Minus:
    if (value.as<double>())
      return -*value.number();
    return value.integer() ? Value(-*value.integer()) : value;
  case clang::UO_Not:
    return value.integer() ? Value(~*value.integer()) : value;
  default:
    return value; // plus, * and & of what is passed around
  }
}

Value Interpreter::evaluated_binary(const clang::BinaryOperator &operation) {
  const clang::BinaryOperatorKind kind = operation.getOpcode();
  if (kind == clang::BO_Comma) {
    evaluate(operation.getLHS());
    return evaluate(operation.getRHS());
  }
  if (kind == clang::BO_Assign)
    return assigned(operation.getLHS(), evaluate(operation.getRHS()));
  const Value left = evaluate(operation.getLHS());
  if (kind == clang::BO_LAnd || kind == clang::BO_LOr) {
    const bool ends = kind == clang::BO_LOr;
    if (left.is_number() && (*left.number() != 0) == ends)
      return ends;
    const Value right = evaluate(operation.getRHS());
    if (right.is_number() && (*right.number() != 0) == ends)
      return ends;
    return left.is_number() ? right : left;
  }
  const Value right = evaluate(operation.getRHS());
  if (!operation.isCompoundAssignmentOp())
    return arithmetic(kind, left, right);
  return assigned(operation.getLHS(),
                  arithmetic(clang::BinaryOperator::getOpForCompoundAssignment(kind), left, right));
}

Value Interpreter::assigned(const clang::Expr *target, Value value) {
  const Storage place = place_of(target);
  if (!place)
    return refuse("'" + text_of(*target) + "' is written to, which cannot be followed");
  *place = std::move(value);
  return *place;
}

Value Interpreter::constructed(const clang::CXXConstructExpr &construction) {
  const std::string type = class_of(construction.getType());
  std::vector<Value> arguments;
  for (const clang::Expr *argument : construction.arguments())
    if (!llvm::isa<clang::CXXDefaultArgExpr>(argument))
      arguments.push_back(evaluate(argument));
  if (const clang::CXXRecordDecl *held = held_module(construction.getType()))
    return made_module(construction, *held, std::move(arguments));
  if (type == "NamedAnyModule")
    return List(arguments.begin(), arguments.end());
  if (type == "TensorOptions") {
    Fields fields;
    for (Value &argument : arguments) {
      if (argument.as<Fields>())
        return argument;
      if (argument.as<model::Dtype>())
        fields["dtype"] = argument;
    }
    return fields;
  }
  if (type == "WwOptions") {
    if (arguments.size() == 1 && arguments.front().as<Fields>())
      return arguments.front();
    Fields fields;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      fields["#" + std::to_string(i)] = arguments[i];
    return fields;
  }
  if (type == "Slice") {
    Slice slice;
    arguments.resize(3);
    slice.start = arguments[0].integer();
    slice.stop = arguments[1].integer();
    slice.step = arguments[2].integer().value_or(1);
    return slice;
  }
  if (type == "vector" && arguments.size() == 2 && arguments[0].integer() &&
      construction.getNumArgs() == 2)
    return filled(*arguments[0].integer(), arguments[1]);
  if (type == "vector" && arguments.size() == 1 && arguments[0].integer() &&
      !construction.isListInitialization())
    return filled(*arguments[0].integer(), None{});
  if (type == "tuple" || type == "pair") {
    if (arguments.size() == 1 && arguments.front().as<List>())
      return arguments.front();
    return List(arguments.begin(), arguments.end());
  }
  if (arguments.size() == 1)
    return arguments.front();
  if (arguments.empty()) {
    if (type == "Any")
      return Absent{};
    if (type == "vector" || type == "ArrayRef")
      return List{};
    if (type == "Tensor" || type == "optional")
      return None{};
    if (const clang::CXXRecordDecl *record = construction.getType()->getAsCXXRecordDecl();
        record && record->hasDefinition()) {
      Fields fields;
      for (const clang::FieldDecl *field : record->fields())
        if (field->hasInClassInitializer())
          fields[field->getNameAsString()] = evaluate(field->getInClassInitializer());
      return fields;
    }
  }
  return unknown("an object of " + construction.getType().getAsString() + " is made");
}

Value Interpreter::listed(const clang::InitListExpr &list) {
  const clang::InitListExpr *semantic =
      list.isSemanticForm() || !list.getSemanticForm() ? &list : list.getSemanticForm();
  const clang::CXXRecordDecl *record = semantic->getType()->getAsCXXRecordDecl();
  if (!record || record->getName() == "array") {
    if (semantic->getNumInits() == 1 && semantic->getType()->isScalarType())
      return evaluate(semantic->getInit(0));
    if (record && semantic->getNumInits() == 1)
      return evaluate(semantic->getInit(0));
    List items;
    for (const clang::Expr *item : semantic->inits())
      items.push_back(evaluate(item));
    return items;
  }
  Fields fields;
  unsigned index = 0;
  for (const clang::FieldDecl *field : record->fields())
    if (index < semantic->getNumInits())
      fields[field->getNameAsString()] = evaluate(semantic->getInit(index++));
  return fields;
}

Interpreter::Storage Interpreter::place_of(const clang::Expr *expression) {
  expression = expression->IgnoreParenImpCasts();
  if (const auto *full = dyn_cast<clang::FullExpr>(expression))
    return place_of(full->getSubExpr());
  const auto inside = [](const Storage &whole, Value *part) {
    return part ? Storage(whole, part) : nullptr;
  };
  const auto element = [&](const Storage &whole, const Value &index) -> Storage {
    List *list = whole ? whole->as<List>() : nullptr;
    const auto place = index.integer();
    if (!list || !place || *place < 0 || *place >= static_cast<std::int64_t>(list->size()))
      return nullptr;
    return inside(whole, &(*list)[static_cast<std::size_t>(*place)]);
  };
  if (const auto *reference = dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto known = variables_.find(reference->getDecl());
    return known == variables_.end() ? nullptr : known->second;
  }
  if (llvm::isa<clang::CXXThisExpr>(expression))
    return this_;
  if (const auto *member = dyn_cast<clang::MemberExpr>(expression)) {
    const Storage object = place_of(member->getBase());
    if (Module *module = object ? object->as<Module>() : nullptr)
      return inside(std::shared_ptr<Value>(*module, nullptr),
                    &(*module)->members[member->getMemberDecl()->getNameAsString()]);
    Fields *fields = object ? object->as<Fields>() : nullptr;
    return fields ? inside(object, &(*fields)[member->getMemberDecl()->getNameAsString()])
                  : nullptr;
  }
  if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(expression))
    return element(place_of(subscript->getBase()), evaluate(subscript->getIdx()));
  if (const auto *call = dyn_cast<clang::CXXOperatorCallExpr>(expression)) {
    const Storage object = call->getNumArgs() > 0 ? place_of(call->getArg(0)) : nullptr;
    if (call->getOperator() == clang::OO_Subscript && object && object->as<List>())
      return element(object, evaluate(call->getArg(1)));
    const bool reaches = call->getOperator() == clang::OO_Star && call->getNumArgs() == 1;
    if (reaches || call->getOperator() == clang::OO_Arrow) // of an optional
      return object;
    return nullptr;
  }
  if (const auto *call = dyn_cast<clang::CallExpr>(expression);
      call && call->getDirectCallee() && call->getNumArgs() == 1 &&
      call->getDirectCallee()->getNameAsString() == "get")
    if (const auto *arguments = call->getDirectCallee()->getTemplateSpecializationArgs();
        arguments && arguments->size() > 0 &&
        arguments->get(0).getKind() == clang::TemplateArgument::Integral)
      return element(place_of(call->getArg(0)),
                     static_cast<std::int64_t>(arguments->get(0).getAsIntegral().getExtValue()));
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expression);
      unary && (unary->getOpcode() == clang::UO_Deref || unary->getOpcode() == clang::UO_AddrOf))
    return place_of(unary->getSubExpr());
  return nullptr;
}

} // namespace warpwright::generator::torch_cpp
