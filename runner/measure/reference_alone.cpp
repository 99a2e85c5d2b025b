#include "runner/measure/reference_alone.h"
#include "runner/measure/median_interval.h"
#include "runner/torch/host.h"

#include <sstream>

namespace warpwright::runner {
namespace {

constexpr std::size_t kFewest = 7;
/// What is left of differences between two stretches of time.
constexpr double kMargin = 0.05;

Interval interval_of(const std::vector<Sample> &samples, bool in_cycles) {
  std::vector<double> values;
  for (const Sample &sample : samples)
    values.push_back(sample.ns * (in_cycles ? *sample.clocks.sm_mhz : 1));
  return median_interval(values);
}

bool have_clocks(const std::vector<Sample> &samples) {
  return std::ranges::all_of(samples, [](const Sample &sample) { return sample.clocks.sm_mhz.has_value(); });
}

} // namespace

ReferenceAlone compare_with_alone(const std::vector<Sample> &beside,
                                  const std::vector<Sample> &alone) {
  const auto is_slower = [&](bool in_cycles) {
    return interval_of(beside, in_cycles).low > interval_of(alone, in_cycles).high * (1 + kMargin);
  };
  ReferenceAlone result;
  result.slowed = is_slower(false) && (!have_clocks(beside) || !have_clocks(alone) || is_slower(true));
  std::ostringstream text;
  text.precision(3);
  text << interval_of(beside, false).median / 1e3 << " us beside the candidate's process, "
       << interval_of(alone, false).median / 1e3 << " us without it";
  result.text = text.str();
  return result;
}

DeviceResult<std::optional<ReferenceAlone>>
time_without_candidate(Job &job, const MeasureSettings &settings, bool as_called,
                       const std::vector<Sample> &beside) {
  if (beside.size() < kFewest)
    return std::nullopt;
  if (auto ended = job.device.torch()->load(*job.task.module); !ended) // which ends what others' modules left
    return std::unexpected(ended.error());
  auto alone = time_reference_alone(job, settings, as_called);
  if (!alone)
    return std::unexpected(alone.error());
  if (alone->size() < kFewest)
    return std::nullopt;
  return compare_with_alone(beside, *alone);
}

} // namespace warpwright::runner
