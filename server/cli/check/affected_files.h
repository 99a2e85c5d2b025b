// Source files that a change reaches: the changed ones, and those that include or import them,
// directly or through others. Names decide, not search paths, so a file too many may be examined,
// and none is missed whose include or import names the changed file. Thread: any.
#pragma once

#include "server/cli/check/repository.h"

#include <set>

namespace warpwright::cli {

/// Whether the file may hold kernels, modules, or C++ functions over tensors.
bool may_hold_kernels(const std::string &path);

/// @param all tracked files, from the root
/// @return those that may hold kernels and that the changes reach, without deleted files
std::set<std::string> affected_files(const std::filesystem::path &root,
                                     const std::vector<std::string> &all,
                                     const std::vector<ChangedFile> &changed);

} // namespace warpwright::cli
