// What became of one task of a benchmark, and the file that keeps results while a run goes on.
//
// The file is JSON lines: the first says what the run is (sources, settings, version), every other is one task's result. A run that
// was ended goes on where it was; a line cut short by a kill is dropped. Several runs may write one file at once (support/files.h).
// Thread: values; ResultsFile from one thread at a time.
#pragma once

#include "generator/search/recipe.h"
#include "support/error.h"
#include "support/files.h"
#include "support/model/verdict.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::server {

/// One ratio, baseline over candidate, with its interval.
struct Ratio {
  double value = 1, low = 1, high = 1;
  double baseline_ns = 0, candidate_ns = 0;
};

/// One plan of a search, for whoever asks why a task falls short.
struct TriedVariant {
  std::string moves;                  ///< joined by "; ", cut where they are many
  std::string outcome;                ///< the verdict's
  std::string message;                ///< why it was refused; empty where it was not
  std::optional<double> candidate_ns; ///< device time, median
};

struct BenchResult {
  enum class State {
    Verified,    ///< a candidate with a kernel of ours is right, and was measured
    Unmeasured,  ///< right, but no GPU measured it, or not to the end
    NoCandidate, ///< nothing of ours passed, or nothing could be generated
    Skipped,     ///< the task itself: does not trace, is random, runs out of memory, gives NaN
    Degenerate,  ///< its output does not depend on its inputs: never counted as a speedup
    Failed,      ///< the runner was lost
  };
  std::string id, name;
  int level = 0;
  std::string source_hash; ///< a result of another source is not taken over
  State state = State::NoCandidate;
  std::string reason; ///< one sentence where it is not Verified
  /// By baseline: "eager+graph", "torch.compile+graph" (device time), "eager", "torch.compile" (as called).
  std::map<std::string, Ratio> ratios;
  std::map<std::string, std::string> missing; ///< baselines that could not be measured, and why
  std::vector<std::string> moves;             ///< of the candidate
  std::string plan_hash;
  std::optional<search::Recipe> recipe; ///< makes the candidate again
  std::optional<double>
      library_share; ///< of the candidate's device time, in library and ATen steps
  std::map<std::string, int> outcomes; ///< of all candidates tried
  std::vector<TriedVariant> variants;  ///< in the order of their trial
  bool constructor_only =
      false;              ///< host code that is wrong once other parameters are loaded into it
  bool host_code = false; ///< another system's answer was judged: docs/candidates.md
  /// "runs its kernels", "idle: why", "unknown: why"; empty: it was not run (export_run.h).
  std::string export_run;
  double seconds = 0;
  model::DeviceInfo device;
  std::string date;
};

std::string_view name(BenchResult::State state);
nlohmann::json to_json(const BenchResult &result);
/// Errors: a document of another form.
Result<BenchResult> bench_result_from_json(const nlohmann::json &document);

/// By source hash: what made the verified candidates of a run that kept its results in `path`.
/// Errors: no such file; no results.
Result<std::map<std::string, search::Recipe>> read_recipes(const std::filesystem::path &path);

class ResultsFile {
public:
  /// Opens or makes it. @param header what the run is; results kept under another header are refused
  /// Errors: cannot be written; holds results of another run.
  static Result<ResultsFile> open(const std::filesystem::path &path, const nlohmann::json &header);
  /// Those that were there, one a task and source: the last that did not fail.
  const std::vector<BenchResult> &earlier() const { return earlier_; }
  /// On disk when it returns.
  Result<void> append(const BenchResult &result);

private:
  ResultsFile(LineFile file, std::vector<BenchResult> earlier)
      : file_(std::move(file)), earlier_(std::move(earlier)) {}
  LineFile file_;
  std::vector<BenchResult> earlier_;
};

} // namespace warpwright::server
