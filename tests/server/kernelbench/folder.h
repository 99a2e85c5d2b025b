// A folder for one test of a benchmark's files, gone with the test. Thread: the test's.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace warpwright::server {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("warpwright-bench-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  /// Makes the folders of `name`, too. @return where the file is
  std::filesystem::path write(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return path / name;
  }
};

} // namespace warpwright::server
