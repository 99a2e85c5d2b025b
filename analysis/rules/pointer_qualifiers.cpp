// missing-const and missing-restrict: qualifiers that let the compiler keep loads in registers and
// use the read-only cache.
//
// const is offered for pointers that the kernel only reads and never passes on as non-const.
// restrict is offered if a kernel with several pointers writes through one of them and no launch in
// the file passes one argument twice. The edits cover every declaration of the kernel in the file.
// There is one diagnostic per kernel and rule. Thread: the unit's thread.
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/TypeLoc.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

bool mentions(const Stmt *statement, const VarDecl *variable) {
  bool found = false;
  for_each_statement(statement, [&](const Stmt *part) {
    const auto *reference = dyn_cast<DeclRefExpr>(part);
    found |= reference && reference->getDecl() == variable;
  });
  return found;
}

bool points_to_mutable(QualType type) {
  return !type.isNull() && type->isAnyPointerType() && !type->getPointeeType().isConstQualified();
}

bool is_pointer(const Expr *expression) {
  return !expression->getType().isNull() && expression->getType()->isAnyPointerType();
}

/// Whether the pointer is passed on as a pointer to mutable data.
bool flows_to_mutable(const FunctionDecl &kernel, const ParmVarDecl *pointer) {
  bool flows = false;
  for_each_statement(kernel.getBody(), [&](const Stmt *statement) {
    if (const auto *declarations = dyn_cast<DeclStmt>(statement)) {
      for (const Decl *declaration : declarations->decls()) {
        const auto *variable = dyn_cast_or_null<VarDecl>(declaration);
        if (variable && variable->getInit() && mentions(variable->getInit(), pointer)) {
          const QualType type = variable->getType();
          flows |= points_to_mutable(type) && is_pointer(variable->getInit());
          flows |= type->isReferenceType() && !type.getNonReferenceType().isConstQualified();
        }
      }
    } else if (const auto *cast = dyn_cast<ExplicitCastExpr>(statement)) {
      flows |= points_to_mutable(cast->getType()) && mentions(cast->getSubExpr(), pointer);
    } else if (const auto *binary = dyn_cast<BinaryOperator>(statement)) {
      flows |= binary->getOpcode() == BO_Assign && points_to_mutable(binary->getLHS()->getType()) &&
               mentions(binary->getRHS(), pointer);
    } else if (const auto *call = dyn_cast<CallExpr>(statement);
               call && !isa<CXXOperatorCallExpr>(call)) {
      const FunctionDecl *callee = call->getDirectCallee();
      for (unsigned i = 0; i < call->getNumArgs(); ++i)
        if (is_pointer(call->getArg(i)) && mentions(call->getArg(i), pointer))
          flows |= callee && (i >= callee->getNumParams() ||
                              (points_to_mutable(callee->getParamDecl(i)->getType()) &&
                               !callee->getPrimaryTemplate()));
    } else if (isa<CXXConstructExpr>(statement) || isa<InitListExpr>(statement) ||
               isa<LambdaExpr>(statement)) {
      flows |= mentions(statement, pointer);
    }
  });
  return flows;
}

/// The pointer's own `*` in a declaration of the parameter; nullopt for typedefs, arrays and
/// macros.
std::optional<Range> star_of(const RuleInput &input, const ParmVarDecl *parameter) {
  const auto *info = parameter->getTypeSourceInfo();
  if (!info)
    return std::nullopt;
  const auto pointer = info->getTypeLoc().getUnqualifiedLoc().getAs<PointerTypeLoc>();
  return pointer ? input.unit.range_of(SourceRange(pointer.getStarLoc())) : std::nullopt;
}

/// Edits of every declaration of the kernel in this file; nullopt if one of them cannot be edited.
template <class Edit>
std::optional<std::vector<TextEdit>> in_every_declaration(const FunctionDecl &kernel,
                                                          unsigned index, const Edit &edit) {
  std::vector<TextEdit> edits;
  for (const FunctionDecl *declaration : kernel.redecls()) {
    if (index >= declaration->getNumParams())
      return std::nullopt;
    auto one = edit(declaration->getParamDecl(index));
    if (!one)
      return std::nullopt;
    edits.push_back(std::move(*one));
  }
  return edits;
}

std::optional<TextEdit> const_edit(const RuleInput &input, const ParmVarDecl *parameter) {
  const auto begin = input.unit.range_of(SourceRange(parameter->getBeginLoc()));
  if (!begin || !star_of(input, parameter))
    return std::nullopt;
  return insertion(begin->begin, "const ");
}

std::optional<TextEdit> restrict_edit(const RuleInput &input, const ParmVarDecl *parameter) {
  const auto star = star_of(input, parameter);
  if (!star)
    return std::nullopt;
  const bool short_form = input.unit.text().find("__restrict__") == std::string_view::npos &&
                          input.unit.text().find("__restrict ") != std::string_view::npos;
  const std::string word = short_form ? "__restrict" : "__restrict__";
  const auto name = parameter->getName().empty()
                        ? std::nullopt
                        : input.unit.range_of(SourceRange(parameter->getLocation()));
  if (!name)
    return insertion(star->end, word);
  // The word goes before the name, so `float *const x` keeps its const.
  return insertion(name->begin, word + " ");
}

/// Whether a launch in the file passes the same expression for two pointers.
bool has_aliasing_launch(const RuleInput &input, const RuleKernel &kernel) {
  for (const std::size_t index : kernel.facts.launches) {
    const Launch &launch = input.facts.launches[index];
    for (std::size_t i = 0; i < launch.arguments.size() && i < kernel.facts.parameters.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (kernel.facts.parameters[i].is_pointer && kernel.facts.parameters[j].is_pointer &&
            launch.arguments[i] == launch.arguments[j])
          return true;
  }
  return false;
}

std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + ("'" + names[i] + "'");
  return text;
}

/// Adds one diagnostic for the parameters in `indices`, at the first of them.
template <class Edit>
void report(const RuleInput &input, const RuleKernel &kernel, const std::vector<unsigned> &indices,
            const char *rule, const std::string &title, const std::string &reason, const Edit &edit,
            std::vector<Diagnostic> &out) {
  if (indices.empty())
    return;
  std::vector<std::string> names;
  QuickFix fix{title, {}};
  bool complete = true;
  for (const unsigned index : indices) {
    names.push_back(kernel.facts.parameters[index].name);
    auto edits = in_every_declaration(kernel.context->kernel, index, edit);
    complete &= edits.has_value();
    if (edits)
      fix.edits.insert(fix.edits.end(), edits->begin(), edits->end());
  }
  Diagnostic diagnostic =
      make_diagnostic(input, rule, Severity::Hint, kernel.facts.parameters[indices[0]].range,
                      listed(names) + reason);
  if (complete)
    diagnostic.fixes.push_back(std::move(fix));
  out.push_back(std::move(diagnostic));
}

} // namespace

void check_missing_const(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    std::vector<unsigned> indices;
    for (unsigned i = 0;
         i < kernel.facts.parameters.size() && i < kernel.context->kernel.getNumParams(); ++i) {
      const Parameter &parameter = kernel.facts.parameters[i];
      const ParmVarDecl *declaration = kernel.context->kernel.getParamDecl(i);
      if (parameter.is_pointer && !parameter.is_const && parameter.is_read &&
          !parameter.is_written && star_of(input, declaration) &&
          !flows_to_mutable(kernel.context->kernel, declaration))
        indices.push_back(i);
    }
    report(
        input, kernel, indices, "missing-const", "Add const",
        " is only read. With const (and __restrict__) loads can go through the read-only cache, "
        "and callers see that "
        "the data stays unchanged.",
        [&](const ParmVarDecl *parameter) { return const_edit(input, parameter); }, out);
  }
}

void check_missing_restrict(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    const auto &parameters = kernel.facts.parameters;
    const auto pointers = std::ranges::count_if(parameters, &Parameter::is_pointer);
    const bool writes = std::ranges::any_of(
        parameters, [](const Parameter &p) { return p.is_pointer && p.is_written; });
    const bool reads = std::ranges::any_of(
        parameters, [](const Parameter &p) { return p.is_pointer && p.is_read; });
    if (pointers < 2 || !writes || !reads || has_aliasing_launch(input, kernel))
      continue;
    std::vector<unsigned> indices;
    for (unsigned i = 0; i < parameters.size() && i < kernel.context->kernel.getNumParams(); ++i)
      if (parameters[i].is_pointer && !parameters[i].is_restrict &&
          star_of(input, kernel.context->kernel.getParamDecl(i)))
        indices.push_back(i);
    report(
        input, kernel, indices, "missing-restrict", "Add __restrict__",
        " may overlap as far as the compiler knows: after every store it loads again what it had "
        "already loaded. "
        "__restrict__ promises that they do not.",
        [&](const ParmVarDecl *parameter) { return restrict_edit(input, parameter); }, out);
  }
}

} // namespace warpwright::analysis
