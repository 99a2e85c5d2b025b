#include "runner/measure/reference_alone.h"
#include "runner/measure/median_interval.h"
#include "runner/device/torch_host.h"

#include <sstream>

namespace warpwright::runner {
namespace {

constexpr std::size_t kFewest = 7;
/// Remaining difference between measurements at different times.
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

bool took_longer(const std::vector<Sample> &beside, const std::vector<Sample> &control) {
  const auto is_slower = [&](bool in_cycles) {
    return interval_of(beside, in_cycles).low > interval_of(control, in_cycles).high * (1 + kMargin);
  };
  return is_slower(false) && (!have_clocks(beside) || !have_clocks(control) || is_slower(true));
}

std::string microseconds(const std::vector<Sample> &samples) {
  std::ostringstream text;
  text.precision(3);
  text << interval_of(samples, false).median / 1e3 << " us";
  return text.str();
}

/// Samples of the reference next to a process that runs the task's own module as a candidate.
/// @return empty: the task's module cannot run that way
DeviceResult<std::vector<Sample>> time_beside_own_module(Job &job, const MeasureSettings &settings) {
  const model::TorchModule &module = *job.task.module;
  if (module.language != "python" || !module.files.empty())
    return std::vector<Sample>{};
  model::Plan own;
  own.steps = {model::ModuleStep{false, module.source, module.model}};
  Job control(job.device, job.checker, job.task, own, job.sink());
  control.torch_inputs = job.torch_inputs;
  control.spares_exact = job.spares_exact;
  control.rounds_to_tf32 = job.rounds_to_tf32;
  auto measured = measure(control, settings);
  TRY(job.device.torch()->load(module));
  if (!measured && measured.error().device_lost)
    return std::unexpected(measured.error());
  return measured ? std::move(measured->reference_samples) : std::vector<Sample>{};
}

} // namespace

ReferenceAlone compare_with_alone(const std::vector<Sample> &beside, const std::vector<Sample> &alone,
                                  const std::vector<Sample> &beside_own) {
  ReferenceAlone result;
  result.slowed = took_longer(beside, alone) && (beside_own.empty() || took_longer(beside, beside_own));
  result.text = microseconds(beside) + " next to the candidate's process, " + microseconds(alone) +
                " without it";
  if (!beside_own.empty())
    result.text +=
        ", " + microseconds(beside_own) + " next to a process that runs the task's own module";
  return result;
}

DeviceResult<std::optional<ReferenceAlone>>
time_without_candidate(Job &job, const MeasureSettings &settings, bool as_called,
                       const std::vector<Sample> &beside) {
  if (beside.size() < kFewest)
    return std::nullopt;
  if (auto ended = job.device.torch()->load(*job.task.module); !ended) // ends others' work
    return std::unexpected(ended.error());
  auto alone = TRY(time_reference_alone(job, settings, as_called));
  if (alone.size() < kFewest)
    return std::nullopt;
  ReferenceAlone result = compare_with_alone(beside, alone);
  if (!result.slowed)
    return result;
  auto beside_own = TRY(time_beside_own_module(job, settings));
  return beside_own.size() < kFewest ? result : compare_with_alone(beside, alone, beside_own);
}

} // namespace warpwright::runner
