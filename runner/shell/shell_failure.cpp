// Causes of a shell's end, most telling first.
#include "runner/shell/shell_failure.h"

#include <sstream>
#include <sys/utsname.h>

namespace warpwright::runner {
namespace {

constexpr int kReceivingFailed = 90, kNoSuchRunner = 91, kCannotExecute = 126, kSshFailed = 255;

net::LinkFailure final_failure(std::string message, std::string remedy) {
  return {{std::move(message), std::move(remedy)}, true};
}

/// The last line that is not empty, without the full stop and the carriage return at its end.
std::string last_line(const std::string &text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '.'))
      line.pop_back();
    if (!line.empty())
      last = line;
  }
  return last;
}

std::string version_after(const std::string &text, const std::string &mark) {
  const auto at = text.find(mark);
  if (at == std::string::npos)
    return "";
  const auto start = at + mark.size();
  return text.substr(start, text.find_first_not_of("0123456789.", start) - start);
}

/// The loader names each missing version: "version `GLIBC_2.36' not found (required by ...)".
std::string newest_missing_glibc(const std::string &errors) {
  std::string newest;
  double newest_number = 0;
  const std::string mark = "GLIBC_";
  for (auto at = errors.find(mark); at != std::string::npos; at = errors.find(mark, at + 1)) {
    const std::string version = version_after(errors.substr(at), mark);
    const auto dot = version.find('.');
    const double minor = dot == std::string::npos ? 0 : std::atof(version.c_str() + dot + 1);
    if (errors.find("not found", at) != std::string::npos && minor > newest_number)
      newest = version, newest_number = minor;
  }
  return newest;
}

std::optional<net::LinkFailure> explain_ssh(const ShellTarget &target, const std::string &errors) {
  const std::string try_alone = "Try it in a terminal: " + target.attempt;
  const auto has = [&](const char *part) { return errors.contains(part); };
  if (has("REMOTE HOST IDENTIFICATION HAS CHANGED"))
    return final_failure("the host key of " + target.label + " differs from the known one",
                         "Find out why; if the change is right, remove the old key with ssh-keygen -R");
  if (has("Host key verification failed"))
    return final_failure("the host key of " + target.label + " is not known here",
                         "Connect once in a terminal and compare the key: " + target.attempt);
  if (has("Permission denied ("))
    return final_failure(target.label + " does not accept this login: " + last_line(errors),
                         "Unlock your key with ssh-add, or connect once in a terminal: " + target.attempt);
  if (has("Could not resolve hostname"))
    return net::LinkFailure{{"there is no host " + target.label + ": " + last_line(errors), try_alone}, false};
  for (const char *part : {"Connection refused", "timed out", "No route to host", "unreachable",
                           "Connection closed", "Connection reset", "Broken pipe"})
    if (has(part))
      return net::LinkFailure{{target.label + " cannot be reached: " + last_line(errors), try_alone}, false};
  return std::nullopt;
}

net::LinkFailure explain_receiving(const ShellTarget &target, const ShellEnd &end) {
  const std::string where = end.failed_folder + " on " + target.label;
  const std::string other = "Set XDG_CACHE_HOME there to another folder, or name an installed runner with ?runner=PATH";
  const auto has = [&](const char *part) { return end.errors.contains(part); };
  if (has("No space left") || has("quota exceeded"))
    return final_failure("there is no space for the runner in " + where, "Free some. " + other);
  if (has("Permission denied") || has("Read-only file system") || has("cannot create directory"))
    return final_failure("the runner cannot be put into " + where + ": " + last_line(end.errors), other);
  const std::string line = last_line(end.errors);
  return final_failure("the runner was not received whole in " + where + (line.empty() ? "" : ": " + line),
                       "Try again; head, sha256sum, gzip and tar are needed there");
}

net::LinkFailure explain_exit(const ShellTarget &target, const ShellEnd &end) {
  const std::string line = last_line(end.errors);
  const std::string how = end.status.signal ? "signal " + std::to_string(end.status.signal)
                                            : "exit code " + std::to_string(end.status.code);
  return {{target.program() + " ended with " + how + " before the runner at " + target.label +
               " answered" + (line.empty() ? "" : ": " + line),
           "Try the way alone in a terminal: " + target.attempt},
          false};
}

} // namespace

std::optional<ShellHello> parse_hello(const std::string &words) {
  std::istringstream text(words);
  ShellHello hello;
  std::string libc;
  text >> hello.state >> hello.system >> hello.machine >> libc >> hello.glibc;
  const bool known = hello.state == "have" || hello.state == "need" || hello.state == "absent";
  if (!known || hello.machine.empty())
    return std::nullopt;
  if (libc != "glibc")
    hello.glibc.clear();
  return hello;
}

std::string why_unfit(const ShellTarget &target, const ShellHello &hello) {
  utsname here{};
  ::uname(&here);
  if (!target.runner.empty() || (hello.system == here.sysname && hello.machine == here.machine))
    return "";
  return target.label + " is a machine of " + hello.system + " " + hello.machine +
         ", and the runner here is for " + here.sysname + " " + here.machine;
}

net::LinkFailure explain(const ShellTarget &target, const ShellEnd &end) {
  if (end.status.code == kSshFailed && target.program() == "ssh")
    if (auto failure = explain_ssh(target, end.errors))
      return *failure;
  if (!end.failed_folder.empty() || end.status.code == kReceivingFailed)
    return explain_receiving(target, end);
  if (end.status.code == kNoSuchRunner)
    return final_failure(target.label + " has no program " + target.runner,
                         "Correct ?runner=, or leave it out to have the runner copied");
  if (const std::string missing = newest_missing_glibc(end.errors); !missing.empty())
    return final_failure("the runner needs glibc " + missing + ", and " + target.label + " has " +
                             (end.hello && !end.hello->glibc.empty() ? end.hello->glibc : "an older one"),
                         "Build the runner on a system as old as that one, and name it with ?runner=PATH");
  if (end.hello && (end.status.code == kCannotExecute || end.errors.contains("Permission denied")))
    return final_failure(target.label + " does not let the runner start: " + last_line(end.errors),
                         "Its cache folder may not permit programs (noexec): set XDG_CACHE_HOME "
                         "there to another folder");
  if (end.hello && end.hello->glibc.empty() && end.status.code == 127)
    return final_failure(target.label + " has no glibc, which the runner needs",
                         "Use an image or a machine with glibc");
  return explain_exit(target, end);
}

} // namespace warpwright::runner
