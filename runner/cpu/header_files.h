// In-memory file system for Clang: the embedded headers under the names that sources include, and
// the main file. Clang sees no file of the machine, so a plan always compiles to the same code.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>
#include <string>

namespace warpwright::runner::cpu {

inline constexpr const char *kHeaderFolder = "/warpwright/shim";
inline constexpr const char *kMainFile = "/warpwright/kernel.cu";

/// Makes the file system. @param source content of kMainFile
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(const std::string &source);

} // namespace warpwright::runner::cpu
