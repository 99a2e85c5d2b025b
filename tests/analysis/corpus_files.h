// Sources of public programs that WARPWRIGHT_CORPUS names: folders, joined by ":".
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace warpwright::tests {

namespace fs = std::filesystem;

/// HeCBench's programs from n on are kept unseen, for measuring what was learned from the others.
inline bool is_held_out(const fs::path &path) {
  for (auto part = path.begin(); part != path.end(); ++part)
    if (*part == "HeCBench" && std::next(part) != path.end() && *std::next(part) == "src" &&
        std::next(part, 2) != path.end())
      return std::next(part, 2)->string().front() >= 'n';
  return false;
}

/// The CUDA sources of the corpus, without those that are held out.
inline std::vector<fs::path> corpus_files() {
  const char *variable = std::getenv("WARPWRIGHT_CORPUS");
  std::set<fs::path> files;
  std::string folders = variable ? variable : "";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path folder = folders.substr(begin, end - begin);
    begin = end + 1;
    REQUIRE_MESSAGE(fs::is_directory(folder), folder << " is no folder: correct WARPWRIGHT_CORPUS");
    for (const auto &entry : fs::recursive_directory_iterator(folder))
      if (const fs::path &path = entry.path(); entry.is_regular_file() && !is_held_out(path) &&
                                               (path.extension() == ".cu" || path.extension() == ".cuh"))
        files.insert(path);
  }
  return {files.begin(), files.end()};
}

inline std::string text_of(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace warpwright::tests
