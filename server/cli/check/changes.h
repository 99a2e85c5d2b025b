// What changed between the base and the working tree: kernels and modules whose code, or whose
// launch, differs, and diagnostics that the base does not have.
//
// The state of the base is written into a temporary folder and analyzed with the project's compile
// flags, in which the project's folder is replaced. A changed header counts for each file that
// includes it, and a changed Python file for each file that imports it. Thread: one; blocks.
#pragma once

#include "analysis/facts.h"
#include "server/cli/check/repository.h"

#include <optional>

namespace warpwright::cli {

struct ChangedKernel {
  std::string path; ///< from the root
  std::optional<analysis::Kernel> base; ///< absent: the kernel is new
  analysis::Kernel head;
};

struct NewDiagnostic {
  std::string path;
  analysis::Diagnostic diagnostic;
};

struct Changes {
  std::vector<ChangedKernel> kernels;
  std::size_t unchanged = 0; ///< kernels of examined files
  std::size_t removed = 0;
  std::vector<NewDiagnostic> diagnostics;
  std::vector<std::pair<std::string, Error>> failures; ///< path, and why the file was not analyzed
  std::size_t files = 0;                               ///< examined
};

/// @param paths files and folders, relative to the working directory; empty: the whole repository
/// @param base_folder folder with the files of the base
/// Errors: git fails, or a path that does not exist.
Result<Changes> find_changes(const Repository &repository, const std::filesystem::path &base_folder,
                             const std::vector<std::string> &paths);

} // namespace warpwright::cli
