// A separate root directory for a process: tmpfs into which the rules' paths are bound, read-only
// except for writable folders, without the old root. Linux 5.12 and later. Thread: before others
// exist.
#pragma once

#include "runner/isolation/file_rules.h"

namespace warpwright::runner {

/// Changes the root. The process must be in its own mount namespace and may mount there. Afterwards
/// the working directory is /. The paths in `rules` stay valid, including links on the way to them.
/// @param own_processes whether the process is the first of its PID namespace; /proc then shows
/// only that namespace
/// @return empty, or what failed; the mount namespace is then unusable
std::string enter_root(const FileRules &rules, bool own_processes);

} // namespace warpwright::runner
