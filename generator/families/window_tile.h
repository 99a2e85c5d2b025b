// The loops that pooling and depthwise convolution share: windows that slide over up to three spatial dimensions of independent planes.
//
// A block makes a tile of outputs of `planes` planes. Its threads stand side by side along the last dimension, and each makes `rows` outputs
// one above the other, so an input row that several windows share is read once a thread. The window's input passes through shared
// memory (each element loaded once a block, by neighbouring threads) or, where windows hardly overlap, straight from memory.
// Leaves out: reuse between neighbouring depths. Thread: pure functions.
#pragma once

#include "generator/families/window_text.h"

#include <array>

namespace warpwright::generator {

/// Windows over (planes, depth, height, width); missing spatial dimensions have size 1 and window 1.
struct WindowShape {
  model::Shape leading; ///< the dimensions before the spatial ones of the output
  std::size_t spatial = 0;
  std::array<std::int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1},
      padding{0, 0, 0}, dilation{1, 1, 1};
  std::int64_t planes() const { return elements_between(leading, 0, leading.size()); }
};

/// What happens at elements. Texts may use `plane`, the position among the leading dimensions.
struct WindowBody {
  std::string type;       ///< of accumulators
  std::string setup;      ///< statements after `plane` is known, once a thread
  std::string fill;       ///< the value of an element outside the input
  std::string load;       ///< statements that set `value` from the input at (plane, d, h, w)
  std::string initial;    ///< of an accumulator
  std::string accumulate; ///< adds row `v[kKW]` of the window's (kd, kh) to `sum`
  std::string finish;     ///< statements that store `sum` at (plane, od, oh, ow)
};

/// Whether the loop over the window's depths is unrolled too, so that arrays over the whole window stay in registers.
bool unrolls_depths(const WindowShape &window, std::int64_t rows);

/// Configurations of a window kernel, the best guess first: "width", "height", "planes" (threads), "rows", "shared".
std::vector<Configuration> window_configurations(const WindowShape &window,
                                                 const DeviceFacts &device);

/// The kernel and its launch.
/// Errors: a configuration that does not fit.
Result<Lowering> lower_window(const WindowShape &window, const WindowBody &body,
                              const Configuration &configuration, const DeviceFacts &device,
                              const ElementWriter &writer, const std::string &kernel);

/// The index texts of an output or input element at (plane, d, h, w): leading dimensions from `plane`, then the spatial ones.
Index window_index(const WindowShape &window, const std::string &plane, const std::string &depth,
                   const std::string &height, const std::string &width);

} // namespace warpwright::generator
