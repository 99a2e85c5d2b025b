// nvcc's, gcc's and clang's command lines, reduced to the flags that Clang needs to parse a file.
//
// An allow-list: what is not known to matter for parsing is dropped, because a foreign flag must
// never stop the analysis. Code generation, linking, output names and warnings are left out on
// purpose. Thread: any.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::config {

/// Text of a response file (`@file`, `--options-file`), or nullopt when it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string &path)>;

struct TranslatedFlags {
  std::vector<std::string> flags; ///< for Clang, paths absolute
  std::string
      cuda_path; ///< from --cuda-path=, or the nvcc that the command starts with; else empty
  std::vector<std::string> dropped; ///< flags that were not taken, with the value of each
};

/// Splits a command line as a POSIX shell does for plain words, quotes and backslashes.
std::vector<std::string> split_command(std::string_view command);

/// @param command argv, the compiler first
/// @param directory where relative paths start
TranslatedFlags translate_flags(const std::vector<std::string> &command,
                                const std::string &directory, const ReadFile &read_file);

/// The flags of a project's own configuration.
struct ProjectFlags {
  std::vector<std::string> flags;   ///< for Clang, paths absolute
  std::vector<std::string> inside;  ///< the same without those that name a path outside `folder`
  std::vector<std::string> outside; ///< "-I /opt/include"
  std::vector<std::string> dropped; ///< plugins, outputs, response files, and all that is not known
};

/// Only what changes how a text parses is taken; nothing that loads or writes a file, and no
/// response file. @param folder of the configuration, where relative paths start
ProjectFlags project_flags(const std::vector<std::string> &written, const std::string &folder);

} // namespace warpwright::config
