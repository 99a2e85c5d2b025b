// Search for main sizes in this order: check sizes, the task's sizes halved until affordable, random multiples.
// Thread: the job thread.
#include "runner/verify/main_sizes.h"
#include "runner/verify/bound_plan.h"
#include "runner/verify/hidden_sizes.h"
#include "runner/verify/reference_probe.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

/// Rough number of flops that take a compute-bound kernel as long as one element takes a memory-bound one.
constexpr std::int64_t kFlopsAnElement = 48;
/// Maximal cost of sizes that the task does not name.
constexpr std::int64_t kMostHiddenElements = std::int64_t{1} << 24;
/// Number of random multiples.
constexpr int kSmallerAttempts = 4;

/// The task's sizes with the largest halved until affordable; most divisibility by small numbers remains.
std::optional<symbolic::Sizes> halved(const Job &job) {
  symbolic::Sizes sizes = job.task.sizes;
  while (!affordable(job, sizes)) {
    const auto largest =
        std::ranges::max_element(sizes, {}, [](const auto &size) { return size.second; });
    if (largest == sizes.end() || largest->second < 2)
      return std::nullopt;
    largest->second /= 2;
  }
  return sizes;
}

std::vector<symbolic::Sizes> smaller_sizes(const Job &job, std::mt19937_64 &random) {
  std::vector<symbolic::Sizes> found;
  for (const symbolic::Sizes &sizes : job.task.check_sizes)
    if (affordable(job, sizes))
      found.push_back(sizes);
  std::ranges::stable_sort(found, std::greater(),
                           [&](const symbolic::Sizes &sizes) { return cost_at(job.task, sizes); });
  if (auto sizes = halved(job))
    found.push_back(std::move(*sizes));
  const auto small = [&](const symbolic::Sizes &sizes) { return affordable_unnamed(job, sizes); };
  for (int i = 0; i < kSmallerAttempts; ++i)
    if (auto drawn = draw_hidden_sizes(job.task, HiddenSizes::Multiples, random, small))
      found.push_back(std::move(*drawn));
  return found;
}

} // namespace

std::int64_t cost_at(const model::Task &task, const symbolic::Sizes &sizes) {
  std::int64_t elements = 0;
  for (const model::Buffer &buffer : task.buffers)
    elements += buffer.extent.evaluate(sizes).value_or(0);
  const std::int64_t flops = task.work.flops ? task.work.flops->evaluate(sizes).value_or(0) : 0;
  return std::max(elements, flops / kFlopsAnElement);
}

bool affordable(const Job &job, const symbolic::Sizes &sizes) {
  const auto limit = job.device.capabilities().preferred_max_elements;
  return !limit || cost_at(job.task, sizes) <= *limit;
}

bool affordable_unnamed(const Job &job, const symbolic::Sizes &sizes) {
  return affordable(job, sizes) && cost_at(job.task, sizes) <= kMostHiddenElements;
}

DeviceResult<MainSizes> choose_main_sizes(Job &job, std::mt19937_64 &random) {
  if (job.task.module || affordable(job, job.task.sizes))
    return MainSizes{job.task.sizes, "", {}};
  std::string why;
  for (const symbolic::Sizes &sizes : smaller_sizes(job, random)) {
    auto reason = TRY(probe_reference(job, {sizes, random() >> 40, 1, false}, true));
    if (!reason)
      return MainSizes{sizes,
                       "verified up to " + symbolic::describe_sizes(sizes) + "; " +
                           symbolic::describe_sizes(job.task.sizes) +
                           " is more than this device does in reasonable time",
                       {}};
    why += (why.empty() ? "" : "; ") + symbolic::describe_sizes(sizes) + ": it " + *reason;
  }
  if (why.empty())
    return MainSizes{job.task.sizes, "", {}};
  return MainSizes{{},
                   "",
                   Failure{model::Outcome::Unsupported, "the kernel is a reference",
                           "the kernel itself is at home at none of the sizes that this device "
                           "does in reasonable time: " +
                               why}};
}

} // namespace warpwright::runner
