// Status of one kernel for lens, hover and code actions, from facts, ledger and job.
//
// A measurement counts only for the code that it was made on. Entries whose source hash differs
// from the kernel's hash are stale. If an entry's own source is the kernel's current source, its
// variant was applied.
#pragma once

#include "server/measurements.h"
#include "server/snapshot.h"
#include "support/model/verdict_text.h"

namespace warpwright::server {

/// A waiting or running optimization.
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
  Faster,        ///< a verified variant is faster than the current code on a GPU
  Checked,       ///< variants are correct; the backend cannot time them
  NothingFaster, ///< variants were tried; no verified one is faster
  Outrun,        ///< torch modules: PyTorch's own code is faster than the best verified plan
  Applied,       ///< the current code is a verified variant
  Stale,         ///< measured, but the code changed since
};

struct KernelStatus {
  KernelState state = KernelState::NotMeasured;
  EntriesPtr entries;                               ///< keeps the pointers below alive
  std::vector<const runner::LedgerEntry *> current; ///< entries of the current code, newest first
  std::vector<const runner::LedgerEntry *> stale;
  std::vector<const runner::LedgerEntry *>
      offered; ///< variants to apply, best first: measured as faster, else checked
  const runner::LedgerEntry *best = nullptr; ///< first of `offered`
  /// Verified variants, faster or checked, that cannot be written into the file; best first.
  std::vector<const runner::LedgerEntry *> not_applicable;
  const runner::LedgerEntry *applied = nullptr;
  /// The best verified plan of a torch module, if keep_text() (measured_text.h) names faster code.
  const runner::LedgerEntry *outrun = nullptr;
  std::optional<JobStatus> job;
};

/// @param source_hash hash of the kernel's slice; empty without a slice
KernelStatus kernel_status(const analysis::Kernel &kernel, const std::string &source_hash,
                           EntriesPtr entries, std::optional<JobStatus> job);

/// Verified and timed on a GPU, with the whole interval of the speedup above 1.
bool is_faster(const model::Verdict &verdict);
/// Verified without a speedup: correct, speed not measured.
bool is_checked(const model::Verdict &verdict);

// Wording shared by the features.

/// "variant 3 of 20 (measuring)"; empty while the job waits.
std::string job_text(const JobStatus &job);

/// "2.31x [2.27, 2.35] on NVIDIA H200"
std::string speedup_on_device(const model::Speedup &speedup);
/// A move for users: "template(pointwise, items=1, threads=64, width=4) fuse(relu,add)" gives
/// "fuse(relu,add) as pointwise(threads=64, width=4)". Parameters of a template that are 0 or 1 are
/// left out.
std::string move_text(const std::string &move);
/// "vectorize(width=4), block_size(256)"; "as written" for none
std::string moves_text(const std::vector<std::string> &moves);

} // namespace warpwright::server
