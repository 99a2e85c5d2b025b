// Standard streams of a program that speaks a protocol over them.
#pragma once

#include "support/error.h"

#include <functional>

namespace warpwright::server {

struct StandardStreams {
  int input = -1, output = -1;
};

/// Takes stdin and stdout for the protocol. Descriptor 1 becomes stderr, so that output of libraries
/// does not corrupt the protocol. Errors: one of them is closed.
Result<StandardStreams> take_standard_streams();

/// Calls `work` on another thread and waits for it. If it takes longer than the time after which
/// clients kill the process, ends the process; its children die with it.
void finish_in_time(const std::function<void()> &work, int exit_code);

} // namespace warpwright::server
