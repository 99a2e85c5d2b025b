// The subcommands of `warpwright` as functions, and the exit codes that all of them share.
//
// A command prints results on stdout, and progress and errors on stderr. Thread: main.
#pragma once

#include "support/model/task.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::cli {

enum ExitCode {
  kOk = 0,     ///< all that was asked for was done; "nothing faster found" is a result too
  kFailed = 1, ///< some kernel or file failed, or no runner answered
  kUsage = 2,  ///< the arguments are wrong: unknown option, missing file, bad spec
};

enum class ApplyMode {
  Never,
  Measured, ///< write back what a GPU verified and measured as faster
  Checked,  ///< write back what was verified, even where no GPU measured it
};

inline constexpr std::chrono::milliseconds kDefaultBudget{30'000};

struct OptimizeOptions {
  std::vector<std::string> paths; ///< files and directories
  std::string kernel;             ///< empty: every kernel
  std::string spec;               ///< path; empty: none
  std::string runner;             ///< URL; empty: the project's, else start one
  std::string device;             ///< "cuda:0", "cpu"; empty: the runner's best
  std::optional<std::chrono::milliseconds>
      budget;            ///< a kernel; absent: the project's, else kDefaultBudget
  int max_variants = 64; ///< a kernel
  std::string policy;    ///< as server/policy_choice.h reads it; of CUDA kernels
  ApplyMode apply = ApplyMode::Never;
  bool in_place =
      false;          ///< of Python modules: decorate the class instead of adding one
  bool standalone = false; ///< of Python modules: needs no package, where the plan is small enough
  std::optional<model::ModuleMode> mode; ///< of Python modules; absent: what their files say
  std::string output; ///< path that the best variant is written to, instead of the file itself
  bool json = false;
  std::string html;    ///< path; empty: none
  std::string ledger;  ///< path; empty: the default one
  std::string command; ///< as typed, for the report
};

struct AnalyzeOptions {
  std::vector<std::string> paths;
  bool json = false;
  std::string slices; ///< directory to write the slices to; empty: none
};

struct DoctorOptions {
  bool json = false;
  std::string runner; ///< URL; empty: start one
  std::string ledger; ///< path; empty: the default one
};

struct TrustOptions {
  std::string path;    ///< a folder, or a file in one; empty: the working directory
  bool list = false;   ///< print all approvals instead
  bool revoke = false; ///< forget what was approved of `path`
  bool yes = false;    ///< approve without a question
};

struct InstallRuntimeOptions {
  std::string python; ///< empty: $WARPWRIGHT_PYTHON, else python3
};

/// Each returns the exit code.
int run_optimize(const OptimizeOptions &options);
int run_analyze(const AnalyzeOptions &options);
int run_doctor(const DoctorOptions &options);
int run_trust(const TrustOptions &options);
int run_install_runtime(const InstallRuntimeOptions &options); ///< does not return where pip starts

} // namespace warpwright::cli
