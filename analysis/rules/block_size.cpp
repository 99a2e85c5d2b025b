// block-size: a launch with a known block size that is no multiple of 32 threads, so its last warp
// is partly empty.
//
// The fix rounds the x dimension up. It is offered if that dimension is a literal, or a constant or
// macro defined as one literal in this file, and the kernel checks its bounds. A launch of a single
// thread is intended and not reported. Thread: the unit's thread.
#include "analysis/analyze.h"
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <numeric>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kMaxThreads =
    1024; ///< per block; CUDA C++ Programming Guide, compute capabilities

/// Range of the literal behind an expression in this file: the expression itself, or the literal in
/// the definition of a constant or macro.
std::optional<Range> literal_behind(const RuleInput &input, const Expr *expression, int depth = 0) {
  if (!expression || depth > 4)
    return std::nullopt;
  expression = expression->IgnoreParenCasts();
  if (isa<IntegerLiteral>(expression)) {
    const SourceLocation location = input.unit.sources().getSpellingLoc(expression->getBeginLoc());
    return input.unit.is_in_file(location) ? input.unit.range_of(SourceRange(location))
                                           : std::nullopt;
  }
  const VarDecl *variable = named_variable(expression);
  return variable && variable->hasInit() ? literal_behind(input, variable->getInit(), depth + 1)
                                         : std::nullopt;
}

bool checks_bounds(const RuleKernel *kernel) {
  if (!kernel)
    return false;
  KernelContext &context = *kernel->context;
  const auto is_check = [&](const Expr *condition) {
    return condition && context.values.depends_on_thread_position(condition);
  };
  const Flow &flow = context.values.flow();
  return std::ranges::any_of(flow.exits(),
                             [&](const Exit &exit) { return is_check(exit.condition); }) ||
         std::ranges::any_of(flow.regions(),
                             [&](const Region &region) { return is_check(region.condition); });
}

std::optional<QuickFix> rounding_fix(const RuleInput &input, const Dimensions &block,
                                     std::int64_t threads, const RuleKernel *kernel) {
  const std::int64_t x = block.sizes[0].value_or(0);
  if (x <= 0 || !checks_bounds(kernel) || !kernel->facts.shared_arrays.empty())
    return std::nullopt;
  const std::int64_t rest = threads / x, step = kWarp / std::gcd(kWarp, rest);
  const std::int64_t rounded = (x + step - 1) / step * step;
  const auto literal = literal_behind(input, block.components[0]);
  if (!literal || rounded * rest > kMaxThreads || input.text(*literal) != std::to_string(x))
    return std::nullopt;
  return QuickFix{"Round the block up to " + std::to_string(rounded * rest) + " threads",
                  {{*literal, std::to_string(rounded)}}};
}

} // namespace

void check_block_size(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const CUDAKernelCallExpr *launch : input.unit.launches()) {
    const CallExpr *configuration = launch->getConfig();
    if (!configuration || configuration->getNumArgs() < 2)
      continue;
    const Dimensions block = dimensions_of(input.unit.context(), configuration->getArg(1));
    std::int64_t threads = 1;
    bool is_known = true;
    for (const auto &size : block.sizes) {
      is_known = is_known && size && *size > 0 && *size <= kMaxThreads;
      threads *= is_known ? *size : 0;
    }
    if (!is_known || threads == 1 || threads % kWarp == 0)
      continue;
    const std::int64_t warps = (threads + kWarp - 1) / kWarp, idle = warps * kWarp - threads;
    const Launch facts = launch_facts(input.unit, *launch);
    const Range range = facts.block_range.size() > 0 ? facts.block_range : facts.range;
    Diagnostic diagnostic = make_diagnostic(
        input, "block-size", idle * 4 >= warps * kWarp ? Severity::Warning : Severity::Information,
        range,
        "A block of " + std::to_string(threads) + " threads is " + std::to_string(warps) +
            " warps with " + std::to_string(idle) + " of " + std::to_string(warps * kWarp) +
            " lanes idle (" + std::to_string(100 * idle / (warps * kWarp)) +
            "% of the issue slots).");
    if (auto fix = rounding_fix(input, block, threads, input.kernel_of(launch)))
      diagnostic.fixes.push_back(std::move(*fix));
    out.push_back(std::move(diagnostic));
  }
}

} // namespace warpwright::analysis
