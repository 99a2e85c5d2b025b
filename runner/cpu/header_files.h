// The file system that Clang sees: the embedded headers under the names that sources include, and
// the main file. No file of the machine is visible, so nothing outside a plan can change what it
// compiles to.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>
#include <string>

namespace warpwright::runner::cpu {

inline constexpr const char *kHeaderFolder = "/warpwright/shim";
inline constexpr const char *kMainFile = "/warpwright/kernel.cu";

/// @param source contents of kMainFile
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(const std::string &source);

} // namespace warpwright::runner::cpu
