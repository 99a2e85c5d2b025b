// A search that runs beside the user's program: out of its terminal, at the lowest CPU priority, once for each folder of a store.
//
// It searches one region at a time, each with a runner of its own, and begins a region only after the GPU was idle. So it holds nothing on
// the GPU while it waits, and the GPU's use is never its own. It does not interrupt a region when the user's kernels come back.
#pragma once

#include "regions/store.h"
#include "support/files.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <sys/types.h>
#include <thread>

namespace warpwright::server {

/// The lock of a folder's background search. nullopt: one is running. Errors: as FileLock::try_take().
Result<std::optional<FileLock>> lock_of(const std::filesystem::path &folder);

/// Goes on in a child in a session of its own, which writes its output to `log` from the start; the calling process exits here with code 0.
/// Call it before any thread is made. Errors: the log cannot be written; there is no room for a process.
Result<void> detach(const std::filesystem::path &log);
/// Empties a log that is longer than a few hundred pages.
void shorten_log(int descriptor);

/// A thread that calls `request_stop` once the process has ended, at once if there is none; 0: no process is watched. It ends this
/// process where a stop was requested and is not obeyed for some seconds, as when a runner starts.
std::jthread watch(pid_t process, std::function<void()> request_stop, std::stop_token stop);

/// Whether a GPU was idle long enough. Thread: one.
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

/// Jobs that nobody searched and whose inputs are known from a real call, by key.
std::vector<std::string> waiting_jobs(const regions::Store &store);

/// Searches what waits in the store, and what is queued meanwhile, until nothing waits. A job whose search left it waiting is not begun twice.
/// @param gpu UUID of the GPU that must be idle before each search; empty: none
/// @param lock of the store's folder
/// Errors: NVML does not tell how busy the GPU is; those of `search`.
Result<void> search_waiting(const regions::Store &store, const std::string &gpu, FileLock lock,
                            const std::function<Result<void>(const std::string &key)> &search, std::stop_token stop);

} // namespace warpwright::server
