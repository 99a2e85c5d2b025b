// Functions on NVRTC's log: the part that a client may see, the first error, the warnings, and
// ptxas's report. Thread: any.
#pragma once

#include "support/model/verdict.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

/// Name of a candidate's source in diagnostics.
inline constexpr const char *kSourceName = "kernel.cu";

/// The log without diagnostics in files other than the source and the toolkit's headers, because
/// diagnostics quote lines of their file. Files that `#line` names in the source count as the
/// source.
std::string without_foreign_files(const std::string &log, const std::string &source,
                                  const std::vector<std::filesystem::path> &include_dirs);

/// The first line of the log that contains "error", with "kernel.cu(12)" replaced by "line 12".
/// @param has_headers whether the toolkit's headers were found
std::string first_error(const std::string &log, bool has_headers);

/// The log without ptxas's statistics. CompileReport has the statistics as numbers.
std::string warnings(const std::string &log);

/// Registers, shared memory, stack and spills of one kernel from the log of `--ptxas-options=-v`.
/// @param lowered_name the kernel's mangled name
void read_ptxas_report(const std::string &log, const std::string &lowered_name,
                       model::CompileReport &report);

} // namespace warpwright::runner::cuda
