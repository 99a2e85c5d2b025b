// The measurements of one kernel as a report shows them, for the command line and for an editor's page.
#pragma once

#include "server/cli/report/report.h"
#include "server/engine.h"

namespace warpwright::server {

/// @param tried in the order of the trials
/// @param best an element of `tried`; null: no variant is to be applied
cli::KernelReport kernel_report(const analysis::Kernel &kernel, const std::string &path,
                                const std::vector<const runner::LedgerEntry *> &tried,
                                const runner::LedgerEntry *best);

/// The texts with a variant.
struct VariantTexts {
  std::string text; ///< of the kernel's file
  std::optional<ChangedFile> includer; ///< the file that includes it and launches its kernel, if that changes
};

/// Adds the difference between the files and the variant of `entry` to the report.
/// Errors: as variant_edits().
Result<VariantTexts> add_diff(const Snapshot &snapshot, const runner::LedgerEntry &entry,
                              const VariantForm &form, cli::KernelReport &report);

} // namespace warpwright::server
