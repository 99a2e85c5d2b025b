// Runs the captured program of tests with the capture library, against the fake driver.
#pragma once

#include "runner/capture/files/capture_files.h"
#include "support/process.h"

#include <doctest/doctest.h>
#include <stdlib.h>

namespace warpwright::capture {

struct CaptureFolder {
  std::filesystem::path path;
  CaptureFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "warpwright-capture-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~CaptureFolder() { std::filesystem::remove_all(path); }

  std::vector<std::string> environment() const {
    return {std::string(kInjectionVariable) + "=" +
                WARPWRIGHT_BINARY_DIR "/libwarpwright-capture.so",
            std::string(kFolderVariable) + "=" + path.string(),
            "CUDA_HOME=" WARPWRIGHT_CAPTURE_TEST_DIR "/toolkit"};
  }

  /// Runs to the end. @param more further variables
  CapturedRun run(const std::vector<std::string> &arguments,
                  const std::vector<std::string> &more = {}) const {
    std::vector<std::string> command{program()}, variables = environment();
    command.insert(command.end(), arguments.begin(), arguments.end());
    variables.insert(variables.end(), more.begin(), more.end());
    auto ended = run_captured(command, "", std::chrono::seconds(60),
                              {.environment = variables, .pipe_stderr = true});
    REQUIRE(ended);
    return *ended;
  }

  /// Starts the program, which goes on when the file "go" is in the folder.
  Result<Process> start_waiting() const {
    return Process::spawn({program(), "waiting", (path / "go").string()},
                          {.environment = environment()});
  }

  /// The folder of the only process.
  ProcessFolder only() const {
    const auto folders = process_folders(path);
    REQUIRE(folders.size() == 1);
    return read(folders[0]);
  }
  static ProcessFolder read(const std::filesystem::path &folder) {
    auto process = read_process(folder);
    REQUIRE_MESSAGE(process, (process ? "" : describe(process.error())));
    return *std::move(process);
  }

  static std::string program() { return WARPWRIGHT_CAPTURE_TEST_DIR "/capture_program"; }
};

} // namespace warpwright::capture
