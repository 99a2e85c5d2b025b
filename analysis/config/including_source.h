// The source file that includes a header or a `.cu` file, from the text of a project's files.
//
// A kernel in an included file is compiled, typed and launched as part of the file that includes
// it. Only `#include "..."` is followed; conditions around it are ignored, as the parser then finds
// out whether the file is reached. Thread: any.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>
#include <string>

namespace warpwright::config {

/// The source file (.cu, .cpp, .cc, .cxx, .c) that includes `file`, directly or through other files.
/// Of several, the one that names most of the file's kernels. Looks at the files of the project
/// around `file`: below the nearest folder upward with a build file, then below the next one.
/// @param file absolute path
/// @return absolute path; empty: the file has no kernel, no file includes it, or the project is too
/// large to be searched
std::string including_source(llvm::vfs::FileSystem &files, const std::string &file);

/// Whether a folder has a file by which a project is built.
bool has_build_file(llvm::vfs::FileSystem &files, const std::string &folder);

} // namespace warpwright::config
