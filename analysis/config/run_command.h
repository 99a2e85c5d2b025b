// How a project runs its program: the arguments, from which sizes follow that the source reads from `argv`.
// Thread: any.
#pragma once

#include "analysis/parsed_unit.h"

#include <llvm/Support/VirtualFileSystem.h>
#include <string_view>

namespace warpwright::config {

/// The words of a command line behind the program, up to a pipe, a redirection, a further command or a variable of the
/// shell.
std::vector<std::string> arguments_of(std::string_view command);

/// The first command with arguments in the recipe of a makefile's target `run`, with the file's own variables. Empty:
/// there is none.
std::vector<std::string> arguments_of_run_target(std::string_view makefile);

/// The run command of the makefile in a folder, else of the nearest makefile from the folder of
/// `file` upward. No program is started.
/// @param folder in which the file is compiled
/// @param file absolute path
analysis::RunCommand read_run_command(llvm::vfs::FileSystem &files, const std::string &folder,
                                      const std::string &file);

} // namespace warpwright::config
