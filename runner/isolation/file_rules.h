// File access rules of a worker. Two layers enforce the same list: the worker's own root
// (root_folder.h) and Landlock (landlock.h), so each alone denies access to all other files.
// Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

struct FileRules {
  std::vector<std::filesystem::path> readable;   ///< files, or folders with their contents
  std::vector<std::filesystem::path> executable; ///< the same, and may be started as programs
  std::vector<std::filesystem::path> writable;   ///< folders
  std::vector<std::filesystem::path> devices;    ///< read, write, ioctl
};

/// Rules for a worker of this kind: the system's libraries, the sandbox's own paths, devices.
/// WARPWRIGHT_ISOLATION_READ and _WRITE add paths.
FileRules file_rules(const Sandbox &sandbox);
/// The worker's private directory, which the service gave it; at most one entry.
std::vector<std::filesystem::path> private_directory();
/// Device files of NVIDIA's driver that the sandbox opens.
std::vector<std::filesystem::path> gpu_devices(const Sandbox &sandbox);

} // namespace warpwright::runner
