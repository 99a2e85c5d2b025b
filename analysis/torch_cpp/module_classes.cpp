#include "analysis/torch_cpp/module_classes.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <set>

namespace warpwright::analysis::torch_cpp {
namespace {

using llvm::dyn_cast;

constexpr const char *kKeptForward = "forward_as_written";

/// Definitions of module classes in the file, namespaces included.
class Classes : public clang::RecursiveASTVisitor<Classes> {
public:
  explicit Classes(const ParsedUnit &unit) : unit_(unit) {}
  bool VisitCXXRecordDecl(clang::CXXRecordDecl *type) {
    if (type->isThisDeclarationADefinition() && !type->isDependentContext() &&
        !type->getDescribedClassTemplate() && !type->isImplicit() && type->getIdentifier() &&
        unit_.is_in_file(type->getLocation()) && is_torch_module(*type))
      found.push_back(type);
    return true;
  }
  bool TraverseStmt(clang::Stmt *) { return true; }

  std::vector<const clang::CXXRecordDecl *> found;

private:
  const ParsedUnit &unit_;
};

/// Module classes that a class's members and methods use.
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
      return nullptr; // overloads, or a body in another file
    found = llvm::cast<clang::CXXMethodDecl>(definition);
  }
  return found;
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

std::vector<ModuleClass> torch_modules(const ParsedUnit &unit) {
  Classes classes(unit);
  for (clang::Decl *declaration : unit.top_level_declarations())
    classes.TraverseDecl(declaration);
  std::set<const clang::CXXRecordDecl *> parts;
  for (const clang::CXXRecordDecl *type : classes.found)
    parts.merge(parts_of(*type));
  std::vector<ModuleClass> found;
  for (const clang::CXXRecordDecl *type : classes.found) {
    const clang::CXXMethodDecl *forward = method_named(*type, "forward");
    if (!forward || !takes_tensors(*forward) || !gives_tensors(forward->getReturnType()) ||
        !unit.is_in_file(forward->getLocation()))
      continue;
    const CommentSpec comment = spec_above(unit, *type);
    const bool described = comment.error || !comment.spec.buffers.empty() ||
                           !comment.spec.sizes.empty() || !comment.spec.scalars.empty();
    if (described || !parts.contains(type->getCanonicalDecl()))
      found.push_back({type, forward});
  }
  return found;
}

const clang::CXXMethodDecl *as_written(const ParsedUnit &unit,
                                       const ModuleClass &module) {
  return holds_variant_of(unit, module.type->getNameAsString()) ? method_named(*module.type, kKeptForward)
                                                                : nullptr;
}

} // namespace warpwright::analysis::torch_cpp
