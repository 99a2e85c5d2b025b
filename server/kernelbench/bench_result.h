// Result of one benchmark task, and the file that keeps results during a run.
//
// The file is JSON lines: the first line describes the run (sources, settings, version), every other is one task's
// result. A stopped run resumes from it; a line cut short by a kill is dropped. Several runs may append to one file at
// once (support/files.h). Thread: ResultsFile from one thread at a time.
#pragma once

#include "generator/search/recipe.h"
#include "support/error.h"
#include "support/files.h"
#include "support/model/verdict.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::server {

/// One ratio, baseline over candidate, with its interval.
struct Ratio {
  double value = 1, low = 1, high = 1;
  double baseline_ns = 0, candidate_ns = 0;
};

/// One tried plan, for analyzing why a task falls short.
struct TriedVariant {
  std::string moves;                  ///< joined by "; ", truncated if long
  std::string outcome;                ///< the verdict's
  std::string message;                ///< reason of the refusal; else empty
  std::optional<double> candidate_ns; ///< device time, median
};

struct BenchResult {
  enum class State {
    Verified,     ///< a candidate with a kernel of ours is right, and was measured
    Unmeasured,   ///< right, but no GPU measured it, or not to the end
    NoCandidate,  ///< no plan of ours passed, or none could be generated
    ExportFailed, ///< a plan is right, but its export did not run its kernels or was refused
    Skipped,      ///< unusable task: does not trace, is random, runs out of memory, gives NaN
    Degenerate,   ///< the output does not depend on the inputs: not counted as a speedup
    Failed,       ///< the runner was lost
  };
  std::string id, name;
  int level = 0;
  std::string source_hash; ///< results of another source are not reused
  State state = State::NoCandidate;
  std::string reason; ///< one sentence if not Verified
  /// By baseline: "eager+graph", "torch.compile+graph" (device time), "eager", "torch.compile" (as called). Those of
  /// our plans are of their exports.
  std::map<std::string, Ratio> ratios;
  std::map<std::string, std::string> missing; ///< baselines without a measurement, and the reason
  std::set<std::string> wrong;                ///< those of `missing` whose results are wrong
  std::vector<std::string> moves;             ///< of the candidate
  std::string plan_hash;
  std::optional<search::Recipe> recipe; ///< reproduces the candidate
  std::optional<double>
      library_share; ///< of the candidate's device time, in library and ATen steps
  std::map<std::string, int> outcomes; ///< of all candidates tried
  std::vector<TriedVariant> variants;  ///< in the order of the trials
  bool constructor_only =
      false;              ///< host code that is wrong once other parameters are loaded into it
  bool host_code = false; ///< another system's answer was judged: docs/use/candidates.md
  /// True if the export's kernels answered every call; nullopt: it was not called.
  std::optional<bool> kernels_ran;
  std::string kernels; ///< number of calls, and the reasons of those that the own forward answered
  double seconds = 0;
  model::DeviceInfo device;
  std::string date;
};

std::string_view name(BenchResult::State state);
nlohmann::json to_json(const BenchResult &result);
/// Errors: the document has another form.
Result<BenchResult> bench_result_from_json(const nlohmann::json &document);

/// Recipes of the verified candidates in the results file `path`, by source hash.
/// Errors: the file does not exist or holds no results.
Result<std::map<std::string, search::Recipe>> read_recipes(const std::filesystem::path &path);

class ResultsFile {
public:
  /// Opens or creates the file. @param header description of the run
  /// Errors: the file cannot be written, or holds results under another header.
  static Result<ResultsFile> open(const std::filesystem::path &path, const nlohmann::json &header);
  /// Results from earlier runs, one for each task and source: the last that did not fail.
  const std::vector<BenchResult> &earlier() const { return earlier_; }
  /// Appends a result; it is on disk on return. Errors: the file cannot be written.
  Result<void> append(const BenchResult &result);

private:
  ResultsFile(LineFile file, std::vector<BenchResult> earlier)
      : file_(std::move(file)), earlier_(std::move(earlier)) {}
  LineFile file_;
  std::vector<BenchResult> earlier_;
};

} // namespace warpwright::server
