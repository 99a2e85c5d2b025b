#include "server/program/shell_command.h"

#include "support/files.h"
#include "support/process.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpwright::program {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The parent of a process by /proc; 0: it has ended.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')'); // a name may have spaces and parentheses
  if (name_end == std::string::npos || name_end + 4 > text.size())
    return 0;
  return static_cast<pid_t>(std::atol(text.c_str() + name_end + 4));
}

/// Ends a process and all that it has started and not given away.
void kill_tree(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator("/proc", error))
    if (const std::string name = entry.path().filename(); name.find_first_not_of("0123456789") == std::string::npos)
      children.emplace(parent_of(std::stoi(name)), std::stoi(name));
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i) // it grows
    for (auto [at, end] = children.equal_range(tree[i]); at != end; ++at)
      tree.push_back(at->second);
  for (const pid_t process : tree)
    ::kill(process, SIGKILL);
}

/// Waits for the end of a process. @return false: the limit is over
bool wait_until(Process &process, Clock::time_point deadline) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process.pid(), 0));
  while (!process.poll()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      break;
    constexpr int kLongest = 1000, kWithoutHandle = 1; // ms
    pollfd end{handle, POLLIN, 0};
    ::poll(&end, handle >= 0 ? 1 : 0, handle >= 0 ? static_cast<int>(std::min<long>(left, kLongest)) : kWithoutHandle);
  }
  if (handle >= 0)
    ::close(handle);
  return process.poll().has_value();
}

std::string quoted(const std::string &text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

} // namespace

Result<ShellRun> run_shell(const std::string &command, const ShellOptions &options) {
  const std::string script =
      "exec </dev/null >" + quoted(options.output.string()) + " 2>" + quoted(options.errors.string()) + "\n" + command;
  const auto start = Clock::now();
  auto process = TRY(Process::spawn(
      {"/bin/sh", "-c", script}, {.environment = options.environment, .working_directory = options.folder.string()}));
  ShellRun run;
  if (!wait_until(process, start + options.limit)) {
    run.timed_out = true;
    kill_tree(process.pid());
  }
  const ExitStatus status = process.wait();
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  run.status = status.signal ? 128 + status.signal : status.code;
  return run;
}

std::string tail_of(const fs::path &file, std::size_t most_bytes) {
  const auto text = read_file(file);
  if (!text)
    return {};
  if (text->size() <= most_bytes)
    return *text;
  const std::size_t from = text->find('\n', text->size() - most_bytes);
  return text->substr(from == std::string::npos ? text->size() - most_bytes : from + 1);
}

} // namespace warpwright::program
