// One input file with all that is known of it: text, the flags of its project, facts; and what a
// spec adds. Touches the file system. Thread: one at a time.
#pragma once

#include "analysis/analyze.h"
#include "analysis/config/file_settings.h"
#include "analysis/task/spec.h"

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
  /// Reads and analyses a file with the flags of its project (compile_commands.json,
  /// .warpwright.toml). A file that analysis does not hold has the facts of the token scan
  /// (analysis::why_not_analysed). Errors: a file that cannot be read.
  Result<Input> read(const std::filesystem::path &path);
  /// What the project of a file says; the file need not exist.
  config::FileSettings settings_of(const std::filesystem::path &path);
  /// Takes what the file of --spec says as given for every kernel that is read from now on.
  /// Errors: a file that cannot be read or understood, with the place.
  Result<void> use_spec(const std::filesystem::path &path);

private:
  std::optional<analysis::Spec> spec_;
  config::SettingsReader settings_;
};

/// Why a file has no kernel: it does not parse, or there is none.
Error explain_no_kernels(const Input &input, const std::filesystem::path &path);

} // namespace warpwright::cli
