// User, capabilities, network namespace and limits of a worker process. Thread: before others exist.
#pragma once

#include "runner/isolation/isolation.h"

#include <optional>
#include <sys/types.h>

namespace warpwright::runner {

/// The user that a worker becomes when it is started as root: $WARPWRIGHT_WORKER_UID, else 65534
/// (nobody).
uid_t worker_uid();

/// @param must_reach files and folders that the new user has to read (device files: write)
/// @param own becomes the new user's: the private directory, the cache
IsolationLayer leave_root(const std::vector<std::filesystem::path> &must_reach,
                          const std::vector<std::filesystem::path> &devices,
                          const std::vector<std::filesystem::path> &own);
/// Of whoever is left.
IsolationLayer drop_capabilities();
/// What a program that is started later could gain; the filter and Landlock ask for it.
void forbid_new_privileges();
/// The bounding set, while it can still be changed.
void shrink_bounding_set();
IsolationLayer leave_network();
IsolationLayer set_limits(WorkerKind kind);

} // namespace warpwright::runner
