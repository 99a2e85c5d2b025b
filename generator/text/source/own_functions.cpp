// KernelSource::own_bodies(): search for the users of device functions.
#include "generator/text/source/kernel_source.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace warpwright::source {
namespace {

using clang::dyn_cast;
using Functions = std::set<const clang::FunctionDecl *>;

/// One declaration for all declarations and instances of a function: the first of the pattern.
const clang::FunctionDecl *canonical(const clang::FunctionDecl *function) {
  if (const clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern())
    function = pattern;
  return function->getCanonicalDecl();
}

/// Functions that a piece of code names; in a template, all that a name may mean.
Functions named_functions(const clang::Stmt *root) {
  Functions found;
  const auto add = [&](const clang::NamedDecl *declaration) {
    if (const auto *pattern = llvm::dyn_cast_or_null<clang::FunctionTemplateDecl>(declaration))
      declaration = pattern->getTemplatedDecl();
    if (const auto *function = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration))
      found.insert(canonical(function));
  };
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *reference = dyn_cast<clang::DeclRefExpr>(node))
      add(reference->getDecl());
    if (const auto *overloads = dyn_cast<clang::OverloadExpr>(node))
      for (const clang::NamedDecl *one : overloads->decls())
        add(one->getUnderlyingDecl());
  });
  return found;
}

/// Who names which function, in the whole unit. A use outside of functions counts as one by null.
struct Users : clang::RecursiveASTVisitor<Users> {
  std::map<const clang::FunctionDecl *, Functions> of;

  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    if (function->doesThisDeclarationHaveABody())
      for (const clang::FunctionDecl *named : named_functions(function->getBody()))
        of[named].insert(canonical(function));
    return true;
  }
  bool VisitVarDecl(clang::VarDecl *variable) {
    if (!variable->isLocalVarDeclOrParm() && variable->hasInit())
      for (const clang::FunctionDecl *named : named_functions(variable->getInit()))
        of[named].insert(nullptr);
    return true;
  }
};

/// The body of a function that a move may edit; null for other functions.
const clang::Stmt *editable_body(const KernelSource &source, const clang::FunctionDecl *function) {
  const clang::FunctionDecl *definition = nullptr;
  if (llvm::isa<clang::CXXMethodDecl>(function) || !function->hasBody(definition))
    return nullptr;
  const bool is_device =
      definition->hasAttr<clang::CUDADeviceAttr>() && !definition->hasAttr<clang::CUDAHostAttr>();
  return is_device && !definition->isConstexpr() && source.range_of(definition->getBody())
             ? definition->getBody()
             : nullptr;
}

/// The bodies of the device functions that only this kernel runs.
std::vector<const clang::Stmt *> own_function_bodies(const KernelSource &source) {
  std::vector<const clang::Stmt *> bodies;
  const clang::FunctionDecl *kernel = canonical(source.kernel());
  Functions candidates;
  for (std::vector<const clang::Stmt *> open{source.body()}; !open.empty();) {
    const clang::Stmt *next = open.back();
    open.pop_back();
    for (const clang::FunctionDecl *named : named_functions(next))
      if (const clang::Stmt *body = editable_body(source, named);
          body && candidates.insert(named).second)
        open.push_back(body);
  }
  if (candidates.empty())
    return bodies;
  Users users;
  users.TraverseDecl(source.unit().context().getTranslationUnitDecl());
  const auto is_foreign = [&](const clang::FunctionDecl *candidate) {
    return std::ranges::any_of(users.of[candidate], [&](const clang::FunctionDecl *user) {
      return user != kernel && !candidates.contains(user);
    });
  };
  while (std::erase_if(candidates, is_foreign) > 0)
    ;
  for (const clang::FunctionDecl *own : candidates)
    bodies.push_back(editable_body(source, own));
  std::ranges::sort(bodies, {}, [&](const clang::Stmt *body) { return *source.range_of(body); });
  return bodies;
}

} // namespace

const std::vector<const clang::Stmt *> &KernelSource::own_bodies() const {
  if (!own_bodies_) {
    own_bodies_ = std::vector<const clang::Stmt *>{body_};
    if (!has_other_includers_)
      for (const clang::Stmt *body : own_function_bodies(*this))
        own_bodies_->push_back(body);
  }
  return *own_bodies_;
}

} // namespace warpwright::source
