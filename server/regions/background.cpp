#include "server/regions/background.h"

#include "runner/metrics/gpu_readings.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpwright::server {
namespace {

using regions::Store;

constexpr std::chrono::milliseconds kPoll{250}; ///< NVML's samples are of 1/6 s to 1 s
constexpr std::chrono::seconds kGrace{5};
constexpr off_t kLongestLogBytes = 1 << 20;
constexpr int kLowestPriority = 19;

/// Share of the last second or less in which kernels ran. nullopt: NVML does not tell it.
std::optional<double> use_of(const std::string &gpu, const std::vector<runner::metrics::GpuReading> &readings) {
  const auto found = std::ranges::find(readings, gpu, &runner::metrics::GpuReading::identifier);
  return found == readings.end() ? std::nullopt : found->utilization;
}

Result<void> wait_until_idle(const std::string &gpu, std::stop_token stop) {
  if (gpu.empty())
    return {};
  const auto read = runner::metrics::gpu_reader(::getpid());
  for (IdleTime idle; !stop.stop_requested(); std::this_thread::sleep_for(kPoll)) {
    const auto use = read ? use_of(gpu, read()) : std::nullopt;
    if (!use)
      return fail("NVML does not report how busy the GPU " + gpu +
                      " is, so a search cannot begin next to a program",
                  "Search before with warpwright.optimize(), or with warpwright.search=\"now\"");
    if (idle.note(*use, IdleTime::Clock::now()))
      return {};
  }
  return {};
}

} // namespace

Result<std::optional<FileLock>> lock_of(const std::filesystem::path &folder) { return FileLock::try_take(folder / "search.lock"); }

Result<void> detach(const std::filesystem::path &log) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (nothing < 0 || output < 0)
    return fail("cannot write " + log.string() + ": " + std::strerror(errno), "Check the folder and its permissions");
  const pid_t child = ::fork();
  if (child < 0)
    return fail(std::string("cannot start the background search: ") + std::strerror(errno));
  if (child > 0)
    ::_exit(0);
  ::setsid();
  ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::close(nothing);
  ::close(output);
  return {};
}

void shorten_log(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) == 0 && status.st_size > kLongestLogBytes && ::ftruncate(descriptor, 0) < 0) {
    // it stays long
  }
}

std::jthread watch(pid_t process, std::function<void()> request_stop, std::stop_token stop) {
  return std::jthread([process, request_stop = std::move(request_stop), stop = std::move(stop)](std::stop_token ending) {
    // The descriptor stays that of the process, while the number may be given to another.
    const int descriptor = process > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, process, 0)) : -1;
    const bool polls = process > 0 && descriptor < 0; // it is gone, or the system has no such descriptors
    std::chrono::milliseconds disobeyed{0};
    while (!ending.stop_requested() && disobeyed < kGrace) {
      pollfd watched{stop.stop_requested() ? -1 : descriptor, POLLIN, 0}; // poll() waits only, for a negative one
      if (::poll(&watched, 1, static_cast<int>(kPoll.count())) > 0 || (polls && ::kill(process, 0) < 0 && errno == ESRCH))
        request_stop();
      if (stop.stop_requested())
        disobeyed += kPoll;
    }
    if (!ending.stop_requested())
      ::_exit(1); // what it started dies with it
    if (descriptor >= 0)
      ::close(descriptor);
  });
}

bool IdleTime::note(double use, Clock::time_point now) {
  if (use > 0)
    since_.reset();
  else if (!since_)
    since_ = now;
  return since_ && now - *since_ >= kEnough;
}

std::vector<std::string> waiting_jobs(const Store &store) {
  std::vector<std::string> keys = store.keys(Store::Kind::Job);
  std::erase_if(keys, [&](const std::string &key) {
    const auto job = store.read(Store::Kind::Job, key);
    return !job || job->contains("searched") || !job->contains("program") || !job->contains("profile") || job->at("profile").is_null() ||
           store.read(Store::Kind::Plan, key);
  });
  return keys;
}

Result<void> search_waiting(const Store &store, const std::string &gpu, FileLock lock,
                            const std::function<void(const std::string &key)> &search, std::stop_token stop) {
  std::set<std::string> begun;
  const auto next = [&]() -> std::optional<std::string> {
    for (const std::string &key : waiting_jobs(store))
      if (!begun.contains(key))
        return key;
    return std::nullopt;
  };
  std::optional<FileLock> held = std::move(lock);
  while (held) {
    while (next()) {
      TRY(wait_until_idle(gpu, stop));
      if (stop.stop_requested())
        return {};
      if (const auto key = next()) { // another process may have searched the first meanwhile
        begun.insert(*key);
        search(*key);
      }
    }
    held.reset();
    if (next()) // queued by a program that found the lock taken
      held = TRY(lock_of(store.folder()));
  }
  return {};
}

} // namespace warpwright::server
