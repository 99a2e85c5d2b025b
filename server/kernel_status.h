// What lens, hover and code actions say about one kernel, decided in one place from facts, ledger
// and job.
//
// A measurement counts for the code that it was made on: entries whose source hash differs from the
// kernel's are stale, and an entry whose own source is the kernel's says that it was applied.
#pragma once

#include "server/measurements.h"
#include "server/snapshot.h"
#include "support/model/verdict_text.h"

namespace warpwright::server {

/// An optimisation that is waiting or running, as shown.
struct JobStatus {
  bool queued = false;
  std::size_t tried = 0;
  std::size_t max_variants = 0;
  std::string stage; ///< "compiling", ...; may be empty
};

enum class KernelState {
  NotMeasured,
  MissingFacts, ///< the task could not be inferred
  Queued,
  Measuring,
  Faster,        ///< a verified variant beats the code as it stands, on a GPU
  Checked,       ///< variants are correct on a backend that cannot time them
  NothingFaster, ///< tried, and no verified variant beats it
  Applied,       ///< the code as it stands is a verified variant
  Stale,         ///< measured, but the code changed since
};

struct KernelStatus {
  KernelState state = KernelState::NotMeasured;
  EntriesPtr entries;                               ///< keeps the pointers below alive
  std::vector<const runner::LedgerEntry *> current; ///< of the code as it stands, newest first
  std::vector<const runner::LedgerEntry *> stale;
  std::vector<const runner::LedgerEntry *>
      offered; ///< to apply, best first: measured as faster, else checked
  const runner::LedgerEntry *best = nullptr; ///< the first of them
  /// Verified, faster or checked, but not to be written into the file; best first.
  std::vector<const runner::LedgerEntry *> not_applicable;
  const runner::LedgerEntry *applied = nullptr;
  std::optional<JobStatus> job;
};

/// @param source_hash of the kernel's slice, empty when there is none
KernelStatus kernel_status(const analysis::Kernel &kernel, const std::string &source_hash,
                           EntriesPtr entries, std::optional<JobStatus> job);

/// Verified, timed on a GPU, and the whole interval above 1.
bool is_faster(const model::Verdict &verdict);
/// Verified without a speedup: correct, speed not measured.
bool is_checked(const model::Verdict &verdict);

// Wording shared by the features.

/// "2.31x [2.27, 2.35] on NVIDIA H200"
std::string speedup_on_device(const model::Speedup &speedup);
/// As a user reads it: "fuse(relu,add) as pointwise(threads=64, width=4)" of "template(pointwise, items=1, threads=64, width=4) fuse(relu,add)";
/// a template's parameters that are 0 or 1 are left out.
std::string move_text(const std::string &move);
/// "vectorize(width=4), block_size(256)"; "as written" for none
std::string moves_text(const std::vector<std::string> &moves);

} // namespace warpwright::server
