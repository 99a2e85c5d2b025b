// Device text for the tensor cores of one GPU generation. A family picks it by the GPU that it plans for.
#pragma once

#include "arch/gpu.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace warpwright::elements {

/// A header generator/device/mma_NAME.cuh. Each has the interface of mma_sync.cuh in a namespace of its own:
/// `multiply`, a product of TF32 fragments of 16 x 8 x 8 in a warp, and `Tile`, an FP32-accurate product of tiles.
struct TensorText {
  arch::TensorCores cores;
  std::string_view space;  ///< the namespace
  std::string_view source; ///< the whole header
};

/// Returns the text for these tensor cores, or nullptr where `texts` has none.
inline const TensorText *text_for(std::span<const TensorText> texts, arch::TensorCores cores) {
  const auto found = std::ranges::find(texts, cores, &TensorText::cores);
  return found == texts.end() ? nullptr : &*found;
}

} // namespace warpwright::elements
