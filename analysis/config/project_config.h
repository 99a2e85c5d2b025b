// Project configuration (.warpwright.toml), shared by the editor and the command line.
//
//   flags = ["-DN=3"]            # for every file, after those of compile_commands.json
//   remove_flags = ["-fpermissive"]
//   compile_commands = "out"     # the folder of compile_commands.json, or the file
//   cuda_path = "/opt/cuda"
//   runner = "unix:/run/warpwright.sock"
//   python = ".venv/bin/python"  # an interpreter with torch, for a runner that is started here
//   budget = "30s"               # for one kernel; ms, s or m
//   policy = "builtin"           # source of proposals: ranked, search, builtin, builtin:WEIGHTS
//   learn = false                # the project's own verdicts do not change the order of proposals
//   disable_rules = ["bank-conflict"]
//   run = "./main 1000 20"       # how the program is run; else the target `run` of the nearest makefile
//   [sizes]                      # for tasks without sizes in the source
//   n = 1048576
//
// Relative paths, including those in flags, start at the folder of the file. The keys
// compile_commands, cuda_path, runner, python and policy, and flags with paths outside of that
// folder, apply only after the user approved the file (analysis/consent). Sizes, run, budget, learn, rules
// and all other flags apply at once; `run` is read and never started. An unknown key is an error, because it would have no effect.
// Thread: any (plain values).
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
  consent::ProjectFile file;             ///< the file itself, with its requests
  std::vector<std::string> flags;        ///< for Clang, paths absolute
  std::vector<std::string> flags_inside; ///< `flags` without paths outside the project
  std::vector<std::string> remove_flags;
  std::string compile_commands;      ///< absolute
  std::string cuda_path;             ///< absolute
  std::string runner_url;            ///< after loading: the user's own URL, with credentials
  std::optional<Error> runner_error; ///< why the approved file's runner cannot be used
  std::string python;                ///< absolute
  std::optional<int> budget_ms;
  std::string policy;
  bool learn = true;
  std::vector<std::string> disabled_rules;
  std::map<std::string, std::int64_t> sizes;
  std::vector<std::string> run_arguments; ///< of `run`, behind the program
  std::vector<Error> problems; ///< parts of the file that were ignored, and why
};

/// The whole configuration, approved or not. Errors name the file, the line and the key.
Result<ProjectConfig> parse_project_config(std::string_view text, const std::string &path);

/// The user's decisions about projects.
struct Consent {
  /// Errors: the store cannot be used.
  std::function<Result<bool>(const std::string &file, const std::string &content_hash)> approves;
  /// See consent::own_runner_url().
  std::function<Result<std::string>(const std::string &named)> own_runner;
};

/// The decisions of the user who runs this process.
Consent user_consent();

/// The nearest .warpwright.toml from the folder of `file` upward; an empty configuration if there
/// is none. Keys that need approval and lack it are empty.
/// Errors: as parse_project_config(), and a file that is unreadable, not regular or too large.
Result<ProjectConfig> load_project_config(llvm::vfs::FileSystem &files, const std::string &file,
                                          const Consent &allowed);

/// Parses "250ms", "30s" or "2m" into milliseconds; nullopt for any other text and for 0.
std::optional<int> parse_duration_ms(std::string_view text);

} // namespace warpwright::config
