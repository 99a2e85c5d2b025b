// NVRTC's log, read and cut: what a client may see of it, its first error, its warnings, ptxas's report.
// Thread: any.
#pragma once

#include "support/model/verdict.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

/// The name that a candidate's source has in diagnostics.
inline constexpr const char *kSourceName = "kernel.cu";

/// The log without diagnostics of files that are neither the source nor the toolkit's: they quote lines of them.
/// Files that `#line` names in the source count as the source.
std::string without_foreign_files(const std::string &log, const std::string &source,
                                  const std::vector<std::filesystem::path> &include_dirs);

/// The first line of the log that says error, without the source's invented name.
/// @param has_headers whether the toolkit's headers were found
std::string first_error(const std::string &log, bool has_headers);

/// The log without ptxas's statistics, which the report holds as numbers.
std::string warnings(const std::string &log);

/// Registers, shared memory, stack and spills of one kernel from the log of `--ptxas-options=-v`.
/// @param lowered_name the kernel's mangled name
void read_ptxas_report(const std::string &log, const std::string &lowered_name,
                       model::CompileReport &report);

} // namespace warpwright::runner::cuda
