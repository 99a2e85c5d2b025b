// Conversion from the runner's full verdict to the recorded part.
#include "trainer/records/record.h"

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMessageBytes = 300;

std::optional<MeasuredTime> time_of(const std::optional<model::Time> &time) {
  if (!time)
    return std::nullopt;
  return MeasuredTime{time->median_ns, time->low_ns, time->high_ns};
}

void take_compile_report(const model::CompileReport &report, Measured &measured) {
  measured.registers = report.registers;
  measured.shared_bytes = report.static_shared_bytes;
  measured.occupancy = report.occupancy;
  if (report.spill_store_bytes || report.spill_load_bytes)
    measured.spill_bytes =
        report.spill_store_bytes.value_or(0) + report.spill_load_bytes.value_or(0);
}

} // namespace

std::string device_key(const model::DeviceInfo &device) {
  return device.kind == "cuda" ? device.name : device.kind;
}

Measured cut_down(const model::Verdict &verdict, double seconds) {
  Measured measured;
  measured.outcome = verdict.outcome;
  if (verdict.outcome != model::Outcome::Verified)
    measured.message = verdict.message.substr(0, kMessageBytes);
  measured.device = device_key(verdict.device);
  measured.reference_time = time_of(verdict.reference_time);
  measured.candidate_time = time_of(verdict.candidate_time);
  if (verdict.speedup)
    measured.speedup = MeasuredRatio{verdict.speedup->ratio, verdict.speedup->low,
                                     verdict.speedup->high, verdict.speedup->samples};
  if (verdict.as_called)
    measured.as_called = verdict.as_called->speedup.ratio;
  if (!verdict.kernels.empty())
    take_compile_report(verdict.kernels.front(), measured);
  if (verdict.candidate_evidence)
    measured.bound = verdict.candidate_evidence->bound;
  if (verdict.reference_evidence)
    measured.reference_bound = verdict.reference_evidence->bound;
  for (const model::Check &check : verdict.checks)
    if (check.name == "measured again in a fresh worker")
      measured.confirmed = check.passed;
  measured.seconds = seconds;
  measured.date = verdict.date;
  return measured;
}

Measured original_of(const model::Verdict &verdict) {
  Measured original;
  original.outcome = model::Outcome::Verified;
  original.device = device_key(verdict.device);
  if (const auto &time = verdict.reference_time) {
    original.reference_time = MeasuredTime{time->median_ns, time->low_ns, time->high_ns};
    original.speedup = MeasuredRatio{1, 1, 1, 0};
  }
  if (!verdict.reference_kernels.empty()) {
    original.registers = verdict.reference_kernels.front().registers;
    original.occupancy = verdict.reference_kernels.front().occupancy;
  }
  if (verdict.reference_evidence)
    original.reference_bound = verdict.reference_evidence->bound;
  return original;
}

} // namespace warpwright::trainer
