#include "analysis/task/size_probe.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

constexpr std::int64_t kProbePrimes[] = {3, 5, 7, 11, 13, 17, 19, 23};
constexpr std::int64_t kMaxConstant = 64, kMaxFactor = 4096;

void add(BufferUse &use, const RangedAccess &access) {
  use.is_atomic = use.is_atomic || access.is_atomic;
  (access.is_write ? use.is_written : use.is_read) = true;
  if (access.is_write && (access.is_uncertain || access.loaded))
    use.is_uncertain_write = true;
  if (!access.bytes.is_bounded()) {
    use.is_unbounded = true;
    return;
  }
  std::optional<symbolic::Interval> &target = access.is_write ? use.written : use.read;
  target = target ? symbolic::hull(*target, access.bytes) : access.bytes;
}

} // namespace

std::optional<Probe> SizeProbe::at(const symbolic::Sizes &sizes) const {
  Probe probe;
  probe.sizes = sizes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto grid = draft_.step.grid[axis].evaluate(sizes),
               block = draft_.step.block[axis].evaluate(sizes);
    if (!grid || !block || *grid < 1 || *block < 1 || *grid > 2147483647)
      return std::nullopt;
    probe.launch.grid[axis] = *grid;
    probe.launch.block[axis] = *block;
  }
  if (probe.launch.block[0] * probe.launch.block[1] * probe.launch.block[2] > 1024)
    return std::nullopt;
  for (const auto &[name, expression] : draft_.integers) {
    const auto value = expression.evaluate(sizes);
    if (!value)
      return std::nullopt;
    probe.launch.scalars[name] = *value;
  }
  probe.ranges = kernel_ranges(context_, *draft_.callee, probe.launch);
  for (const DraftBuffer &buffer : draft_.buffers)
    for (const RangedAccess &access : probe.ranges.accesses)
      if (std::ranges::count(buffer.parameters, access.buffer))
        add(probe.uses[buffer.name], access);
  return probe;
}

std::vector<symbolic::Sizes> SizeProbe::distinct(const symbolic::Sizes &sizes) {
  std::vector<symbolic::Sizes> result;
  for (std::size_t round = 0; round < 3; ++round) {
    symbolic::Sizes probe;
    std::size_t i = round;
    for (const auto &[name, value] : sizes) {
      probe[name] = value < 1024 ? kProbePrimes[i % 8] * 32 : kProbePrimes[i % 8] * 1024;
      i += 1 + round;
    }
    result.push_back(std::move(probe));
  }
  return result;
}

std::optional<symbolic::Expression>
SizeProbe::explain(const std::vector<Probe> &probes,
                   const std::function<std::optional<std::int64_t>(const Probe &)> &value) const {
  std::vector<std::int64_t> values;
  for (const Probe &probe : probes) {
    const auto seen = value(probe);
    if (!seen)
      return std::nullopt;
    values.push_back(*seen);
  }
  if (values.empty())
    return std::nullopt;
  std::vector<std::string> factors;
  for (const auto &[name, size] : probes[0].sizes)
    factors.push_back(name);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!draft_.step.grid[axis].is_constant())
      factors.push_back("(" + draft_.step.grid[axis].text() + ")");
  // Shortest candidates first: one factor, two, three.
  std::vector<std::string> candidates = factors;
  for (const std::string &a : factors)
    for (const std::string &b : factors)
      candidates.push_back(a + " * " + b);
  for (const std::string &a : factors)
    for (const std::string &b : factors)
      for (const std::string &c : factors)
        candidates.push_back(a + " * " + b + " * " + c);
  if (std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) == values.end())
    return symbolic::Expression(values[0]);
  const auto fits = [&](const std::string &text) -> std::optional<symbolic::Expression> {
    const auto parsed = symbolic::Expression::parse(text);
    if (!parsed)
      return std::nullopt;
    for (std::size_t i = 0; i < probes.size(); ++i)
      if (const auto result = parsed->evaluate(probes[i].sizes); !result || *result != values[i])
        return std::nullopt;
    return *parsed;
  };
  for (const std::string &candidate : candidates)
    if (auto found = fits(candidate))
      return found;
  for (const std::string &candidate : candidates) {
    const auto first = symbolic::Expression::parse(candidate)->evaluate(probes[0].sizes);
    if (!first || *first < 1)
      continue;
    const std::int64_t difference = values[0] - *first;
    if (std::abs(difference) <= kMaxConstant)
      if (auto found = fits(candidate + (difference < 0 ? " - " : " + ") +
                            std::to_string(std::abs(difference))))
        return found;
    if (values[0] % *first == 0 && values[0] / *first <= kMaxFactor)
      if (auto found = fits(candidate + " * " + std::to_string(values[0] / *first)))
        return found;
  }
  return std::nullopt;
}

} // namespace warpwright::analysis
