// Optimising one torch module of a Python file from the command line: the editor's search, and its verdicts as a report.
//
// Thread: one search at a time; blocks.
#pragma once

#include "server/cli/kernel_search.h"
#include "server/engine.h"

namespace warpwright::cli {

struct ModuleSearchOptions {
  std::string device; ///< empty: the runner's best
  server::VariantForm form = {};
  std::optional<model::ModuleMode> mode = std::nullopt; ///< absent: what its file says
};

/// The module `name` of the snapshot, which must be there.
/// @param shown_path the path as the user wrote it
KernelOutcome optimize_module(const server::SnapshotPtr &snapshot, const std::string &name,
                              const std::string &shown_path, const SearchSetup &setup,
                              const ModuleSearchOptions &options);

} // namespace warpwright::cli
