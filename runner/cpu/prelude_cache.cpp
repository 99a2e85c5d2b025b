// Implementation of PreludeCache with clang::PrecompiledPreamble, the mechanism that clangd uses.
#include "runner/cpu/prelude_cache.h"

#include "runner/cpu/header_files.h"

#include <clang/Frontend/CompilerInstance.h>
#include <cstring>

namespace warpwright::runner::cpu {
namespace {

/// Capacity of the cache; a further preamble evicts one. Sets of options differ by -D of a few
/// sizes.
constexpr std::size_t kMaxPreambles = 8;

std::optional<clang::PrecompiledPreamble>
build(const clang::CompilerInvocation &invocation,
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, const llvm::MemoryBuffer &main_file) {
  clang::CompilerInvocation for_preamble(invocation);
  clang::IgnoringDiagConsumer ignored;
  auto diagnostics = clang::CompilerInstance::createDiagnostics(
      *files, for_preamble.getDiagnosticOpts(), &ignored, false);
  clang::PreambleCallbacks callbacks;
  auto built = clang::PrecompiledPreamble::Build(
      for_preamble, &main_file, clang::PreambleBounds(std::strlen(PreludeCache::kFirstLine), true),
      diagnostics, files, std::make_shared<clang::PCHContainerOperations>(), /*StoreInMemory=*/true,
      /*StoragePath=*/"", callbacks);
  if (!built)
    return std::nullopt;
  return std::move(*built);
}

} // namespace

void PreludeCache::apply(const std::vector<std::string> &arguments,
                         clang::CompilerInvocation &invocation,
                         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> &files,
                         const std::string &main_file) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(main_file, kMainFile);
  auto found = preambles_.find(arguments);
  if (found == preambles_.end()) {
    auto built = build(invocation, files, *buffer);
    if (!built)
      return;
    if (preambles_.size() == kMaxPreambles)
      preambles_.erase(preambles_.begin());
    found = preambles_.emplace(arguments, std::move(*built)).first;
  }
  // The invocation owns the buffer from here on.
  found->second.AddImplicitPreamble(invocation, files, buffer.release());
}

} // namespace warpwright::runner::cpu
