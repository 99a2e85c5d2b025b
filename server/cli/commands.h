// Subcommands of `warpwright` as functions, and their common exit codes.
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
  kOk = 0,     ///< the whole request was done; "nothing faster found" is a result
  kFailed = 1, ///< a kernel or file failed, or no runner answered
  kUsage = 2,  ///< the arguments are wrong: unknown option, missing file, bad spec
  kUnknown = 3, ///< `check`: nothing is known to be worse, but not everything could be compared
};

enum class ApplyMode {
  Never,
  Measured, ///< write back variants that a GPU verified and measured as faster
  Checked,  ///< write back verified variants, even without a GPU measurement
};

inline constexpr std::chrono::milliseconds kDefaultBudget{30'000};
inline constexpr std::chrono::milliseconds kDefaultProgramBudget{300'000}; ///< for all kernels

struct OptimizeOptions {
  std::vector<std::string> paths; ///< files and directories
  std::string program; ///< shell command of a whole program in the working directory; empty: only kernels
  std::string build;   ///< of `program`: builds it; empty: "make" where there is a makefile
  std::string check;   ///< of `program`: status 0 says that a run was right; empty: outputs are compared only
  std::string patch;   ///< of `program`: path; empty: in the folder of the ledger
  std::string kernel;             ///< empty: every kernel
  std::string spec;               ///< path; empty: none
  std::string runner;             ///< URL; empty: the project's, else start one
  std::string device;             ///< "cuda:0", "cpu"; empty: the runner's best
  std::optional<std::chrono::milliseconds>
      budget;            ///< per kernel; absent: the project's, else kDefaultBudget. Of `program`: for all
  int max_variants = 64; ///< per kernel
  std::string policy;    ///< in the form of server/policy_choice.h
  bool learn = true;     ///< from the project's own verdicts
  ApplyMode apply = ApplyMode::Never;
  bool in_place =
      false;          ///< Python modules: decorate the class instead of adding one
  bool standalone = false; ///< Python modules: write small plans into the file itself
  std::optional<model::ModuleMode> mode; ///< Python modules; absent: the mode in their files
  std::string output; ///< path to write the best variant to, instead of the file itself
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
  /// URLs, the first of which is the one to use; empty: the project's, else one that is started, and
  /// the user's own
  std::vector<std::string> runners;
  std::string ledger; ///< path; empty: the default one
};

struct CheckOptions {
  std::string base;               ///< revision to compare with
  std::vector<std::string> paths; ///< files and folders; empty: the whole repository
  std::string runner;             ///< URL; empty: the project's, else start one
  std::string device;             ///< "cuda:0", "cpu"; empty: the runner's best
  std::string ledger;             ///< path; empty: the default one
  double fail_slower = 0.02;      ///< share of the base's time
  std::string fail_diagnostics;   ///< least severity that fails: "warning"; empty: none does
  bool results_may_change = false; ///< other results are unknown instead of worse
  bool allow_unknown = false;      ///< unknown counts as fine
  std::string sarif, junit, markdown; ///< files to write; empty: none
};

struct CaptureOptions {
  std::vector<std::string> program; ///< with its arguments
  std::string out;                  ///< folder; empty: a new one among the captures
  std::optional<std::chrono::milliseconds> duration; ///< of the recording; absent: the whole run
  bool contents = false;            ///< run the program once more and look at buffers
  bool list = false;                ///< print all captures instead
  std::string remove;               ///< name of a capture to delete instead; empty: none
};

struct TrustOptions {
  std::string path;    ///< a folder, or a file in one; empty: the working directory
  bool list = false;   ///< print all approvals instead
  bool revoke = false; ///< withdraw the approval of `path`
  bool yes = false;    ///< approve without a question
};

struct InstallRuntimeOptions {
  std::string python; ///< empty: $WARPWRIGHT_PYTHON, else python3
};

/// The user's choices for `mcp`; an agent can make none of them.
struct McpOptions {
  std::string root;       ///< folder of the project; empty: the working directory
  std::string runner;     ///< URL; empty: the project's, else start one
  std::string device;     ///< "cuda:0", "cpu"; empty: the runner's best
  std::string policy;     ///< in the form of server/policy_choice.h; empty: the project's
  std::string base;       ///< revision of Git with the originals; empty: the agent names one
  std::string ledger;     ///< path; empty: the default one
  std::string http;       ///< "127.0.0.1:8765"; empty: stdin and stdout
  std::string token_file; ///< path, with `http`; empty: the default one
};

/// Each returns the exit code.
int run_optimize(const OptimizeOptions &options);
int run_optimize_program(const OptimizeOptions &options);
int run_analyze(const AnalyzeOptions &options);
int run_doctor(const DoctorOptions &options);
/// Returns kOk: fine, kFailed: something is worse, kUsage: wrong arguments, kUnknown.
int run_check(const CheckOptions &options);
/// Returns the exit code of the captured program.
int run_capture(const CaptureOptions &options);
int run_trust(const TrustOptions &options);
int run_mcp(const McpOptions &options); ///< serves until the client ends the session
int run_install_runtime(const InstallRuntimeOptions &options); ///< does not return if pip starts

} // namespace warpwright::cli
