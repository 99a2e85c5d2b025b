// Texts of a process that is started: its environment, and lists for exec and posix_spawn.
#pragma once

#include "support/process.h"

#include <string>
#include <vector>

namespace warpwright {

/// Entries NAME=VALUE of `options.environment`, then those of this process that it does not
/// replace and that `options.inherited` lets through.
std::vector<std::string> merged_environment(const ProcessOptions &options);

/// Pointers to the texts, and a null pointer at the end. They are valid as long as the texts are.
std::vector<char *> pointers_to(std::vector<std::string> &texts);

} // namespace warpwright
