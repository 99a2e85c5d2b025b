// The measurements of one kernel as a report shows them, for the command line and for an editor's page.
#pragma once

#include "server/cli/report/report.h"
#include "server/engine.h"

namespace warpwright::server {

/// @param tried in the order in which they were tried
/// @param best one of them; null: none is to be applied
cli::KernelReport kernel_report(const analysis::Kernel &kernel, const std::string &path,
                                const std::vector<const runner::LedgerEntry *> &tried,
                                const runner::LedgerEntry *best);

/// Puts the difference that `entry` makes to its file into the report. @return the file with it
/// Errors: as variant_edits().
Result<std::string> add_diff(const Snapshot &snapshot, const runner::LedgerEntry &entry,
                             const VariantForm &form, cli::KernelReport &report);

} // namespace warpwright::server
