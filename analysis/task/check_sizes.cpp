#include "analysis/task/check_sizes.h"

#include <algorithm>
#include <cmath>

namespace warpwright::analysis {
namespace {

constexpr std::size_t kEnough = 6, kFewest = 3;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 24; ///< per buffer at a check binding

/// Each row is one round. In round r, size i takes column (i + r) % 4; a single size takes column
/// 0. First tails and odd sizes, then multiples.
const std::vector<std::vector<std::int64_t>> kTails{
    {1, 1, 1, 1},        {33, 17, 65, 5},      {1000, 129, 77, 31},    {1023, 100, 300, 63},
    {257, 515, 130, 97}, {12345, 67, 33, 129}, {100003, 259, 190, 35}, {7, 300, 41, 513}};
const std::vector<std::vector<std::int64_t>> kMultiples{
    {64, 128, 96, 32},       {256, 64, 128, 192},      {96, 32, 160, 64},
    {512, 256, 128, 64},     {1024, 512, 256, 128},    {768, 1280, 256, 512},
    {2048, 1024, 3072, 512}, {5120, 3072, 1024, 2048}, {65536, 1024, 2048, 4096}};

struct Judgement {
  std::set<std::string> overrun, covered_writes, covered_reads;
  std::map<std::string, bool> unbounded;
  bool is_too_large = false, is_empty = false;
};

Judgement judge(const Probe &probe, const LaunchDraft &draft,
                const std::map<std::string, symbolic::Expression> &extents) {
  Judgement result;
  for (const DraftBuffer &buffer : draft.buffers) {
    const auto known = extents.find(buffer.name);
    const auto extent =
        known == extents.end() ? Result<std::int64_t>(0) : known->second.evaluate(probe.sizes);
    if (!extent || *extent < 1) {
      result.is_empty = true;
      continue;
    }
    result.is_too_large = result.is_too_large || *extent > kMaxElements;
    const std::int64_t bytes =
        *extent * static_cast<std::int64_t>(model::size_bytes(*buffer.dtype));
    const auto use = probe.uses.find(buffer.name);
    if (use == probe.uses.end())
      continue;
    const auto look = [&](const std::optional<symbolic::Interval> &range,
                          std::set<std::string> &covered) {
      if (!range)
        return;
      if (range->low < 0 || range->high >= bytes)
        result.overrun.insert(buffer.name);
      if (range->low <= 0 && range->high >= bytes - 1)
        covered.insert(buffer.name);
    };
    look(use->second.read, result.covered_reads);
    look(use->second.written, result.covered_writes);
  }
  return result;
}

/// Whether some buffer is accessed in a way that the ranges do not show, such as through vectors of
/// a helper's type.
bool is_opaque(const Probe &probe, const LaunchDraft &draft) {
  return std::ranges::any_of(draft.buffers, [&](const DraftBuffer &buffer) {
    return !probe.uses.contains(buffer.name) ||
           std::ranges::any_of(buffer.parameters, [&](const std::string &name) {
             return probe.ranges.escaped.contains(name);
           });
  });
}

/// Rounds sizes up to multiples of the powers of two, up to a warp, that divide the program's own
/// sizes.
symbolic::Sizes aligned(symbolic::Sizes sizes, const symbolic::Sizes &own) {
  for (auto &[name, value] : sizes) {
    const std::int64_t known = own.at(name);
    const std::int64_t step = std::min<std::int64_t>(known & -known, 32);
    value = std::min(known, (value + step - 1) / step * step);
  }
  return sizes;
}

bool includes(const std::set<std::string> &all, const std::set<std::string> &some) {
  return std::ranges::includes(all, some);
}

} // namespace

std::vector<symbolic::Sizes>
choose_check_sizes(const SizeProbe &probe, const LaunchDraft &draft, const symbolic::Sizes &sizes,
                   const std::map<std::string, symbolic::Expression> &extents) {
  std::vector<symbolic::Sizes> chosen;
  const auto measured = probe.at(sizes);
  if (!measured || sizes.empty())
    return chosen;
  const Judgement expected = judge(*measured, draft, extents);
  // If the program's own sizes seem to overrun a buffer, the ranges are too wide to judge, as with
  // vectors.
  const bool opaque = is_opaque(*measured, draft) || !expected.overrun.empty();
  const auto consider = [&](const symbolic::Sizes &wanted) {
    const symbolic::Sizes candidate = opaque ? aligned(wanted, sizes) : wanted;
    if (chosen.size() >= kEnough || candidate == sizes || std::ranges::count(chosen, candidate))
      return;
    const auto at = probe.at(candidate);
    if (!at)
      return;
    const Judgement found = judge(*at, draft, extents);
    if (!found.is_too_large && !found.is_empty && includes(expected.overrun, found.overrun) &&
        includes(found.covered_reads, expected.covered_reads) &&
        includes(found.covered_writes, expected.covered_writes))
      chosen.push_back(candidate);
  };
  const auto rounds = [&](const std::vector<std::vector<std::int64_t>> &table) {
    for (std::size_t round = 0; round < table.size(); ++round) {
      symbolic::Sizes candidate;
      std::size_t i = 0;
      for (const auto &[name, value] : sizes)
        candidate[name] = std::min(table[round][(i++ + (sizes.size() > 1 ? round : 0)) % 4],
                                   std::max<std::int64_t>(value, 1));
      consider(candidate);
    }
  };
  rounds(kTails);
  if (chosen.size() < kFewest)
    rounds(kMultiples);
  // Changes one size at a time, in case the sizes depend on each other or on the launch.
  for (const auto &[name, value] : sizes)
    for (const std::int64_t other :
         {value - 1, value / 2, value / 4, value / 2 + 1, value / 4 * 3, value + 1}) {
      symbolic::Sizes candidate = sizes;
      candidate[name] = other;
      if (chosen.size() < kFewest && other > 0)
        consider(candidate);
    }
  return chosen;
}

/// The error of a sum of `length` terms of size 1 grows at least with the square root of the
/// length, and blocked summation achieves that (Higham, Accuracy and Stability, 4.2).
model::Tolerance tolerance_of(const model::Task &task, const KernelRanges &ranges) {
  double epsilon = 0;
  for (const model::Buffer &buffer : task.buffers)
    if (buffer.direction != model::Direction::In && model::is_floating(buffer.dtype))
      epsilon = std::max(epsilon, buffer.dtype == model::Dtype::Float64   ? 1.1e-16
                                  : buffer.dtype == model::Dtype::Float32 ? 6.0e-8
                                  : buffer.dtype == model::Dtype::Float16 ? 4.9e-4
                                                                          : 3.9e-3);
  double length = static_cast<double>(ranges.reduction_length);
  if (ranges.atomic_adds > 0)
    length = std::max(length, static_cast<double>(ranges.atomic_adds));
  const double blocked = std::sqrt(std::min(length, 4096.0));
  model::Tolerance tolerance;
  tolerance.absolute =
      epsilon == 0 ? 0 : std::max(epsilon * 128, 4 * epsilon * std::sqrt(length) * blocked);
  tolerance.relative = epsilon == 0 ? 0 : std::max(epsilon * 128, 4 * epsilon * blocked);
  return tolerance;
}

} // namespace warpwright::analysis
