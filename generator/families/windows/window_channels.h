// Sliding windows over channels-last memory: a thread makes a vector of neighbouring channels of a few outputs side by side.
//
// What window_tile.h does along rows, this does along channels: neighbouring threads take neighbouring channels, so that whole lines of memory are
// read, and windows that overlap share what a thread has loaded. The result may be channels-last too, or contiguous: then a thread's four
// outputs of each channel are one vector, and eight threads along channels stand beside four along the row. Thread: pure functions.
#pragma once

#include "generator/families/windows/window_tile.h"

namespace warpwright::generator {

/// What happens at elements. Texts may use `n`, the channel `c`, and kd, kh, kw of the window.
struct ChannelBody {
  std::string type;       ///< of accumulators
  std::string initial;    ///< of an accumulator
  std::string accumulate; ///< adds `value` to `sum`
  std::string result;     ///< statements that make `element` of `sum` at (od, oh, ow)
};

/// Whether the operand's channels, dimension 1 of (N, C, spatial...), are neighbours in memory: how many of them are one access, else 0.
int channels_side_by_side(const ElementWriter &writer, const WindowShape &window,
                          const std::string &operand);

/// The best guess first. Empty unless the channels are side by side.
std::vector<Configuration> channel_configurations(const ElementWriter &writer,
                                                  const WindowShape &window,
                                                  const std::string &operand,
                                                  const DeviceFacts &device);

/// Errors: a configuration that does not fit.
Result<Lowering> lower_channels(const WindowShape &window, const ChannelBody &body,
                                const Configuration &configuration, ElementWriter &writer,
                                const std::string &operand, const std::string &kernel);

} // namespace warpwright::generator
