// Which hardware counters are asked of ncu, and what it printed about them, as counters of the verdict.
//
// Format: `ncu --csv --page raw` (Nsight Compute CLI, "CSV output"): a header line that begins with "ID", a
// line of units, one line a kernel launch, a column a metric; lines of ncu's own ("==PROF==") in between.
// Metrics that a chip or a release lacks are "n/a" or absent, and stay absent. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/counters.h"

#include <vector>

namespace warpwright::runner::deep {

/// All metrics by ncu's names.
std::vector<std::string> profile_metrics();

/// The asked metrics that ncu's complaints name ("==ERROR== Failed to find metric ..."): to be left out of a
/// second try.
std::vector<std::string> refused_metrics(const std::string &output);

/// Sums counts over the launches; percentages and ratios are averaged, weighted by duration.
/// Errors: no launch was profiled, with ncu's own reason and what to do.
Result<model::PlanCounters> read_profile(const std::string &output);

/// "latency" when neither memory nor SMs reach 60% of their peak throughput, else the larger of the two:
/// "memory" or "compute". The rule and its threshold are Nsight Compute's ("SOL bottleneck"). Empty where
/// either is absent.
std::string bound_of(const std::map<std::string, double> &values);

} // namespace warpwright::runner::deep
