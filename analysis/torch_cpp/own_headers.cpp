#include "analysis/torch_cpp/own_headers.h"

#include <clang/Basic/SourceManager.h>
#include <llvm/Support/Path.h>

namespace warpwright::analysis::torch_cpp {
namespace {

constexpr std::size_t kMostFiles = 200, kMostBytes = std::size_t{2} << 20;

std::string normal(llvm::StringRef path) {
  llvm::SmallString<256> result(path);
  llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  return result.str().str();
}

} // namespace

void add_own_headers(const ParsedUnit &unit, model::TorchModule &module) {
  const std::string own = normal(unit.file().path);
  const std::string folder = llvm::sys::path::parent_path(own).str();
  std::string root = llvm::sys::path::parent_path(folder).str();
  if (root.size() < 2) // the whole disk is no project
    root = folder;
  if (root.size() < 2)
    return;
  std::map<std::string, std::string> files;
  std::size_t bytes = 0;
  for (auto one = unit.sources().fileinfo_begin(); one != unit.sources().fileinfo_end(); ++one) {
    const std::string path = normal(one->first.getName());
    const auto text = one->second->getBufferDataIfLoaded();
    if (!text || path == own || !path.starts_with(root + "/"))
      continue;
    bytes += text->size();
    files.emplace(path.substr(root.size() + 1), text->str());
  }
  if (files.empty() || files.size() > kMostFiles || bytes > kMostBytes)
    return;
  module.files = std::move(files);
  module.path = own.substr(root.size() + 1);
}

} // namespace warpwright::analysis::torch_cpp
