// Benchmark statistics in the form usual for kernel generation.
//
// A task that is degenerate or without a verified candidate counts as 1.0, because the user keeps the original.
// Arithmetic means appear beside geometric ones because other authors publish them.
#pragma once

#include "server/kernelbench/bench_result.h"

#include <string>
#include <vector>

namespace warpwright::server {

struct BaselineSummary {
  std::string baseline;
  int tasks = 0;    ///< all
  int measured = 0; ///< with a ratio
  double mean = 1, geometric_mean = 1, median = 1, lower_quartile = 1, upper_quartile = 1;
  double
      fast_1 = 0,
      fast_1_5 = 0,
      fast_2 =
          0; ///< shares of tasks faster by these factors, with confidence (lower end of the interval)
};

/// The best framework variant of a task is the fastest of those measured as CUDA graphs (device time).
inline constexpr const char *kBestVariant = "best framework variant";

struct BenchSummary {
  int tasks = 0, verified = 0, unmeasured = 0, no_candidate = 0, export_failed = 0, skipped = 0,
      degenerate = 0, failed = 0;
  int kernels_ran = 0;              ///< exports whose kernels answered every call
  int wrong_baselines = 0;          ///< tasks with a framework variant that is wrong
  int faster_than_best_variant = 0; ///< by over 1%, lower end of the interval
  /// Refused answers of other systems, by the verdict's outcome; "no answer" if there was none.
  std::map<std::string, int> refused;
  int constructor_only = 0; ///< verified, but wrong with other parameters than its constructor's
  std::vector<BaselineSummary> baselines;
};

/// @param level 0: all
BenchSummary summarise(const std::vector<BenchResult> &results, int level = 0);
nlohmann::json to_json(const BenchSummary &summary);

/// "3 suspected_cheat, 12 wrong_result"; empty: no refusals.
std::string refusals_text(const BenchSummary &summary);

/// Framework variants in the order of tables: eager and torch.compile as CUDA graphs, then as called, then further ones
/// that some result names.
std::vector<std::string> baselines_of(const std::vector<BenchResult> &results);

/// Ratio of a result to the fastest framework variant that was measured; nullopt: none was.
std::optional<Ratio> best_variant_ratio(const BenchResult &result);

} // namespace warpwright::server
