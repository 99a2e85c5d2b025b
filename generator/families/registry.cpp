// The families, the best guess for an anchor before others that claim it too. Thread: immutable.
#include "generator/families/pointwise.h"

#include <array>

namespace warpwright::generator {

std::span<const Family> families() {
  static const std::array kFamilies = {
      kPointwiseFamily,
  };
  return kFamilies;
}

} // namespace warpwright::generator
