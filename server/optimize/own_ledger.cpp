#include "server/optimize/own_ledger.h"

#include "support/hash.h"
#include "support/model/json.h"
#include "trainer/ranker/source_shape.h"

#include <cmath>

namespace warpwright::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 1000; ///< the newest ones
constexpr std::size_t kMostKernels = 512;  ///< whose numbers are kept

/// The entry as the pool of candidates knows it; nullopt: it says nothing about a list of moves.
std::optional<trainer::CandidatePool::Tried> tried_of(const runner::LedgerEntry &entry) {
  if (entry.plan.moves.empty() || entry.proposed.answer || entry.verdict.host_code)
    return std::nullopt;
  switch (entry.verdict.outcome) {
  case model::Outcome::Verified:
    if (!entry.verdict.speedup || entry.verdict.speedup->ratio <= 0)
      return std::nullopt;
    return trainer::CandidatePool::Tried{entry.plan.moves, std::log(entry.verdict.speedup->ratio)};
  case model::Outcome::WrongResult:
  case model::Outcome::SuspectedCheat:
  case model::Outcome::CompileFailed:
    return trainer::CandidatePool::Tried{entry.plan.moves, std::nullopt};
  default: // a crash or a timeout may have another cause
    return std::nullopt;
  }
}

} // namespace

fs::path project_of(const fs::path &file) {
  std::error_code failed;
  const fs::path own = fs::absolute(file, failed).lexically_normal().parent_path();
  for (fs::path folder = own; folder != folder.parent_path(); folder = folder.parent_path())
    if (fs::exists(folder / ".git", failed) || fs::exists(folder / ".warpwright.toml", failed))
      return folder;
  return own;
}

Result<search::KernelNumbers> OwnLedger::numbers(const model::Task &task) {
  const std::string source = sha256_hex(task.reference.source);
  if (const auto known = numbers_.find(source); known != numbers_.end())
    return known->second;
  if (numbers_.size() >= kMostKernels)
    numbers_.clear();
  return numbers_.emplace(source, search::kernel_numbers(task)).first->second;
}

Result<runner::KernelHistory> OwnLedger::history(const fs::path &file) {
  if (!ledger_)
    ledger_ = TRY(open_());
  return ledger_->under(project_of(file), kMostEntries);
}

OwnLessons OwnLedger::lessons(const trainer::Ranker &ranker, const fs::path &file,
                              const model::Task &task, const model::DeviceInfo &device) {
  OwnLessons lessons;
  const auto history = this->history(file);
  if (!history) {
    lessons.problem = describe(history.error());
    return lessons;
  }
  const std::string own_hash = model::hash(task);
  std::vector<trainer::OwnRecord> records;
  std::map<std::string, std::optional<trainer::Ranker::Rows>> rows; // by hash of the task
  for (const runner::LedgerEntry &entry : history->entries) {
    auto tried = tried_of(entry);
    if (!tried || entry.task.module || entry.verdict.device.name != device.name)
      continue;
    const std::string hash = model::hash(entry.task);
    if (hash == own_hash)
      lessons.known.push_back(std::move(*tried)); // the newest first, and the first one counts
    auto place = rows.find(hash);
    if (place == rows.end()) {
      const auto kernel = numbers(entry.task);
      place = rows.emplace(hash, std::nullopt).first;
      if (kernel)
        place->second.emplace(
              ranker.rows(trainer::task_facts(entry.task, *kernel, entry.verdict.device)));
    }
    if (place->second)
      if (auto record = trainer::own_record(
              ranker, *place->second, trainer::source_shape(entry.task.reference.source, false),
              hash, entry.plan.moves, entry.verdict))
        records.push_back(std::move(*record));
  }
  lessons.learned = trainer::learn(records);
  return lessons;
}

} // namespace warpwright::server
