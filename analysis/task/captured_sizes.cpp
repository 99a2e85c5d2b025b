#include "analysis/task/captured_sizes.h"

namespace warpwright::analysis {
namespace {

/// The positive value of a root at which an expression that is linear in it has the value.
std::optional<std::int64_t> solved(const symbolic::Expression &expression, const std::string &root,
                                   std::int64_t value, symbolic::Sizes sizes) {
  const auto at = [&](std::int64_t size) {
    sizes[root] = size;
    return expression.evaluate(sizes);
  };
  const auto one = at(1), two = at(2);
  if (!one || !two || *one == *two || (value - *one) % (*two - *one) != 0)
    return std::nullopt;
  const std::int64_t size = 1 + (value - *one) / (*two - *one);
  return size > 0 && at(size) == value ? std::optional(size) : std::nullopt;
}

/// The given sizes, and the roots that the run's integers tell one after the other: `n` by a parameter that gets
/// n, then `k` by one that gets n - k.
symbolic::Sizes solved_roots(const LaunchDraft &draft, const Spec &spec) {
  symbolic::Sizes known = spec.sizes;
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const auto &[parameter, expression] : draft.integers) {
      const auto value = spec.captured->integers.find(parameter);
      std::set<std::string> open = expression.symbols();
      std::erase_if(open, [&](const std::string &name) { return known.contains(name); });
      if (value == spec.captured->integers.end() || open.size() != 1)
        continue;
      if (const auto size = solved(expression, *open.begin(), value->second, known)) {
        known[*open.begin()] = *size;
        is_new = true;
      }
    }
  }
  return known;
}

} // namespace

std::optional<std::int64_t> captured_size(const std::string &root, const LaunchDraft &draft,
                                          const Spec &spec) {
  if (!spec.captured)
    return std::nullopt;
  symbolic::Sizes known = solved_roots(draft, spec);
  if (const auto found = known.find(root); found != known.end() && !spec.sizes.contains(root))
    return found->second;
  for (const auto &[name, other] : draft.roots)
    if (other.value)
      known.try_emplace(name, *other.value);
  const auto &values = spec.captured->integers;
  for (const auto &[parameter, expression] : draft.integers)
    if (const auto value = values.find(parameter);
        value != values.end() && expression.symbols().contains(root))
      if (const auto size = solved(expression, root, value->second, known))
        return size;
  return std::nullopt;
}

bool is_launched_as(const model::Task &task, const CapturedLaunch &captured) {
  const auto &launch = std::get<model::LaunchStep>(task.reference.steps.back());
  for (std::size_t axis = 0; axis < captured.grid.size(); ++axis)
    if (launch.grid[axis].evaluate(task.sizes) != captured.grid[axis] ||
        launch.block[axis].evaluate(task.sizes) != captured.block[axis])
      return false;
  return true;
}

} // namespace warpwright::analysis
