// uncoalesced-access: neighboring threads of a warp access distant elements of global memory.
//
// Not reported: accesses by a single thread, atomics, and accesses whose gaps are used by
// neighboring accesses of the same kernel. The fix swaps the roles of x and y in the kernel and its
// launches. It is offered only if the strided accesses become coalesced and no other access gets
// worse. Other cases need a rewrite through shared memory, which is a move of the generator.
// Thread: the unit's thread.
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <set>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr int kSectorBytes = 32;
constexpr int kLanes = 32;

/// Whether an equality such as `if (threadIdx.x == 0)` selects one thread.
bool is_single_thread(KernelContext &context, const AccessSite &site) {
  for (const Expr *condition : context.values.flow().conditions_between(site.at.region, 0)) {
    const auto *comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
    if (comparison && comparison->getOpcode() == BO_EQ && context.values.varies(comparison))
      return true;
    const auto *negation = dyn_cast<UnaryOperator>(condition->IgnoreParenImpCasts());
    if (negation && negation->getOpcode() == UO_LNot && context.values.varies(negation))
      return true;
  }
  return false;
}

/// Whether accesses of the same buffer at other constant offsets use most of a stride: x[3*i],
/// x[3*i+1], x[3*i+2].
bool is_covered_by_neighbours(const KernelContext &context, const AccessSite &site) {
  if (!site.access.stride)
    return false;
  std::set<std::int64_t> residues;
  const std::int64_t stride =
      std::abs(*site.access.stride) * std::max(site.access.element_bytes, 1);
  for (const AccessSite &other : context.sites) {
    const auto distance = (other.place.bytes - site.place.bytes).number();
    if (other.place.base == site.place.base && distance && std::abs(*distance) < stride)
      residues.insert(((*distance % stride) + stride) % stride);
  }
  return static_cast<std::int64_t>(residues.size()) * site.access.element_bytes * 2 > stride;
}

bool is_wasteful(KernelContext &context, const AccessSite &site) {
  return site.access.space == MemorySpace::Global &&
         site.access.pattern == AccessPattern::Strided && !site.access.is_atomic &&
         site.access.element_bytes < kSectorBytes && !is_single_thread(context, site) &&
         !is_covered_by_neighbours(context, site);
}

/// Sectors that a warp moves, divided by the sectors of the same elements when packed.
std::optional<std::int64_t> waste_of(const Access &access) {
  if (!access.stride || access.element_bytes <= 0)
    return std::nullopt;
  const std::int64_t span = std::abs(*access.stride) * access.element_bytes;
  const std::int64_t moved =
      std::min<std::int64_t>(kLanes, (kLanes * span + kSectorBytes - 1) / kSectorBytes);
  return moved / std::max(1, kLanes * access.element_bytes / kSectorBytes);
}

std::string swapped_name(std::string name) {
  for (const char *builtin : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."})
    if (name.starts_with(builtin) && name.size() == std::string(builtin).size() + 1)
      name.back() = name.back() == 'x' ? 'y' : name.back() == 'y' ? 'x' : name.back();
  return name;
}

symbolic::Polynomial swapped(const symbolic::Polynomial &value) {
  symbolic::Polynomial result;
  for (const auto &[monomial, coefficient] : value.terms()) {
    symbolic::Polynomial term(coefficient);
    for (const std::string &name : monomial)
      term = term * symbolic::Polynomial::symbol(swapped_name(name));
    result = result + term;
  }
  return result;
}

bool swapping_helps(KernelContext &context) {
  KernelShape shape = context.shape;
  std::swap(shape.block[0], shape.block[1]);
  bool helps = false;
  for (const AccessSite &site : context.sites) {
    if (site.access.space == MemorySpace::Local)
      continue;
    // Derived symbols contain thread indices that a swap of the outer names would miss.
    for (const std::string &name : site.place.bytes.symbols())
      if (const auto found = context.values.symbols().find(name);
          found != context.values.symbols().end() && found->second.operation != Operation::None)
        return false;
    const int bytes = std::max(site.access.element_bytes, 4);
    const WarpAccess after =
        simulate_warp(swapped(site.place.bytes), bytes, context.values.symbols(), shape);
    const bool was_wasteful = is_wasteful(context, site);
    const bool is_strided = after.pattern == AccessPattern::Strided;
    if (site.access.space == MemorySpace::Shared)
      return false;
    if (is_strided && !was_wasteful)
      return false;
    helps |= was_wasteful && !is_strided;
  }
  return helps;
}

/// Edits that exchange the x and y components of a configuration; empty if both are equal, nullopt
/// if a component is missing.
std::optional<std::vector<TextEdit>> swap_dimensions(const RuleInput &input,
                                                     const Expr *configuration) {
  const Dimensions dimensions = dimensions_of(input.unit.context(), configuration);
  if (dimensions.sizes[0] && dimensions.sizes[0] == dimensions.sizes[1])
    return std::vector<TextEdit>{};
  const Expr *x = dimensions.components[0], *y = dimensions.components[1];
  const auto x_range = x ? input.unit.range_of(x->getSourceRange()) : std::nullopt;
  const auto y_range = y ? input.unit.range_of(y->getSourceRange()) : std::nullopt;
  if (!x_range || !y_range)
    return std::nullopt;
  return std::vector<TextEdit>{{*x_range, input.text(*y_range)}, {*y_range, input.text(*x_range)}};
}

/// Edits of all launches of the kernel; nullopt if one cannot be edited or the file has none.
std::optional<std::vector<TextEdit>> launch_edits(const RuleInput &input,
                                                  const RuleKernel &kernel) {
  std::set<std::pair<Range, std::string>> edits;
  int launches = 0;
  for (const CUDAKernelCallExpr *launch : input.unit.launches()) {
    const bool is_ours = input.kernel_of(launch) == &kernel;
    const CallExpr *configuration = launch->getConfig();
    if (!configuration || configuration->getNumArgs() < 2)
      return std::nullopt;
    for (unsigned i = 0; i < 2; ++i) {
      const VarDecl *variable =
          dimensions_of(input.unit.context(), configuration->getArg(i)).variable;
      const auto changes = swap_dimensions(input, configuration->getArg(i));
      if (is_ours && !changes)
        return std::nullopt;
      if (is_ours)
        for (const TextEdit &edit : *changes)
          edits.emplace(edit.range, edit.replacement);
      // A dim3 variable that other launches may use cannot be changed for this launch alone.
      if (variable && changes && !changes->empty() &&
          (!is_ours || input.unit.launches().size() > 1))
        return std::nullopt;
    }
    launches += is_ours;
  }
  if (launches == 0)
    return std::nullopt;
  std::vector<TextEdit> result;
  for (const auto &[range, replacement] : edits)
    result.push_back({range, replacement});
  return result;
}

std::optional<QuickFix> swap_fix(const RuleInput &input, const RuleKernel &kernel) {
  if (!swapping_helps(*kernel.context))
    return std::nullopt;
  auto edits = launch_edits(input, kernel);
  if (!edits)
    return std::nullopt;
  std::set<std::size_t> seen;
  bool complete = true;
  for_each_statement(kernel.context->kernel.getBody(), [&](const Stmt *statement) {
    const auto *expression = dyn_cast<Expr>(statement);
    const std::string name = expression ? builtin_index(expression) : std::string();
    const std::string other = swapped_name(name);
    if (name.empty() || other == name || isa<ImplicitCastExpr>(statement))
      return;
    const auto range = input.unit.range_of(expression->getSourceRange());
    complete &= range.has_value();
    if (range && seen.insert(range->end).second)
      edits->push_back({{range->end - 1, range->end}, other.substr(other.size() - 1)});
  });
  if (!complete)
    return std::nullopt;
  return QuickFix{"Swap the roles of x and y in the kernel and its launches", std::move(*edits)};
}

} // namespace

void check_uncoalesced_access(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    std::set<std::pair<std::string, std::string>> reported; // one report per index and buffer
    std::optional<std::optional<QuickFix>> fix;
    for (const AccessSite &site : kernel.context->sites) {
      if (!is_wasteful(*kernel.context, site) ||
          !reported.emplace(site.access.buffer, site.access.index.text).second)
        continue;
      const auto waste = waste_of(site.access);
      const std::string apart = site.access.stride ? std::to_string(std::abs(*site.access.stride))
                                : site.access.index.symbolic_stride.empty()
                                    ? "many"
                                    : site.access.index.symbolic_stride;
      const std::string cost =
          waste ? std::to_string(*waste) + " times the memory traffic of neighbouring elements"
                : "up to 32 sectors of 32 bytes for each access of a warp, where neighbouring "
                  "elements need " +
                      std::to_string(std::max(1, site.access.element_bytes));
      Diagnostic diagnostic = make_diagnostic(
          input, "uncoalesced-access",
          waste && *waste < 4 ? Severity::Information : Severity::Warning, site.access.range,
          "Uncoalesced " + std::string(site.access.is_write ? "write" : "read") +
              ": neighbouring threads access '" + site.access.buffer + "' " + apart +
              " elements apart, which moves " + cost + ".");
      if (!fix)
        fix = swap_fix(input, kernel);
      if (*fix)
        diagnostic.fixes.push_back(**fix);
      out.push_back(std::move(diagnostic));
    }
  }
}

} // namespace warpwright::analysis
