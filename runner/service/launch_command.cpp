// `launch` and `examine`, internal subcommands: the plain launch of a plan under a tool, and the
// process that runs the tools. The launch prefixes its stdout lines with "launch: ", because the
// tool writes to stdout too.
#include "runner/deep/examine_process.h"
#include "runner/deep/leash.h"
#include "runner/deep/plain_launch.h"
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "runner/service/json_file.h"

#include <charconv>
#include <iostream>
#include <sstream>

namespace warpwright::runner {
namespace {

constexpr int kExitLaunchFailed = 3, kExitLeashReleased = 4;

/// Parses "n=7,m=3" over the task's own sizes.
Result<symbolic::Sizes> read_sizes(const std::string &text, const symbolic::Sizes &known) {
  symbolic::Sizes sizes = known;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t at = part.find('=');
    const std::string name = part.substr(0, at);
    std::int64_t value = 0;
    const char *end = part.data() + part.size();
    if (at == std::string::npos || !known.contains(name) ||
        std::from_chars(part.data() + at + 1, end, value).ptr != end)
      return fail("--size " + text + " is not understood at " + part,
                  "Give NAME=INTEGER, with commas between, of sizes that the task has");
    sizes[name] = value;
  }
  return sizes;
}

Result<void> launch(const LaunchCommand &command) {
  auto task = TRY(load_json_file(command.task_path, model::task_from_json));
  auto plan = TRY(load_json_file(command.plan_path, model::plan_from_json));
  TRY(model::check_plan(plan, task));
  deep::PlainLaunch wanted;
  wanted.ordinal = -1;
  if (command.device.starts_with("cuda:"))
    std::from_chars(command.device.data() + 5, command.device.data() + command.device.size(),
                    wanted.ordinal);
  if (wanted.ordinal < 0)
    return fail("no device " + command.device, "A launch's device is cuda:N");
  for (const std::string &text : command.sizes)
    wanted.sizes.push_back(TRY(read_sizes(text, task.sizes)));
  if (wanted.sizes.empty())
    wanted.sizes.push_back(task.sizes);
  wanted.seed = command.seed;
  wanted.repeat = command.repeat;
  wanted.code_folder = command.code_folder;
  wanted.task = std::move(task);
  wanted.plan = std::move(plan);
  return deep::launch_plainly(
      wanted, [](const std::string &line) { std::cout << "launch: " << line << std::endl; });
}

} // namespace

int run_launch(const LaunchCommand &command) {
  if (!command.leash.empty())
    deep::follow_leash(command.leash, kExitLeashReleased);
  if (const auto done = launch(command); !done) {
    std::cout << "launch: failed: " << describe(done.error()) << std::endl;
    return kExitLaunchFailed;
  }
  return 0;
}

int run_examine() { return deep::run_examine_process(executable_path()); }

} // namespace warpwright::runner
