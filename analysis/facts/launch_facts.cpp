// Facts of one launch as written: configuration, arguments and their ranges.
//
// Variables in the configuration stay variables; launch_shape.h evaluates them where numbers are
// needed. Thread: the unit's thread.
#include "analysis/analyze.h"
#include "analysis/facts/kernel_context.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/Basic/SourceManager.h>

namespace warpwright::analysis {

using namespace clang;

namespace {

std::string enclosing_function(const ParsedUnit &unit, const CUDAKernelCallExpr &launch) {
  DynTypedNode node = DynTypedNode::create(launch);
  for (int depth = 0; depth < 500; ++depth) {
    const auto parents = unit.context().getParents(node);
    if (parents.empty())
      return {};
    node = parents[0];
    const auto *function = node.get<FunctionDecl>();
    const auto *method = dyn_cast_or_null<CXXMethodDecl>(function);
    if (function && !(method && method->getParent()->isLambda()))
      return function->getNameAsString();
  }
  return {};
}

std::string written(const ParsedUnit &unit, SourceRange range) {
  const Range shown = shown_range(unit, range);
  return std::string(unit.text().substr(shown.begin, shown.size()));
}

bool is_omitted(const Expr *argument) {
  return !argument || isa<CXXDefaultArgExpr>(argument->IgnoreParenImpCasts());
}

/// A configuration argument as written: the operand of the conversion to dim3.
const Expr *as_written(const Expr *argument) {
  while (true) {
    argument = argument->IgnoreImpCasts();
    if (const auto *cleanups = dyn_cast<FullExpr>(argument))
      argument = cleanups->getSubExpr();
    else if (const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(argument))
      argument = temporary->getSubExpr();
    else
      return argument;
  }
}

void fill_template_arguments(const ParsedUnit &unit, const Expr *callee, Launch &facts) {
  ArrayRef<TemplateArgumentLoc> arguments;
  if (const auto *reference = dyn_cast<DeclRefExpr>(callee))
    arguments = reference->template_arguments();
  else if (const auto *overloads = dyn_cast<OverloadExpr>(callee))
    arguments = overloads->template_arguments();
  for (const TemplateArgumentLoc &argument : arguments)
    facts.template_arguments.push_back(written(unit, argument.getSourceRange()));
}

} // namespace

Launch launch_facts(const ParsedUnit &unit, const CUDAKernelCallExpr &launch) {
  Launch facts;
  const Expr *callee = launch.getCallee() ? launch.getCallee()->IgnoreParenImpCasts() : nullptr;
  if (const FunctionDecl *kernel = ParsedUnit::kernel_of(&launch))
    facts.kernel = kernel->getNameAsString();
  else if (callee)
    facts.kernel = callee_name(&launch);
  if (callee)
    fill_template_arguments(unit, callee, facts);
  facts.enclosing_function = enclosing_function(unit, launch);
  facts.range = shown_range(unit, launch.getSourceRange());
  const LineIndex lines = unit.line_index();
  facts.line = lines.line_of(facts.range.begin) + 1;
  facts.column = lines.column_of(facts.range.begin) + 1;
  const CallExpr *configuration = launch.getConfig();
  std::string *texts[] = {&facts.grid, &facts.block, &facts.shared, &facts.stream};
  Range *ranges[] = {&facts.grid_range, &facts.block_range, &facts.shared_range, nullptr};
  for (unsigned i = 0; configuration && i < configuration->getNumArgs() && i < 4; ++i) {
    const Expr *argument = configuration->getArg(i);
    if (is_omitted(argument))
      continue;
    const SourceRange range = as_written(argument)->getSourceRange();
    *texts[i] = written(unit, range);
    if (ranges[i])
      *ranges[i] = shown_range(unit, range);
  }
  for (const Expr *argument : launch.arguments())
    if (!is_omitted(argument))
      facts.arguments.push_back(written(unit, argument->getSourceRange()));
  return facts;
}

} // namespace warpwright::analysis
