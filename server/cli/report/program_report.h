// Report of `warpwright optimize --program`: a program's kernels by what they could save, and the changed program
// against the original. Plain data and pure functions, as report.h.
#pragma once

#include "server/cli/report/report.h"

#include <chrono>

namespace warpwright::cli {

/// A median with its interval.
struct Measured {
  double median = 0, low = 0, high = 0;
  std::size_t samples = 0;
};

/// A kernel that the recorded run launched.
struct ProgramKernel {
  enum class State {
    Kept,          ///< its edit is in the changed program
    LeftOut,       ///< its edit was verified, and the whole program failed or differed with it
    NothingFaster, ///< no variant was better
    Failed,        ///< it could not be optimized
    NotTried,      ///< no time was left for it, or it has no share that counts
  };
  std::string name;
  std::string file; ///< from the program's folder; empty: its source is not in the folder
  std::uint64_t launches = 0;
  double total_ns = 0;             ///< GPU time in the recorded run
  double gpu_share = 0;            ///< of the run's GPU time
  std::optional<double> run_share; ///< of the run's wall time; absent: not known
  double could_save = 1; ///< part of its time that its bytes and operations do not need; 1 where they are not known
  std::optional<std::chrono::milliseconds> budget; ///< of its search; absent: there was none
  State state = State::NotTried;
  std::string why;                        ///< of LeftOut, Failed and NotTried: one sentence
  std::vector<std::string> moves;         ///< of its variant
  std::optional<model::Speedup> speedup;  ///< of its variant's verdict; absent on a CPU
  /// A launch of the original in its task, from the variant's verdict; absent on a CPU. The task draws its inputs, and
  /// starts with a cold cache, so the program's launches may take another time.
  std::optional<double> task_ns;
  std::optional<double> changed_total_ns; ///< GPU time in a recorded run of the changed program
};

struct ProgramReport {
  std::string folder, run, build, check;         ///< as given or found; `build` and `check` may be empty
  std::string capture;                           ///< folder of the recorded run
  std::vector<ProgramKernel> kernels;            ///< by what they could save, most first
  double gpu_ns = 0;                             ///< kernels, copies and fills of the recorded run
  std::optional<double> changed_gpu_ns;          ///< of the changed program
  std::optional<Measured> first_runs_s;          ///< the original, before the searches
  std::optional<Measured> original_s, changed_s; ///< in pairs
  std::optional<Measured> ratio;                 ///< original / changed
  std::vector<std::string> not_compared;         ///< one sentence for each part of the output
  std::size_t texts = 0;                         ///< stdout and files that are compared
  int tests = 0;                                 ///< builds and runs of changed programs, until one passed
  std::string patch;                             ///< unified diff of all kept edits
  std::string patch_path;                        ///< where it was written; empty: nowhere
  std::vector<std::string> changed_files;
  std::string outcome; ///< one sentence on the whole program
  std::optional<ApplyResult> apply;
  bool interrupted = false;
};

/// Kernels of a state. The failed ones are counted and shown.
std::size_t count(const ProgramReport &report, ProgramKernel::State state);

std::string render_text(const ProgramReport &report, const TableOptions &options);
nlohmann::json render_json(const ProgramReport &report);
/// A section for the page of render_html().
std::string render_html(const ProgramReport &report);

} // namespace warpwright::cli
