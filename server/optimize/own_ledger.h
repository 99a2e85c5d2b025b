// What a project's own verdicts in the ledger teach the learned cost model (trainer/ranker/own_records.h).
//
// They are read anew for each search, so each new verdict counts at once, and what leaves the ledger is forgotten.
// Nothing leaves this machine, and nothing is written. Verdicts of other projects and of other GPUs are not read.
// Thread: one.
#pragma once

#include "generator/search/kernel_numbers.h"
#include "runner/ledger/ledger.h"
#include "trainer/ranker/candidate_pool.h"
#include "trainer/ranker/own_records.h"

#include <functional>

namespace warpwright::server {

/// The nearest folder upward with .git or .warpwright.toml; else the file's own folder.
std::filesystem::path project_of(const std::filesystem::path &file);

struct OwnLessons {
  trainer::Learned learned;
  std::string problem; ///< why the ledger could not be read; empty: it was
  std::vector<trainer::CandidatePool::Tried> known; ///< earlier verdicts on this very task
};

class OwnLedger {
public:
  using Open = std::function<Result<std::unique_ptr<runner::Ledger>>()>;
  explicit OwnLedger(Open open) : open_(std::move(open)) {}

  /// @param device whose verdicts count
  OwnLessons lessons(const trainer::Ranker &ranker, const std::filesystem::path &file,
                     const model::Task &task, const model::DeviceInfo &device);

private:
  Result<runner::KernelHistory> history(const std::filesystem::path &file);
  Result<search::KernelNumbers> numbers(const model::Task &task);

  Open open_;
  std::unique_ptr<runner::Ledger> ledger_;
  std::map<std::string, Result<search::KernelNumbers>>
      numbers_; ///< by SHA-256 of the reference's source
};

} // namespace warpwright::server
