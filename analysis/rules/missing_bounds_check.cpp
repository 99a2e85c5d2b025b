// missing-bounds-check: an unchecked global access at the thread's grid position, in a kernel with
// a size parameter.
//
// Not reported if the launches in the file cover the data exactly (no division in the grid), or if
// any condition on the thread's position surrounds the access. The severity is Warning if a launch
// rounds the grid up, else Information. The fix returns early, or guards each access if barriers
// forbid that.
// Thread: the unit's thread.
#include "analysis/rules/guard.h"
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr const char *kAxes[] = {"x", "y"};

std::string thread_symbol(int axis) { return std::string("threadIdx.") + kAxes[axis]; }

/// blockIdx * blockDim + threadIdx along one axis.
symbolic::Polynomial grid_position(int axis) {
  return symbolic::Polynomial::symbol(std::string("blockDim.") + kAxes[axis]) *
             symbolic::Polynomial::symbol(std::string("blockIdx.") + kAxes[axis]) +
         symbolic::Polynomial::symbol(thread_symbol(axis));
}

bool is_guarded(KernelContext &context, const AccessSite &site) {
  const Flow &flow = context.values.flow();
  for (const unsigned region : flow.regions_around(site.at.region))
    if (flow.regions()[region].condition &&
        context.values.depends_on_thread_position(flow.regions()[region].condition))
      return true;
  const auto exits = flow.exits_before(site.at);
  return std::ranges::any_of(exits, [&](const Exit *exit) {
    return context.values.depends_on_thread_position(exit->condition);
  });
}

bool is_unchecked(KernelContext &context, const AccessSite &site) {
  if (site.access.space != MemorySpace::Global || !isa_and_nonnull<ParmVarDecl>(site.place.base))
    return false;
  const std::string &text = site.access.index.text;
  if (text.find('?') != std::string::npos || text.find("min") != std::string::npos)
    return false;
  for (int axis = 0; axis < 2; ++axis) {
    const symbolic::Polynomial with_thread = site.place.bytes.coefficient_of(thread_symbol(axis));
    const symbolic::Polynomial with_block =
        site.place.bytes.coefficient_of(std::string("blockIdx.") + kAxes[axis]);
    if (!with_thread.is_zero() && !with_block.is_zero())
      return !is_guarded(context, site);
  }
  return false;
}

enum class Coverage { Unknown, Exact, Divided, RoundedUp };

/// How the grid expressions of the launches cover the data. One variable per component is looked
/// through.
Coverage coverage_of(const RuleInput &input, const RuleKernel &kernel) {
  Coverage worst = Coverage::Unknown;
  for (const CUDAKernelCallExpr *launch : input.unit.launches()) {
    if (input.kernel_of(launch) != &kernel || !launch->getConfig() ||
        launch->getConfig()->getNumArgs() == 0)
      continue;
    const Dimensions grid = dimensions_of(input.unit.context(), launch->getConfig()->getArg(0));
    std::string text;
    for (const Expr *component : grid.components) {
      const VarDecl *variable = named_variable(component);
      if (component)
        text += expression_text(input.unit.context(),
                                variable && variable->hasInit() ? variable->getInit() : component);
    }
    const auto has = [&](const char *part) { return text.find(part) != std::string::npos; };
    Coverage coverage = Coverage::Exact;
    if (text.empty() || has("ceil") || has("div_up") || has("divup") || has("cdiv") ||
        has("- 1)") || has("-1)") || (has("+") && has("/")))
      coverage = Coverage::RoundedUp;
    else if (has("/") || has(">>") || has("("))
      coverage = Coverage::Divided;
    worst = std::max(worst, coverage);
  }
  return worst;
}

/// Whether a name suggests the number of all elements instead of one dimension.
bool sounds_like_total(const std::string &name) {
  static const std::set<std::string> names{"n",      "N",     "size", "count", "len",
                                           "length", "total", "num",  "numel"};
  return names.contains(name) || name.starts_with("num_") || name.starts_with("n_");
}

bool sounds_like_size(const std::string &name) {
  static const std::set<std::string> names{"m", "M",  "k",  "K",  "w",   "h",    "W",
                                           "H", "nx", "ny", "nz", "end", "limit"};
  if (sounds_like_total(name) || names.contains(name))
    return true;
  std::string lower;
  std::ranges::transform(name, std::back_inserter(lower),
                         [](unsigned char c) { return std::tolower(c); });
  static constexpr std::array parts{"size", "count", "num",   "len",    "elem", "total",
                                    "row",  "col",   "width", "height", "dim"};
  return std::ranges::any_of(
      parts, [&](const char *part) { return lower.find(part) != std::string::npos; });
}

/// Integer parameters that give the size of the data, judged by their name or by their use in an
/// index.
std::vector<std::string> size_parameters(const KernelContext &context) {
  std::vector<std::string> names;
  for (const ParmVarDecl *parameter : context.kernel.parameters()) {
    const QualType type = parameter->getType();
    const std::string name = parameter->getNameAsString();
    const bool is_in_index = std::ranges::any_of(
        context.sites, [&](const AccessSite &site) { return site.place.bytes.mentions(name); });
    if (type->isIntegerType() && !type->isBooleanType() && !type->isAnyCharacterType() &&
        (sounds_like_size(name) || is_in_index))
      names.push_back(name);
  }
  return names;
}

/// The only candidate, or the only one whose name suggests the number of all elements.
std::string bound_among(std::vector<std::string> names) {
  if (names.size() > 1)
    std::erase_if(names, [](const std::string &name) { return !sounds_like_total(name); });
  return names.size() == 1 ? names[0] : std::string();
}

/// The declaration of a local variable that holds the grid position along an axis, directly in the
/// kernel's body; `name` gets the variable's name.
const DeclStmt *declaration_of_position(KernelContext &context, int axis, std::string &name) {
  const auto *body = dyn_cast_or_null<CompoundStmt>(context.kernel.getBody());
  if (!body)
    return nullptr;
  for (const Stmt *statement : body->body()) {
    const auto *declarations = dyn_cast<DeclStmt>(statement);
    if (!declarations)
      continue;
    for (const Decl *declaration : declarations->decls()) {
      const auto *variable = dyn_cast_or_null<VarDecl>(declaration);
      if (!variable || !variable->getInit() || !variable->getType()->isIntegerType() ||
          context.values.value(variable->getInit()) != grid_position(axis))
        continue;
      name = variable->getNameAsString();
      return declarations;
    }
  }
  return nullptr;
}

struct Guard {
  const DeclStmt *after = nullptr;
  std::string inside, outside; ///< conditions of positions in and out of bounds
};

/// The bound of each axis that the access uses; nullopt if it is unknown.
std::optional<Guard> guard_of(KernelContext &context, const AccessSite &site) {
  const int bytes = std::max(site.access.element_bytes, 1);
  const auto elements = site.place.bytes.divided_by(bytes);
  if (!elements)
    return std::nullopt;
  const bool uses_x = elements->mentions("threadIdx.x"), uses_y = elements->mentions("threadIdx.y");
  const symbolic::Polynomial stride = elements->coefficient_of(thread_symbol(uses_y ? 1 : 0));
  std::vector<std::string> bounds = size_parameters(context), others = bounds;
  std::erase_if(others, [&](const std::string &name) { return stride.mentions(name); });
  Guard guard;
  for (int axis = 0; axis < 2; ++axis) {
    if (axis == 0 ? !uses_x : !uses_y)
      continue;
    std::string bound = bound_among(others);
    if (uses_x && uses_y && axis == 0)
      bound = stride.symbols().size() == 1 ? *stride.symbols().begin() : "";
    else if (uses_x && uses_y && others.empty())
      bound = bound_among(bounds);
    std::string name;
    const DeclStmt *declaration = declaration_of_position(context, axis, name);
    if (bound.empty() || !declaration || !std::ranges::count(bounds, bound))
      return std::nullopt;
    if (!guard.after || declaration->getEndLoc() > guard.after->getEndLoc())
      guard.after = declaration;
    guard.inside += (guard.inside.empty() ? "" : " && ") + name + " < " + bound;
    guard.outside += (guard.outside.empty() ? "" : " || ") + name + " >= " + bound;
  }
  return guard.after ? std::optional(guard) : std::nullopt;
}

std::optional<QuickFix> fix_for(const RuleInput &input, const RuleKernel &kernel,
                                const std::vector<const AccessSite *> &sites) {
  const auto guard = guard_of(*kernel.context, *sites[0]);
  if (!guard)
    return std::nullopt;
  if (!kernel.facts.barriers.empty() || kernel.facts.uses_warp_operations) {
    auto edits = guard_accesses(input, kernel, sites, guard->inside);
    if (!edits)
      return std::nullopt;
    return QuickFix{"Guard the accesses with " + guard->inside, std::move(*edits)};
  }
  const auto end = end_of_statement(input, guard->after);
  if (!end)
    return std::nullopt;
  const std::string line = new_line_at(input, *end - 1) + "if (" + guard->outside + ") return;";
  return QuickFix{"Return where " + guard->outside, {insertion(*end, line)}};
}

} // namespace

void check_missing_bounds_check(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    if (size_parameters(*kernel.context).empty())
      continue;
    std::vector<const AccessSite *> sites;
    for (const AccessSite &site : kernel.context->sites)
      if (is_unchecked(*kernel.context, site))
        sites.push_back(&site);
    const Coverage coverage = sites.empty() ? Coverage::Exact : coverage_of(input, kernel);
    if (coverage == Coverage::Exact)
      continue;
    const Range range = sites[0]->access.range;
    const bool rounds_up = coverage == Coverage::RoundedUp;
    Diagnostic diagnostic = make_diagnostic(
        input, "missing-bounds-check", rounds_up ? Severity::Warning : Severity::Information, range,
        rounds_up ? "The grid is rounded up, and every thread reaches '" + input.text(range) +
                        "': the last block accesses memory beyond the end."
                  : "Every thread of the grid reaches '" + input.text(range) +
                        "': it is in bounds only for sizes that are multiples of the block.");
    if (auto fix = fix_for(input, kernel, sites))
      diagnostic.fixes.push_back(std::move(*fix));
    out.push_back(std::move(diagnostic));
  }
}

} // namespace warpwright::analysis
