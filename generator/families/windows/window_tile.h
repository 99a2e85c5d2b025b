// Loops shared by pooling and depthwise convolution: windows over up to three spatial dimensions of independent planes.
//
// A block computes a tile of outputs of `planes` planes. Its threads are adjacent along the last dimension, and each
// computes `rows` outputs in a column, so a thread reads an input row that several windows share only once. The input
// comes through shared memory (each element loaded once per block, by adjacent threads) or directly from memory, then
// also by whole vectors for four adjacent outputs. Leaves out: reuse between neighboring depths.
#pragma once

#include "generator/elements/window_text.h"

#include <array>

namespace warpwright::families::windows {

/// Windows over (planes, depth, height, width); missing spatial dimensions have size 1 and window 1.
struct WindowShape {
  model::Shape leading; ///< the dimensions before the spatial ones of the output
  std::size_t spatial = 0;
  std::array<std::int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1},
      padding{0, 0, 0}, dilation{1, 1, 1};
  std::int64_t planes() const { return elements::elements_between(leading, 0, leading.size()); }
};

/// Texts that a window kernel inserts for its elements. They may use `plane`, the position in the leading dimensions.
struct WindowBody {
  std::string type;       ///< of accumulators
  std::string setup;      ///< statements after `plane` is known, once a thread
  std::string fill;       ///< the value of an element outside the input
  std::string load;       ///< statements that set `value` from the input at (plane, d, h, w)
  std::string initial;    ///< of an accumulator
  std::string accumulate; ///< adds row `v[kKW]` of the window's (kd, kh) to `sum`
  std::string result;     ///< statements that make `element` of `sum` at (plane, od, oh, ow)
  std::string store;      ///< statements that store `element` there
  std::string load4;      ///< like `load`, but sets `four[0..3]` from (plane, d, h, 4 * w4 + i)
  std::string store4;     ///< stores `elements[0..3]` at (plane, od, oh, 4 * ow4 + i)
};

/// Sizes of the window as constants of a configuration (device/window_tile.cuh): "kID = 1, kIH = 56, ...".
std::string sizes_text(const WindowShape &window);

/// True if the loop over window depths is unrolled too, so that arrays over the whole window stay in registers.
bool unrolls_depths(const WindowShape &window, std::int64_t rows, std::int64_t columns);

/// Configurations of a window kernel, best first: "width", "height", "planes" (threads), "rows" and "columns" (outputs
/// of a thread), "shared".
std::vector<elements::Configuration> window_configurations(const WindowShape &window,
                                                           const elements::DeviceFacts &device);

/// The kernel and its launch. Errors: the configuration does not fit.
Result<elements::Lowering> lower_window(const WindowShape &window, const WindowBody &body,
                                        const elements::Configuration &configuration,
                                        const elements::DeviceFacts &device,
                                        const elements::ElementWriter &writer,
                                        const std::string &kernel);

/// Sets the texts that load `operand` and store the anchor's element.
/// @param channels_per_input consecutive output channels that read one input channel
void write_window_access(WindowBody &body, const WindowShape &window,
                         elements::ElementWriter &writer, const std::string &operand,
                         std::int64_t channels_per_input);

/// Index of an output or input element at (plane, d, h, w): leading dimensions from `plane`, then the spatial ones.
elements::Index window_index(const WindowShape &window, const std::string &plane,
                             const std::string &depth, const std::string &height,
                             const std::string &width);

} // namespace warpwright::families::windows
