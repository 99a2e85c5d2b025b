// A root directory of a process's own: tmpfs with what the rules name bound into it, read-only but
// for writable folders, and the old root gone. Linux 5.12 and later. Thread: before others exist.
#pragma once

#include "runner/isolation/file_rules.h"

namespace warpwright::runner {

/// In a mount namespace of its own, with the right to mount there. Afterwards the working directory
/// is /. `rules` name the same paths before and after; links on the way to them are kept.
/// @param own_processes whether the process is the first of its PID namespace: /proc then shows that
/// namespace alone
/// @return empty, or what could not be done; the mount namespace is then of no use
std::string enter_root(const FileRules &rules, bool own_processes);

} // namespace warpwright::runner
