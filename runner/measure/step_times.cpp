#include "runner/measure/step_times.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

namespace warpwright::runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSteps = 64; ///< a graph each
constexpr int kRounds = 9, kFewestRounds = 3;
constexpr std::chrono::milliseconds kBudget{150};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

} // namespace

DeviceResult<StepTimes> measure_step_times(Job &job, InputSet &set, std::mt19937_64 &random, double bracket_ns) {
  const std::vector<Operation> &steps = set.operations[kCandidateSide];
  const auto by_library = [](const Operation &step) { return std::holds_alternative<TorchOperation>(step); };
  StepTimes result;
  if (std::ranges::all_of(steps, by_library) || std::ranges::none_of(steps, by_library))
    result.library_part = std::ranges::any_of(steps, by_library);
  const auto calls_module = [](const Operation &step) {
    const auto *torch = std::get_if<TorchOperation>(&step);
    return torch && torch->is_module;
  };
  if (steps.empty() || steps.size() > kMostSteps || std::ranges::any_of(steps, calls_module))
    return result;
  // The first whole run fills the buffers that all steps read.
  TRY(job.device.time(*set.recordings[kCandidateSide]));
  std::vector<std::unique_ptr<Recording>> beginnings;
  for (std::size_t count = 1; count <= steps.size(); ++count) {
    auto recorded = job.device.record_module(std::span(steps).first(count), {});
    if (!recorded && recorded.error().device_lost)
      return std::unexpected(recorded.error());
    if (!recorded || !(*recorded)->why_no_device_time().empty())
      return result;
    beginnings.push_back(std::move(*recorded));
  }
  std::vector<std::vector<double>> times(beginnings.size());
  std::vector<std::size_t> order(beginnings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto start = Clock::now();
  for (int round = 0; round < kRounds; ++round) {
    if (round >= kFewestRounds && Clock::now() - start > kBudget)
      break;
    std::ranges::shuffle(order, random);
    for (const std::size_t last : order)
      if (auto sample = TRY(job.device.time(*beginnings[last])); !sample.throttled)
        times[last].push_back(sample.ns);
  }
  if (std::ranges::any_of(times, [](const auto &samples) { return samples.empty(); }))
    return result;
  double in_library = 0, whole = 0, before = bracket_ns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double now = median(times[i]);
    result.ns.push_back(std::max(now - before, 0.0));
    before = std::max(before, now);
    whole += result.ns.back();
    in_library += by_library(steps[i]) ? result.ns.back() : 0;
  }
  if (!result.library_part && whole > 0)
    result.library_part = in_library / whole;
  return result;
}

} // namespace warpwright::runner
