#include "runner/measure/library_share.h"

#include <algorithm>
#include <chrono>

namespace warpwright::runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPairs = 9, kFewestPairs = 3;
constexpr std::chrono::milliseconds kBudget{100};

std::vector<Operation> library_part(const std::vector<Operation> &operations) {
  std::vector<Operation> part;
  for (const Operation &operation : operations)
    if (std::holds_alternative<TorchOperation>(operation))
      part.push_back(operation);
  return part;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

} // namespace

DeviceResult<std::optional<double>>
measure_library_share(Job &job, InputSet &set, std::mt19937_64 &random, double bracket_ns) {
  const std::vector<Operation> part = library_part(set.operations[kCandidateSide]);
  if (part.empty() || part.size() == set.operations[kCandidateSide].size())
    return part.empty() ? 0.0 : 1.0;
  Recording &whole = *set.recordings[kCandidateSide];
  // The first whole run fills the buffers that the library steps read.
  TRY(job.device.time(whole));
  const auto library = job.device.record_module(part, {});
  if (!library && library.error().device_lost)
    return std::unexpected(library.error());
  if (!library || !(*library)->why_no_device_time().empty())
    return std::optional<double>();
  std::vector<double> times[2];
  const auto start = Clock::now();
  for (int pair = 0; pair < kPairs; ++pair) {
    if (pair >= kFewestPairs && Clock::now() - start > kBudget)
      break;
    const std::size_t first = random() % 2;
    for (const std::size_t which : {first, 1 - first}) {
      auto sample = TRY(job.device.time(which == 0 ? whole : **library));
      if (!sample.throttled)
        times[which].push_back(std::max(sample.ns - bracket_ns, 0.0));
    }
  }
  if (times[0].empty() || times[1].empty() || median(times[0]) <= 0)
    return std::optional<double>();
  return std::min(1.0, median(times[1]) / median(times[0]));
}

} // namespace warpwright::runner
