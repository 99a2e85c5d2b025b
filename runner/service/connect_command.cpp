// `connect`: stdin and stdout as a line to this user's service on this machine, which is started if
// it does not run. This is the far end of ssh:// and its like (runner/shell/shell_script.h).
//
// The service outlives the line, so a client that lost its connection finds its jobs again, and
// several clients share one queue. It ends by itself when nobody has used it for a while. Programs
// of another version, and with another Python, are other services. So is each allocation of Slurm:
// its service uses the GPUs of that allocation alone, and ends soon after its line.
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "runner/torch/python_programs.h"
#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPoll{20};
constexpr const char *kAllocationVariable = "SLURM_JOB_ID";
constexpr int kIdleInAllocation_s = 5; ///< not every cluster ends the processes of an allocation
constexpr std::chrono::seconds kStartLimit{120}; ///< of a service; asking a driver can take 30 s

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The folder of this user's sockets, which nobody else can enter. It is on a local disk: home
/// folders may be shared by machines, and a socket is not.
Result<fs::path> socket_folder() {
  const std::string temporary = environment("TMPDIR");
  const fs::path folder = fs::path(temporary.empty() ? "/tmp" : temporary) /
                          ("warpwright-" + std::to_string(::geteuid()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail("cannot make the folder " + folder.string() + ": " + std::strerror(errno),
                "Set TMPDIR to a folder that may be written");
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & 077))
    return fail(folder.string() + " is not a folder that only this user can enter",
                "Remove it, or set TMPDIR to another folder");
  return folder;
}

Result<fs::path> socket_path() {
  const fs::path folder = TRY(socket_folder());
  const std::string identity = executable_path() + "\n" + environment(kPythonVariable) + "\n" +
                               environment(kAllocationVariable);
  const fs::path path = folder / (sha256_hex(identity).substr(0, 16) + ".sock");
  if (path.string().size() >= sizeof(sockaddr_un::sun_path))
    return fail("the socket path " + path.string() + " is longer than 107 bytes", "Set TMPDIR to a shorter one");
  return path;
}

/// @return a descriptor, or -1: nobody serves there
int try_connect(const fs::path &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor >= 0 &&
      ::connect(descriptor, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0)
    return descriptor;
  if (descriptor >= 0)
    ::close(descriptor);
  return -1;
}

/// Starts a service in a session of its own, so that the end of this line does not end it. Its log
/// is beside its socket.
Result<pid_t> start_service(const fs::path &path, const fs::path &log, int idle_s) {
  const std::string program = executable_path(), socket = path.string(), idle = std::to_string(idle_s);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (nothing < 0 || output < 0)
    return fail("cannot write " + log.string() + ": " + std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), "serve", "--socket", socket.c_str(), "--idle-exit",
            idle.c_str(), static_cast<char *>(nullptr));
    ::_exit(127);
  }
  const int cause = errno;
  ::close(nothing);
  ::close(output);
  if (child < 0)
    return fail(std::string("cannot start the service: ") + std::strerror(cause));
  return child;
}

Result<int> await_service(const fs::path &path, const fs::path &log, pid_t service) {
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (const int descriptor = try_connect(path); descriptor >= 0)
      return descriptor;
    if (::waitpid(service, nullptr, WNOHANG) == service)
      return fail("the runner's service ended at its start: " + read_file(log).value_or(""));
    std::this_thread::sleep_for(kPoll);
  }
  return fail("the runner's service did not start within " + std::to_string(kStartLimit.count()) +
              " s: " + read_file(log).value_or(""));
}

/// One line at a time looks for the service and starts it.
Result<FileLock> take_lock(const fs::path &path) {
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (auto lock = TRY(FileLock::try_take(path)))
      return std::move(*lock);
    std::this_thread::sleep_for(kPoll);
  }
  return fail("another program has held " + path.string() + " for " +
              std::to_string(kStartLimit.count()) + " s", "Remove the file");
}

Result<int> reach_service(int idle_s) {
  const fs::path path = TRY(socket_path());
  const FileLock lock = TRY(take_lock(fs::path(path).replace_extension(".lock")));
  if (const int descriptor = try_connect(path); descriptor >= 0)
    return descriptor;
  const fs::path log = fs::path(path).replace_extension(".log");
  const pid_t service = TRY(start_service(path, log, idle_s));
  return await_service(path, log, service);
}

/// Copies bytes until an end is closed.
void relay(int from, int to) {
  char block[65536];
  for (;;) {
    const ssize_t size = ::read(from, block, sizeof block);
    if (size < 0 && errno == EINTR)
      continue;
    for (ssize_t done = 0; done < size;) {
      const ssize_t count = ::write(to, block + done, static_cast<std::size_t>(size - done));
      if (count < 0 && errno != EINTR)
        return;
      done += std::max<ssize_t>(count, 0);
    }
    if (size <= 0)
      return;
  }
}

} // namespace

int run_connect(const ConnectCommand &command) {
  ::signal(SIGPIPE, SIG_IGN);
  const bool in_allocation = !environment(kAllocationVariable).empty();
  const auto descriptor = reach_service(in_allocation ? std::min(command.idle_s, kIdleInAllocation_s) : command.idle_s);
  if (!descriptor) {
    std::cerr << describe(descriptor.error()) << std::endl;
    return 2;
  }
  if (!command.ready.empty())
    std::cout << command.ready << " up" << std::endl;
  std::thread([service = *descriptor] {
    relay(STDIN_FILENO, service);
    ::_exit(0); // the client has left; the service keeps its jobs
  }).detach();
  relay(*descriptor, STDOUT_FILENO);
  return 0;
}

} // namespace warpwright::runner
