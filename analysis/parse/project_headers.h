// File system of the stub pass: the user's own headers, within a size budget.
//
// Library headers are slow to parse, and stand-ins for them are built in. A rejected header looks
// like a missing one. A header is classified by its place relative to the main file, so files
// inside such a library can be edited too. Thread: the parsing thread.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>
#include <string>
#include <system_error>

namespace warpwright::analysis {

/// A file system without pipes, devices and other files that are not regular.
class RegularFiles : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &path) override;
};

class ProjectHeaders : public llvm::vfs::ProxyFileSystem {
public:
  /// Bytes that one parse may read; Clang needs about 20 ms for them.
  static constexpr std::size_t kBudgetBytes = 512 * 1024;

  ProjectHeaders(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, std::string main_file,
                 std::string cuda_path)
      : ProxyFileSystem(std::move(files)), main_file_(std::move(main_file)),
        cuda_path_(std::move(cuda_path)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &path) override;

  /// Whether a path belongs to a library rather than to the project of the main file.
  bool is_foreign(llvm::StringRef path) const;

private:
  std::string main_file_, cuda_path_;
  std::size_t spent_bytes_ = 0;
};

} // namespace warpwright::analysis
