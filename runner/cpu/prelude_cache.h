// The prelude, parsed once for each set of options and kept as a precompiled preamble in memory: it
// is most of the time that a small kernel takes to compile. Thread: one at a time.
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
  /// The first line of every main file; the preamble covers just this.
  static constexpr const char *kFirstLine = "#include <prelude.h>\n";

  /// Makes `invocation` start from the precompiled prelude, through `files`. Where Clang cannot
  /// make one, nothing changes and the prelude is parsed as text.
  /// @param arguments of the invocation: the key
  /// @param main_file its text, starting with kFirstLine
  void apply(const std::vector<std::string> &arguments, clang::CompilerInvocation &invocation,
             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> &files, const std::string &main_file);

private:
  std::map<std::vector<std::string>, clang::PrecompiledPreamble> preambles_;
};

} // namespace warpwright::runner::cpu
