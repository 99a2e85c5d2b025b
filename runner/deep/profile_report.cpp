// Metrics of ncu: their table, a reader of ncu's CSV, and the combination of a plan's launches.
#include "runner/deep/profile_report.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

namespace warpwright::runner::deep {
namespace {

enum class Fold { Sum, Average };

struct Metric {
  const char *ncu;
  const char *name; ///< name in the verdict, with the unit
  Fold fold;
  double factor = 1;
};

/// The tensor core pipe has a different metric in each generation. If several are present, the
/// largest counts.
constexpr const char *kTensor = "tensor_pipe_percent";
constexpr const char *kDuration = "duration_ns";
constexpr double kSectorBytes = 32;

constexpr Metric kMetrics[] = {
    {"gpu__time_duration.sum", kDuration, Fold::Sum},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "dram_throughput_percent",
     Fold::Average},
    {"dram__bytes_read.sum", "dram_read_bytes", Fold::Sum},
    {"dram__bytes_write.sum", "dram_write_bytes", Fold::Sum},
    // Names of the same metrics on later chips.
    {"dram__bytes_op_read.sum", "dram_read_bytes", Fold::Sum},
    {"dram__bytes_op_write.sum", "dram_write_bytes", Fold::Sum},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "l2_throughput_percent", Fold::Average},
    {"lts__t_sector_hit_rate.pct", "l2_hit_percent", Fold::Average},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "l1_throughput_percent", Fold::Average},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
     "memory_throughput_percent", Fold::Average},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm_throughput_percent", Fold::Average},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved_occupancy_percent",
     Fold::Average},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     "global_load_sectors_per_request", Fold::Average},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
     "global_store_sectors_per_request", Fold::Average},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared_load_bank_conflicts",
     Fold::Sum},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "shared_store_bank_conflicts",
     Fold::Sum},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "local_load_bytes", Fold::Sum, kSectorBytes},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "local_store_bytes", Fold::Sum, kSectorBytes},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", kTensor, Fold::Average},
    {"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", kTensor,
     Fold::Average},
    {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", kTensor, Fold::Average},
};

/// Stall reasons. Each metric is the average number of warps that wait for this reason when an
/// instruction is issued.
constexpr const char *kStalls[] = {"barrier",
                                   "branch_resolving",
                                   "dispatch_stall",
                                   "drain",
                                   "imc_miss",
                                   "lg_throttle",
                                   "long_scoreboard",
                                   "math_pipe_throttle",
                                   "membar",
                                   "mio_throttle",
                                   "no_instruction",
                                   "short_scoreboard",
                                   "sleeping",
                                   "tex_throttle",
                                   "wait",
                                   "gmma"};
constexpr std::size_t kStallsKept = 3;
constexpr double kLatencyBound = 60; ///< percent

std::string stall_metric(const std::string &reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}
std::string stall_name(const std::string &reason) {
  return "stalled_" + reason + "_warps_per_issue";
}

/// Splits a line of CSV. In a quoted field, "" is a quote.
std::vector<std::string> fields_of(const std::string &line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

/// Parses "1,234.5"; nullopt for "n/a", "nan" and other texts.
std::optional<double> number(const std::string &field) {
  std::string plain;
  for (const char c : field)
    if (c != ',' && c != ' ')
      plain += c;
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

using Launch = std::map<std::string, double>; ///< by ncu's metric names

std::vector<Launch> launches_in(const std::string &output) {
  std::vector<Launch> launches;
  std::vector<std::string> header;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() > 3 && fields[0] == "ID") {
      header = fields;
      continue;
    }
    // The line of units has no ID.
    if (header.empty() || fields.size() != header.size() || !number(fields[0]))
      continue;
    Launch launch;
    for (std::size_t i = 1; i < fields.size(); ++i)
      if (header[i].find("__") != std::string::npos)
        if (const auto value = number(fields[i]))
          launch[header[i]] = *value;
    launches.push_back(std::move(launch));
  }
  return launches;
}

/// Combination over all launches that have the metric; nullopt: none has it.
std::optional<double> folded(const std::vector<Launch> &launches, const std::string &metric,
                             Fold fold) {
  double sum = 0, weights = 0;
  bool found = false;
  for (const Launch &launch : launches) {
    const auto value = launch.find(metric);
    if (value == launch.end())
      continue;
    found = true;
    const auto duration = launch.find("gpu__time_duration.sum");
    const double weight = fold == Fold::Sum          ? 1
                          : duration != launch.end() ? std::max(duration->second, 1.0)
                                                     : 1;
    sum += weight * value->second;
    weights += weight;
  }
  if (!found)
    return std::nullopt;
  return fold == Fold::Sum ? sum : sum / weights;
}

void add_stalls(const std::vector<Launch> &launches, std::map<std::string, double> &values) {
  std::vector<std::pair<double, std::string>> stalls;
  for (const char *reason : kStalls)
    if (const auto value = folded(launches, stall_metric(reason), Fold::Average);
        value && *value > 0)
      stalls.emplace_back(*value, reason);
  std::sort(stalls.rbegin(), stalls.rend());
  for (std::size_t i = 0; i < std::min(stalls.size(), kStallsKept); ++i)
    values[stall_name(stalls[i].second)] = stalls[i].first;
}

/// Whether a line of ncu names the metric: "Failed to find metric NAME.sum", or "... metric
/// regex:^NAME\\.(sum|min|max)$".
bool names_metric(const std::string &line, const std::string &metric) {
  const std::string base = metric.substr(0, metric.find('.'));
  for (std::size_t at = line.find(base); at != std::string::npos; at = line.find(base, at + 1)) {
    const char next = at + base.size() < line.size() ? line[at + base.size()] : ' ';
    if (!std::isalnum(static_cast<unsigned char>(next)) && next != '_')
      return true;
  }
  return false;
}

/// The first error of ncu or of the launch; else the last line of the output.
std::string complaint(const std::string &output) {
  std::istringstream lines(output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==ERROR== "))
      return line.substr(10);
    if (line.starts_with("launch: ") && !line.starts_with("launch: buffer") &&
        !line.starts_with("launch: at"))
      return line.substr(8);
    if (!line.empty() && !line.starts_with("=="))
      last = line;
  }
  return last.empty() ? "it printed nothing" : last;
}

} // namespace

std::vector<std::string> profile_metrics() {
  std::vector<std::string> names;
  for (const Metric &metric : kMetrics)
    names.emplace_back(metric.ncu);
  for (const char *reason : kStalls)
    names.push_back(stall_metric(reason));
  return names;
}

std::vector<std::string> refused_metrics(const std::string &output) {
  std::vector<std::string> refused;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("==ERROR==") || line.starts_with("==WARNING=="))
      for (const std::string &metric : profile_metrics())
        if (names_metric(line, metric))
          refused.push_back(metric);
  return refused;
}

std::string bound_of(const std::map<std::string, double> &values) {
  const auto of = [&](const char *name) -> std::optional<double> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  std::optional<double> memory = of("memory_throughput_percent");
  for (const char *part : {"dram_throughput_percent", "l2_throughput_percent"})
    if (const auto value = of(part))
      memory = std::max(memory.value_or(0), *value);
  const std::optional<double> compute = of("sm_throughput_percent");
  if (!memory || !compute)
    return "";
  if (std::max(*memory, *compute) < kLatencyBound)
    return "latency";
  return *memory >= *compute ? "memory" : "compute";
}

Result<model::PlanCounters> read_profile(const std::string &output) {
  const std::vector<Launch> launches = launches_in(output);
  if (launches.empty()) {
    const bool forbidden = output.find("ERR_NVGPUCTRPERM") != std::string::npos;
    return fail("ncu profiled no launch: " + complaint(output),
                forbidden ? "Let users read GPU counters (NVreg_RestrictProfilingToAdminUsers=0), "
                            "or run the runner with CAP_SYS_ADMIN"
                          : "");
  }
  model::PlanCounters counters;
  counters.values["kernels"] = static_cast<double>(launches.size());
  for (const Metric &metric : kMetrics)
    if (const auto value = folded(launches, metric.ncu, metric.fold)) {
      const double scaled = *value * metric.factor;
      const auto [entry, added] = counters.values.emplace(metric.name, scaled);
      if (!added)
        entry->second = std::max(entry->second, scaled);
    }
  add_stalls(launches, counters.values);
  counters.bound = bound_of(counters.values);
  return counters;
}

} // namespace warpwright::runner::deep
