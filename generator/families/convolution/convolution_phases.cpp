// Computation of a convolution's phases; see convolution_phases.h.
#include "generator/families/convolution/convolution_phases.h"

namespace warpwright::families::convolution {

ConvolutionPhases convolution_phases(const elements::ConvolutionShape &shape, bool gather) {
  ConvolutionPhases result;
  if (!shape.transposed) {
    result.input_step = shape.stride;
    ConvolutionPhase phase;
    phase.count = shape.out;
    for (std::int64_t tap = 0; tap < shape.taps(); ++tap) {
      const std::array<std::int64_t, 3> at{tap / (shape.kernel[1] * shape.kernel[2]),
                                           tap / shape.kernel[2] % shape.kernel[1],
                                           tap % shape.kernel[2]};
      ConvolutionTap entry{tap, {}};
      for (std::size_t d = 0; d < 3; ++d)
        entry.offset[d] = at[d] * shape.dilation[d] - shape.padding[d];
      phase.taps.push_back(entry);
    }
    result.phases.push_back(std::move(phase));
    return result;
  }
  result.output_step = shape.stride;
  if (gather)
    result.output_step[2] = 1;
  const auto &step = result.output_step;
  for (std::int64_t at = 0; at < step[0] * step[1] * step[2]; ++at) {
    ConvolutionPhase phase;
    phase.first = {at / (step[1] * step[2]), at / step[2] % step[1], at % step[2]};
    bool empty = false;
    for (std::size_t d = 0; d < 3; ++d) {
      phase.count[d] = elements::ceil_divide(shape.out[d] - phase.first[d], step[d]);
      empty = empty || phase.first[d] >= shape.out[d];
    }
    if (empty)
      continue;
    for (std::int64_t tap = 0; tap < shape.taps(); ++tap) {
      const std::array<std::int64_t, 3> k{tap / (shape.kernel[1] * shape.kernel[2]),
                                          tap / shape.kernel[2] % shape.kernel[1],
                                          tap % shape.kernel[2]};
      ConvolutionTap entry{tap, {}};
      bool meets = true;
      for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t from = phase.first[d] + shape.padding[d] - k[d] * shape.dilation[d];
        meets = meets && from % step[d] == 0;
        entry.offset[d] = from / step[d];
      }
      if (meets)
        phase.taps.push_back(entry);
    }
    result.phases.push_back(std::move(phase));
  }
  return result;
}

} // namespace warpwright::families::convolution
