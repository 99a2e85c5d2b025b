// Landlock: restriction of a worker's file access by three system calls of Linux 5.13 and later,
// without a library. Thread: the calling one and those it starts later.
#pragma once

#include "runner/isolation/file_rules.h"

namespace warpwright::runner {

/// Restricts file access, and TCP and signals to other processes if the kernel supports it. Needs
/// no_new_privs.
IsolationLayer restrict_files(const FileRules &rules);

} // namespace warpwright::runner
