// The ledger: every verdict ever measured, in SQLite, keyed by the hashes of task and plan, device
// and driver.
//
// Kept on the client's side (editor, command line), so that verdicts of remote runners are there
// too. Hover and lens read it. Safe between processes: a write-ahead log on local file systems, a
// rollback journal on others, since the log's index is memory that only processes of one machine
// share (https://sqlite.org/wal.html). Thread: one at a time an object.
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

/// Who proposed a variant, and what it said; all empty of the search's own.
struct Proposed {
  std::string by;                    ///< "builtin", "endpoint"
  std::string analysis;              ///< for people
  std::optional<model::Plan> answer; ///< the whole plan that it wrote, where it did
  std::string not_applicable;        ///< why that cannot be written into the file; empty: it can
};

struct LedgerEntry {
  std::string file, kernel;
  model::Task task;
  model::Plan plan;
  model::Verdict verdict;
  std::string variant_text; ///< what applying it to a torch module writes (server/optimize/optimize_module.h)
  std::string source_hash;  ///< sha256 of the kernel's slice that was measured against: staleness
  Proposed proposed;
};

/// What the ledger knows of one kernel of one file.
struct KernelHistory {
  std::vector<LedgerEntry> entries; ///< newest first, over all devices
  std::size_t unreadable = 0;       ///< rows that were left out
  std::optional<Error> why;         ///< of the first of them, for people; set when there are any
};

/// Whether every process that may open a file there is one of this machine, so that shared memory
/// reaches it. Unknown file systems are taken for remote ones: the other way is slower, not wrong.
/// @param file_system_type f_type of statfs(2)
bool is_local(long file_system_type);
/// f_type of the file system that holds `path`, or its nearest folder that exists; 0: unknown.
long file_system_of(const std::filesystem::path &path);

class Ledger {
public:
  /// Opens or makes the database. Default path: $XDG_STATE_HOME/warpwright/ledger.sqlite.
  /// @param file_system_type as file_system_of() says; nullopt: asked here
  /// Errors: not writable, not a database, newer schema; each with the path and what to do.
  static Result<std::unique_ptr<Ledger>> open(const std::filesystem::path &path,
                                              std::optional<long> file_system_type = std::nullopt);
  static std::filesystem::path default_path();
  virtual ~Ledger() = default;

  /// Replaces an entry with the same task, plan, device and driver.
  virtual Result<void> record(const LedgerEntry &entry) = 0;
  /// A row that cannot be read costs itself; the others are there.
  virtual Result<KernelHistory> of_kernel(const std::string &file, const std::string &kernel) = 0;
};

} // namespace warpwright::runner
