// The families, the best guess for an anchor before others that claim it too. Thread: immutable.
#include "generator/families/matmul.h"
#include "generator/families/pointwise.h"
#include "generator/families/rows.h"
#include "generator/families/window_families.h"

#include <array>

namespace warpwright::generator {

std::span<const Family> families() {
  static const std::array kFamilies = {
      kPointwiseFamily,
      kMatmulFamily,
      kRowFamily,
      kScanFamily,
      kPoolFamily,
      kDepthwiseFamily,
      kDirectConvolutionFamily,
      kConvolutionFamily,
      kTileConvolutionFamily,
      kUpsampleFamily,
      kWeightLayoutsFamily,
      kRecurrentFamily,
  };
  return kFamilies;
}

} // namespace warpwright::generator
