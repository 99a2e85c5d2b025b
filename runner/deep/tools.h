// Where this machine keeps NVIDIA's checking and profiling tools. They are the user's, never shipped.
// Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>

namespace warpwright::runner::deep {

enum class Tool { ComputeSanitizer, Ncu };

/// "compute-sanitizer", "ncu"
std::string name(Tool tool);
/// The environment variable that names its executable.
const char *variable_of(Tool tool);

/// $WARPWRIGHT_COMPUTE_SANITIZER or $WARPWRIGHT_NCU where it is set; else PATH, $CUDA_HOME and $CUDA_PATH,
/// /usr/local/cuda, /opt/cuda, /usr/local/cuda-* (newest first), and for ncu /opt/nvidia/nsight-compute/*
/// (newest first).
/// Errors: it is nowhere, with where it was looked for and what to install.
Result<std::filesystem::path> find(Tool tool);

/// " 2025.3.1.0", asked of the tool itself; empty when it does not say.
std::string version_of(const std::filesystem::path &tool);

} // namespace warpwright::runner::deep
