// .warpwright.toml: what a project says about itself, once, for the editor and the command line.
//
//   flags = ["-DN=3"]            # for every file, after those of compile_commands.json
//   remove_flags = ["-fpermissive"]
//   compile_commands = "out"     # the folder of compile_commands.json, or the file
//   cuda_path = "/opt/cuda"
//   runner = "unix:/run/warpwright.sock"
//   python = ".venv/bin/python"  # that has torch; of a runner that is started here
//   budget = "30s"               # for one kernel; ms, s or m
//   policy = "builtin"           # who proposes: search, builtin, builtin:WEIGHTS
//   disable_rules = ["bank-conflict"]
//   [sizes]                      # of tasks whose sizes nobody wrote
//   n = 1048576
//
// Relative paths, also those in flags, start at the folder of the file. The runner, the programs and
// the paths outside of that folder count only after the user approved the file (analysis/consent); sizes,
// budget, rules and definitions count at once. An unknown key is an error: it would be a silent
// default. Thread: values, any.
#pragma once

#include "analysis/consent/approvals.h"
#include "analysis/consent/known_runners.h"
#include "analysis/consent/project_request.h"
#include "support/error.h"

#include <cstdint>
#include <llvm/Support/VirtualFileSystem.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::config {

struct ProjectConfig {
  consent::ProjectFile file;             ///< that it was read from, with what it asks for
  std::vector<std::string> flags;        ///< for Clang, paths absolute
  std::vector<std::string> flags_inside; ///< those of `flags` that name no path outside the project
  std::vector<std::string> remove_flags;
  std::string compile_commands;      ///< absolute
  std::string cuda_path;             ///< absolute
  std::string runner_url;            ///< once loaded, the user's own URL of it, with credentials
  std::optional<Error> runner_error; ///< why the runner that the approved file names cannot be used
  std::string python;                ///< absolute
  std::optional<int> budget_ms;
  std::string policy;
  std::vector<std::string> disabled_rules;
  std::map<std::string, std::int64_t> sizes;
  std::vector<Error> problems; ///< what was left out of it, and why
};

/// All that the text says, approved or not. Errors name file, line and key.
Result<ProjectConfig> parse_project_config(std::string_view text, const std::string &path);

/// What the user allows projects.
struct Consent {
  /// Errors: the store cannot be used.
  std::function<Result<bool>(const std::string &file, const std::string &content_hash)> approves;
  /// As own_runner_url().
  std::function<Result<std::string>(const std::string &named)> own_runner;
};

/// That of the user of this process.
Consent user_consent();

/// The nearest .warpwright.toml from the folder of `file` upward; an empty configuration when there
/// is none. What the user did not approve is left empty. Errors: as above; a file that is no
/// regular one, or too large.
Result<ProjectConfig> load_project_config(llvm::vfs::FileSystem &files, const std::string &file,
                                          const Consent &allowed);

/// "250ms", "30s", "2m" in milliseconds; nullopt for anything else, 0 included.
std::optional<int> parse_duration_ms(std::string_view text);

} // namespace warpwright::config
