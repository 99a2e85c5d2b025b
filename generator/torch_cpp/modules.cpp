// Modules: objects of classes that derive from torch::nn::Module, made as their constructors say and called as their forward does.
//
// Constructors run like functions; what they draw at random is a placeholder, for parameters become leaves of the graph whatever is in them.
#include "generator/torch_cpp/interpreter.h"
#include "generator/torch_cpp/library_modules.h"
#include "generator/torch_cpp/module_classes.h"

#include <algorithm>

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

constexpr std::string_view kLibrary = "torch::nn::";

/// "Linear" of torch::nn::LinearImpl; empty for a class that is not of the library.
std::string library_name(const std::string &type) {
  if (!type.starts_with(kLibrary) || !type.ends_with("Impl"))
    return {};
  return type.substr(kLibrary.size(), type.size() - kLibrary.size() - 4);
}

bool takes(const clang::ParmVarDecl &parameter, const Value &value) {
  const clang::QualType type = parameter.getType().getNonReferenceType();
  return type->isArithmeticType() || type->isEnumeralType()
             ? value.is_number() || value.as<Unknown>()
             : !value.is_number() || type->getAsCXXRecordDecl() != nullptr;
}

/// The constructor that a call with these arguments means; null: none can be told.
const clang::CXXConstructorDecl *chosen(const clang::CXXRecordDecl &type,
                                        const std::vector<Value> &arguments) {
  for (const clang::CXXConstructorDecl *one : type.ctors()) {
    if (one->isCopyOrMoveConstructor() || one->isDeleted() ||
        arguments.size() < one->getMinRequiredArguments() || arguments.size() > one->getNumParams())
      continue;
    bool fits = true;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      fits &= takes(*one->getParamDecl(static_cast<unsigned>(i)), arguments[i]);
    if (fits)
      return one;
  }
  return nullptr;
}

} // namespace

std::vector<Value> Interpreter::evaluated_all(llvm::ArrayRef<const clang::Expr *> expressions) {
  std::vector<Value> values;
  for (const clang::Expr *expression : expressions)
    if (!llvm::isa<clang::CXXDefaultArgExpr>(expression))
      values.push_back(evaluate(expression));
  return values;
}

Value Interpreter::make(const clang::CXXRecordDecl &type, std::vector<Value> arguments) {
  const auto object = std::make_shared<Object>();
  object->type = type.getQualifiedNameAsString();
  ++making_;
  if (is_of_library(type)) {
    const std::string name = library_name(object->type);
    if (name == "Sequential" || name == "ModuleList") {
      const bool named = arguments.size() == 1 && arguments.front().as<List>();
      const List items = named ? *arguments.front().as<List>() : std::move(arguments);
      for (const Value &item : items) {
        const List *pair = item.as<List>(); // {"name", module}
        add_child(*object, pair ? *pair : List{item});
      }
    } else if (const LibraryModule *kind = find_library_module(name)) {
      auto options = options_of(*kind, arguments);
      if (!options)
        refuse("torch::nn::" + name + " is made with something that is not known here");
      else
        object->members = std::move(*options);
      ModuleMaker maker(graph_, *object);
      if (options && kind->hold)
        kind->hold(maker);
      if (!maker.refusal().empty())
        refuse("torch::nn::" + name + ": " + maker.refusal());
    } else {
      refuse("torch::nn::" + name + " is not known here");
    }
  } else {
    object->class_ = type.getDefinition();
    construct(object, *object->class_, std::move(arguments));
  }
  --making_;
  return object;
}

Value Interpreter::made_module(const clang::CXXConstructExpr &construction,
                               const clang::CXXRecordDecl &type, std::vector<Value> arguments) {
  if (arguments.size() == 1 && (arguments.front().as<Module>() || arguments.front().as<None>() ||
                                arguments.front().as<Unknown>()))
    return arguments.front();
  const clang::CXXRecordDecl *made = construction.getConstructor()->getParent();
  const bool is_pointer = made->getName() == "shared_ptr" || made->getName() == "unique_ptr";
  return is_pointer && arguments.empty() ? Value(None{}) : make(type, std::move(arguments));
}

void Interpreter::construct(const Module &object, const clang::CXXRecordDecl &type,
                            std::vector<Value> arguments) {
  const clang::CXXConstructorDecl *constructor = chosen(type, arguments);
  const clang::FunctionDecl *definition = nullptr;
  if (constructor && constructor->hasBody(definition))
    return initialise(object, *llvm::cast<clang::CXXConstructorDecl>(definition),
                      std::move(arguments));
  if (!arguments.empty())
    refuse("which constructor of " + type.getNameAsString() + " runs cannot be told");
  else
    initialise_by_default(object, type);
}

void Interpreter::initialise(const Module &object, const clang::CXXConstructorDecl &constructor,
                             std::vector<Value> arguments) {
  const auto before = variables_;
  const Storage this_before = std::exchange(this_, std::make_shared<Value>(object));
  for (unsigned i = 0; i < constructor.getNumParams(); ++i) {
    const clang::ParmVarDecl *parameter = constructor.getParamDecl(i);
    if (i < arguments.size() && !arguments[i].as<Absent>())
      bind(*parameter, std::make_shared<Value>(std::move(arguments[i])));
    else if (parameter->hasDefaultArg() && !parameter->hasUninstantiatedDefaultArg())
      bind(*parameter, std::make_shared<Value>(evaluate(parameter->getDefaultArg())));
  }
  for (const clang::CXXCtorInitializer *one : constructor.inits()) {
    if (one->isAnyMemberInitializer()) {
      object->members[one->getAnyMember()->getNameAsString()] = evaluate(one->getInit());
      continue;
    }
    const clang::Expr *initial = one->getInit()->IgnoreImplicit();
    const auto *base = dyn_cast<clang::CXXConstructExpr>(initial);
    const clang::CXXRecordDecl *type = base ? base->getConstructor()->getParent() : nullptr;
    if (type && !is_of_library(*type))
      construct(object, *type,
                evaluated_all({base->getArgs(), static_cast<std::size_t>(base->getNumArgs())}));
  }
  execute(constructor.getBody());
  this_ = this_before;
  variables_ = before;
}

void Interpreter::initialise_by_default(const Module &object, const clang::CXXRecordDecl &type) {
  const Storage this_before = std::exchange(this_, std::make_shared<Value>(object));
  for (const clang::CXXBaseSpecifier &base : type.bases())
    if (const clang::CXXRecordDecl *parent = base.getType()->getAsCXXRecordDecl();
        parent && parent->hasDefinition() && !is_of_library(*parent))
      construct(object, *parent->getDefinition(), {});
  for (const clang::FieldDecl *field : type.fields())
    object->members[field->getNameAsString()] =
        field->hasInClassInitializer() ? evaluate(field->getInClassInitializer()) : Value(None{});
  this_ = this_before;
}

Value Interpreter::forwarded(const Module &module, std::vector<Value> arguments) {
  if (!module->class_)
    return forwarded_of_library(*module, std::move(arguments));
  const clang::CXXMethodDecl *forward = forward_of(*module->class_, arguments.size());
  if (!forward)
    return refuse(module->type + " has no forward that can be followed");
  return run(*forward, std::move(arguments), module);
}

Value Interpreter::forwarded_of_library(const Object &module, std::vector<Value> arguments) {
  const std::string name = library_name(module.type);
  if (name == "Sequential") {
    for (const Value &child : module.children) {
      const Module *next = child.as<Module>();
      Value result = next ? forwarded(*next, std::move(arguments)) : child;
      arguments = {std::move(result)};
    }
    return arguments.empty() ? Value(None{}) : arguments.front();
  }
  const LibraryModule *kind = find_library_module(name);
  const Operator *function = kind ? find_operator(kind->function) : nullptr;
  if (kind && kind->function.empty())
    return arguments.empty() ? Value(None{}) : arguments.front();
  if (!function)
    return refuse("torch::nn::" + name + " is not known here");
  for (const Value &argument : arguments)
    if (const auto *unknown = argument.as<Unknown>())
      return *unknown;
  Fields given = module.members;
  for (const char *tensor : {"weight", "bias"})
    if (const auto held = given.find(tensor); held != given.end() && !held->second.as<Tensor>())
      given.erase(held); // whether there is one
  if (const auto mode = given.find("padding_mode"); mode != given.end()) {
    if (mode->second.as<std::string>() && *mode->second.as<std::string>() != "kZeros")
      return refuse("torch::nn::" + name + ": its padding_mode is not zeros");
    given.erase(mode);
  }
  if (name == "Flatten")
    given.emplace("start_dim", std::int64_t{1});
  if (kind->takes_weight_first)
    arguments.insert(arguments.begin(), given.extract("weight").mapped());
  given["training"] =
      training_ || (name.starts_with("BatchNorm") && !given.contains("running_mean"));
  arguments.emplace_back(std::move(given));
  return aten_bound(std::string(kind->function), *function, std::move(arguments));
}

Value Interpreter::module_method(const Module &module, const std::string &name,
                                 std::vector<Value> arguments, const clang::Expr &whole) {
  List &children = module->children;
  if (name == "forward" || name == "operator()")
    return forwarded(module, std::move(arguments));
  if (name.starts_with("register_"))
    return registered(*module, name, std::move(arguments));
  if (name == "is_training")
    return training_;
  if (name == "size")
    return static_cast<std::int64_t>(children.size());
  if (name == "is_empty")
    return children.empty();
  if (name == "push_back" && !arguments.empty())
    return add_child(*module, arguments);
  if ((name == "ptr" || name == "at" || name == "operator[]") && !arguments.empty()) {
    const auto index = arguments.front().integer();
    if (index && *index >= 0 && *index < static_cast<std::int64_t>(children.size()))
      return children[static_cast<std::size_t>(*index)];
    return unknown("a module of a list is not known");
  }
  if (name == "ptr" || name == "get" || name == "value" || name == "shared_from_this")
    return module;
  if (name == "as")
    return module; // what it is not would be null, and is taken for a mistake of the user
  if (name.empty())
    return true;
  if (making_ > 0 && (name == "reset" || name == "reset_parameters" || name == "train" ||
                      name == "eval" || name == "zero_grad"))
    return None{};
  if (name == "parameters" || name == "children" || name == "modules") {
    List list;
    for (const Object::Registered &one : module->registered)
      if ((name == "parameters") == (one.value.as<Tensor>() != nullptr) && !one.is_buffer)
        list.push_back(one.value);
    return list;
  }
  return refuse("'" + text_of(whole) + "' of a module cannot be followed");
}

Value Interpreter::add_child(Object &list, const std::vector<Value> &arguments) {
  const std::string *named = arguments.front().as<std::string>();
  if (!arguments.back().as<Module>())
    return refuse("a list of modules is given something that is no module known here");
  list.registered.push_back(
      {named ? *named : std::to_string(list.children.size()), arguments.back()});
  list.children.push_back(arguments.back());
  return None{};
}

Value Interpreter::registered(Object &object, const std::string &name,
                              std::vector<Value> arguments) {
  const auto *label = arguments.empty() ? nullptr : arguments.front().as<std::string>();
  if (!label || arguments.size() < 2)
    return refuse(name + " is given a name that is not known here");
  const Value &value = arguments[1];
  const bool is_tensor = name != "register_module";
  if (const auto *unknown = value.as<Unknown>())
    return refuse(name + "(\"" + *label + "\"): " + unknown->why, unknown->line);
  if (is_tensor ? value.as<Tensor>() != nullptr : value.as<Module>() != nullptr)
    object.registered.push_back({*label, value, name == "register_buffer"});
  else if (!value.as<None>())
    return refuse(name + "(\"" + *label + "\") is given something else");
  return value;
}

Value Interpreter::drawn_at_random(const std::string &name, const std::vector<Value> &arguments) {
  std::optional<model::Shape> shape;
  model::Dtype dtype = model::Dtype::Float32;
  const Tensor *like = nullptr;
  for (const Value &argument : arguments) {
    if (argument.as<Tensor>() && !like)
      like = argument.as<Tensor>();
    if (argument.as<List>() || (argument.integer() && !shape && !name.starts_with("randint")))
      shape = argument.integers();
    const auto *fields = argument.as<Fields>();
    if (fields && fields->contains("dtype") && fields->at("dtype").as<model::Dtype>())
      dtype = *fields->at("dtype").as<model::Dtype>();
    if (argument.as<model::Dtype>())
      dtype = *argument.as<model::Dtype>();
  }
  if (like) {
    shape = graph_.shape((*like)->read());
    dtype = graph_.dtype((*like)->read());
  }
  if (!shape)
    return refuse("what the constructor draws has a shape that is not known: " + name);
  const std::string node = placeholder(graph_, dtype, *shape);
  const std::string &scalar =
      graph_.node(node).op == "expand" ? graph_.node(node).inputs.front() : node;
  drawn_.insert(scalar);
  if (!name.ends_with("_"))
    return Tensor(new Tracked{node});
  if (!like || !(*like)->write(node))
    return refuse(name + " writes to something that is no tensor of its own");
  return arguments.front();
}

} // namespace warpwright::generator::torch_cpp
