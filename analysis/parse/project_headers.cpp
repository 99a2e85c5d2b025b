// Selection of the user's own headers.
// Thread: the parsing thread.
#include "analysis/parse/project_headers.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <array>

namespace warpwright::analysis {
namespace {

/// Folders in which libraries keep their headers.
constexpr auto kLibraryFolders = std::to_array<llvm::StringRef>(
    {"torch", "ATen",    "c10",           "caffe2",       "thrust",   "cub",
     "cccl",  "cutlass", "cute",          "libcudacxx",   "pybind11", "boost",
     "Eigen", "opencv2", "absl",          "fmt",          "spdlog",   "nlohmann",
     "gtest", "google",  "site-packages", "dist-packages"});

constexpr auto kSystemFolders = std::to_array<llvm::StringRef>({"/usr/", "/opt/", "/nix/store/"});

/// The part of `path` below the deepest folder that it shares with `main_file`.
llvm::StringRef relative_part(llvm::StringRef path, llvm::StringRef main_file) {
  std::size_t folder = 0;
  const std::size_t length = std::min(path.size(), main_file.size());
  for (std::size_t index = 0; index < length && path[index] == main_file[index]; ++index)
    if (path[index] == '/')
      folder = index + 1;
  return path.substr(folder);
}

std::error_code not_found() { return std::make_error_code(std::errc::no_such_file_or_directory); }

/// Rejects pipes and devices, because opening or reading them may never end.
llvm::ErrorOr<llvm::vfs::Status> regular_file(llvm::vfs::FileSystem &files,
                                              const llvm::Twine &path) {
  auto status = files.status(path);
  if (status && status->getType() != llvm::sys::fs::file_type::regular_file)
    return not_found();
  return status;
}

} // namespace

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
RegularFiles::openFileForRead(const llvm::Twine &path) {
  if (!regular_file(getUnderlyingFS(), path))
    return not_found();
  return ProxyFileSystem::openFileForRead(path);
}

bool ProjectHeaders::is_foreign(llvm::StringRef path) const {
  const auto is_under = [&](llvm::StringRef folder) {
    return path.starts_with(folder) && !llvm::StringRef(main_file_).starts_with(folder);
  };
  if (std::ranges::any_of(kSystemFolders, is_under) ||
      (!cuda_path_.empty() && is_under(cuda_path_ + "/")))
    return true;
  const llvm::StringRef rest = relative_part(path, main_file_);
  return std::any_of(llvm::sys::path::begin(rest), llvm::sys::path::end(rest),
                     [](llvm::StringRef folder) {
                       return std::ranges::find(kLibraryFolders, folder) != kLibraryFolders.end();
                     });
}

llvm::ErrorOr<llvm::vfs::Status> ProjectHeaders::status(const llvm::Twine &path) {
  llvm::SmallString<128> memory;
  if (is_foreign(path.toStringRef(memory)))
    return not_found();
  return ProxyFileSystem::status(path);
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
ProjectHeaders::openFileForRead(const llvm::Twine &path) {
  llvm::SmallString<128> memory;
  if (is_foreign(path.toStringRef(memory)))
    return not_found();
  const auto known = regular_file(getUnderlyingFS(), path);
  if (!known || spent_bytes_ + known->getSize() > kBudgetBytes)
    return not_found();
  auto file = ProxyFileSystem::openFileForRead(path);
  if (!file)
    return file;
  spent_bytes_ += known->getSize();
  return file;
}

} // namespace warpwright::analysis
