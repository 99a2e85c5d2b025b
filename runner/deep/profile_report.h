// Hardware counters: the metrics requested from ncu, and the reader of its output.
//
// Format: `ncu --csv --page raw` (Nsight Compute CLI, "CSV output"): a header line that begins with
// "ID", a line of units, and one line per kernel launch with one column per metric; ncu's own lines
// ("==PROF==") are in between. Metrics that a chip or a release lacks are "n/a" or absent, and are
// left out. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/counters.h"

#include <vector>

namespace warpwright::runner::deep {

/// ncu's names of all metrics.
std::vector<std::string> profile_metrics();

/// The requested metrics that ncu rejects ("==ERROR== Failed to find metric ..."), which the next
/// try leaves out.
std::vector<std::string> refused_metrics(const std::string &output);

/// Sums counts over the launches, and averages percentages and ratios weighted by duration.
/// Errors: no launch was profiled, with ncu's own reason and what to do.
Result<model::PlanCounters> read_profile(const std::string &output);

/// The limiting resource: "latency" if neither memory nor SMs reach 60% of their peak throughput,
/// else the one with the larger percentage, "memory" or "compute". The rule and its threshold are
/// Nsight Compute's ("SOL bottleneck"). Empty: a value is missing.
std::string bound_of(const std::map<std::string, double> &values);

} // namespace warpwright::runner::deep
