// Landlock: which files a worker may reach, by three system calls of Linux 5.13 and later; no
// library. Thread: the calling one and those it starts later.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

struct FileRules {
  std::vector<std::filesystem::path> readable;   ///< files, or folders with all in them
  std::vector<std::filesystem::path> executable; ///< likewise; read, and started as programs
  std::vector<std::filesystem::path> writable;   ///< folders
  std::vector<std::filesystem::path> devices;    ///< read, write, ioctl
};

/// Needs no_new_privs. Where the kernel can, TCP and signals to others end here too.
IsolationLayer restrict_files(const FileRules &rules);

} // namespace warpwright::runner
