// Search for the runner's files, and their hash.
#include "runner/shell/runner_files.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/version.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char *kCache = "__pycache__";
constexpr const char *kCpuWorker = "warpwright-worker-cpu";

/// Regular files below a file or folder, without Python's caches, sorted.
std::vector<fs::path> files_below(const fs::path &place) {
  if (!fs::is_directory(place))
    return {place};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(place), end; entry != end; ++entry)
    if (entry->path().filename() == kCache)
      entry.disable_recursion_pending();
    else if (entry->is_regular_file())
      files.push_back(entry->path());
  std::ranges::sort(files);
  return files;
}

Result<std::string> key_of(const RunnerFiles &files) {
  std::string hashes;
  for (const std::string &name : files.names)
    for (const fs::path &file : files_below(files.folder / name)) {
      const std::string text = TRY(read_file(file));
      hashes += "\n" + file.lexically_relative(files.folder).string() + " " + sha256_hex(text);
    }
  return version() + "-" + sha256_hex(hashes).substr(0, 16);
}

} // namespace

Result<std::string> find_runner() {
  if (const char *chosen = std::getenv("WARPWRIGHT_RUNNER"); chosen && *chosen) {
    if (access(chosen, X_OK) != 0)
      return fail("WARPWRIGHT_RUNNER is " + std::string(chosen) +
                  ", which is not an executable file");
    return chosen;
  }
  std::error_code error;
  const fs::path beside =
      fs::read_symlink("/proc/self/exe", error).parent_path() / "warpwright-runner";
  if (access(beside.c_str(), X_OK) != 0)
    return fail("no runner: " + beside.string() + " is not there",
                "Put warpwright-runner next to this program, or set WARPWRIGHT_RUNNER to its path");
  return beside.string();
}

Result<RunnerFiles> find_runner_files(bool with_cpu_worker) {
  const fs::path runner = TRY(find_runner());
  std::error_code error;
  const fs::path program = fs::canonical(runner, error);
  if (error || program.filename() != "warpwright-runner")
    return fail("the runner " + runner.string() + " cannot be copied: its file name is not warpwright-runner",
                "Set WARPWRIGHT_RUNNER to the program's own path");
  RunnerFiles files{program.parent_path(), {program.filename().string()}, {}};
  if (fs::exists(files.folder / "torch" / "host.py"))
    files.names.push_back("torch");
  if (with_cpu_worker && access((files.folder / kCpuWorker).c_str(), X_OK) != 0)
    return fail("cpu=yes: " + (files.folder / kCpuWorker).string() + " is not there",
                "Leave cpu=yes out, or install a package with the CPU backend");
  if (with_cpu_worker)
    files.names.push_back(kCpuWorker);
  files.key = TRY(key_of(files));
  return files;
}

std::vector<std::string> archive_command(const RunnerFiles &files) {
  std::vector<std::string> command{"tar",       "--create",      "--gzip",    "--file=-",
                                   "--owner=0", "--group=0",     "--dereference",
                                   "--exclude=" + std::string(kCache), "--directory=" + files.folder.string(),
                                   "--"};
  command.insert(command.end(), files.names.begin(), files.names.end());
  return command;
}

} // namespace warpwright::runner
