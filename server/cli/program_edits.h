// Verified variants of a program's kernels as edits of its files, any subset of which can be written.
// Thread: main.
#pragma once

#include "runner/ledger/ledger.h"
#include "server/program/halving.h"
#include "server/program/program_trial.h"

namespace warpwright::cli {

struct ProgramEdit {
  std::size_t kernel = 0; ///< its place in the report
  std::string file;       ///< from the program's folder
  runner::LedgerEntry entry;
};

/// The changed files with these edits, made one after the other in the originals' texts.
/// @param originals texts of all files with edits
/// @param folder the program's
/// Errors: an edit does not fit beside those before it.
Result<program::Sources> edited_sources(const std::vector<ProgramEdit> &edits, const program::EditSet &chosen,
                                        const program::Sources &originals, const std::filesystem::path &folder);

/// Unified diff from the originals to the changed files, for patch -p1 in the program's folder.
std::string patch_of(const program::Sources &originals, const program::Sources &changed);

/// The largest relative tolerance by which the tasks of these edits were verified, for numbers that the program prints.
program::NumberTolerance tolerance_of(const std::vector<ProgramEdit> &edits);

} // namespace warpwright::cli
