// The runner that GPU tests start: the one of this build or, on a machine that got only the tests, $WARPWRIGHT_RUNNER.
// Thread: any.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace warpwright::runner::testing {

inline std::string runner() {
  const auto built = std::filesystem::path(WARPWRIGHT_BINARY_DIR) / "warpwright-runner";
  const char *chosen = std::getenv("WARPWRIGHT_RUNNER");
  return std::filesystem::exists(built) ? built.string() : chosen ? chosen : "warpwright-runner";
}

} // namespace warpwright::runner::testing
