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

/// Adds the difference between the file and the variant of `entry` to the report.
/// @return the file's text with the variant. Errors: as variant_edits().
Result<std::string> add_diff(const Snapshot &snapshot, const runner::LedgerEntry &entry,
                             const VariantForm &form, cli::KernelReport &report);

} // namespace warpwright::server
