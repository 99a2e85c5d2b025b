#include "runner/service/verdict_table.h"
#include "support/model/json.h"

#include <cmath>
#include <iomanip>
#include <utility>

namespace warpwright::runner {
namespace {

void print_speedup(std::ostream &out, const char *what, const model::Time &reference,
                   const model::Time &candidate, const std::optional<model::Speedup> &speedup) {
  out << "  " << what << ": reference " << reference.median_ns / 1e3 << " us, candidate "
      << candidate.median_ns / 1e3 << " us";
  if (speedup)
    out << ", speedup " << speedup->ratio << " [" << speedup->low << ", " << speedup->high << "], "
        << speedup->samples << " pairs";
  out << "\n";
}

void print_evidence(std::ostream &out, const char *side, const model::Time &time,
                    const std::optional<model::Evidence> &evidence) {
  const char *separator = ": ";
  const auto begin = [&]() -> std::ostream & {
    return out << (*separator == ':' ? std::string("  ") + side : "")
               << std::exchange(separator, ", ");
  };
  const auto print_rate = [&](const std::optional<double> &rate, double unit, const char *name,
                              const std::optional<double> &share) {
    if (!rate)
      return;
    begin() << *rate / unit << name;
    if (share)
      out << " (" << std::round(*share * 100) << "% of what the device reaches)";
  };
  if (time.kernel_ns)
    begin() << "kernels alone " << *time.kernel_ns / 1e3 << " us";
  if (evidence) {
    print_rate(evidence->bytes_per_s, 1e9, " GB/s", evidence->memory_share);
    print_rate(evidence->flops_per_s, 1e12, " TFLOP/s", evidence->compute_share);
    begin() << "bound by " << model::name(evidence->bound);
  }
  if (time.kernel_ns || evidence)
    out << "\n";
}

void print_clocks(std::ostream &out, const model::ClockRecord &clocks) {
  const auto print_range = [&](const char *what, const std::optional<model::Range> &range,
                               const char *unit) {
    if (range)
      out << " " << what << " " << range->low << " to " << range->high << unit << ";";
  };
  out << "  while timed:";
  print_range("SM clock", clocks.sm_mhz, " MHz");
  print_range("memory clock", clocks.memory_mhz, " MHz");
  print_range("temperature", clocks.temperature_c, " C");
  if (clocks.power_capped)
    out << (*clocks.power_capped ? " power-capped at times;" : " not power-capped;");
  out << " " << clocks.discarded_pairs << " pairs dropped for unequal clocks\n";
}

void print_counters(std::ostream &out, const model::Counters &counters) {
  out << "  counters by " << counters.tool << " at " << counters.sizes
      << ", reference | candidate\n";
  const auto value = [&](const std::optional<model::PlanCounters> &side, const std::string &name) {
    const auto found = side ? side->values.find(name) : decltype(side->values.end()){};
    if (!side || found == side->values.end())
      out << "-";
    else
      out << found->second;
  };
  std::map<std::string, bool> names;
  for (const auto *side : {&counters.reference, &counters.candidate})
    if (*side)
      for (const auto &[name, number] : (*side)->values)
        names[name] = true;
  for (const auto &[name, known] : names) {
    out << "    " << std::left << std::setw(44) << name << " ";
    value(counters.reference, name);
    out << " | ";
    value(counters.candidate, name);
    out << "\n";
  }
  for (const auto &[name, side] :
       {std::pair{"reference", &counters.reference}, std::pair{"candidate", &counters.candidate}})
    if (*side && !(*side)->bound.empty())
      out << "    the " << name << " is bound by " << (*side)->bound << "\n";
}

} // namespace

void print_table(std::ostream &out, const model::Verdict &verdict) {
  out << model::name(verdict.outcome) << ": " << verdict.message << "\n"
      << "on " << verdict.device.name << " (" << verdict.device.driver << "), "
      << (verdict.device.host.empty() ? "" : "host " + verdict.device.host + ", ") << verdict.date
      << "\n";
  if (verdict.host_code)
    out << "  the candidate is host code: it ran in a separate process, see docs/use/candidates.md\n";
  for (const model::Check &check : verdict.checks)
    out << (check.passed ? "  ok      " : "  FAILED  ") << check.name
        << (check.detail.empty() ? "" : ": " + check.detail) << "\n";
  if (verdict.reference_time && verdict.candidate_time) {
    out << "  measured at " << verdict.measured_sizes << "\n";
    print_speedup(out, "device time", *verdict.reference_time, *verdict.candidate_time,
                  verdict.speedup);
    print_evidence(out, "reference", *verdict.reference_time, verdict.reference_evidence);
    print_evidence(out, "candidate", *verdict.candidate_time, verdict.candidate_evidence);
  }
  if (const auto &called = verdict.as_called)
    print_speedup(out, "as called", called->reference_time, called->candidate_time,
                  called->speedup);
  for (const model::Baseline &baseline : verdict.baselines)
    if (baseline.name.starts_with("eager"))
      continue; // already printed above: device time, as called
    else if (baseline.speedup)
      print_speedup(out, ("against " + baseline.name).c_str(), *baseline.reference_time,
                    *baseline.candidate_time, baseline.speedup);
    else
      out << "  against " << baseline.name << ": not measured: " << baseline.missing << "\n";
  if (verdict.library_share)
    out << "  library steps: " << std::round(*verdict.library_share * 100)
        << "% of the candidate's device time\n";
  if (verdict.clocks)
    print_clocks(out, *verdict.clocks);
  if (verdict.counters)
    print_counters(out, *verdict.counters);
}

std::function<void(const std::string &)> print_stages(std::ostream *out,
                                                      const std::string &before) {
  return [out, before, last = std::string()](const std::string &stage) mutable {
    if (out && stage != last)
      *out << before + stage + "\n";
    last = stage;
  };
}

} // namespace warpwright::runner
