// Reader of input files: text, settings of the file's project, facts, and the answers of a spec. It
// reads the file system. Thread: one at a time.
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

class InputReader {
public:
  /// Reads and analyzes a file with the flags of its project (compile_commands.json,
  /// .warpwright.toml). If the analysis fails, the facts come from the token scan (see
  /// analysis::why_not_analysed). Errors: a file that cannot be read.
  Result<Input> read(const std::filesystem::path &path);
  /// Settings of a file's project. The file need not exist.
  config::FileSettings settings_of(const std::filesystem::path &path);
  /// Applies the file of --spec to every kernel read later. Errors: a file that cannot be read or
  /// parsed, with the position.
  Result<void> use_spec(const std::filesystem::path &path);

private:
  std::optional<analysis::Spec> spec_;
  server::ProjectSettings settings_;
};

/// Error for a file without kernels: a syntax error, or no kernel in the file.
Error explain_no_kernels(const Input &input, const std::filesystem::path &path);

} // namespace warpwright::cli
