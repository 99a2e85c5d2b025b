#include "runner/service/verdict_table.h"
#include "support/model/json.h"

#include <iomanip>

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
  for (const model::Check &check : verdict.checks)
    out << (check.passed ? "  ok      " : "  FAILED  ") << check.name
        << (check.detail.empty() ? "" : ": " + check.detail) << "\n";
  if (verdict.reference_time && verdict.candidate_time) {
    out << "  measured at " << verdict.measured_sizes << "\n";
    print_speedup(out, "device time", *verdict.reference_time, *verdict.candidate_time,
                  verdict.speedup);
  }
  if (const auto &called = verdict.as_called)
    print_speedup(out, "as called", called->reference_time, called->candidate_time,
                  called->speedup);
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
