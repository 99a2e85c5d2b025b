// Sliding windows over channels-last memory: a thread computes
// a vector of adjacent channels for a few adjacent outputs.
//
// Adjacent threads take adjacent channels, so that whole cache lines are read, and overlapping
// windows share a thread's loads. The result may be channels-last or contiguous. In a
// contiguous result, a thread's four outputs of a channel form one vector, and a warp has
// eight threads along channels and four along the row. See window_tile.h for contiguous input.
#pragma once

#include "generator/families/windows/window_tile.h"

namespace warpwright::families::windows {

/// Texts that a kernel inserts for its elements. They may use the channel vector `c1`, the channel `i` within it and,
/// in `accumulate`, also kd, kh and `from`, which is kw times the dilation.
struct ChannelBody {
  std::string type;       ///< of accumulators
  std::string initial;    ///< of an accumulator
  std::string accumulate; ///< adds `value` to `sum`
  std::string result;     ///< statements that make `element` of `sum` at (od, oh, ow)
};

/// Channels (dimension 1 of (N, C, spatial...)) per access of the operand; 0 if channels are not adjacent in memory.
int channels_side_by_side(const elements::ElementWriter &writer, const WindowShape &window,
                          const std::string &operand);

/// Configurations, best first. Empty unless the channels are adjacent in memory.
std::vector<elements::Configuration> channel_configurations(const elements::ElementWriter &writer,
                                                            const WindowShape &window,
                                                            const std::string &operand,
                                                            const elements::DeviceFacts &device);

/// Errors: the configuration does not fit.
Result<elements::Lowering> lower_channels(const WindowShape &window, const ChannelBody &body,
                                          const elements::Configuration &configuration,
                                          elements::ElementWriter &writer,
                                          const std::string &operand, const std::string &kernel);

} // namespace warpwright::families::windows
