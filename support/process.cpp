// Child processes by fork and exec. The child's side between the two calls uses async-signal-safe
// calls only.
#include "support/process.h"
#include "support/process_texts.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace warpwright {
namespace {

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void close_both() {
    for (int *end : {&read, &write})
      if (*end >= 0)
        ::close(std::exchange(*end, -1));
  }
};

bool is_inherited(const std::string &name, const std::vector<std::string> &patterns) {
  for (const std::string &pattern : patterns)
    if (pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                               : name == pattern)
      return true;
  return patterns.empty();
}

/// Runs in the child; reports errno through `failure` when exec fails.
[[noreturn]] void become(char *const *arguments, char *const *environment,
                         const ProcessOptions &options, int in, int out, int err, int failure,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, options.signal_at_our_end);
  if (getppid() != parent) // the parent died before the line above took effect
    _exit(127);
  signal(SIGPIPE, SIG_DFL);
  if (options.ignores_interrupt)
    signal(SIGINT, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // The pipes may be 0..2 if the parent has closed its own, so they are moved first.
  in = fcntl(in, F_DUPFD_CLOEXEC, 3);
  out = fcntl(out, F_DUPFD_CLOEXEC, 3);
  if (err >= 0)
    err = fcntl(err, F_DUPFD_CLOEXEC, 3);
  failure = fcntl(failure, F_DUPFD_CLOEXEC, 3);
  dup2(in, 0);
  dup2(out, 1);
  if (err >= 0)
    dup2(err, 2);
  syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  const char *directory = options.working_directory.c_str();
  if (!*directory || chdir(directory) == 0)
    execvpe(arguments[0], arguments, environment);
  const int reason = errno;
  [[maybe_unused]] const auto written = write(failure, &reason, sizeof reason);
  _exit(127);
}

ExitStatus decode(int status) {
  if (WIFSIGNALED(status))
    return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

} // namespace

std::vector<std::string> merged_environment(const ProcessOptions &options) {
  std::vector<std::string> merged = options.environment;
  for (char **entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const std::string &other : options.environment)
      replaced |= other.starts_with(name + "=");
    if (!replaced && is_inherited(name, options.inherited))
      merged.push_back(text);
  }
  return merged;
}

std::vector<char *> pointers_to(std::vector<std::string> &texts) {
  std::vector<char *> result;
  for (std::string &text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Result<Process> Process::spawn(const std::vector<std::string> &command,
                               const ProcessOptions &options) {
  if (command.empty())
    return fail("cannot start an empty command");
  Pipe in, out, err, failure;
  if (!in.open() || !out.open() || !failure.open() || (options.pipe_stderr && !err.open())) {
    const std::string reason = std::strerror(errno);
    for (Pipe *pipe : {&in, &out, &err, &failure})
      pipe->close_both();
    return fail("cannot start " + command[0] + ": " + reason);
  }
  std::vector<std::string> arguments = command, environment = merged_environment(options);
  const std::vector<char *> argument_pointers = pointers_to(arguments),
                            environment_pointers = pointers_to(environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0)
    become(argument_pointers.data(), environment_pointers.data(), options, in.read, out.write,
           err.write, failure.write, parent);
  const int fork_error = errno;
  ::close(std::exchange(in.read, -1));
  ::close(std::exchange(out.write, -1));
  ::close(std::exchange(failure.write, -1));
  if (err.write >= 0)
    ::close(std::exchange(err.write, -1));
  int reason = pid < 0 ? fork_error : 0;
  if (pid > 0) {
    ssize_t count;
    do
      count = ::read(failure.read, &reason, sizeof reason);
    while (count < 0 && errno == EINTR);
    if (count <= 0)
      reason = 0;
  }
  ::close(std::exchange(failure.read, -1));
  if (reason != 0) {
    if (pid > 0)
      waitpid(pid, nullptr, 0);
    for (Pipe *pipe : {&in, &out, &err})
      pipe->close_both();
    return fail("cannot start " + command[0] + ": " + std::strerror(reason));
  }
  Process process;
  process.pid_ = pid;
  process.stdin_ = in.write;
  process.stdout_ = out.read;
  process.stderr_ = err.read;
  return process;
}

Process::Process(Process &&other) noexcept { *this = std::move(other); }

Process &Process::operator=(Process &&other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(stdin_, other.stdin_);
  std::swap(stdout_, other.stdout_);
  std::swap(stderr_, other.stderr_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() {
  for (int descriptor : {stdin_, stdout_, stderr_})
    if (descriptor >= 0)
      ::close(descriptor);
  if (pid_ > 0 && !status_) {
    ::kill(pid_, SIGKILL);
    wait();
  }
}

int Process::release_stdin() { return std::exchange(stdin_, -1); }
int Process::release_stdout() { return std::exchange(stdout_, -1); }
int Process::release_stderr() { return std::exchange(stderr_, -1); }

std::optional<ExitStatus> Process::poll() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = decode(status);
  return status_;
}

ExitStatus Process::wait() {
  int status = 0;
  while (!status_) {
    const pid_t ended = waitpid(pid_, &status, 0);
    if (ended == pid_)
      status_ = decode(status);
    else if (errno != EINTR)
      status_ = ExitStatus{127, 0}; // reaped by other code: the status is lost
  }
  return *status_;
}

void Process::kill(int signal) {
  if (pid_ > 0 && !status_)
    ::kill(pid_, signal);
}

namespace {

/// Move ready bytes between the pipes and the strings. @return false when the descriptor is done
bool drain(int descriptor, std::string &into) {
  char block[65536];
  const ssize_t count = ::read(descriptor, block, sizeof block);
  if (count > 0)
    into.append(block, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

bool feed(int descriptor, std::string_view &from) {
  const ssize_t count = ::write(descriptor, from.data(), from.size());
  if (count > 0)
    from.remove_prefix(static_cast<std::size_t>(count));
  const bool alive = count >= 0 || errno == EINTR || errno == EAGAIN;
  return alive && !from.empty();
}

/// Ignores SIGPIPE, so that a child that ends without reading its input does not end this process.
struct IgnoreBrokenPipe {
  struct sigaction before{};
  IgnoreBrokenPipe() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
  }
  ~IgnoreBrokenPipe() { sigaction(SIGPIPE, &before, nullptr); }
};

} // namespace

Result<CapturedRun> run_captured(const std::vector<std::string> &command, const std::string &input,
                                 std::chrono::milliseconds timeout, const ProcessOptions &options) {
  const IgnoreBrokenPipe guard;
  ProcessOptions piped = options;
  piped.pipe_stderr = true;
  auto process = TRY(Process::spawn(command, piped));
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  CapturedRun run;
  std::string_view rest = input;
  pollfd ends[3] = {{process.release_stdin(), POLLOUT, 0},
                    {process.release_stdout(), POLLIN, 0},
                    {process.release_stderr(), POLLIN, 0}};
  for (pollfd &end : ends)
    fcntl(end.fd, F_SETFL, fcntl(end.fd, F_GETFL) | O_NONBLOCK);
  const auto close_end = [&](int index) { ::close(std::exchange(ends[index].fd, -1)); };
  if (rest.empty())
    close_end(0);
  bool timed_out = false;
  while (!timed_out && (ends[1].fd >= 0 || ends[2].fd >= 0)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    timed_out = left.count() <= 0 || ::poll(ends, 3, static_cast<int>(left.count())) == 0;
    if (timed_out)
      break;
    if (ends[0].fd >= 0 && ends[0].revents && !feed(ends[0].fd, rest))
      close_end(0);
    if (ends[1].fd >= 0 && ends[1].revents && !drain(ends[1].fd, run.output))
      close_end(1);
    if (ends[2].fd >= 0 && ends[2].revents && !drain(ends[2].fd, run.errors))
      close_end(2);
  }
  for (int index = 0; index < 3; ++index)
    if (ends[index].fd >= 0)
      close_end(index);
  // A child may close its streams and run on, so the deadline also applies to its end.
  while (!timed_out && !process.poll()) {
    timed_out = std::chrono::steady_clock::now() >= deadline;
    ::poll(nullptr, 0, 1);
  }
  if (timed_out) {
    process.kill(SIGKILL);
    process.wait();
    return fail(command[0] + " did not end within " + std::to_string(timeout.count()) + " ms");
  }
  run.status = process.wait();
  return run;
}

} // namespace warpwright
