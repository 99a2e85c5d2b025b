// Sliding windows over channels-last memory: a thread makes a vector of neighbouring channels of a few outputs side by side.
//
// It is to channels what window_tile.h is to rows: neighbouring threads take neighbouring channels, so that whole lines of memory are
// read, and windows that overlap share what a thread has loaded. The result may be channels-last too, or contiguous: then a thread's four
// outputs of each channel are one vector, and eight threads along channels stand beside four along the row. Thread: pure functions.
#pragma once

#include "generator/families/windows/window_tile.h"

namespace warpwright::families::windows {

/// Texts that a kernel executes at its elements. They may use the vector of channels `c1` and the channel `i` within it; while the sum grows
/// also kd, kh and `from`, which is kw times the dilation.
struct ChannelBody {
  std::string type;       ///< of accumulators
  std::string initial;    ///< of an accumulator
  std::string accumulate; ///< adds `value` to `sum`
  std::string result;     ///< statements that make `element` of `sum` at (od, oh, ow)
};

/// Channels of the operand, dimension 1 of (N, C, spatial...), that one access reads; 0 where channels are not neighbours in memory.
int channels_side_by_side(const elements::ElementWriter &writer, const WindowShape &window,
                          const std::string &operand);

/// The best guess first. Empty unless the channels are side by side.
std::vector<elements::Configuration> channel_configurations(const elements::ElementWriter &writer,
                                                            const WindowShape &window,
                                                            const std::string &operand,
                                                            const elements::DeviceFacts &device);

/// Errors: a configuration that does not fit.
Result<elements::Lowering> lower_channels(const WindowShape &window, const ChannelBody &body,
                                          const elements::Configuration &configuration,
                                          elements::ElementWriter &writer,
                                          const std::string &operand, const std::string &kernel);

} // namespace warpwright::families::windows
