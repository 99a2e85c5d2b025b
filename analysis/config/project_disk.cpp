#include "analysis/config/project_disk.h"

#include <filesystem>
#include <fstream>

namespace warpwright::config {
namespace {

constexpr std::size_t kMostTextBytes = std::size_t{4} << 20;

std::optional<std::string> read(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) // reading a pipe would never end
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::string text(kMostTextBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

} // namespace

analysis::ProjectDisk real_disk() {
  return {[](const std::string &path) {
            std::error_code ignored;
            return std::filesystem::exists(path, ignored);
          },
          read};
}

} // namespace warpwright::config
