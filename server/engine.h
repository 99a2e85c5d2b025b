// Slow work of the server as plain functions without Clang types: analysis of a version, one
// optimization, and the edits of a measured variant.
//
// Thread: any of a pool, never the strand.
#pragma once

#include "runner/connect/connect.h"
#include "runner/ledger/ledger.h"
#include "server/kernel_status.h"
#include "server/scheduler.h"
#include "server/settings.h"

namespace warpwright::server {

class Policies;

/// The analysis passes, with the compile commands and .warpwright.toml of the file's project.
Analyses make_analyses();

/// One job: a search for faster versions of a kernel, or a profile of a variant.
struct OptimizeRequest {
  SnapshotPtr snapshot;
  std::string kernel;
  Settings settings;
  std::optional<model::ModuleMode> mode = std::nullopt; ///< torch modules; absent: the mode in the file
  /// Reads the hardware counters of this variant, instead of a search; null: a search.
  std::shared_ptr<const runner::LedgerEntry> profiled = nullptr;
};

/// Reason why a module cannot be optimized, for a diagnostic.
struct ModuleProblem {
  std::string rule; ///< "torch-trace", ...
  std::string message;
  std::optional<std::size_t> line; ///< line of the file as written, from 1
};

struct OptimizeEvents {
  std::function<void(runner::LedgerEntry)> on_entry;      ///< once per tried variant
  std::function<void(const std::string &stage)> on_stage; ///< stage of the current variant
  std::function<void(const Error &)> on_runner_error;     ///< a job was lost with its runner
  std::function<void(const ModuleProblem &)> on_problem;  ///< torch modules; called before the error
  /// Called for a variant of a CUDA kernel without a runner's verdict, because the variant cannot be
  /// rendered or was lost. May be unset.
  std::function<void(runner::LedgerEntry)> on_unjudged = {};
};

struct OptimizeSummary {
  std::size_t tried = 0;
  std::size_t verified = 0;
  std::optional<model::Speedup> best; ///< best verified speedup from a GPU
  std::string keep;   ///< torch modules: keep_text() of the best plan, which then is not `best`
  std::string policy; ///< CUDA kernels: the proposer, with a reason if it is not the chosen one
  std::string analysis; ///< the policy's last text on the kernel; empty: none
  std::string profile;  ///< outcome of a profile in one sentence; empty: it was a search
};

/// Searches for faster versions of one kernel until the budget, the limits or `stop` end the
/// search. Errors: an incomplete task; a runner that is lost and does not come back.
/// @param policies those of the calling thread
Result<OptimizeSummary> optimize(const OptimizeRequest &request, runner::BlockingClient &client,
                                 Policies &policies, const OptimizeEvents &events,
                                 std::stop_token stop);

/// Verifies request.profiled again with hardware counters, and gives the verdict to events.on_entry.
/// Errors: a runner that is lost; a variant that no longer verifies.
Result<OptimizeSummary> profile(const OptimizeRequest &request, runner::BlockingClient &client,
                                const OptimizeEvents &events, std::stop_token stop);

/// Form of a Python module's variant in its file.
struct VariantForm {
  bool in_place = false;   ///< decorates the class itself; else adds a class
  bool standalone = false; ///< needs no package and no plan file, if the plan is small enough
};

/// A file, and edits of its text.
struct FileEdits {
  std::string path; ///< absolute
  std::string text; ///< before the edits
  std::vector<TextEdit> edits;
};

/// A file's text before and after a change.
struct ChangedFile {
  std::string path; ///< absolute
  std::string before, after;
};

/// The edits that turn a file into a variant.
struct VariantEdits {
  std::vector<TextEdit> edits;       ///< of the file itself
  std::optional<FileEdits> includer = {}; ///< of the file that includes it and launches its kernel, if that changes
};

/// Edits that turn `text` into the variant of `entry`. The moves are repeated on this text, so that
/// unrelated edits survive, and the result is compared with the verified plan. For torch modules
/// see server/optimize/optimize_module.h. Errors: the text no longer leads to the verified code.
/// @param changed texts of other files, by path, that count instead of those on disk
Result<VariantEdits> variant_edits(const std::string &path, const std::string &text, const runner::LedgerEntry &entry,
                                   const VariantForm &form, const std::map<std::string, std::string> &changed = {});

/// Edit that inserts a structured comment above `kernel`, which asks for its missing facts. Errors:
/// no such kernel, or no missing facts.
Result<std::vector<TextEdit>> missing_facts_edits(const Snapshot &snapshot,
                                                  const std::string &kernel);

/// A kernel and its measurements, for a report.
struct ReportedKernel {
  SnapshotPtr snapshot;
  std::string kernel;
  KernelStatus status;
};

/// Roofline of the kernel before and with its best variant as SVG; empty: times or rates are unknown.
std::string roofline_of(const ReportedKernel &kernel);

/// One self-contained HTML page. @param kernels kernels with a current measurement
std::string report_page(const std::vector<ReportedKernel> &kernels);

} // namespace warpwright::server
