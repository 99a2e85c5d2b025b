// Reader of makefiles that starts no make: the arguments of a program's run, and the command that
// compiles a file.
//
// Variables, conditionals (ifeq, ifneq, ifdef, ifndef) and explicit, pattern and suffix rules are
// evaluated. Functions such as $(shell ...), included files and make's built-in rules are not, and
// count as empty. Thread: any.
#pragma once

#include "analysis/parsed_unit.h"

#include <llvm/Support/VirtualFileSystem.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::config {

class Makefile {
public:
  /// Never fails; a line that is not understood is skipped.
  explicit Makefile(std::string_view text);

  /// The first command with arguments in the recipe of the target `run`: the words behind the program's name. Empty:
  /// there is none.
  std::vector<std::string> run_arguments() const;

  /// The command that compiles a source file, the compiler first. A rule that names the file wins over a rule for
  /// files of its kind, which wins over any other call of a CUDA compiler. Empty: there is none.
  /// @param file its name without a folder
  std::vector<std::string> compile_command(std::string_view file) const;

private:
  struct Rule {
    std::string line;                ///< targets and prerequisites, expanded
    std::vector<std::string> recipe; ///< as written
  };

  void assign(const std::string &line, std::size_t equals);
  bool holds(std::string_view kind, std::string_view operands) const;
  std::string expanded(std::string_view text, int depth = 0) const;

  std::map<std::string, std::string, std::less<>> variables_;
  std::vector<Rule> rules_;
};

/// The words of a command line behind the program, up to a pipe, a redirection, a further command or a variable of the
/// shell.
std::vector<std::string> arguments_of(std::string_view command);

/// How the project builds and runs its program.
struct BuildFacts {
  analysis::RunCommand run;
  std::vector<std::string> compile; ///< command that compiles the file, the compiler first; empty: not known
  std::string makefile;             ///< path; empty: there is none
};

/// The facts of the makefile in a folder, else of the nearest makefile from the folder of `file` upward, but not
/// beyond another build file. No program is started.
/// @param folder in which the file is compiled
/// @param file absolute path
BuildFacts read_makefile(llvm::vfs::FileSystem &files, const std::string &folder, const std::string &file);

} // namespace warpwright::config
