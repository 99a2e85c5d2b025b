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
// An unknown key is an error: it would be a silent default. Thread: values, any.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <llvm/Support/VirtualFileSystem.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::config {

struct ProjectConfig {
  std::string path; ///< of the file it was read from; empty: there is none
  std::vector<std::string> flags, remove_flags;
  std::string compile_commands; ///< absolute
  std::string cuda_path;        ///< absolute
  std::string runner_url;
  std::string python; ///< absolute
  std::optional<int> budget_ms;
  std::string policy;
  std::vector<std::string> disabled_rules;
  std::map<std::string, std::int64_t> sizes;
};

/// Errors name file, line and key.
Result<ProjectConfig> parse_project_config(std::string_view text, const std::string &path);

/// The nearest .warpwright.toml from the folder of `file` upward; an empty configuration when there
/// is none.
Result<ProjectConfig> load_project_config(llvm::vfs::FileSystem &files, const std::string &file);

/// "250ms", "30s", "2m" in milliseconds; nullopt for anything else, 0 included.
std::optional<int> parse_duration_ms(std::string_view text);

} // namespace warpwright::config
