// `warpwright capture`: runs a program so that NVIDIA's driver loads the capture library into it,
// and shows what was recorded. Also lists and deletes captures.
//
// The program's stdout is left to the program; the table goes to stderr.
#include "server/cli/capture/contents_run.h"
#include "server/cli/capture/program.h"
#include "server/cli/capture/report.h"
#include "server/cli/capture/start.h"
#include "server/cli/commands.h"
#include "server/cli/terminal.h"

#include "support/shared_library.h"

#include <iostream>
#include <unistd.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotStart = 127; ///< as shells give it

int fail_with(const Error &error, int code = kFailed) {
  std::cerr << "warpwright: " << describe(error) << '\n';
  return code;
}

int list() {
  const auto folder = capture::captures_folder();
  if (!folder)
    return fail_with(folder.error());
  std::cout << render_list(list_captures(*folder));
  return kOk;
}

int remove(const std::string &name) {
  const auto folder = capture::captures_folder();
  if (!folder)
    return fail_with(folder.error());
  if (const auto deleted = delete_capture(*folder, name); !deleted)
    return fail_with(deleted.error());
  std::cout << "Deleted: " << name << '\n';
  return kOk;
}

/// Runs the program once more for the contents of buffers. The first run is kept whatever happens.
void look_at_contents(const CaptureOptions &options, const fs::path &folder,
                      const std::vector<capture::ProcessFolder> &processes) {
  const auto wanted = launches_to_look_at(processes);
  if (wanted.empty()) {
    std::cerr << "warpwright: the run has no launch with buffers to look at\n";
    return;
  }
  std::cerr << "Running the program again, without its output, to see the contents of its buffers\n";
  const auto environment = start_contents_run(folder, wanted);
  if (!environment) {
    fail_with(environment.error());
    return;
  }
  const auto status = run_program(options.program, *environment, true);
  if (!status) {
    fail_with(status.error());
    return;
  }
  const auto seen = capture::read_contents(folder);
  if (!seen)
    fail_with(seen.error());
  else
    std::cerr << "Buffers seen: " << seen->size() << " of " << wanted.size() << " launches\n";
}

void show(const fs::path &folder, const std::vector<capture::ProcessFolder> &processes) {
  const bool has_driver = SharedLibrary({"libcuda.so.1"}).is_open();
  std::cerr << '\n'
            << render_capture(processes, has_driver, {.width = terminal_of(STDERR_FILENO).width})
            << "Capture: " << folder.string() << '\n';
}

} // namespace

int run_capture(const CaptureOptions &options) {
  if (options.list)
    return list();
  if (!options.remove.empty())
    return remove(options.remove);
  if (options.program.empty())
    return fail_with({"no program is named", "Write it after --: warpwright capture -- ./program"}, kUsage);
  if (const auto able = can_capture(); !able)
    return fail_with(able.error());
  std::error_code error;
  auto started = start_capture(
      options.out,
      {.command = options.program, .folder = fs::current_path(error).string(), .started = {}, .status = std::nullopt},
      options.duration);
  if (!started)
    return fail_with(started.error(), kUsage);
  const auto status = run_program(options.program, started->environment);
  if (!status) {
    fs::remove_all(started->folder, error);
    return fail_with(status.error(), kCannotStart);
  }
  if (const auto ended = end_capture(*started, *status); !ended)
    fail_with(ended.error());
  std::vector<Error> problems;
  const auto processes = read_processes(started->folder, problems);
  for (const Error &problem : problems)
    fail_with(problem);
  show(started->folder, processes);
  if (options.contents)
    look_at_contents(options, started->folder, processes);
  return *status;
}

} // namespace warpwright::cli
