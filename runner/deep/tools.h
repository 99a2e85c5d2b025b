// Paths of NVIDIA's checking, profiling and disassembling tools, which users install and this
// project does not ship.
// Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>

namespace warpwright::runner::deep {

enum class Tool { ComputeSanitizer, Ncu, Nvdisasm };

/// "compute-sanitizer", "ncu", "nvdisasm"
std::string name(Tool tool);
/// The environment variable with the path of the tool's executable.
const char *variable_of(Tool tool);

/// Searches in $WARPWRIGHT_COMPUTE_SANITIZER, $WARPWRIGHT_NCU or $WARPWRIGHT_NVDISASM if it is set; else PATH, $CUDA_HOME
/// and $CUDA_PATH, /usr/local/cuda, /opt/cuda, /usr/local/cuda-* (newest first), and for ncu
/// /opt/nvidia/nsight-compute/* (newest first).
/// Errors: not found, with the places searched and the package to install.
Result<std::filesystem::path> find(Tool tool);

/// The tool's version as it reports it: " 2025.3.1.0"; empty: not reported.
std::string version_of(const std::filesystem::path &tool);

} // namespace warpwright::runner::deep
