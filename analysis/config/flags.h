// Command lines of nvcc, gcc and clang, reduced to two kinds of flags: those with which Clang parses
// a file, and those with which NVRTC compiles its kernels as the program's build does.
//
// The translation is an allow-list: a flag that is not known to affect parsing is dropped, because
// a foreign flag must never stop the analysis. Flags for optimization levels, linking, output names
// and warnings are dropped on purpose. Thread: any.
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
  /// NVRTC's options that change the machine code of kernels: "--use_fast_math", "--maxrregcount=64".
  std::vector<std::string> code_generation;
  std::string cuda_path; ///< from --cuda-path= or the path of nvcc in the command; else empty
  std::vector<std::string> dropped; ///< dropped flags, each with its value
};

/// Splits a command line as a POSIX shell does for plain words, quotes and backslashes.
std::vector<std::string> split_command(std::string_view command);

/// @param command argv, the compiler first
/// @param directory base of relative paths
TranslatedFlags translate_flags(const std::vector<std::string> &command,
                                const std::string &directory, const ReadFile &read_file);

/// Flags of a project's own configuration.
struct ProjectFlags {
  std::vector<std::string> flags;   ///< for Clang, paths absolute
  std::vector<std::string> code_generation; ///< as in TranslatedFlags
  std::vector<std::string> inside;  ///< `flags` without those that name a path outside `folder`
  std::vector<std::string> outside; ///< flags that name a path outside `folder`: "-I /opt/include"
  std::vector<std::string> dropped; ///< plugins, outputs, response files and unknown flags
};

/// Takes only flags that affect how a text parses or what code its kernels become. Flags that load or
/// write files and response files are dropped.
/// @param folder folder of the configuration, base of relative paths
ProjectFlags project_flags(const std::vector<std::string> &written, const std::string &folder);

} // namespace warpwright::config
