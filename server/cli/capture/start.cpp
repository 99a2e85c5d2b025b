#include "server/cli/capture/start.h"

#include "server/cli/capture/store.h"
#include "support/words.h"

#include <cstdlib>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

/// The library beside this program. Errors: it is missing.
Result<fs::path> find_library() {
  std::error_code error;
  const fs::path library = fs::read_symlink("/proc/self/exe", error).parent_path() / "libwarpwright-capture.so";
  if (fs::exists(library, error))
    return library;
  return fail(library.string() + " is missing",
              "Install Warpwright from its packages, or build the target warpwright-capture");
}

/// Errors: another tool is loaded in the same way.
Result<void> check_environment() {
  const char *other = std::getenv(capture::kInjectionVariable);
  if (other && *other)
    return fail(std::string(capture::kInjectionVariable) + " is " + other +
                    " already: another profiler is loaded in this way, and CUDA loads one only",
                "Unset it, or run without the other profiler");
  return {};
}

} // namespace

Result<void> can_capture() {
  TRY(check_environment());
  TRY(find_library());
  return {};
}

Result<std::vector<std::string>> capture_environment(const fs::path &folder) {
  TRY(check_environment());
  const fs::path library = TRY(find_library());
  return std::vector{std::string(capture::kInjectionVariable) + "=" + library.string(),
                     std::string(capture::kFolderVariable) + "=" + folder.string()};
}

Result<StartedCapture> start_capture(const std::string &wanted, capture::RunFacts run,
                                     std::optional<std::chrono::milliseconds> duration) {
  TRY(can_capture());
  StartedCapture started{
      .folder = TRY(make_capture(wanted, run.command.front())), .environment = {}, .run = std::move(run)};
  started.run.started = utc_now();
  TRY(capture::write_private(started.folder / ".gitignore", "*\n")); // captures are private
  TRY(capture::write_private(started.folder / capture::kRunFile, capture::to_text(started.run)));
  started.environment = TRY(capture_environment(started.folder));
  if (duration)
    started.environment.push_back(std::string(capture::kMillisecondsVariable) + "=" +
                                  std::to_string(duration->count()));
  return started;
}

Result<void> end_capture(StartedCapture &capture, int status) {
  capture.run.status = status;
  return capture::write_private(capture.folder / capture::kRunFile, capture::to_text(capture.run));
}

std::vector<capture::ProcessFolder> read_processes(const fs::path &folder, std::vector<Error> &problems) {
  std::vector<capture::ProcessFolder> processes;
  for (const fs::path &path : capture::process_folders(folder))
    if (auto process = capture::read_process(path))
      processes.push_back(*std::move(process));
    else
      problems.push_back(process.error());
  return processes;
}

} // namespace warpwright::cli
