// User, capabilities and limits of a worker process. Thread: before others exist.
#pragma once

#include "runner/isolation/isolation.h"

#include <optional>
#include <sys/types.h>

namespace warpwright::runner {

/// The user that a worker becomes when it is started as root: $WARPWRIGHT_WORKER_UID, else 65534
/// (nobody). A candidate's is the one before.
uid_t worker_uid();
uid_t candidate_uid();

/// Processes and threads of a worker.
inline constexpr int kMostProcesses = 4096;
/// What a worker may hold, bytes: $WARPWRIGHT_WORKER_MEMORY_MB, else three quarters of what is there; a
/// compile worker, of which there are many, a quarter.
std::size_t memory_limit(WorkerKind kind);

/// @param uid of the new user
/// @param must_reach files and folders that the new user has to read (device files: write)
/// @param own becomes the new user's: the private directory, the cache
IsolationLayer leave_root(uid_t uid, const std::vector<std::filesystem::path> &must_reach,
                          const std::vector<std::filesystem::path> &devices,
                          const std::vector<std::filesystem::path> &own);
/// Of whoever is left.
IsolationLayer drop_capabilities();
/// What a program that is started later could gain; the filter and Landlock ask for it.
void forbid_new_privileges();
/// The bounding set, while it can still be changed.
void shrink_bounding_set();
/// @param holds_memory false where a driver maps far more than there is
IsolationLayer set_limits(WorkerKind kind, bool holds_memory);

} // namespace warpwright::runner
