// Project settings shared by several threads: from the nearest configuration files, they decide how files are parsed.
#pragma once

#include "analysis/analyze.h"
#include "analysis/config/file_settings.h"
#include "analysis/task/spec.h"
#include "server/optimize/captured_runs.h"
#include "support/exclusive.h"

namespace warpwright::server {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

class ProjectSettings {
public:
  /// @param files has the configuration files and the project's sources
  explicit ProjectSettings(FileSystem files = llvm::vfs::getRealFileSystem())
      : reader_(std::move(files)) {}

  config::FileSettings read(const std::string &path) {
    return reader_.with([&](config::SettingsReader &reader) { return reader.read(path); });
  }
  /// Recorded runs of the file's program, the newest first.
  RunsOfFile captured(const std::string &path) { return captures_.of(path); }

private:
  Exclusive<config::SettingsReader> reader_;
  CapturedRuns captures_;
};

/// URL of the runner for a project's code: the user's choice, else the approved project's, else one on this machine.
/// Errors: the approved project names a runner that cannot be used.
Result<std::string> runner_of(const config::ProjectConfig &project, const std::string &chosen);

/// Infers the tasks of `facts` again where .warpwright.toml, a recorded run or `given` adds what the source of `text`
/// lacks. `given` has priority. Also sets each kernel's time in the newest of the `runs` that launched it.
/// @param files has the project's other files
void complete_tasks(analysis::FileFacts &facts, const std::string &text,
                    const config::FileSettings &settings, const RunsOfFile &runs,
                    const std::optional<analysis::Spec> &given = std::nullopt,
                    const FileSystem &files = llvm::vfs::getRealFileSystem());

} // namespace warpwright::server
