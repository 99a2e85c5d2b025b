// A private folder for what is handed to the launch; removed at the end. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace warpwright::runner::deep {

class LaunchFolder {
public:
  /// Errors: no folder can be made where temporary files go.
  static Result<LaunchFolder> make();
  LaunchFolder(LaunchFolder &&other) noexcept { std::swap(path_, other.path_); }
  ~LaunchFolder();
  std::string file(const std::string &name) const { return (path_ / name).string(); }
  /// @return the file's path
  std::string write(const std::string &name, const nlohmann::json &document) const;

private:
  LaunchFolder() = default;
  std::filesystem::path path_;
};

} // namespace warpwright::runner::deep
