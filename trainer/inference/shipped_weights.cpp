#include "trainer/inference/shipped_weights.h"

#include <cstdlib>
#include <filesystem>

namespace warpwright::trainer {
namespace {

/// The path in an environment variable, else the shipped file.
std::string named_or_shipped(const char *variable, const std::string &name) {
  const char *named = std::getenv(variable);
  return named && *named ? named : shipped_file(name);
}

} // namespace

std::string shipped_file(const std::string &name) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char *place : {"../../share/warpwright", // from lib/warpwright
                            "../share/warpwright",    // from bin
                            "../../../trainer/weights"})
    if (const auto path = (program / place / name).lexically_normal();
        std::filesystem::exists(path, failed))
      return path;
  return {};
}

std::string shipped_weights() {
  return named_or_shipped("WARPWRIGHT_WEIGHTS", "policy.safetensors");
}

std::string shipped_ranker() { return named_or_shipped("WARPWRIGHT_RANKER", "ranker.bin"); }

} // namespace warpwright::trainer
