// The ledger: an SQLite database of all measured verdicts, keyed by the hashes of task and plan,
// device, driver, file and kernel.
//
// It is kept on the client's side (editor, command line), so that it also has the verdicts of
// remote runners. Hover and code lens read it. Several processes may use it: it has a write-ahead
// log on local file systems and a rollback journal on others, because the log's index is memory
// shared only by processes of one machine (https://sqlite.org/wal.html). Thread: one at a time for
// each object.
#pragma once

#include "support/error.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner {

/// The proposer of a variant and its explanation; all empty for a variant of the built-in search.
struct Proposed {
  std::string by;                    ///< "builtin", "endpoint"
  std::string analysis;              ///< readable text
  std::optional<model::Plan> answer; ///< the plan that the proposer wrote, if it wrote a whole one
  std::string not_applicable; ///< why that plan cannot be written into the file; empty: it can
};

struct LedgerEntry {
  std::string file, kernel;
  model::Task task;
  model::Plan plan;
  model::Verdict verdict;
  /// text that is written when the variant is applied to a torch module
  /// (server/optimize/optimize_module.h)
  std::string variant_text;
  /// Sha256 of the kernel's source text at measurement; detects stale entries.
  std::string source_hash;
  Proposed proposed;
};

/// The ledger's entries of one kernel of one file, or of several.
struct KernelHistory {
  std::vector<LedgerEntry> entries; ///< newest first, over all devices
  std::size_t unreadable = 0;       ///< rows that were left out
  std::optional<Error> why;         ///< the first of their errors; set when there are any
};

/// Whether all processes that can open a file on this file system run on this machine and so share
/// memory. Unknown file systems count as remote, which is slower but always correct.
/// @param file_system_type f_type of statfs(2)
bool is_local(long file_system_type);
/// f_type of the file system that holds `path`, or its nearest folder that exists; 0: unknown.
long file_system_of(const std::filesystem::path &path);

class Ledger {
public:
  /// Opens or makes the database. Default path: $XDG_STATE_HOME/warpwright/ledger.sqlite.
  /// @param file_system_type as returned by file_system_of(); nullopt: determined here
  /// Errors: not writable, not a database, newer schema; each with the path and what to do.
  static Result<std::unique_ptr<Ledger>> open(const std::filesystem::path &path,
                                              std::optional<long> file_system_type = std::nullopt);
  static std::filesystem::path default_path();
  virtual ~Ledger() = default;

  /// Adds an entry. Replaces one with the same task, plan, device, driver, file and kernel.
  virtual Result<void> record(const LedgerEntry &entry) = 0;
  /// Entries of a kernel. A row that cannot be read is left out and counted.
  virtual Result<KernelHistory> of_kernel(const std::string &file, const std::string &kernel) = 0;
  /// The newest entries of GPUs, of all kernels in the files below a folder; as of_kernel().
  virtual Result<KernelHistory> under(const std::filesystem::path &folder, std::size_t most) = 0;
};

} // namespace warpwright::runner
