// Calls: of functions and lambdas of the file, which are inlined, of the standard library on sizes, and of operators in C++'s spelling.
#include "generator/torch_cpp/interpreter.h"
#include "generator/torch_cpp/module_classes.h"

#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cmath>

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

constexpr int kMostDepth = 64;

bool is_torch(const std::string &qualified_name) {
  return qualified_name.starts_with("at::") || qualified_name.starts_with("torch::") ||
         qualified_name.starts_with("c10::");
}

/// ATen's operator of `a + b`; empty for others.
std::string binary_operator(clang::OverloadedOperatorKind kind) {
  switch (kind) {
  case clang::OO_Plus:
  case clang::OO_PlusEqual:
    return "add";
  case clang::OO_Minus:
  case clang::OO_MinusEqual:
    return "sub";
  case clang::OO_Star:
  case clang::OO_StarEqual:
    return "mul";
  case clang::OO_Slash:
  case clang::OO_SlashEqual:
    return "div";
  case clang::OO_Percent:
    return "remainder";
  case clang::OO_EqualEqual:
    return "eq";
  case clang::OO_ExclaimEqual:
    return "ne";
  case clang::OO_Less:
    return "lt";
  case clang::OO_LessEqual:
    return "le";
  case clang::OO_Greater:
    return "gt";
  case clang::OO_GreaterEqual:
    return "ge";
  case clang::OO_Amp:
  case clang::OO_AmpEqual:
    return "bitwise_and";
  case clang::OO_Pipe:
  case clang::OO_PipeEqual:
    return "bitwise_or";
  case clang::OO_Caret:
    return "bitwise_xor";
  default:
    return {};
  }
}

/// Of two values of the standard library or of torch's small types; nullopt where they do not compare.
std::optional<bool> same(const Value &a, const Value &b) {
  if (a.is_number() && b.is_number())
    return a.number() == b.number();
  if (const auto *left = a.as<model::Dtype>())
    if (const auto *right = b.as<model::Dtype>())
      return *left == *right;
  if (const auto *left = a.as<std::string>())
    if (const auto *right = b.as<std::string>())
      return *left == *right;
  if (a.as<List>() && b.as<List>() && a.integers() && b.integers())
    return a.integers() == b.integers();
  return std::nullopt;
}

std::optional<double> mathematics(const std::string &name, const std::vector<double> &x) {
  static const std::map<std::string, double (*)(double)> kFunctions = {
      {"sqrt", std::sqrt}, {"exp", std::exp},     {"log", std::log},   {"log2", std::log2},
      {"sin", std::sin},   {"cos", std::cos},     {"tan", std::tan},   {"tanh", std::tanh},
      {"erf", std::erf},   {"floor", std::floor}, {"ceil", std::ceil}, {"round", std::round},
      {"fabs", std::fabs}, {"sqrtf", std::sqrt},  {"expf", std::exp},  {"logf", std::log}};
  if (x.size() == 1)
    if (const auto found = kFunctions.find(name); found != kFunctions.end())
      return found->second(x[0]);
  if (x.size() == 2 && (name == "pow" || name == "powf"))
    return std::pow(x[0], x[1]);
  return std::nullopt;
}

} // namespace

bool Interpreter::is_of_file(const clang::FunctionDecl &function) const {
  const clang::FunctionDecl *definition = nullptr;
  return function.hasBody(definition) && definition->getLocation().isValid() &&
         !unit_.sources()
              .getFilename(unit_.sources().getExpansionLoc(definition->getLocation()))
              .contains("warpwright-stub");
}

std::vector<Value> Interpreter::arguments_of(const clang::CallExpr &call, unsigned first) {
  std::vector<Value> values;
  for (unsigned i = first; i < call.getNumArgs(); ++i)
    values.push_back(evaluate(call.getArg(i)));
  while (!values.empty() && values.back().as<Absent>())
    values.pop_back();
  return values;
}

Value Interpreter::run(const clang::FunctionDecl &function, std::vector<Value> arguments,
                       const Module &object) {
  std::vector<Storage> places;
  for (Value &argument : arguments)
    places.push_back(std::make_shared<Value>(std::move(argument)));
  if (!object)
    return inlined(function, std::move(places));
  const Storage before = std::exchange(this_, std::make_shared<Value>(object));
  Value result = inlined(function, std::move(places));
  this_ = before;
  return result;
}

Value Interpreter::inlined(const clang::FunctionDecl &function, std::vector<Storage> arguments) {
  const clang::FunctionDecl *definition = nullptr;
  if (!function.hasBody(definition))
    return refuse("the body of " + function.getNameAsString() + " is not in this file");
  if (++depth_ > kMostDepth)
    return refuse(function.getNameAsString() + " calls itself too deeply");
  const auto before = variables_;
  for (unsigned i = 0; i < definition->getNumParams(); ++i) {
    const clang::ParmVarDecl *parameter = definition->getParamDecl(i);
    const bool given = i < arguments.size() && !arguments[i]->as<Absent>();
    if (!given && parameter->hasDefaultArg() && !parameter->hasUninstantiatedDefaultArg())
      bind(*parameter, std::make_shared<Value>(evaluate(parameter->getDefaultArg())));
    else if (given)
      bind(*parameter, arguments[i]);
  }
  const std::size_t line = line_;
  returned_ = None{};
  const Flow flow = execute(definition->getBody());
  if (flow != Flow::Return && !definition->getReturnType()->isVoidType())
    refuse("what " + function.getNameAsString() +
               " returns cannot be read: it uses something that is not known here",
           line_of(definition->getBody()->getEndLoc()));
  Value result = std::exchange(returned_, None{});
  // Captured variables live on in their storage; a recursive call must not leave its own behind.
  variables_ = before;
  if (!stopped())
    line_ = line;
  --depth_;
  return result;
}

Value Interpreter::called(const clang::CallExpr &call) {
  if (call.getBeginLoc().isValid())
    line_ = line_of(call.getBeginLoc());
  if (llvm::isa<clang::CUDAKernelCallExpr>(call))
    return refuse("the function launches a kernel of its own");
  if (const auto *operation = dyn_cast<clang::CXXOperatorCallExpr>(&call))
    return called_operator(*operation);
  if (const auto *method = dyn_cast<clang::CXXMemberCallExpr>(&call))
    return called_method(*method);
  const clang::Expr *callee = call.getCallee()->IgnoreParenImpCasts();
  if (const auto *member = dyn_cast<clang::CXXDependentScopeMemberExpr>(callee);
      member && !member->isImplicitAccess())
    return method(*member->getBase(), member->getMember().getAsString(), arguments_of(call), call);
  if (const clang::FunctionDecl *function = call.getDirectCallee())
    return called_function(*function, call, 0);
  if (const auto *overloads = dyn_cast<clang::OverloadExpr>(callee))
    return aten(overloads->getName().getAsString(), arguments_of(call));
  return unknown("'" + text_of(call) + "' calls something that is not known");
}

Value Interpreter::called_function(const clang::FunctionDecl &function, const clang::CallExpr &call,
                                   unsigned first_argument) {
  const std::string qualified = function.getQualifiedNameAsString();
  const std::string name = function.getNameAsString();
  if (is_of_file(function)) {
    std::vector<Storage> places;
    for (unsigned i = first_argument; i < call.getNumArgs(); ++i) {
      const unsigned index = i - first_argument;
      const bool by_reference = index < function.getNumParams() &&
                                function.getParamDecl(index)->getType()->isReferenceType();
      Storage place = by_reference ? place_of(call.getArg(i)) : nullptr;
      places.push_back(place ? place : std::make_shared<Value>(evaluate(call.getArg(i))));
    }
    return inlined(function, std::move(places));
  }
  if (name == "ww_check") {
    const Value condition = evaluate(call.getArg(0));
    if (condition.is_number() && *condition.number() == 0)
      return refuse("a check of the function fails at these shapes");
    return None{};
  }
  if (qualified.starts_with("torch::nn::init::"))
    return drawn_at_random("init_", arguments_of(call, first_argument));
  if (is_torch(qualified))
    return aten(name, arguments_of(call, first_argument));
  return called_standard(name, call);
}

Value Interpreter::called_standard(const std::string &name, const clang::CallExpr &call) {
  if (name == "get")
    if (const Storage place = place_of(&call))
      return *place;
  std::vector<Value> arguments = arguments_of(call);
  if (name == "make_shared" || name == "make_unique")
    if (const clang::CXXRecordDecl *type = held_module(call.getType()))
      return make(*type, std::move(arguments));
  if (name == "to_string" && arguments.size() == 1 && arguments.front().integer())
    return std::to_string(*arguments.front().integer());
  if ((name == "dynamic_pointer_cast" || name == "static_pointer_cast") && arguments.size() == 1)
    return arguments.front();
  if (name == "move" || name == "forward")
    return arguments.empty() ? Value(None{}) : arguments.front();
  if (name == "make_tuple" || name == "make_pair" || name == "tie")
    return List(arguments.begin(), arguments.end());
  if (name == "get" && !arguments.empty() && arguments.front().as<List>()) {
    const auto *given = call.getDirectCallee()->getTemplateSpecializationArgs();
    const auto index =
        given && given->size() > 0 && given->get(0).getKind() == clang::TemplateArgument::Integral
            ? given->get(0).getAsIntegral().getExtValue()
            : -1;
    const List &list = *arguments.front().as<List>();
    if (index >= 0 && index < static_cast<std::int64_t>(list.size()))
      return list[static_cast<std::size_t>(index)];
  }
  for (const Value &argument : arguments)
    if (const auto *unknown = argument.as<Unknown>())
      return *unknown;
  if ((name == "max" || name == "min") && arguments.size() == 2 && arguments[0].is_number() &&
      arguments[1].is_number()) {
    const bool second = name == "max" ? *arguments[0].number() < *arguments[1].number()
                                      : *arguments[1].number() < *arguments[0].number();
    return arguments[second];
  }
  if (name == "abs" && arguments.size() == 1 && arguments[0].as<std::int64_t>())
    return std::abs(*arguments[0].integer());
  std::vector<double> numbers;
  for (const Value &argument : arguments)
    if (const auto number = argument.number())
      numbers.push_back(*number);
  if (numbers.size() == arguments.size())
    if (const auto value = mathematics(name, numbers))
      return *value;
  return unknown("'" + text_of(call) + "' calls something that is not known");
}

Value Interpreter::called_operator(const clang::CXXOperatorCallExpr &call) {
  const clang::OverloadedOperatorKind kind = call.getOperator();
  if (kind == clang::OO_Call) {
    const auto *callee = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
    if (held_module(call.getArg(0)->getType())) {
      const Value module = evaluate(call.getArg(0));
      return module.as<Module>() ? forwarded(*module.as<Module>(), arguments_of(call, 1))
                                 : refuse("'" + text_of(call) + "' calls an empty module");
    }
    return callee && is_of_file(*callee)
               ? called_function(*callee, call, 1)
               : unknown("'" + text_of(call) + "' calls something that is not known");
  }
  if (kind == clang::OO_Equal) {
    const Value value = evaluate(call.getArg(1));
    const clang::Expr *target = call.getArg(0)->IgnoreParenImpCasts();
    if (const Storage place = place_of(target)) {
      *place = value;
      return value;
    }
    const auto *tied = dyn_cast<clang::CallExpr>(target);
    if (tied && tied->getDirectCallee() && tied->getDirectCallee()->getName() == "tie") {
      const List list = value.as<List>() ? *value.as<List>() : List{};
      for (unsigned i = 0; i < tied->getNumArgs(); ++i)
        if (const Storage place = place_of(tied->getArg(i)))
          *place = i < list.size() ? list[i] : value;
      return value;
    }
    // What a view gives is no variable: assigning to it writes elements.
    const Value view = evaluate(target);
    return view.as<Tensor>() ? aten("copy_", {view, value})
                             : refuse("'" + text_of(call) + "' cannot be followed");
  }
  const Value left = evaluate(call.getArg(0));
  if (call.getNumArgs() == 1) {
    if (left.as<Tensor>() && kind == clang::OO_Minus)
      return aten("neg", {left});
    if (left.as<Tensor>() && (kind == clang::OO_Tilde || kind == clang::OO_Exclaim))
      return aten("logical_not", {left});
    return left; // * of an optional
  }
  const Value right = evaluate(call.getArg(1));
  if (left.as<std::string>() && right.as<std::string>() && kind == clang::OO_Plus)
    return *left.as<std::string>() + *right.as<std::string>();
  if (kind == clang::OO_Subscript) {
    if (const auto *tensor = left.as<Tensor>())
      return indexed(*tensor, right);
    if (const auto *module = left.as<Module>())
      return module_method(*module, "operator[]", {right}, call);
    const auto *list = left.as<List>();
    const auto index = right.integer();
    if (list && index && *index >= 0 && *index < static_cast<std::int64_t>(list->size()))
      return (*list)[static_cast<std::size_t>(*index)];
    return unknown("'" + text_of(call) + "' is not known");
  }
  const std::string name = binary_operator(kind);
  if (left.is_number() && right.as<Tensor>() && (name == "add" || name == "mul"))
    return aten(name, {right, left});
  if ((left.as<Tensor>() || right.as<Tensor>()) && !name.empty())
    return aten(call.isAssignmentOp() ? name + "_" : name, {left, right});
  if (kind == clang::OO_EqualEqual || kind == clang::OO_ExclaimEqual)
    if (const auto equal = same(left, right))
      return *equal == (kind == clang::OO_EqualEqual);
  for (const Value &value : {left, right})
    if (const auto *unknown = value.as<Unknown>())
      return *unknown;
  return unknown("'" + text_of(call) + "' cannot be followed");
}

Value Interpreter::called_method(const clang::CXXMemberCallExpr &call) {
  const clang::CXXMethodDecl *callee = call.getMethodDecl();
  const clang::Expr *object = call.getImplicitObjectArgument();
  if (!callee || !object)
    return unknown("'" + text_of(call) + "' calls something that is not known");
  if (is_of_file(*callee)) {
    const Storage before = this_;
    const Storage place = place_of(object);
    this_ = place ? place : std::make_shared<Value>(evaluate(object));
    const Value result = called_function(*callee, call, 0);
    this_ = before;
    return result;
  }
  const bool is_conversion = llvm::isa<clang::CXXConversionDecl>(callee);
  if (callee->getNameAsString() == "is_empty" && held_module(object->getType()) &&
      !is_torch_module(*callee->getParent())) // of a holder
    return evaluate(object).as<Module>() == nullptr;
  return method(*object, is_conversion ? "" : callee->getNameAsString(), arguments_of(call), call);
}

Value Interpreter::method(const clang::Expr &object, const std::string &name,
                          std::vector<Value> arguments, const clang::Expr &whole) {
  const Storage place = place_of(&object);
  const Value value = place ? *place : evaluate(&object);
  line_ = line_of(whole.getBeginLoc().isValid() ? whole.getBeginLoc() : object.getBeginLoc());
  if (value.as<Unknown>())
    return value;
  if (const auto *tensor = value.as<Tensor>()) {
    if (name == "value" || name == "value_or" || name.empty())
      return name.empty() ? Value(true) : value;
    if (name == "has_value")
      return true;
    if (auto known = property(*tensor, name, arguments))
      return *known;
    arguments.insert(arguments.begin(), value);
    return aten(name, std::move(arguments));
  }
  if (const auto *module = value.as<Module>())
    return module_method(*module, name, std::move(arguments), whole);
  if (value.as<None>()) {
    if (name == "get" || name == "ptr")
      return value;
    if (name == "defined" || name == "has_value" || name.empty())
      return false;
    if (name == "value_or" && arguments.size() == 1)
      return arguments.front();
    return refuse("'" + text_of(whole) + "' uses a tensor that is not given");
  }
  if (name == "has_value")
    return true;
  if (const auto *list = value.as<List>())
    return list_method(place, *list, name, arguments);
  if (const auto *fields = value.as<Fields>()) {
    Fields set = *fields;
    set[name] = arguments.empty() ? Value(true) : arguments.front();
    if (place)
      *place = set;
    return set;
  }
  if (const auto *text = value.as<std::string>(); text && text->starts_with("k"))
    return unknown("'" + text_of(whole) + "' is not known");
  if (const auto *text = value.as<std::string>()) // of a device
    return name == "is_cuda" ? Value(*text == "cuda")
                             : unknown("'" + text_of(whole) + "' is not known");
  if (arguments.empty())
    return value; // a number that converts: value(), to<double>(), toDouble()
  return unknown("'" + text_of(whole) + "' cannot be followed");
}

Value Interpreter::list_method(const Storage &place, List list, const std::string &name,
                               const std::vector<Value> &arguments) {
  if (name == "size")
    return static_cast<std::int64_t>(list.size());
  if (name == "empty")
    return list.empty();
  if (name == "vec" || name == "value" || name.empty())
    return list;
  if (name == "reserve" || name == "shrink_to_fit")
    return None{};
  if ((name == "push_back" || name == "emplace_back") && place && arguments.size() == 1) {
    place->as<List>()->push_back(arguments.front());
    return None{};
  }
  if ((name == "clear" || name == "pop_back") && place) {
    List &kept = *place->as<List>();
    if (name == "clear")
      kept.clear();
    else if (!kept.empty())
      kept.pop_back();
    return None{};
  }
  const std::int64_t index = name == "back"    ? static_cast<std::int64_t>(list.size()) - 1
                             : name == "front" ? 0
                             : name == "at" && arguments.size() == 1
                                 ? arguments.front().integer().value_or(-1)
                                 : -1;
  if (index >= 0 && index < static_cast<std::int64_t>(list.size()))
    return list[static_cast<std::size_t>(index)];
  return unknown("'" + name + "' of a list cannot be followed");
}

} // namespace warpwright::generator::torch_cpp
