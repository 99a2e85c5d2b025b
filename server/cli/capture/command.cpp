// `warpwright capture`: runs a program so that NVIDIA's driver loads the capture library into it,
// and shows what was recorded. Also lists and deletes captures.
//
// The program's stdout is left to the program; the table goes to stderr.
#include "server/cli/capture/program.h"
#include "server/cli/capture/report.h"
#include "server/cli/commands.h"
#include "server/cli/terminal.h"

#include "support/shared_library.h"
#include "support/words.h"

#include <cstdlib>
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

/// The library beside this program. Errors: it is missing.
Result<fs::path> find_library() {
  std::error_code error;
  const fs::path library =
      fs::read_symlink("/proc/self/exe", error).parent_path() / "libwarpwright-capture.so";
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

void show(const fs::path &folder) {
  std::vector<capture::ProcessFolder> processes;
  for (const fs::path &path : capture::process_folders(folder))
    if (auto process = capture::read_process(path))
      processes.push_back(*std::move(process));
    else
      fail_with(process.error());
  const bool has_driver = SharedLibrary({"libcuda.so.1"}).is_open();
  std::cerr << '\n'
            << render_capture(processes, has_driver, {.width = terminal_of(STDERR_FILENO).width})
            << "Capture: " << folder.string() << '\n';
}

Result<int> capture_program(const CaptureOptions &options, const fs::path &folder,
                            const fs::path &library) {
  std::error_code unknown;
  capture::RunFacts run{.command = options.program,
                        .folder = fs::current_path(unknown).string(),
                        .started = utc_now(),
                        .status = std::nullopt};
  TRY(capture::write_private(folder / ".gitignore", "*\n")); // captures are private
  TRY(capture::write_private(folder / capture::kRunFile, capture::to_text(run)));
  std::vector<std::string> environment{
      std::string(capture::kInjectionVariable) + "=" + library.string(),
      std::string(capture::kFolderVariable) + "=" + folder.string()};
  if (options.duration)
    environment.push_back(std::string(capture::kMillisecondsVariable) + "=" +
                          std::to_string(options.duration->count()));
  run.status = TRY(run_program(options.program, environment));
  TRY(capture::write_private(folder / capture::kRunFile, capture::to_text(run)));
  return *run.status;
}

} // namespace

int run_capture(const CaptureOptions &options) {
  if (options.list)
    return list();
  if (!options.remove.empty())
    return remove(options.remove);
  if (options.program.empty())
    return fail_with({"no program is named", "Write it after --: warpwright capture -- ./program"},
                     kUsage);
  if (const auto free = check_environment(); !free)
    return fail_with(free.error());
  const auto library = find_library();
  if (!library)
    return fail_with(library.error());
  const auto folder = make_capture(options.out, options.program[0]);
  if (!folder)
    return fail_with(folder.error(), kUsage);
  const auto status = capture_program(options, *folder, *library);
  if (!status) {
    std::error_code error;
    fs::remove_all(*folder, error);
    return fail_with(status.error(), kCannotStart);
  }
  show(*folder);
  return *status;
}

} // namespace warpwright::cli
