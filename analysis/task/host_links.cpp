#include "analysis/task/host_links.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace warpwright::analysis {
namespace {

/// As it counts for linking: `const int` and `int *__restrict__` are the caller's `int` and `int *`.
std::string linked_type(const clang::ParmVarDecl *parameter) {
  return parameter->getType().getCanonicalType().getUnqualifiedType().getAsString();
}

/// Returns true if two declarations of one name, in different units, declare one function.
bool have_equal_parameters(const clang::FunctionDecl &left, const clang::FunctionDecl &right) {
  return std::ranges::equal(left.parameters(), right.parameters(), {}, linked_type, linked_type);
}

} // namespace

HostLinks::HostLinks(const ParsedUnit &unit) {
  index(unit);
  if (main_)
    return;
  for (const auto &other : unit.other_units())
    index(*other);
}

void HostLinks::index(const ParsedUnit &unit) {
  struct Definitions : clang::RecursiveASTVisitor<Definitions> {
    explicit Definitions(HostLinks &links) : links(links) {}
    bool VisitFunctionDecl(clang::FunctionDecl *function) {
      if (!function->doesThisDeclarationHaveABody() || function->isDependentContext())
        return true;
      if (function->isMain() && !links.main_)
        links.main_ = function;
      if (function->isExternallyVisible())
        links.functions_[function->getQualifiedNameAsString()].push_back(function);
      return true;
    }
    bool VisitVarDecl(clang::VarDecl *variable) {
      if (variable->isFileVarDecl() && variable->isExternallyVisible() &&
          variable->isThisDeclarationADefinition())
        links.variables_[variable->getQualifiedNameAsString()].push_back(variable);
      return true;
    }
    bool TraverseStmt(clang::Stmt *) { return true; } // bodies hold no definitions
    HostLinks &links;
  };
  Definitions visitor(*this);
  for (clang::Decl *declaration : unit.context().getTranslationUnitDecl()->noload_decls())
    visitor.TraverseDecl(declaration);
}

const clang::FunctionDecl *HostLinks::definition_of(const clang::FunctionDecl &function) const {
  const clang::FunctionDecl *definition = nullptr;
  if (function.isDefined(definition))
    return definition;
  const auto found = functions_.find(function.getQualifiedNameAsString());
  if (found == functions_.end() || !function.isExternallyVisible())
    return nullptr;
  for (const clang::FunctionDecl *one : found->second)
    if (have_equal_parameters(*one, function)) {
      if (definition && &one->getASTContext() != &definition->getASTContext())
        return nullptr;
      definition = one;
    }
  return definition;
}

const clang::VarDecl *HostLinks::definition_of(const clang::VarDecl &variable) const {
  if (const clang::VarDecl *definition = variable.getDefinition())
    return definition;
  const auto found = variables_.find(variable.getQualifiedNameAsString());
  return found != variables_.end() && found->second.size() == 1 ? found->second.front() : nullptr;
}

} // namespace warpwright::analysis
