// Process 1 of an enclosure: reaps, tells the supervisor how the worker ended, and takes all other
// processes of its PID namespace along when it ends. Thread: a process's only one.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace warpwright::runner {

/// What a supervisor writes to init, and its answers: one message each.
enum class InitOrder : char {
  Freeze = 'f', ///< stops every other process -> 'y', or 'n' when the worker has ended
  Thaw = 't',   ///< -> 'y', or 'w' when the worker had been woken by somebody else
};

/// Until `worker` has ended, whose wait status is the last message, or the supervisor has.
[[noreturn]] void serve_as_init(pid_t worker, int control);

/// Closes all descriptors but 0, 1, 2 and these.
void close_others(const std::vector<int> &kept);
/// The same; 0 and 1 become /dev/null.
void close_all_but(const std::vector<int> &kept);

/// Kills every descendant of this process, which is a subreaper, until none is left.
void kill_descendants();

} // namespace warpwright::runner
