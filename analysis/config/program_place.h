// Where a file belongs in its program, from the text of the project's files: the source that
// includes it, and the other sources that are linked with it.
//
// A kernel in an included file is compiled, typed and launched as part of the file that includes
// it. A kernel in a source without `main` gets its sizes from the source with `main`. Only
// `#include "..."` is followed; conditions around it are ignored, as the parser then finds out
// whether the file is reached.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::config {

struct ProgramPlace {
  /// The source file (.cu, .cpp, .cc, .cxx, .c) that includes the file, directly or through other
  /// files. Of several, the one that names most of the file's kernels. Empty: none.
  std::string included_by;
  /// The further source files that include the file.
  std::vector<std::string> other_includers;
  /// The other sources of the program, that with `main` first unless the file's own translation unit
  /// has it. Empty: there are none, or which sources belong together is not certain.
  std::vector<std::string> sources;
};

/// The files of projects, read once and again when one of them has changed. Thread: one at a time.
class ProgramFinder {
public:
  explicit ProgramFinder(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files);
  ~ProgramFinder();

  /// Looks at the files of the project around `file`: below the nearest folder upward with a build
  /// file, then below the next one.
  /// @param file absolute path
  /// @return all paths absolute; nothing for a file without kernels, and in a project that is too
  /// large to be searched
  ProgramPlace place_of(const std::string &file);

private:
  class Project;

  const Project &project(const std::string &folder);

  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_;
  std::map<std::string, std::unique_ptr<const Project>> projects_; ///< by folder
};

/// Returns true if a folder has a file by which a project is built.
bool has_build_file(llvm::vfs::FileSystem &files, const std::string &folder);

} // namespace warpwright::config
