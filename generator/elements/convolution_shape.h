// Sizes of a convolution, read from a "conv" node; one or two spatial dimensions are extended to three.
#pragma once

#include "generator/elements/window_text.h"

#include <array>
#include <optional>

namespace warpwright::elements {

struct ConvolutionShape {
  std::int64_t batch = 1, groups = 1;
  std::int64_t group_in = 1, group_out = 1; ///< channels of one group
  std::size_t spatial = 1;
  std::array<std::int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1},
      padding{0, 0, 0}, dilation{1, 1, 1};
  bool transposed = false;
  bool bias = false;

  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t channels_in() const { return groups * group_in; }
  std::int64_t channels_out() const { return groups * group_out; }
};

/// Returns nullopt unless the node is a batched, nonempty convolution with known attributes.
std::optional<ConvolutionShape> convolution_shape(const ops::GraphIndex &index,
                                                  const model::Node &anchor);

/// Returns index texts [n, c, d, h, w] without the spatial dimensions that the tensor lacks.
Index convolution_index(const ConvolutionShape &shape, const std::string &n, const std::string &c,
                        const std::string &d, const std::string &h, const std::string &w);

} // namespace warpwright::elements
