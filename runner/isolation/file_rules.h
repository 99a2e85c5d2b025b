// Which files a worker sees. One list serves both layers that hold to it: the root of its own
// (root_folder.h) and Landlock (landlock.h), so that either alone keeps the rest away. Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

struct FileRules {
  std::vector<std::filesystem::path> readable;   ///< files, or folders with all in them
  std::vector<std::filesystem::path> executable; ///< likewise; read, and started as programs
  std::vector<std::filesystem::path> writable;   ///< folders
  std::vector<std::filesystem::path> devices;    ///< read, write, ioctl
};

/// What a worker of this kind needs: the system's libraries, the sandbox's own paths, devices.
/// WARPWRIGHT_ISOLATION_READ and _WRITE add to it.
FileRules file_rules(const Sandbox &sandbox);
/// The worker's own, which the service gave it; empty, or one.
std::vector<std::filesystem::path> private_directory();
/// Device files of NVIDIA's driver that the sandbox opens.
std::vector<std::filesystem::path> gpu_devices(const Sandbox &sandbox);

} // namespace warpwright::runner
