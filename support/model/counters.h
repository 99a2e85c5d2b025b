// Hardware counters of one plan, read by a profiler on a GPU, which explain the plan's time.
//
// Counters come from separate runs, never from timed ones. They are evidence and not a measurement,
// because the profiler runs each kernel several times and flushes the caches before each run.
// Thread: values, any.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpwright::model {

/// Counters of all kernels of a plan: counts are sums; percentages and ratios are averages weighted
/// by duration.
struct PlanCounters {
  /// Values by name, which contains the unit: "dram_throughput_percent",
  /// "load_sectors_per_request". Counters that the profiler could not read are absent.
  std::map<std::string, double> values;
  std::string bound; ///< "memory", "compute" or "latency"; empty if counters for it are absent
  bool operator==(const PlanCounters &) const = default;
};

struct Counters {
  std::optional<PlanCounters> reference, candidate;
  std::string tool;  ///< "ncu 2025.3.1"
  std::string sizes; ///< "n=16777216"
  bool operator==(const Counters &) const = default;
};

nlohmann::json to_json(const Counters &counters);
/// @param document must fit the verdict's schema
Counters counters_from_json(const nlohmann::json &document);

} // namespace warpwright::model
