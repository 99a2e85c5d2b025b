#include "analysis/task/captured_values.h"

#include <algorithm>
#include <cmath>

namespace warpwright::analysis {
namespace {

/// A bound is taken as that of a size if the values reach at least this part of it.
constexpr double kReached = 0.5;

symbolic::Expression plus_one(const symbolic::Expression &expression) {
  const auto sum = symbolic::Expression::parse("(" + expression.text() + ") + 1");
  return sum ? *sum : expression;
}

/// Exclusive bound of integers up to `greatest`: the nearest expression over the task's sizes, else
/// the number.
symbolic::Expression bound_of(double greatest, const model::Task &task) {
  std::vector<symbolic::Expression> candidates;
  const auto add = [&](const symbolic::Expression &expression) {
    if (expression.symbols().empty())
      return;
    candidates.push_back(expression);
    candidates.push_back(plus_one(expression)); // offsets of rows reach the number of elements
  };
  for (const auto &[name, value] : task.sizes)
    if (const auto size = symbolic::Expression::parse(name))
      add(*size);
  for (const model::Buffer &buffer : task.buffers)
    add(buffer.extent);
  std::optional<symbolic::Expression> nearest;
  double nearest_value = std::floor(greatest / kReached) + 1;
  for (const symbolic::Expression &candidate : candidates)
    if (const auto value = candidate.evaluate(task.sizes);
        value && static_cast<double>(*value) > greatest && static_cast<double>(*value) < nearest_value) {
      nearest = candidate;
      nearest_value = static_cast<double>(*value);
    }
  return nearest.value_or(symbolic::Expression(static_cast<std::int64_t>(greatest) + 1));
}

} // namespace

std::optional<model::Distribution>
captured_distribution(const CapturedValues &values, model::Dtype dtype, const model::Task &task,
                      const std::optional<symbolic::Expression> &index_bound) {
  using enum model::Distribution::Kind;
  if (values.quantiles.size() != model::Distribution::kQuantiles)
    return std::nullopt;
  const double least = values.quantiles.front(), greatest = values.quantiles.back();
  model::Distribution found{.kind = values.kind};
  if (model::is_floating(dtype)) {
    if (least == greatest)
      return std::nullopt; // as before a first step: results that do not depend on it would pass
    found.quantiles = values.quantiles;
    return found;
  }
  constexpr double kLargest = 9e18;
  if (std::abs(least) > kLargest || std::abs(greatest) > kLargest)
    return std::nullopt;
  found.lower = symbolic::Expression(static_cast<std::int64_t>(least));
  if (values.kind == Permutation)
    return found;
  found.upper = bound_of(greatest, task);
  if (index_bound)
    if (const auto bound = index_bound->evaluate(task.sizes); bound && static_cast<double>(*bound) > greatest)
      found.upper = *index_bound;
  const auto upper = found.upper.evaluate(task.sizes);
  const double last = upper ? static_cast<double>(*upper) - 1 : greatest;
  for (const double value : values.quantiles)
    found.quantiles.push_back(last > least ? (value - least) / (last - least) : 0);
  return found;
}

} // namespace warpwright::analysis
