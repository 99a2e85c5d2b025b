// The families, the best guess for an anchor before others that claim it too. Thread: immutable.
#include "generator/families/matmul/matmul.h"
#include "generator/families/pointwise/pointwise.h"
#include "generator/families/rows/rows.h"
#include "generator/families/convolution/convolution.h"
#include "generator/families/convolution/direct_convolution.h"
#include "generator/families/convolution/tile_convolution_family.h"
#include "generator/families/convolution/weight_layouts.h"
#include "generator/families/recurrent/recurrent.h"
#include "generator/families/scan/scan.h"
#include "generator/families/windows/depthwise.h"
#include "generator/families/windows/pool.h"
#include "generator/families/windows/upsample.h"

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

const Family *family_named(std::string_view name) {
  for (const Family &family : families())
    if (family.name == name)
      return &family;
  return nullptr;
}

} // namespace warpwright::generator
