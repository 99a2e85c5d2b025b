#include "support/git.h"

#include "support/process.h"

namespace warpwright {
namespace {

constexpr std::chrono::minutes kPatience{10};

} // namespace

Result<std::string> Git::run(const std::vector<std::string> &arguments, const std::string &input,
                             const std::vector<std::string> &environment) const {
  std::vector<std::string> command{"git", "-C", folder_};
  for (const char *setting :
       {"core.fsmonitor=false", "core.quotePath=false", "core.hooksPath=/dev/null", "protocol.allow=never"})
    command.insert(command.end(), {"-c", setting});
  command.insert(command.end(), arguments.begin(), arguments.end());
  // No replaced objects, which could be another version; no fetches of missing ones.
  std::vector<std::string> variables{"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0",
                                     "GIT_TERMINAL_PROMPT=0",    "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C"};
  variables.insert(variables.end(), environment.begin(), environment.end());
  // Without GIT_DIR and the like, which would choose another repository.
  const std::vector<std::string> inherited{"PATH", "HOME", "XDG_CONFIG_HOME"};
  const auto ended =
      run_captured(command, input, kPatience, {.environment = variables, .inherited = inherited});
  if (!ended)
    return fail("cannot run git: " + ended.error().message, "Install git");
  if (ended->status.code != 0 || ended->status.signal != 0)
    return fail("git " + arguments.front() + ": " + ended->errors.substr(0, ended->errors.find('\n')));
  return ended->output;
}

std::vector<std::string> split_at_nul(const std::string &list) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find('\0', start), list.size());
    parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

} // namespace warpwright
