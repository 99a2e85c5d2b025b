// Text files read whole. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace warpwright::trainer {

/// Errors: the file cannot be read.
inline Result<std::string> read_text(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail("cannot read " + path.string(), "Check the path and its permissions");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace warpwright::trainer
