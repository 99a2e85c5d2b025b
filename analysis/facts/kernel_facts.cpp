// Facts of one kernel, combined from the parts of this folder.
//
// The facade adds the task, the slice and the indices of launches. Thread: the unit's thread.
#include "analysis/analyze.h"
#include "analysis/facts/kernel_context.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <array>

namespace warpwright::analysis {

using namespace clang;

namespace {

bool is_warp_operation(const std::string &name) {
  static constexpr std::array prefixes{"__shfl",  "__ballot",  "__any",       "__all",
                                       "__match", "__reduce_", "__activemask"};
  return std::ranges::any_of(prefixes,
                             [&](const char *prefix) { return name.starts_with(prefix); }) ||
         name == "shfl" || name == "shfl_down" || name == "shfl_up" || name == "shfl_xor" ||
         name == "ballot";
}

void fill_ranges(const ParsedUnit &unit, const FunctionDecl &kernel, Kernel &facts) {
  SourceLocation begin = kernel.getBeginLoc();
  if (const FunctionTemplateDecl *described = kernel.getDescribedFunctionTemplate())
    begin = described->getBeginLoc();
  facts.range = shown_range(unit, SourceRange(begin, kernel.getEndLoc()));
  facts.name_range = shown_range(unit, SourceRange(kernel.getLocation(), kernel.getLocation()));
  if (const Stmt *body = kernel.getBody())
    facts.body_range = shown_range(unit, body->getSourceRange());
  // __global__ is a macro of the stub. The definition begins at its use, even if the attribute is
  // located elsewhere.
  for (const Attr *attribute : kernel.attrs()) {
    const Range range = shown_range(unit, attribute->getRange());
    if (range.size() > 0 && range.begin < facts.range.begin)
      facts.range.begin = range.begin;
  }
  facts.line = unit.line_index().line_of(facts.name_range.begin) + 1;
}

} // namespace

Kernel kernel_facts(const ParsedUnit &unit, const FunctionDecl &kernel) {
  Kernel facts;
  facts.name = kernel.getNameAsString();
  facts.qualified_name = kernel.getQualifiedNameAsString();
  facts.is_template = kernel.getDescribedFunctionTemplate() != nullptr;
  fill_ranges(unit, kernel, facts);
  if (!kernel.getBody())
    return facts;
  KernelContext context(unit, kernel);
  facts.parameters = collect_parameters(context);
  facts.shared_arrays = collect_shared_arrays(context);
  facts.barriers = collect_barriers(context);
  for (const AccessSite &site : context.sites) {
    facts.accesses.push_back(site.access);
    facts.uses_atomics |= site.access.is_atomic;
  }
  for_each_statement(kernel.getBody(), [&](const Stmt *statement) {
    const auto *call = dyn_cast<CallExpr>(statement);
    if (!call)
      return;
    const std::string name = callee_name(call);
    facts.uses_warp_operations |= is_warp_operation(name);
    facts.uses_atomics |= name.starts_with("atomic");
  });
  facts.has_divergence = has_divergence(context);
  facts.arithmetic_intensity = arithmetic_intensity(context);
  facts.pattern = recognise_pattern(context);
  return facts;
}

} // namespace warpwright::analysis
