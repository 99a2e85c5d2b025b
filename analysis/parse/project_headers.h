// The files that the stub pass may read: the user's own headers, and of those no more than a
// budget.
//
// Libraries are what makes parsing slow, and their stand-ins are built in; a header that is refused
// looks as if it did not exist. Judged by where a header lies relative to the main file, so that
// working inside such a library is no different. Thread: that of the parse.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>
#include <string>
#include <system_error>

namespace warpwright::analysis {

/// Files that are no files, as pipes and devices, are not there.
class RegularFiles : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &path) override;
};

class ProjectHeaders : public llvm::vfs::ProxyFileSystem {
public:
  /// What may be read in one parse; about 20 ms of Clang's time.
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
