// The ledger on real files: round trips, replacement, order, and every way in which it cannot be
// opened.
#include "runner/ledger/ledger.h"
#include "tests/runner/tasks.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <fstream>
#include <linux/magic.h>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() {
    std::error_code error;
    fs::permissions(path, fs::perms::owner_all, error);
    fs::remove_all(path, error);
  }
};

LedgerEntry entry_of(const std::string &move, double ratio) {
  LedgerEntry entry;
  entry.file = "/src/a.cu";
  entry.kernel = "saxpy";
  entry.task = saxpy_task(1024);
  entry.plan = entry.task.reference;
  entry.plan.source += "\n// " + move;
  entry.plan.moves = {move};
  entry.verdict.outcome = model::Outcome::Verified;
  entry.verdict.message = "correct";
  entry.verdict.device = {
      .kind = "cuda", .name = "NVIDIA H200", .identifier = "GPU-1", .driver = "13.0"};
  entry.verdict.speedup = model::Speedup{ratio, ratio - 0.1, ratio + 0.1, 30, "NVIDIA H200"};
  entry.variant_text = "text after " + move;
  entry.source_hash = "abc";
  return entry;
}

std::unique_ptr<Ledger> open(const fs::path &path) {
  auto ledger = Ledger::open(path);
  REQUIRE_MESSAGE(ledger.has_value(), (ledger ? "" : describe(ledger.error())));
  return std::move(*ledger);
}

Result<std::vector<LedgerEntry>> entries_in(Ledger &ledger) {
  auto history = ledger.of_kernel("/src/a.cu", "saxpy");
  if (!history)
    return std::unexpected(history.error());
  CHECK(history->unreadable == 0);
  CHECK(!history->why);
  return std::move(history->entries);
}

TEST_CASE("entries come back as they were, newest first, after reopening") {
  const Folder folder;
  const fs::path path = folder.path / "deep" / "ledger.sqlite";
  {
    auto ledger = open(path);
    REQUIRE(ledger->record(entry_of("a", 1.5)).has_value());
    REQUIRE(ledger->record(entry_of("b", 2)).has_value());
    LedgerEntry other = entry_of("c", 3);
    other.kernel = "other";
    REQUIRE(ledger->record(other).has_value());
  }
  auto entries = entries_in(*open(path));
  REQUIRE(entries.has_value());
  REQUIRE(entries->size() == 2);
  CHECK((*entries)[0].plan.moves == std::vector<std::string>{"b"});
  const LedgerEntry expected = entry_of("a", 1.5);
  CHECK((*entries)[1].task == expected.task);
  CHECK((*entries)[1].plan == expected.plan);
  CHECK((*entries)[1].verdict == expected.verdict);
  CHECK((*entries)[1].variant_text == expected.variant_text);
  CHECK((*entries)[1].source_hash == "abc");
}

TEST_CASE("who proposed a variant, and what it said, is kept with it") {
  const Folder folder;
  const fs::path path = folder.path / "ledger.sqlite";
  LedgerEntry entry = entry_of("rewrite(by=endpoint)", 2);
  entry.proposed = {"endpoint", "It is held back by memory.", entry.plan, "the file cannot say it"};
  REQUIRE(open(path)->record(entry).has_value());
  auto entries = entries_in(*open(path));
  REQUIRE(entries.has_value());
  const Proposed &kept = entries->front().proposed;
  CHECK(kept.by == "endpoint");
  CHECK(kept.analysis == entry.proposed.analysis);
  CHECK(kept.answer == entry.plan);
  CHECK(kept.not_applicable == "the file cannot say it");
}

TEST_CASE("a ledger of the first version is taken over with its entries") {
  const Folder folder;
  const fs::path path = folder.path / "ledger.sqlite";
  REQUIRE(open(path)->record(entry_of("a", 1.5)).has_value());
  {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    database.exec("ALTER TABLE verdicts DROP COLUMN proposed");
    database.exec("PRAGMA user_version = 1");
  }
  auto ledger = open(path);
  REQUIRE(ledger->record(entry_of("b", 2)).has_value());
  auto entries = entries_in(*ledger);
  REQUIRE_MESSAGE(entries.has_value(), (entries ? "" : describe(entries.error())));
  REQUIRE(entries->size() == 2);
  CHECK((*entries)[1].verdict == entry_of("a", 1.5).verdict);
  CHECK((*entries)[1].proposed.by == "");
}

TEST_CASE("the same task, plan, device and driver replace, another driver adds") {
  const Folder folder;
  auto ledger = open(folder.path / "ledger.sqlite");
  REQUIRE(ledger->record(entry_of("a", 1.5)).has_value());
  REQUIRE(ledger->record(entry_of("a", 1.7)).has_value());
  auto entries = entries_in(*ledger);
  REQUIRE(entries->size() == 1);
  CHECK((*entries)[0].verdict.speedup->ratio == 1.7);
  LedgerEntry newer = entry_of("a", 1.8);
  newer.verdict.device.driver = "13.1";
  REQUIRE(ledger->record(newer).has_value());
  CHECK(entries_in(*ledger)->size() == 2);
}

TEST_CASE("the entries of a project are those of GPUs in files below its folder, the newest ones") {
  const Folder folder;
  const auto ledger = open(folder.path / "ledger.sqlite");
  const auto record = [&](const std::string &file, const std::string &move, const char *kind) {
    LedgerEntry entry = entry_of(move, 2);
    entry.file = file;
    entry.verdict.device.kind = kind;
    if (entry.verdict.device.kind == "cpu")
      entry.verdict.device.identifier.clear();
    REQUIRE(ledger->record(entry));
  };
  record("/src/a.cu", "one()", "cuda");
  record("/src/deep/b.cu", "two()", "cuda");
  record("/source/c.cu", "elsewhere()", "cuda");
  record("/src/a.cu", "unmeasured()", "cpu");
  record("/src/a.cu", "three()", "cuda");
  const auto all = ledger->under("/src", 10);
  REQUIRE(all);
  REQUIRE(all->entries.size() == 3);
  CHECK(all->entries[0].plan.moves == std::vector<std::string>{"three()"});
  CHECK(all->entries[1].file == "/src/deep/b.cu");
  CHECK(all->entries[1].kernel == "saxpy");
  const auto newest = ledger->under("/src", 1);
  REQUIRE(newest);
  CHECK(newest->entries.size() == 1);
}

TEST_CASE("what cannot be opened says why and what to do") {
  const Folder folder;
  const fs::path garbage = folder.path / "garbage.sqlite", newer = folder.path / "newer.sqlite";
  std::ofstream(garbage) << std::string(4096, 'x');
  auto corrupt = Ledger::open(garbage);
  REQUIRE(!corrupt.has_value());
  CHECK(corrupt.error().remedy.find("damaged, or no ledger") != std::string::npos);
  CHECK(corrupt.error().message.find(garbage.string()) != std::string::npos);

  SQLite::Database(newer.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA user_version = 99");
  auto future = Ledger::open(newer);
  REQUIRE(!future.has_value());
  CHECK(future.error().message.find("newer version (schema 99") != std::string::npos);

  auto unwritable = Ledger::open("/proc/warpwright/ledger.sqlite"); // not even root can make that
  REQUIRE(!unwritable.has_value());
  CHECK(unwritable.error().remedy.find("XDG_STATE_HOME") != std::string::npos);

  auto folder_instead = Ledger::open(folder.path);
  REQUIRE(!folder_instead.has_value());
  CHECK(folder_instead.error().remedy.find("writable") != std::string::npos);
}

constexpr long kShared[] = {NFS_SUPER_MAGIC,
                            SMB_SUPER_MAGIC,
                            FUSE_SUPER_MAGIC,
                            V9FS_MAGIC,
                            static_cast<int>(0xff534d42), // CIFS, as a machine of 32 bits has it
                            0xfe534d42,
                            0,
                            0x12345678};

std::string journal_of(const fs::path &path) {
  return SQLite::Database(path.string(), SQLite::OPEN_READONLY)
      .execAndGet("PRAGMA journal_mode")
      .getString();
}

TEST_CASE("several ledgers write to one file at the same time, with either journal") {
  for (const long type : {long(EXT4_SUPER_MAGIC), long(NFS_SUPER_MAGIC)}) {
    const Folder folder;
    const fs::path path = folder.path / "ledger.sqlite";
    std::vector<std::thread> writers;
    std::atomic<int> failures = 0;
    for (int writer = 0; writer < 4; ++writer)
      writers.emplace_back([&, writer] {
        auto ledger = Ledger::open(path, type);
        for (int i = 0; i < 10; ++i)
          if (!ledger || !(*ledger)->record(entry_of(std::to_string(writer * 100 + i), 1)))
            ++failures;
      });
    for (std::thread &writer : writers)
      writer.join();
    CHECK(failures == 0);
    CHECK(journal_of(path) == (type == NFS_SUPER_MAGIC ? "delete" : "wal"));
    CHECK(entries_in(**Ledger::open(path, type))->size() == 40);
  }
}

TEST_CASE("where other machines may share the file there is no write-ahead log") {
  const Folder folder;
  for (const long type : kShared) {
    CHECK(!is_local(type));
    const fs::path path = folder.path / std::to_string(type);
    auto ledger = Ledger::open(path, type);
    REQUIRE(ledger);
    REQUIRE((*ledger)->record(entry_of("a", 1.5)));
    CHECK(journal_of(path) == "delete");
    CHECK(!fs::exists(path.string() + "-wal"));
    CHECK(!fs::exists(path.string() + "-shm"));
  }
  for (const long type : {long(EXT4_SUPER_MAGIC), long(XFS_SUPER_MAGIC), long(TMPFS_MAGIC),
                          long(static_cast<int>(BTRFS_SUPER_MAGIC))})
    CHECK(is_local(type));
}

TEST_CASE("a ledger that moves between file systems keeps its entries and changes its journal") {
  const Folder folder;
  const fs::path path = folder.path / "ledger.sqlite";
  REQUIRE((*Ledger::open(path, EXT4_SUPER_MAGIC))->record(entry_of("a", 1.5)));
  CHECK(journal_of(path) == "wal");
  for (const auto &[type, journal] :
       {std::pair{long(NFS_SUPER_MAGIC), "delete"}, std::pair{long(EXT4_SUPER_MAGIC), "wal"}}) {
    auto ledger = Ledger::open(path, type);
    REQUIRE(ledger);
    CHECK(entries_in(**ledger)->size() == 1);
    CHECK(journal_of(path) == journal);
  }
}

TEST_CASE("the file system of a ledger is asked of its folder where the file is not there yet") {
  const Folder folder;
  const long here = file_system_of(folder.path);
  CHECK(here != 0);
  CHECK(file_system_of(folder.path / "not" / "yet" / "ledger.sqlite") == here);
  CHECK(!is_local(file_system_of("/proc/self/ledger.sqlite")));
}

TEST_CASE("a row that cannot be read costs itself, and is counted") {
  const Folder folder;
  const fs::path path = folder.path / "ledger.sqlite";
  {
    auto ledger = open(path);
    for (const char *move : {"a", "b", "c", "d", "e"})
      REQUIRE(ledger->record(entry_of(move, 1.5)));
  }
  {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    const auto damage = [&](const std::string &move, const std::string &change) {
      CHECK(database.exec("UPDATE verdicts SET " + change + " WHERE variant_text = 'text after " +
                          move + "'") == 1);
    };
    damage("b", "plan = '{\"source\": 3}'");
    damage("c", "verdict = '{cut'");
    damage("d", "proposed = '{\"by\": []}'");
  }
  const auto history = open(path)->of_kernel("/src/a.cu", "saxpy");
  REQUIRE_MESSAGE(history.has_value(), (history ? "" : describe(history.error())));
  REQUIRE(history->entries.size() == 2);
  CHECK(history->entries[0].plan.moves == std::vector<std::string>{"e"});
  CHECK(history->entries[1].plan.moves == std::vector<std::string>{"a"});
  CHECK(history->unreadable == 3);
  REQUIRE(history->why);
  CHECK(history->why->message.find("saxpy") != std::string::npos);
  CHECK(history->why->message.find(path.string()) != std::string::npos);
}

} // namespace
} // namespace warpwright::runner
