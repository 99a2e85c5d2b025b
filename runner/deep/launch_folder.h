// A private folder for the files given to launches; removed at the end. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include "runner/verify/compile_cache.h"

#include <string>

namespace warpwright::runner::deep {

class LaunchFolder {
public:
  /// Errors: no folder can be made in the folder for temporary files.
  static Result<LaunchFolder> make();
  LaunchFolder(LaunchFolder &&other) noexcept { std::swap(path_, other.path_); }
  ~LaunchFolder();
  std::string path() const { return path_.string(); }
  std::string file(const std::string &name) const { return (path_ / name).string(); }
  /// @return the file's path
  std::string write(const std::string &name, const nlohmann::json &document) const;

private:
  LaunchFolder() = default;
  std::filesystem::path path_;
};

/// Compiled code in the folder of one examination, whose launches all compile the same two plans.
/// Only launches write it.
class FolderCache final : public CompileCache {
public:
  explicit FolderCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::optional<CompiledCode> find(const std::string &key) override;
  void store(const std::string &key, const CompiledCode &code) override;

private:
  std::filesystem::path folder_;
};

} // namespace warpwright::runner::deep
