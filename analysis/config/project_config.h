// Project configuration (.warpwright.toml), shared by the editor and the command line.
//
// The table of keys in project_config.cpp is the one place that lists them; docs/use/config.md is made
// from it.
//
// Relative paths, including those in flags, start at the folder of the file. The keys
// compile_commands, cuda_path, runner, python and policy, and flags with paths outside of that
// folder, apply only after the user approved the file (analysis/consent). Sizes, run, budget,
// learn, rules and all other flags apply at once; `run` is read and never started. An unknown key
// is an error, because it would have no effect. Thread: any (plain values).
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
  std::vector<std::string> code_generation; ///< for NVRTC, as in TranslatedFlags
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

/// A key of .warpwright.toml.
struct ProjectKey {
  std::string_view name;
  std::string_view expected; ///< "a list of texts"
  std::string_view example;  ///< a value in TOML
  std::string_view meaning;
  std::string_view counts; ///< "at once" or "after approval"
};

/// All keys, in the order of the reference page (docs/use/config.md).
std::vector<ProjectKey> project_keys();

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
