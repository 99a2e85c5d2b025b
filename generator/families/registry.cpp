#include "generator/families/registry.h"

#include "generator/families/attention/attention.h"
#include "generator/families/convolution/convolution.h"
#include "generator/families/convolution/direct_convolution.h"
#include "generator/families/convolution/tile_convolution_family.h"
#include "generator/families/convolution/weight_layouts.h"
#include "generator/families/matmul/implicit_gemm.h"
#include "generator/families/matmul/matmul.h"
#include "generator/families/pointwise/pointwise.h"
#include "generator/families/recurrent/recurrent.h"
#include "generator/families/rows/rows.h"
#include "generator/families/scan/scan.h"
#include "generator/families/scatter/scatter.h"
#include "generator/families/topk/topk.h"
#include "generator/families/windows/depthwise.h"
#include "generator/families/windows/pool.h"

#include <array>

namespace warpwright::families {

std::span<const elements::Family> all() {
  static const std::array kFamilies = {
      pointwise::kPointwiseFamily,
      matmul::kMatmulFamily,
      attention::kAttentionFamily,
      rows::kRowFamily,
      scan::kScanFamily,
      windows::kPoolFamily,
      windows::kDepthwiseFamily,
      convolution::kDirectConvolutionFamily,
      convolution::kConvolutionFamily,
      convolution::kTileConvolutionFamily,
      matmul::kImplicitGemmFamily,
      convolution::kWeightLayoutsFamily,
      recurrent::kRecurrentFamily,
      scatter::kScatterFamily,
      topk::kTopKFamily,
  };
  return kFamilies;
}

const elements::Family *named(std::string_view name) {
  for (const elements::Family &family : all())
    if (family.name == name)
      return &family;
  return nullptr;
}

} // namespace warpwright::families
