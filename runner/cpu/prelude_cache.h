// Cache of the prelude, parsed once for each set of options and kept in memory as a precompiled
// preamble. Parsing the prelude is most of the compile time of a small kernel. Thread: one at a
// time.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/PrecompiledPreamble.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <map>
#include <string>
#include <vector>

namespace warpwright::runner::cpu {

class PreludeCache {
public:
  /// The first line of every main file. The preamble covers only this line.
  static constexpr const char *kFirstLine = "#include <prelude.h>\n";

  /// Makes `invocation` start from the precompiled prelude, through `files`. If Clang cannot
  /// precompile the prelude, nothing changes and Clang parses the prelude as text.
  /// @param arguments command line of the invocation; the cache key
  /// @param main_file text of the main file, which starts with kFirstLine
  void apply(const std::vector<std::string> &arguments, clang::CompilerInvocation &invocation,
             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> &files, const std::string &main_file);

private:
  std::map<std::vector<std::string>, clang::PrecompiledPreamble> preambles_;
};

} // namespace warpwright::runner::cpu
