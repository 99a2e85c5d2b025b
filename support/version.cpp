// CMake defines WARPWRIGHT_VERSION for this file alone, so that a new version compiles one file.
#include "support/version.h"

namespace warpwright {

std::string version() {
  return WARPWRIGHT_VERSION;
}

} // namespace warpwright
