// User, capabilities and limits of a worker process. Thread: before others exist.
#pragma once

#include "runner/isolation/isolation.h"

#include <optional>
#include <sys/types.h>

namespace warpwright::runner {

/// The user of a worker that is started as root: $WARPWRIGHT_WORKER_UID, else 65534 (nobody). A
/// candidate's user id is one less.
uid_t worker_uid();
uid_t candidate_uid();

/// Maximum number of processes and threads of a worker.
inline constexpr int kMostProcesses = 4096;
/// Memory limit of a worker in bytes: $WARPWRIGHT_WORKER_MEMORY_MB, else three quarters of the
/// physical memory. For a compile worker, a quarter, because several run at a time.
std::size_t memory_limit(WorkerKind kind);

/// Changes from root to another user; another user stays.
/// @param uid the new user and group
/// @param must_reach files and folders that the new user must be able to read
/// @param devices device files that the new user must be able to read and write
/// @param own files and folders given to the new user, such as the private directory
IsolationLayer leave_root(uid_t uid, const std::vector<std::filesystem::path> &must_reach,
                          const std::vector<std::filesystem::path> &devices,
                          const std::vector<std::filesystem::path> &own);
/// Drops all capabilities of the current user.
IsolationLayer drop_capabilities();
/// Prevents programs started later from gaining privileges; required by the filter and Landlock.
void forbid_new_privileges();
/// Empties the bounding set of capabilities. Call while that is still permitted.
void shrink_bounding_set();
/// @param holds_memory whether to limit memory; false for drivers that map more than exists
IsolationLayer set_limits(WorkerKind kind, bool holds_memory);

} // namespace warpwright::runner
