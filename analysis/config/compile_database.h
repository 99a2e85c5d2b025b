// compile_commands.json: the command of a file, or of the file that is most like it.
//
// A header, and a file that is not listed, gets the command of the entry that shares most of its
// path and name, as clangd does. Leaves out writing and watching. Thread: values, any.
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

/// Errors: not JSON, or not a list of objects with "directory", "file" and "command" or
/// "arguments"; says which entry.
Result<std::vector<CompileCommand>> parse_compile_database(std::string_view text,
                                                           const std::string &path);

/// The entry for `file`, else the closest; nullptr only when there are no entries.
const CompileCommand *command_for(const std::vector<CompileCommand> &commands,
                                  const std::string &file);

/// The nearest compile_commands.json in the folders from `file` upward, each with its build/
/// folder.
std::optional<std::string> find_compile_database(llvm::vfs::FileSystem &files,
                                                 const std::string &file);

} // namespace warpwright::config
