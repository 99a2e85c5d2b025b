// Landlock: which files a worker may reach, by three system calls of Linux 5.13 and later; no
// library. Thread: the calling one and those it starts later.
#pragma once

#include "runner/isolation/file_rules.h"

namespace warpwright::runner {

/// Needs no_new_privs. Where the kernel can, TCP and signals to others end here too.
IsolationLayer restrict_files(const FileRules &rules);

} // namespace warpwright::runner
