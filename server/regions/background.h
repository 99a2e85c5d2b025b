// Background search: a process that is detached from the user's program and terminal and has the lowest CPU priority.
// Each folder of a store has one at most.
//
// It searches one region at a time, each with a new runner, and begins a region only after the GPU was idle. So it holds
// nothing on the GPU while it waits, and the use that NVML reports is never its own. A region is not interrupted when the
// user's kernels start again.
#pragma once

#include "regions/store.h"
#include "support/files.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <sys/types.h>
#include <thread>

namespace warpwright::server {

/// The lock of a folder's background search; nullopt: one is running. Errors: as FileLock::try_take().
Result<std::optional<FileLock>> lock_of(const std::filesystem::path &folder);

/// Continues in a child process with a new session, whose output replaces the file `log`; the calling process exits
/// here with code 0. Call it before any thread is made. Errors: the log cannot be written; fork() fails.
Result<void> detach(const std::filesystem::path &log);
/// Empties a log of more than 1 MiB.
void shorten_log(int descriptor);

/// A thread that calls `request_stop` once a process has ended or if there is none; process 0 is not watched. It also
/// ends this process 5 s after a stop was requested, since the start of a runner cannot be stopped otherwise.
std::jthread watch(pid_t process, std::function<void()> request_stop, std::stop_token stop);

/// Decides whether a GPU was idle long enough. Thread: one.
class IdleTime {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEnough{2};
  /// @param use share of the last moments in which kernels ran, 0 to 1
  /// @return whether none ran for kEnough
  bool note(double use, Clock::time_point now);

private:
  std::optional<Clock::time_point> since_;
};

/// Keys of jobs that have not been searched and have a profile of their inputs.
std::vector<std::string> waiting_jobs(const regions::Store &store);

/// Searches waiting jobs, also those that are queued meanwhile, until there are none. No job is begun twice.
/// @param gpu UUID of the GPU that must be idle before each search; empty: none
/// @param lock lock_of() the store's folder
/// Errors: NVML does not tell how busy the GPU is.
Result<void> search_waiting(const regions::Store &store, const std::string &gpu, FileLock lock,
                            const std::function<void(const std::string &key)> &search, std::stop_token stop);

} // namespace warpwright::server
