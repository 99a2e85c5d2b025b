// State of one `warpwright optimize`: its options, connections and report, for files and for whole programs.
// Thread: main.
#pragma once

#include "server/cli/commands.h"
#include "server/cli/files.h"
#include "server/cli/kernel_search.h"
#include "server/cli/runner_choice.h"
#include "server/cli/terminal.h"
#include "server/interrupt.h"
#include "server/optimize/policies.h"
#include "support/version.h"
#include "support/words.h"

#include <iostream>
#include <unistd.h>

namespace warpwright::cli {

/// The ledger of --ledger, else the user's.
std::filesystem::path ledger_path(const OptimizeOptions &options);

struct Run {
  const OptimizeOptions &options;
  Report report;
  std::unique_ptr<runner::BlockingClient> client;
  std::unique_ptr<runner::Ledger> ledger;
  Terminal terminal = terminal_of(STDOUT_FILENO);
  Progress progress;
  server::Interrupt &interrupt;
  InputReader reader;
  std::string runner_url;
  std::chrono::milliseconds budget = kDefaultBudget;
  server::Policies policies;
  std::string policy;
  bool learn = true;
  bool warned_of_ledger = false;

  Run(const OptimizeOptions &options, server::Interrupt &interrupt)
      : options(options), progress(std::cerr, terminal_of(STDERR_FILENO).interactive, terminal_of(STDERR_FILENO).width),
        interrupt(interrupt), policies([path = ledger_path(options)] { return runner::Ledger::open(path); }) {
    report.version = version();
    report.command = options.command;
    report.date = utc_now();
  }
};

/// Connects to the runner, and chooses the device. Errors: no runner answers; no such device.
Result<void> connect(Run &run);

/// Takes options that the command line leaves open from the project of a file. Errors: the approved
/// project names a runner that cannot be used.
Result<void> settle_options(Run &run, const std::filesystem::path &first);

/// Opens the ledger. Errors: the ledger named by --ledger does not open. If the default ledger does
/// not open, the run continues without one.
Result<void> open_ledger(Run &run);

/// Settings of a search with the run's budget.
SearchSetup setup_of(Run &run);

/// A kernel's search in the present content of its file.
struct FileOutcome {
  std::string text; ///< of the file
  KernelOutcome kernel;
};
/// Optimizes one kernel or torch module. @param shown_path as the user knows the file
/// Errors: the file cannot be read; the kernel is no longer in it.
Result<FileOutcome> optimize_in_file(Run &run, const std::filesystem::path &path, const std::string &qualified_name,
                                     const std::string &shown_path);

/// Tells once that verdicts are not kept.
void warn_of_ledger(Run &run, const std::optional<Error> &failure);

void add_failure(Run &run, Error error);

/// Prints the documents that the options ask for. @return the exit code
int finish(Run &run, int code);

/// As add_failure and finish, for errors before anything was tried.
int fail_before_start(Run &run, Error error, int code);

} // namespace warpwright::cli
