// A folder of a test's own, gone after it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace warpwright::trainer::testing {

struct TemporaryFolder {
  std::filesystem::path path;

  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "warpwright-trainer-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::string write(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

} // namespace warpwright::trainer::testing
