#include "generator/torch_cpp/module_classes.h"

#include "generator/torch_cpp/graph_leaves.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <set>

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

constexpr const char *kKept = "forward_as_written";

/// Definitions of module classes in the main file, namespaces entered.
class Classes : public clang::RecursiveASTVisitor<Classes> {
public:
  explicit Classes(const clang::SourceManager &sources) : sources_(sources) {}
  bool VisitCXXRecordDecl(clang::CXXRecordDecl *type) {
    const clang::SourceLocation place = sources_.getExpansionLoc(type->getLocation());
    if (type->isThisDeclarationADefinition() && !type->isDependentContext() &&
        !type->getDescribedClassTemplate() && !type->isImplicit() && type->getIdentifier() &&
        sources_.getFileID(place) == sources_.getMainFileID() && is_torch_module(*type))
      found.push_back(type);
    return true;
  }
  bool TraverseStmt(clang::Stmt *) { return true; }

  std::vector<const clang::CXXRecordDecl *> found;

private:
  const clang::SourceManager &sources_;
};

/// Module classes that a class's members and methods speak of.
class Parts : public clang::RecursiveASTVisitor<Parts> {
public:
  bool VisitFieldDecl(clang::FieldDecl *field) { return add(field->getType()); }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *made) { return add(made->getType()); }
  bool VisitCallExpr(clang::CallExpr *call) {
    return call->containsErrors() || call->isTypeDependent() || add(call->getType());
  }

  std::set<const clang::CXXRecordDecl *> types;

private:
  bool add(clang::QualType type) {
    if (const clang::CXXRecordDecl *held = held_module(type))
      types.insert(held->getCanonicalDecl());
    return true;
  }
};

std::set<const clang::CXXRecordDecl *> parts_of(const clang::CXXRecordDecl &type) {
  Parts parts;
  for (const clang::FieldDecl *field : type.fields())
    parts.TraverseDecl(const_cast<clang::FieldDecl *>(field));
  for (const clang::CXXMethodDecl *method : type.methods()) {
    const clang::FunctionDecl *definition = nullptr;
    if (method->hasBody(definition))
      parts.TraverseDecl(const_cast<clang::FunctionDecl *>(definition));
  }
  for (const clang::CXXBaseSpecifier &base : type.bases())
    if (const clang::CXXRecordDecl *parent = base.getType()->getAsCXXRecordDecl())
      parts.types.insert(parent->getCanonicalDecl());
  parts.types.erase(type.getCanonicalDecl());
  return parts.types;
}

const clang::CXXMethodDecl *method_named(const clang::CXXRecordDecl &type, llvm::StringRef name) {
  const clang::CXXMethodDecl *found = nullptr;
  for (const clang::CXXMethodDecl *method : type.methods()) {
    if (!method->getIdentifier() || method->getName() != name)
      continue;
    const clang::FunctionDecl *definition = nullptr;
    if (found || !method->hasBody(definition))
      return nullptr; // overloads, or a body elsewhere
    found = llvm::cast<clang::CXXMethodDecl>(definition);
  }
  return found;
}

/// What an object holds, by where it is reached from.
class Reach {
public:
  explicit Reach(const Module &object) { members(*object, "", true); }
  std::map<const Tracked *, std::string> paths;
  std::vector<std::pair<std::string, std::string>> numbers;

private:
  void members(const Object &object, const std::string &prefix, bool is_self) {
    if (!seen_.insert(&object).second)
      return;
    if (object.class_) {
      fields(object, *object.class_, prefix, is_self);
    } else {
      for (const auto &[name, value] : object.members)
        if (const auto *tensor = value.as<Tensor>())
          paths.emplace(tensor->get(), prefix + name);
    }
    for (std::size_t i = 0; i < object.children.size(); ++i)
      if (const Module *child = object.children[i].as<Module>())
        members(**child, prefix + "at<::" + (*child)->type + ">(" + std::to_string(i) + ").",
                false);
  }

  void fields(const Object &object, const clang::CXXRecordDecl &type, const std::string &prefix,
              bool is_self) {
    for (const clang::CXXBaseSpecifier &base : type.bases())
      if (const clang::CXXRecordDecl *parent = base.getType()->getAsCXXRecordDecl();
          parent && parent->hasDefinition() && !is_of_library(*parent))
        fields(object, *parent->getDefinition(), prefix, false);
    for (const clang::FieldDecl *field : type.fields())
      if (const auto value = object.members.find(field->getNameAsString());
          value != object.members.end() && (is_self || field->getAccess() == clang::AS_public))
        reach(value->second, prefix + value->first, field->getType());
  }

  void reach(const Value &value, const std::string &path, clang::QualType type) {
    if (const auto *tensor = value.as<Tensor>())
      paths.emplace(tensor->get(), path);
    if (value.is_number())
      numbers.emplace_back(path, cpp_literal(value));
    if (const auto *module = value.as<Module>()) {
      const clang::CXXRecordDecl *held = held_module(type);
      if (held && held->getQualifiedNameAsString() == (*module)->type)
        members(**module, path + "->", false);
    }
    const auto *list = value.as<List>();
    const auto *record =
        llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (!list || !record || record->getTemplateArgs().size() == 0 ||
        record->getTemplateArgs().get(0).getKind() != clang::TemplateArgument::Type)
      return;
    for (std::size_t i = 0; i < list->size(); ++i)
      reach((*list)[i], path + "[" + std::to_string(i) + "]",
            record->getTemplateArgs().get(0).getAsType());
  }

  std::set<const Object *> seen_;
};

/// Parameters, or buffers, as named_parameters() and named_buffers() list them.
void list_state(const Object &object, const std::string &prefix, bool buffers,
                std::vector<std::pair<std::string, Tensor>> &found, int depth = 0) {
  constexpr int kMostDepth = 32;
  for (const Object::Registered &one : object.registered)
    if (const auto *tensor = one.value.as<Tensor>(); tensor && one.is_buffer == buffers)
      found.emplace_back(prefix + one.name, *tensor);
  for (const Object::Registered &one : object.registered)
    if (const auto *module = one.value.as<Module>(); module && depth < kMostDepth)
      list_state(**module, prefix + one.name + ".", buffers, found, depth + 1);
}

} // namespace

bool is_of_library(const clang::CXXRecordDecl &type) {
  return type.getQualifiedNameAsString().starts_with("torch::nn::");
}

bool is_torch_module(const clang::CXXRecordDecl &type) {
  const clang::CXXRecordDecl *definition = type.getDefinition();
  if (!definition)
    return false;
  if (definition->getQualifiedNameAsString() == "torch::nn::Module")
    return true;
  return std::ranges::any_of(definition->bases(), [](const clang::CXXBaseSpecifier &base) {
    const clang::CXXRecordDecl *parent = base.getType()->getAsCXXRecordDecl();
    return parent && is_torch_module(*parent);
  });
}

const clang::CXXRecordDecl *held_module(clang::QualType type) {
  if (type.isNull())
    return nullptr;
  const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record)
    record = type->getPointeeCXXRecordDecl();
  if (!record || !record->hasDefinition())
    return nullptr;
  if (is_torch_module(*record))
    return record->getDefinition();
  const auto *holder = dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  const llvm::StringRef name = record->getName();
  if (holder && (name == "ModuleHolder" || name == "shared_ptr" || name == "unique_ptr") &&
      holder->getTemplateArgs().size() > 0 &&
      holder->getTemplateArgs().get(0).getKind() == clang::TemplateArgument::Type)
    return held_module(holder->getTemplateArgs().get(0).getAsType());
  for (const clang::CXXBaseSpecifier &base : record->getDefinition()->bases())
    if (const clang::CXXRecordDecl *held = held_module(base.getType()))
      return held;
  return nullptr;
}

const clang::CXXConstructorDecl *constructor_of(const clang::CXXRecordDecl &type) {
  const clang::CXXConstructorDecl *found = nullptr;
  for (const clang::CXXConstructorDecl *one : type.ctors())
    if (!one->isCopyOrMoveConstructor() && !one->isDeleted() && !one->isImplicit() && !found)
      found = one;
  return found;
}

const clang::CXXMethodDecl *forward_of(const clang::CXXRecordDecl &type, std::size_t arguments) {
  const clang::CXXMethodDecl *own = method_named(type, "forward");
  if (own)
    return arguments >= own->getMinRequiredArguments() && arguments <= own->getNumParams()
               ? own
               : nullptr;
  for (const clang::CXXBaseSpecifier &base : type.bases())
    if (const clang::CXXRecordDecl *parent = base.getType()->getAsCXXRecordDecl();
        parent && parent->hasDefinition() && !is_of_library(*parent))
      if (const auto *inherited = forward_of(*parent->getDefinition(), arguments))
        return inherited;
  return nullptr;
}

std::vector<ModuleClass> torch_modules(const analysis::ParsedUnit &unit) {
  Classes classes(unit.sources());
  for (clang::Decl *declaration : unit.top_level_declarations())
    classes.TraverseDecl(declaration);
  std::set<const clang::CXXRecordDecl *> parts;
  for (const clang::CXXRecordDecl *type : classes.found)
    parts.merge(parts_of(*type));
  std::vector<ModuleClass> found;
  for (const clang::CXXRecordDecl *type : classes.found) {
    const clang::CXXMethodDecl *forward = method_named(*type, "forward");
    if (!forward || !takes_tensors(*forward) || !gives_tensors(forward->getReturnType()) ||
        !unit.sources().isInMainFile(unit.sources().getExpansionLoc(forward->getLocation())))
      continue;
    const analysis::CommentSpec comment = spec_above(unit, *type);
    const bool described = comment.error || !comment.spec.buffers.empty() ||
                           !comment.spec.sizes.empty() || !comment.spec.scalars.empty();
    if (described || !parts.contains(type->getCanonicalDecl()))
      found.push_back({type, forward});
  }
  return found;
}

const clang::CXXMethodDecl *as_written(const analysis::ParsedUnit &unit,
                                       const ModuleClass &module) {
  return holds_variant_of(unit, module.type->getNameAsString()) ? method_named(*module.type, kKept)
                                                                : nullptr;
}

FunctionGraph graph_of(const analysis::ParsedUnit &unit, const ModuleClass &module,
                       const ModuleInputs &inputs, analysis::CppForward &forward) {
  GraphWriter writer;
  Interpreter interpreter(unit, writer);
  interpreter.set_training(inputs.training);
  GraphLeaves leaves(writer, inputs.call.inputs);
  std::vector<Value> init;
  for (const Input &input : inputs.init)
    init.push_back(input.value);
  while (!init.empty() && init.back().as<Absent>())
    init.pop_back();
  const Value made = interpreter.make(*module.type, std::move(init));
  if (interpreter.refusal() || !made.as<Module>())
    return leaves.finished(unit, *module.forward, interpreter, made);
  const Module object = *made.as<Module>();
  std::vector<std::pair<std::string, Tensor>> state;
  list_state(*object, "", false, state);
  list_state(*object, "", true, state);
  Reach reach(object);
  forward.numbers = std::move(reach.numbers);
  for (const auto &[name, tensor] : state) {
    if (const auto path = reach.paths.find(tensor.get()); path != reach.paths.end())
      forward.state.emplace(name, path->second);
    leaves.add_state(name, tensor);
  }
  const Value returned = interpreter.run(*module.forward, leaves.arguments(), object);
  return leaves.finished(unit, *module.forward, interpreter, returned);
}

} // namespace warpwright::generator::torch_cpp
