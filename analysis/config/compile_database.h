// Compile database (compile_commands.json): the command of a file, or of the most similar file.
//
// Headers and unlisted files get the command of the entry whose path and name are most similar, as
// in clangd. The database is neither written nor watched. Thread: any (plain values).
#pragma once

#include "support/error.h"

#include <llvm/Support/VirtualFileSystem.h>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::config {

struct CompileCommand {
  std::string file; ///< absolute
  std::string directory;
  std::vector<std::string> arguments; ///< argv, the compiler first
};

/// Errors: the text is not a JSON list of objects with "directory", "file" and "command" or
/// "arguments". The message gives the index of the bad entry.
Result<std::vector<CompileCommand>> parse_compile_database(std::string_view text,
                                                           const std::string &path);

/// The entry of `file`, or the most similar entry; nullptr only if there are no entries.
const CompileCommand *command_for(const std::vector<CompileCommand> &commands,
                                  const std::string &file);

/// The nearest compile_commands.json: searches the folders from `file` upward, and the build/
/// folder in each.
std::optional<std::string> find_compile_database(llvm::vfs::FileSystem &files,
                                                 const std::string &file);

} // namespace warpwright::config
