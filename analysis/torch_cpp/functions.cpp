#include "analysis/torch_cpp/functions.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <set>

namespace warpwright::analysis::torch_cpp {
namespace {

using llvm::dyn_cast;

const clang::CXXRecordDecl *class_of(clang::QualType type) {
  return type.getNonReferenceType()->getAsCXXRecordDecl();
}

/// Functions that other functions name in calls or registrations, and functions that launch
/// kernels.
class References : public clang::RecursiveASTVisitor<References> {
public:
  bool TraverseFunctionDecl(clang::FunctionDecl *function) {
    const clang::FunctionDecl *before = inside_;
    inside_ = function;
    const bool more = RecursiveASTVisitor::TraverseFunctionDecl(function);
    inside_ = before;
    return more;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (const auto *function = dyn_cast<clang::FunctionDecl>(reference->getDecl());
        function && inside_ && inside_->getCanonicalDecl() != function->getCanonicalDecl()) {
      const std::string name = inside_->getNameAsString();
      const bool registers = name.starts_with("ww_module_") || name.starts_with("ww_library_");
      (registers ? registered : called).insert(function->getCanonicalDecl());
      callers_[function->getCanonicalDecl()].insert(inside_->getCanonicalDecl());
    }
    return true;
  }
  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *) {
    if (inside_)
      launching.insert(inside_->getCanonicalDecl());
    return true;
  }

  /// Adds the direct and indirect callers of functions that launch kernels.
  void close() {
    std::vector<const clang::FunctionDecl *> open(launching.begin(), launching.end());
    while (!open.empty()) {
      const clang::FunctionDecl *callee = open.back();
      open.pop_back();
      for (const clang::FunctionDecl *caller : callers_[callee])
        if (launching.insert(caller).second)
          open.push_back(caller);
    }
  }

  std::set<const clang::FunctionDecl *> registered, called, launching;

private:
  std::map<const clang::FunctionDecl *, std::set<const clang::FunctionDecl *>> callers_;
  const clang::FunctionDecl *inside_ = nullptr;
};

/// Function definitions in the file, namespaces included.
class Definitions : public clang::RecursiveASTVisitor<Definitions> {
public:
  explicit Definitions(const ParsedUnit &unit) : unit_(unit) {}
  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    if (function->isThisDeclarationADefinition() && !llvm::isa<clang::CXXMethodDecl>(function) &&
        !function->isDependentContext() && !function->getDescribedFunctionTemplate() &&
        unit_.is_in_file(function->getLocation()))
      found.push_back(function);
    return true;
  }
  bool TraverseStmt(clang::Stmt *) { return true; }

  std::vector<const clang::FunctionDecl *> found;

private:
  const ParsedUnit &unit_;
};

constexpr std::string_view kKept = "_as_written";

bool is_kept_body(const ParsedUnit &unit, const clang::FunctionDecl &function) {
  const std::string name = function.getNameAsString();
  return name.ends_with(kKept) &&
         holds_variant_of(unit, std::string_view(name).substr(0, name.size() - kKept.size()));
}

} // namespace

bool is_tensor(clang::QualType type) {
  const clang::CXXRecordDecl *record = class_of(type);
  return record && record->getQualifiedNameAsString() == "at::Tensor";
}

bool is_optional_tensor(clang::QualType type) {
  const auto *record =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(class_of(type));
  if (!record || record->getName() != "optional" || record->getTemplateArgs().size() != 1)
    return false;
  const clang::TemplateArgument &argument = record->getTemplateArgs().get(0);
  return argument.getKind() == clang::TemplateArgument::Type && is_tensor(argument.getAsType());
}

bool gives_tensors(clang::QualType type) {
  if (is_tensor(type))
    return true;
  const auto *record =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(class_of(type));
  if (!record || (record->getName() != "tuple" && record->getName() != "vector" &&
                  record->getName() != "pair"))
    return false;
  for (const clang::TemplateArgument &argument : record->getTemplateArgs().asArray()) {
    if (argument.getKind() == clang::TemplateArgument::Pack) {
      for (const clang::TemplateArgument &part : argument.pack_elements())
        if (part.getKind() != clang::TemplateArgument::Type || !is_tensor(part.getAsType()))
          return false;
      return true;
    }
    return argument.getKind() == clang::TemplateArgument::Type && is_tensor(argument.getAsType());
  }
  return false;
}

bool holds_variant_of(const ParsedUnit &unit, std::string_view function) {
  return unit.text().contains("namespace warpwright_" + std::string(function) + " {");
}

bool takes_tensors(const clang::FunctionDecl &function) {
  return std::ranges::any_of(function.parameters(), [](const clang::ParmVarDecl *parameter) {
    return is_tensor(parameter->getType()) || is_optional_tensor(parameter->getType());
  });
}

std::vector<const clang::FunctionDecl *> torch_functions(const ParsedUnit &unit) {
  Definitions definitions(unit);
  References references;
  for (clang::Decl *declaration : unit.top_level_declarations()) {
    definitions.TraverseDecl(declaration);
    references.TraverseDecl(declaration);
  }
  references.close();
  std::vector<const clang::FunctionDecl *> found;
  for (const clang::FunctionDecl *function : definitions.found) {
    const clang::FunctionDecl *canonical = function->getCanonicalDecl();
    if (is_kept_body(unit, *function))
      continue; // part of a variant
    if (!takes_tensors(*function) || !gives_tensors(function->getReturnType()) ||
        references.launching.contains(canonical))
      continue;
    const CommentSpec comment = spec_above(unit, *function);
    const bool described = comment.error || !comment.spec.buffers.empty() ||
                           !comment.spec.sizes.empty() || !comment.spec.scalars.empty() ||
                           holds_variant_of(unit, function->getNameAsString());
    if (described || references.registered.contains(canonical) ||
        (references.registered.empty() && !references.called.contains(canonical)))
      found.push_back(function);
  }
  return found;
}

const clang::FunctionDecl *as_written(const ParsedUnit &unit, const clang::FunctionDecl &function) {
  const std::string name = function.getNameAsString();
  return holds_variant_of(unit, name) ? find_function(unit, name + std::string(kKept)) : nullptr;
}

const clang::FunctionDecl *find_function(const ParsedUnit &unit, std::string_view name) {
  Definitions definitions(unit);
  for (clang::Decl *declaration : unit.top_level_declarations())
    definitions.TraverseDecl(declaration);
  const auto found = std::ranges::find(definitions.found, name, [](const clang::FunctionDecl *one) {
    return one->getNameAsString();
  });
  return found == definitions.found.end() ? nullptr : *found;
}

} // namespace warpwright::analysis::torch_cpp
