// Bubblewrap, where it is asked for (WARPWRIGHT_ISOLATION=bubblewrap): the worker's process starts in
// a file system that holds what it needs, read-only, without other processes and without a network.
// The built-in layers follow inside. Thread: any.
#pragma once

#include "runner/isolation/isolation.h"
#include "runner/isolation/private_directory.h"
#include "support/process.h"

namespace warpwright::runner {

/// `command` as it is in the other modes.
std::vector<std::string> in_bubblewrap(const std::vector<std::string> &command,
                                       const Sandbox &sandbox,
                                       const std::optional<PrivateDirectory> &directory);
/// bwrap reports a signal of its child as exit code 128 + signal.
ExitStatus through_bubblewrap(const ExitStatus &status);

} // namespace warpwright::runner
