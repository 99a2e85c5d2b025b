#include "support/build/build_description.h"
#include "support/version.h"

#include <features.h>

namespace warpwright {

// Defined in a file that cmake/commit.cmake writes at each build.
extern const char kCommit[], kCommitDate[];

namespace {

#if defined(__x86_64__)
constexpr const char *kSystem = "linux-x86_64";
#elif defined(__aarch64__)
constexpr const char *kSystem = "linux-arm64";
#endif

/// The oldest C library that the program starts on: the chosen one, else the one it was built with.
std::string oldest_glibc() {
  const std::string chosen = WARPWRIGHT_GLIBC;
  return chosen.empty() ? std::to_string(__GLIBC__) + "." + std::to_string(__GLIBC_MINOR__) : chosen;
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#else
  return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

} // namespace

std::string version_line(std::string_view program) {
  std::string line = std::string(program) + " " + version() + " (" + kCommit;
  if (*kCommitDate)
    line += std::string(", ") + kCommitDate;
  return line + "), " + kSystem + ", glibc " + oldest_glibc() + ", " + compiler();
}

} // namespace warpwright
