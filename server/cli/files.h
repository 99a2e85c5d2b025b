// Reader of input files: text, settings of the file's project, facts, and the answers of a spec.
// Thread: one at a time.
#pragma once

#include "analysis/analyze.h"
#include "analysis/config/file_settings.h"
#include "analysis/task/spec.h"
#include "server/optimize/project.h"

#include <filesystem>
#include <string>

namespace warpwright::cli {

struct Input {
  analysis::SourceFile file; ///< absolute path
  analysis::FileFacts facts; ///< diagnostics of rules that the project disabled are left out
  config::FileSettings settings;
};

/// The root of a project and the root of a copy of it in another state.
struct MovedRoot {
  std::string from, to;
};

class InputReader {
public:
  /// @param files has the files to read, and those that they depend on
  explicit InputReader(server::FileSystem files = llvm::vfs::getRealFileSystem())
      : files_(std::move(files)), settings_(files_) {}

  /// Reads and analyzes a file with the flags of its project (compile_commands.json,
  /// .warpwright.toml). If the analysis fails, the facts come from the token scan (see
  /// analysis::why_not_analysed). Errors: a file that cannot be read.
  Result<Input> read(const std::filesystem::path &path);
  /// The same for a text that is not in the file, or not yet.
  Input read(const std::filesystem::path &path, std::string text);
  /// Reads a file of a copy of the project with the flags and the recorded runs of `original` in the
  /// project. Paths below the project's root in flags are those of the copy, where it has them. The
  /// sizes are those of the copy's .warpwright.toml. Errors: a file that cannot be read.
  Result<Input> read_copy(const std::filesystem::path &copy, const std::filesystem::path &original,
                          const MovedRoot &moved);
  /// Settings of a file's project. The file need not exist.
  config::FileSettings settings_of(const std::filesystem::path &path);
  /// Applies the file of --spec to every kernel read later. Errors: a file that cannot be read or
  /// parsed, with the position.
  Result<void> use_spec(const std::filesystem::path &path);

private:
  Input analyzed(analysis::SourceFile file, config::FileSettings settings, const std::string &captured_path);

  server::FileSystem files_;
  std::optional<analysis::Spec> spec_;
  server::ProjectSettings settings_;
};

/// Error for a file without kernels: a syntax error, or no kernel in the file.
Error explain_no_kernels(const Input &input, const std::filesystem::path &path);

} // namespace warpwright::cli
