#include "trainer/inference/shipped_weights.h"

#include <cstdlib>
#include <filesystem>

namespace warpwright::trainer {

std::string shipped_weights() {
  if (const char *named = std::getenv("WARPWRIGHT_WEIGHTS"); named && *named)
    return named;
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char *place : {"../../share/warpwright/policy.safetensors", // from lib/warpwright
                            "../share/warpwright/policy.safetensors",    // from bin
                            "../../../trainer/weights/policy.safetensors"})
    if (const auto path = (program / place).lexically_normal();
        std::filesystem::exists(path, failed))
      return path;
  return {};
}

} // namespace warpwright::trainer
