// SQLite schema and statements of the ledger. It has one table. An entry's documents are JSON
// texts; the other columns are those used in queries. user_version is the schema's version.
#include "runner/ledger/ledger.h"
#include "support/model/json.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cstdlib>
#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/vfs.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 2, kBusyMs = 5000;

constexpr const char *kSchema = R"(
CREATE TABLE IF NOT EXISTS verdicts (
  task_hash TEXT NOT NULL, plan_hash TEXT NOT NULL, device TEXT NOT NULL, driver TEXT NOT NULL,
  file TEXT NOT NULL, kernel TEXT NOT NULL, recorded_at TEXT NOT NULL,
  task TEXT NOT NULL, plan TEXT NOT NULL, verdict TEXT NOT NULL,
  variant_text TEXT NOT NULL, source_hash TEXT NOT NULL,
  PRIMARY KEY (task_hash, plan_hash, device, driver, file, kernel));
CREATE INDEX IF NOT EXISTS verdicts_by_kernel ON verdicts (file, kernel, recorded_at);)";

/// Schema version 2.
constexpr const char *kAddProposed =
    "ALTER TABLE verdicts ADD COLUMN proposed TEXT NOT NULL DEFAULT '{}'";

std::string dump(const nlohmann::json &document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json to_json(const Proposed &proposed) {
  nlohmann::json json = nlohmann::json::object();
  if (!proposed.by.empty())
    json = {{"by", proposed.by}, {"analysis", proposed.analysis}};
  if (proposed.answer)
    json["answer"] = model::to_json(*proposed.answer);
  if (!proposed.not_applicable.empty())
    json["not_applicable"] = proposed.not_applicable;
  return json;
}

Result<Proposed> proposed_from(const nlohmann::json &json) {
  Proposed proposed{json.value("by", ""), json.value("analysis", ""), std::nullopt,
                    json.value("not_applicable", "")};
  if (json.contains("answer"))
    proposed.answer = TRY(model::plan_from_json(json.at("answer")));
  return proposed;
}

const std::string kSelect = "SELECT task, plan, verdict, variant_text, source_hash, proposed, file, "
                            "kernel FROM verdicts ";

/// @param row of kSelect. Throws nlohmann::json::exception.
Result<LedgerEntry> entry_of(SQLite::Statement &row) {
  auto task = model::task_from_json(nlohmann::json::parse(row.getColumn(0).getString()));
  auto plan = model::plan_from_json(nlohmann::json::parse(row.getColumn(1).getString()));
  auto verdict = model::verdict_from_json(nlohmann::json::parse(row.getColumn(2).getString()));
  auto proposed = proposed_from(nlohmann::json::parse(row.getColumn(5).getString()));
  if (!task)
    return std::unexpected(task.error());
  if (!plan)
    return std::unexpected(plan.error());
  if (!verdict)
    return std::unexpected(verdict.error());
  if (!proposed)
    return std::unexpected(proposed.error());
  return LedgerEntry{row.getColumn(6).getString(),
                     row.getColumn(7).getString(),
                     std::move(*task),
                     std::move(*plan),
                     std::move(*verdict),
                     row.getColumn(3).getString(),
                     row.getColumn(4).getString(),
                     std::move(*proposed)};
}

Error explain(const std::exception &error, const fs::path &path) {
  const auto *sqlite = dynamic_cast<const SQLite::Exception *>(&error);
  const int code = sqlite ? sqlite->getErrorCode() : 0;
  const std::string message = "the ledger " + path.string() + ": " + error.what();
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    return {message, "It is damaged, or no ledger: move it away, and a new one is made"};
  if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM)
    return {message,
            "Make the file and its folder writable, or set XDG_STATE_HOME to a folder that is"};
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return {message, "Another process holds it; try again"};
  if (code == SQLITE_FULL)
    return {message, "The disk is full"};
  return {message, ""};
}

class SqliteLedger final : public Ledger {
public:
  /// Throws SQLite::Exception.
  SqliteLedger(const fs::path &path, bool local)
      : path_(path), local_(local),
        database_(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMs) {}

  Result<void> prepare() {
    const int version = database_.execAndGet("PRAGMA user_version").getInt();
    if (version > kSchemaVersion)
      return fail("the ledger " + path_.string() + " was written by a newer version (schema " +
                      std::to_string(version) + ", this one knows " +
                      std::to_string(kSchemaVersion) + ")",
                  "Update warpwright, or set XDG_STATE_HOME to another folder");
    TRY(choose_journal());
    database_.exec("BEGIN IMMEDIATE"); // two processes may create the table at the same time
    database_.exec(kSchema);
    if (database_
            .execAndGet("SELECT count(*) FROM pragma_table_info('verdicts') "
                        "WHERE name = 'proposed'")
            .getInt() == 0)
      database_.exec(kAddProposed);
    database_.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
    database_.exec("COMMIT");
    return {};
  }

  Result<void> record(const LedgerEntry &entry) override try {
    SQLite::Statement insert(database_, "INSERT OR REPLACE INTO verdicts VALUES "
                                        "(?,?,?,?,?,?,strftime('%Y-%m-%dT%H:%M:%fZ'),?,?,?,?,?,?)");
    const model::DeviceInfo &device = entry.verdict.device;
    const std::string columns[] = {model::hash(entry.task),
                                   model::hash(entry.plan),
                                   device.identifier.empty() ? device.kind + ":" + device.name
                                                             : device.identifier,
                                   device.driver,
                                   entry.file,
                                   entry.kernel,
                                   dump(model::to_json(entry.task)),
                                   dump(model::to_json(entry.plan)),
                                   dump(model::to_json(entry.verdict)),
                                   entry.variant_text,
                                   entry.source_hash,
                                   dump(to_json(entry.proposed))};
    int index = 1;
    for (const std::string &column : columns)
      insert.bind(index++, column);
    insert.exec();
    return {};
  } catch (const std::exception &error) {
    return std::unexpected(explain(error, path_));
  }

  Result<KernelHistory> of_kernel(const std::string &file, const std::string &kernel) override try {
    SQLite::Statement query(database_, kSelect + "WHERE file = ? AND kernel = ? "
                                                 "ORDER BY recorded_at DESC, rowid DESC");
    query.bind(1, file);
    query.bind(2, kernel);
    return history_of(query, kernel);
  } catch (const std::exception &error) {
    return std::unexpected(explain(error, path_));
  }

  Result<KernelHistory> under(const fs::path &folder, std::size_t most) override try {
    SQLite::Statement query(database_, kSelect + "WHERE substr(file, 1, length(?1)) = ?1 AND "
                                                 "device NOT LIKE 'cpu:%' "
                                                 "ORDER BY recorded_at DESC, rowid DESC LIMIT ?2");
    const std::string prefix = folder / ""; // with a slash: "/a" is not above "/ab"
    query.bind(1, prefix);
    query.bind(2, static_cast<std::int64_t>(most));
    return history_of(query, "a kernel in " + folder.string());
  } catch (const std::exception &error) {
    return std::unexpected(explain(error, path_));
  }

private:
  /// Throws SQLite::Exception. @param object for messages
  KernelHistory history_of(SQLite::Statement &query, const std::string &object) const {
    KernelHistory history;
    const auto leave_out = [&](const std::string &reason) {
      if (history.unreadable++ == 0)
        history.why = Error{"the ledger " + path_.string() + " holds an entry for " + object +
                                " that cannot be read: " + reason,
                            "It is omitted; the others are shown"};
    };
    while (query.executeStep())
      try {
        if (auto entry = entry_of(query))
          history.entries.push_back(std::move(*entry));
        else
          leave_out(entry.error().message);
      } catch (const nlohmann::json::exception &error) {
        leave_out(error.what());
      }
    return history;
  }

  /// The journal mode is stored in the file, so a file moved from another file system may have the
  /// other mode.
  Result<void> choose_journal() {
    const std::string mode =
        database_.execAndGet(local_ ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE")
            .getString();
    if (!local_ && mode != "delete")
      return fail(
          "the ledger " + path_.string() +
              " is on a file system that other machines may share, and its write-ahead log "
              "could not be ended",
          "Close other programs that have it open, or set XDG_STATE_HOME to a local folder");
    // Without the write-ahead log, levels below FULL can corrupt the file at a power loss.
    database_.exec(mode == "wal" ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    return {};
  }

  fs::path path_;
  bool local_;
  SQLite::Database database_;
};

} // namespace

bool is_local(long file_system_type) {
  constexpr unsigned long kLocal[] = {
      EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,     F2FS_SUPER_MAGIC,
      TMPFS_MAGIC,      RAMFS_MAGIC,     OVERLAYFS_SUPER_MAGIC,
      0x2fc12fc1, // ZFS
      0xca451a4e, // bcachefs
      0x3153464a, // JFS
  };
  // f_type is a signed machine word, and magic numbers have 32 bits.
  return std::ranges::find(kLocal, static_cast<unsigned long>(file_system_type) & 0xffffffff) !=
         std::end(kLocal);
}

long file_system_of(const fs::path &path) {
  std::error_code error;
  for (fs::path at = fs::absolute(path, error); !at.empty(); at = at.parent_path()) {
    struct statfs status{};
    if (statfs(at.c_str(), &status) == 0)
      return status.f_type;
    if (at == at.root_path())
      break;
  }
  return 0;
}

Result<std::unique_ptr<Ledger>> Ledger::open(const fs::path &path,
                                             std::optional<long> file_system_type) {
  std::error_code error;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), error);
  if (error)
    return fail("the ledger " + path.string() + ": cannot make its folder: " + error.message(),
                "Make the folder writable, or set XDG_STATE_HOME to a writable folder");
  try {
    auto ledger = std::make_unique<SqliteLedger>(
        path, is_local(file_system_type ? *file_system_type : file_system_of(path)));
    TRY(ledger->prepare());
    return ledger;
  } catch (const std::exception &failure) {
    return std::unexpected(explain(failure, path));
  }
}

fs::path Ledger::default_path() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  const fs::path base = state && *state
                            ? fs::path(state)
                            : fs::path(home && *home ? home : "/tmp") / ".local" / "state";
  return base / "warpwright" / "ledger.sqlite";
}

} // namespace warpwright::runner
