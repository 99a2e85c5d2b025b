#include "server/features/kernel_page.h"

#include "server/features/gain_text.h"
#include "server/features/proposed_text.h"
#include "server/measured_text.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

namespace warpwright::server::features {

namespace {

struct CounterMeaning {
  std::string_view name, meaning;
};

constexpr std::array kMeanings = std::to_array<CounterMeaning>({
    {"duration_ns", "device time under the profiler, not comparable to measured times"},
    {"dram_throughput_percent", "traffic to memory, of the peak rate"},
    {"dram_read_bytes", "bytes read from memory"},
    {"dram_write_bytes", "bytes written to memory"},
    {"l2_throughput_percent", "traffic of the L2 cache, of its peak rate"},
    {"l2_hit_percent", "sectors that the L2 cache held"},
    {"l1_throughput_percent", "traffic of the L1 cache, of its peak rate"},
    {"memory_throughput_percent", "the busiest part of the memory system, of its peak rate"},
    {"sm_throughput_percent", "the busiest pipeline of the multiprocessors, of its peak rate"},
    {"achieved_occupancy_percent", "warps resident on a multiprocessor, of the most it holds"},
    {"global_load_sectors_per_request",
     "32-byte sectors that a warp's load moves; 4 is best for 4-byte elements"},
    {"global_store_sectors_per_request",
     "32-byte sectors that a warp's store moves; 4 is best for 4-byte elements"},
    {"shared_load_bank_conflicts", "extra passes of loads from shared memory"},
    {"shared_store_bank_conflicts", "extra passes of stores to shared memory"},
    {"local_load_bytes", "bytes read from local memory: spilled registers"},
    {"local_store_bytes", "bytes written to local memory: spilled registers"},
    {"tensor_pipe_percent", "use of the tensor cores, of their peak rate"},
});

constexpr std::string_view kStalled = "stalled_", kWarps = "_warps_per_issue";

const std::map<std::string, std::string> &stall_reasons() {
  static const std::map<std::string, std::string> kReasons{
      {"barrier", "a barrier of the block"},
      {"long_scoreboard", "global or local memory"},
      {"short_scoreboard", "shared memory or special functions"},
      {"lg_throttle", "the queue of global and local memory"},
      {"mio_throttle", "the queue of shared memory and special functions"},
      {"math_pipe_throttle", "a busy arithmetic pipeline"},
      {"wait", "the fixed latency of the previous instruction"},
      {"membar", "a memory fence"},
      {"no_instruction", "the instruction cache"},
      {"gmma", "the tensor cores"}};
  return kReasons;
}

std::string rate_cell(const std::optional<double> &rate, const char *unit,
                      const std::optional<double> &share) {
  if (!rate)
    return "-";
  return printed("%.3g ", *rate / 1e9) + unit + (share ? printed(", %.0f%%", 100 * *share) : "");
}

void write_side(std::ostream &out, const char *side, const std::optional<model::Time> &time,
                const std::optional<model::Evidence> &evidence) {
  out << "| " << side << " | " << (time ? model::time_text(time->median_ns) : "-") << " | ";
  if (evidence)
    out << rate_cell(evidence->bytes_per_s, "GB/s", evidence->memory_share) << " | "
        << rate_cell(evidence->flops_per_s, "GFLOP/s", evidence->compute_share) << " | "
        << model::name(evidence->bound) << " |\n";
  else
    out << "- | - | - |\n";
}

/// The two points of the roofline as numbers: shares are those of the rates measured on this GPU.
void write_roofline(std::ostream &out, const model::Verdict &verdict) {
  if (!verdict.reference_evidence && !verdict.candidate_evidence)
    return;
  out << "\n## Roofline\n\n| | time | memory | arithmetic | bound |\n|---|---|---|---|---|\n";
  write_side(out, "before", verdict.reference_time, verdict.reference_evidence);
  write_side(out, "after", verdict.candidate_time, verdict.candidate_evidence);
  out << "\nShares are those of the rates measured on " << cell(verdict.device.name) << ".\n";
}

std::string value_cell(const std::optional<model::PlanCounters> &side, const std::string &name) {
  if (!side || !side->values.contains(name))
    return "-";
  return printed("%.6g", side->values.at(name));
}

/// Why there are no counters: the reason of the check, if they were requested.
std::string missing_counters(const model::Verdict &verdict) {
  for (const model::Check &check : verdict.checks)
    if (check.name == "hardware counters" && !check.passed)
      return "Hardware counters were not read: " + check.detail + ".\n";
  return "Hardware counters were not read. *Profile* reads them with NVIDIA's ncu on the runner's "
         "machine.\n";
}

void write_counters(std::ostream &out, const model::Verdict &verdict) {
  if (verdict.device.kind != "cuda")
    return;
  out << "\n## Counters\n\n";
  if (!verdict.counters) {
    out << missing_counters(verdict);
    return;
  }
  const model::Counters &counters = *verdict.counters;
  std::map<std::string, int> names;
  for (const auto *side : {&counters.reference, &counters.candidate})
    if (*side)
      for (const auto &[name, value] : (*side)->values)
        ++names[name];
  out << "| counter | before | after | meaning |\n|---|---|---|---|\n";
  for (const auto &[name, count] : names)
    out << "| " << name << " | " << value_cell(counters.reference, name) << " | "
        << value_cell(counters.candidate, name) << " | " << counter_meaning(name) << " |\n";
  out << "\nRead by " << cell(counters.tool) << " in separate runs, at " << cell(counters.sizes)
      << ".\n";
}

void write_tried(std::ostream &out, const KernelStatus &status) {
  const auto &tried = status.current.empty() ? status.stale : status.current;
  out << "\n## Tried\n\n";
  if (status.current.empty())
    out << "The code changed since these were measured.\n\n";
  out << "| variant | outcome | time | speedup | reason |\n|---|---|---|---|---|\n";
  for (const runner::LedgerEntry *entry : tried) {
    const model::Verdict &verdict = entry->verdict;
    const std::string &reason = entry->proposed.not_applicable.empty()
                                    ? verdict.message
                                    : entry->proposed.not_applicable;
    out << "| " << cell(moves_text(entry->plan.moves)) << " | " << outcome_text(verdict) << " | "
        << (verdict.candidate_time ? model::time_text(verdict.candidate_time->median_ns) : "-")
        << " | " << (verdict.speedup ? speedup_text(*verdict.speedup) : "-") << " | "
        << cell(reason) << " |\n";
  }
}

} // namespace

std::string counter_meaning(const std::string &name) {
  const auto known = std::ranges::find(kMeanings, name, &CounterMeaning::name);
  if (known != kMeanings.end())
    return std::string(known->meaning);
  if (!name.starts_with(kStalled) || !name.ends_with(kWarps))
    return {};
  const std::string reason =
      name.substr(kStalled.size(), name.size() - kStalled.size() - kWarps.size());
  const auto found = stall_reasons().find(reason);
  return "warps that wait for " + (found == stall_reasons().end() ? reason : found->second) +
         ", for each instruction issued";
}

const runner::LedgerEntry *explained_entry(const KernelStatus &status) {
  return status.best                      ? status.best
         : status.applied                 ? status.applied
         : status.outrun                  ? status.outrun
         : !status.not_applicable.empty() ? status.not_applicable.front()
                                          : nullptr;
}

std::string kernel_page(const Context &context, const analysis::Kernel &kernel,
                        const std::string &machine_code) {
  const KernelStatus status = context.status(kernel);
  std::ostringstream out;
  out << "# " << kernel.name << "\n\n`" << kernel.name << "`";
  write_gain(out, status);
  if (status.entries->empty()) {
    out << "Not measured.\n";
    return out.str();
  }
  if (const std::string analysis = analysis_text(status); !analysis.empty())
    out << analysis << "\n";
  if (kernel.captured)
    out << "\n" << captured_text(*kernel.captured) << ".\n";
  write_not_applicable(out, status);
  if (const runner::LedgerEntry *shown = explained_entry(status)) {
    if (!shown->verdict.measured_sizes.empty())
      out << "\nSizes: " << shown->verdict.measured_sizes << "\n";
    write_roofline(out, shown->verdict);
    write_counters(out, shown->verdict);
  }
  write_tried(out, status);
  write_proposed_source(out, status);
  if (!machine_code.empty())
    out << "\n## Machine code\n\n" << machine_code;
  return out.str();
}

} // namespace warpwright::server::features
