// Inputs of a function call: first from the comment, then from the checks, then from defaults.
#include "analysis/torch_cpp/module_classes.h"

#include "support/words.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <cmath>

namespace warpwright::analysis::torch_cpp {
namespace {

using model::Distribution;

class Reader {
public:
  /// @param described the declaration below the comment
  Reader(const ParsedUnit &unit, const clang::NamedDecl &described,
         const Spec &extra)
      : unit_(unit) {
    const CommentSpec above = spec_above(unit, described);
    result_.error = above.error;
    if (result_.error)
      result_.missing.push_back({"spec", result_.error->message});
    spec_ = above.spec;
    merge(spec_, extra);
  }

  const Spec &spec() const { return spec_; }

  /// The constructor's arguments: numbers, flags, texts and lists of numbers. A parameter with a
  /// default that nothing else sets is omitted.
  /// @param seen arguments of the file's first construction of an object
  std::vector<Input> constructor(const clang::CXXConstructorDecl &constructor,
                                 const std::vector<Value> &seen) {
    const std::size_t before = result_.inputs.size();
    for (unsigned i = 0; i < constructor.getNumParams(); ++i) {
      const clang::ParmVarDecl &parameter = *constructor.getParamDecl(i);
      const std::string name = parameter.getNameAsString();
      const bool stated = spec_.sizes.contains(name) || spec_.scalars.contains(name);
      if (!stated && i < seen.size())
        result_.inputs.push_back({.name = name, .value = seen[i]});
      else if (!stated && parameter.hasDefaultArg())
        result_.inputs.push_back({.name = name, .value = Absent{}});
      else
        scalar(name, parameter);
    }
    const auto first = result_.inputs.begin() + static_cast<std::ptrdiff_t>(before);
    std::vector<Input> given(std::make_move_iterator(first),
                             std::make_move_iterator(result_.inputs.end()));
    result_.inputs.resize(before);
    return given;
  }

  void assume(const std::string &text) { result_.assumptions.push_back(text); }

  Inputs read(const clang::FunctionDecl &function) {
    checked_ = shapes_from_checks(unit_, function, stated_shapes(), spec_.sizes);
    for (const clang::ParmVarDecl *parameter : function.parameters()) {
      const std::string name = parameter->getNameAsString();
      if (name.empty())
        result_.missing.push_back({"parameter", "What is the parameter without a name called?"});
      else if (is_tensor(parameter->getType()) ||
               (is_optional_tensor(parameter->getType()) && spec_.buffers.contains(name)))
        tensor(name);
      else
        scalar(name, *parameter);
    }
    result_.comment = comment();
    return std::move(result_);
  }

private:
  std::map<std::string, ShapeFacts> stated_shapes() const {
    std::map<std::string, ShapeFacts> facts;
    for (const auto &[name, buffer] : spec_.buffers) {
      ShapeFacts &known = facts[name];
      known.dtype = buffer.dtype;
      if (!buffer.shape)
        continue;
      known.rank = static_cast<std::int64_t>(buffer.shape->size());
      for (std::size_t dim = 0; dim < buffer.shape->size(); ++dim)
        if (const auto extent = (*buffer.shape)[dim].evaluate(spec_.sizes))
          known.extents[static_cast<std::int64_t>(dim)] = *extent;
    }
    return facts;
  }

  void tensor(const std::string &name) {
    const ShapeFacts facts = checked_[name];
    Input input{.name = name, .is_tensor = true};
    input.type.dtype = facts.dtype.value_or(model::Dtype::Float32);
    std::string shape = "?";
    bool known = facts.rank.has_value();
    if (facts.rank) {
      shape.clear();
      for (std::int64_t dim = 0; dim < *facts.rank; ++dim) {
        const auto extent = facts.extents.find(dim);
        known &= extent != facts.extents.end() && extent->second >= 0;
        input.type.shape.push_back(extent == facts.extents.end() ? 0 : extent->second);
        shape +=
            (dim ? ", " : "") +
            (extent == facts.extents.end() ? std::string("?") : std::to_string(extent->second));
      }
    }
    if (!known)
      result_.missing.push_back({name + ".shape", "What shape does " + name + " have?"});
    else if (!facts.dtype)
      result_.assumptions.push_back(name + " is float, as nothing says otherwise");
    if (const auto stated = spec_.buffers.find(name);
        stated != spec_.buffers.end() && stated->second.distribution)
      input.distribution = in_numbers(*stated->second.distribution);
    else if (!model::is_floating(input.type.dtype))
      input.distribution = {
          .kind = Distribution::Kind::Integers,
          .lower = symbolic::Expression(0),
          .upper = symbolic::Expression(input.type.dtype == model::Dtype::Bool ? 2 : 10)};
    items_.push_back(name + ": " + type_name(input.type.dtype) + "[" + shape + "]");
    result_.inputs.push_back(std::move(input));
  }

  Distribution in_numbers(Distribution distribution) const {
    distribution.lower = symbolic::Expression(distribution.lower.evaluate(spec_.sizes).value_or(0));
    distribution.upper = symbolic::Expression(distribution.upper.evaluate(spec_.sizes).value_or(1));
    return distribution;
  }

  void scalar(const std::string &name, const clang::ParmVarDecl &parameter) {
    Input input{.name = name};
    const clang::QualType type = parameter.getType().getNonReferenceType();
    const auto whole = spec_.sizes.find(name);
    const auto real = spec_.scalars.find(name);
    const bool floats = type->isFloatingType();
    if (whole != spec_.sizes.end() && type->isBooleanType())
      input.value = whole->second != 0;
    else if (whole != spec_.sizes.end() && !floats)
      input.value = whole->second;
    else if (whole != spec_.sizes.end())
      input.value = static_cast<double>(whole->second);
    else if (real != spec_.scalars.end())
      input.value = real->second;
    else if (parameter.hasDefaultArg() && !parameter.hasUninstantiatedDefaultArg())
      input.value = default_of(name, *parameter.getDefaultArg());
    else if (is_optional_tensor(parameter.getType())) {
      input.value = None{};
      result_.assumptions.push_back(name + " is not given");
    }
    if (floats && input.value.as<std::int64_t>())
      input.value = *input.value.number();
    if (!input.value.is_number() && !input.value.as<None>()) {
      result_.missing.push_back({name, "What value does " + name + " have?"});
      items_.push_back(name + " = ?");
    }
    result_.inputs.push_back(std::move(input));
  }

  Value default_of(const std::string &name, const clang::Expr &expression) {
    const Value value = constant(unit_, expression);
    if (value.is_number() || value.as<None>())
      result_.assumptions.push_back(name + " has its default");
    return value;
  }

  std::string comment() const {
    return "// warpwright: " + joined(items_, ", ") + "\n";
  }

  const ParsedUnit &unit_;
  Spec spec_;
  std::map<std::string, ShapeFacts> checked_;
  std::vector<std::string> items_;
  Inputs result_;
};

std::string torch_dtype(model::Dtype dtype) { return "torch." + std::string(model::name(dtype)); }

std::string python_number(double value) {
  if (std::isnan(value))
    return "float('nan')";
  if (std::isinf(value))
    return value > 0 ? "float('inf')" : "-float('inf')";
  return exact_number(value);
}

/// A torch expression that draws a tensor input.
std::string drawn(const Input &input) {
  std::string shape = "[";
  for (std::size_t i = 0; i < input.type.shape.size(); ++i)
    shape += (i ? ", " : "") + std::to_string(input.type.shape[i]);
  shape += "]";
  const std::string as =
      input.type.dtype == model::Dtype::Float32 ? "" : ".to(" + torch_dtype(input.type.dtype) + ")";
  switch (input.distribution.kind) {
  case Distribution::Kind::Uniform:
    return "torch.rand(" + shape + ")" + as;
  case Distribution::Kind::Positive:
    return "(torch.rand(" + shape + ") + 0.5)" + as;
  case Distribution::Kind::Zeros:
    return "torch.zeros(" + shape + ")" + as;
  case Distribution::Kind::Integers:
    return "torch.randint(" + std::to_string(input.distribution.lower.evaluate({}).value_or(0)) +
           ", " + std::to_string(input.distribution.upper.evaluate({}).value_or(256)) + ", " +
           shape + ").to(" + torch_dtype(input.type.dtype) + ")";
  default:
    return "torch.randn(" + shape + ")" + as;
  }
}

std::string written(const Value &value) {
  if (const auto *flag = value.as<bool>())
    return *flag ? "True" : "False";
  if (const auto *integer = value.as<std::int64_t>())
    return std::to_string(*integer);
  if (const auto *real = value.as<double>())
    return python_number(*real);
  if (const auto *text = value.as<std::string>())
    return "'" + *text + "'";
  if (value.as<List>())
    if (const auto numbers = value.integers()) {
      std::string list = "[";
      for (std::size_t i = 0; i < numbers->size(); ++i)
        list += (i ? ", " : "") + std::to_string((*numbers)[i]);
      return list + "]";
    }
  return "None";
}

/// Finds the first construction of a class's object from known values: `Net net(784, 10);`.
class Makings : public clang::RecursiveASTVisitor<Makings> {
public:
  Makings(const ParsedUnit &unit, const clang::CXXRecordDecl &type)
      : unit_(unit), type_(type.getCanonicalDecl()) {}
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *made) {
    take(made->getType(), {made->getArgs(), made->getNumArgs()}, made->getBeginLoc());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (callee && callee->getIdentifier() && callee->getName() == "make_shared")
      take(call->getType(), {call->getArgs(), call->getNumArgs()}, call->getBeginLoc());
    return true;
  }

  std::vector<Value> arguments; ///< arguments of the first construction
  std::size_t line = 0;

private:
  void take(clang::QualType type, llvm::ArrayRef<clang::Expr *> given,
            clang::SourceLocation place) {
    const clang::CXXRecordDecl *held = held_module(type);
    if (!held || held->getCanonicalDecl() != type_ || !arguments.empty())
      return;
    std::vector<Value> values;
    for (const clang::Expr *argument : given)
      if (!llvm::isa<clang::CXXDefaultArgExpr>(argument))
        values.push_back(constant(unit_, *argument));
    for (const Value &value : values)
      if (!value.is_number() && !value.as<std::string>() && !(value.as<List>() && value.integers()))
        return;
    arguments = std::move(values);
    line = unit_.sources().getExpansionLineNumber(place);
  }

  const ParsedUnit &unit_;
  const clang::CXXRecordDecl *type_;
};

std::string qualified_name(const clang::NamedDecl &declaration) {
  std::string name = declaration.getQualifiedNameAsString();
  for (const std::string nameless = "(anonymous namespace)::";;) {
    const std::size_t at = name.find(nameless);
    if (at == std::string::npos)
      return name;
    name.erase(at, nameless.size());
  }
}

std::string python_list(const std::vector<Input> &inputs) {
  std::string list = "[";
  for (const Input &input : inputs)
    list += (list.size() > 1 ? ", " : "") + (input.is_tensor ? drawn(input) : written(input.value));
  return list + "]";
}

} // namespace

Inputs inputs_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                 const Spec &extra) {
  return Reader(unit, function, extra).read(function);
}

ModuleInputs inputs_of(const ParsedUnit &unit, const ModuleClass &module,
                       const Spec &extra) {
  Reader reader(unit, *module.type, extra);
  ModuleInputs inputs;
  if (const clang::CXXConstructorDecl *constructor = constructor_of(*module.type)) {
    Makings makings(unit, *module.type);
    for (clang::Decl *declaration : unit.top_level_declarations())
      makings.TraverseDecl(declaration);
    inputs.init = reader.constructor(*constructor, makings.arguments);
    if (makings.line > 0)
      reader.assume("it is made as in line " + std::to_string(makings.line));
  }
  const auto training = reader.spec().sizes.find("training");
  inputs.training = training != reader.spec().sizes.end() && training->second != 0;
  if (training == reader.spec().sizes.end())
    reader.assume("it is in evaluation mode, as nothing says otherwise (training = 1)");
  inputs.call = reader.read(*module.forward);
  return inputs;
}

model::TorchModule module_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                             const std::vector<Input> &inputs) {
  return {.language = "cpp",
          .source = unit.file().text,
          .model = qualified_name(function),
          .inputs = python_list(inputs),
          .init_inputs = "[]",
          .mode = model::ModuleMode::Eval};
}

model::TorchModule module_of(const ParsedUnit &unit, const ModuleClass &module,
                             const ModuleInputs &inputs) {
  std::vector<Input> init = inputs.init;
  while (!init.empty() && init.back().value.as<Absent>())
    init.pop_back();
  return {.language = "cpp",
          .source = unit.file().text,
          .model = "struct " + qualified_name(*module.type),
          .inputs = python_list(inputs.call.inputs),
          .init_inputs = python_list(init),
          .mode = inputs.training ? model::ModuleMode::Train : model::ModuleMode::Eval};
}

} // namespace warpwright::analysis::torch_cpp
