// Process 1 of an enclosure. It reaps processes, reports the worker's wait status to the
// supervisor, and ends all other processes of its PID namespace when it ends. Thread: a process's
// only one.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace warpwright::runner {

/// The supervisor's orders to init, and their answers; one message each.
enum class InitOrder : char {
  Freeze = 'f', ///< stops all other processes -> 'y', or 'n' if the worker has ended
  Thaw = 't',   ///< -> 'y', or 'w' if another process had already resumed the worker
};

/// Runs until the supervisor or `worker` has ended. The last message is the worker's wait status.
[[noreturn]] void serve_as_init(pid_t worker, int control);

/// Closes all descriptors except 0, 1, 2 and these.
void close_others(const std::vector<int> &kept);
/// The same, and redirects 0 and 1 to /dev/null.
void close_all_but(const std::vector<int> &kept);

/// Kills every descendant of this process, which is a subreaper, until none is left.
void kill_descendants();

} // namespace warpwright::runner
