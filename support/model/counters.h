// Hardware counters that explain a time: of one plan, read by a profiler on a GPU.
//
// They come from runs of their own, never from the timed ones, and are evidence, no measurement: the
// profiler runs each kernel several times with the caches flushed before each.
// Thread: values, any.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpwright::model {

/// Of all kernels of a plan: counts are sums, percentages and ratios averages weighted by duration.
struct PlanCounters {
  /// By name with the unit in it: "dram_throughput_percent", "load_sectors_per_request". What the profiler
  /// could not read is absent.
  std::map<std::string, double> values;
  std::string bound; ///< "memory", "compute" or "latency"; empty where what decides it is absent
  bool operator==(const PlanCounters &) const = default;
};

struct Counters {
  std::optional<PlanCounters> reference, candidate;
  std::string tool;  ///< "ncu 2025.3.1"
  std::string sizes; ///< "n=16777216"
  bool operator==(const Counters &) const = default;
};

nlohmann::json to_json(const Counters &counters);
/// @param document valid by the verdict's schema
Counters counters_from_json(const nlohmann::json &document);

} // namespace warpwright::model
