// Tap tables of the direct convolution; see direct_convolution_taps.h.
#include "generator/families/convolution/direct_convolution_taps.h"

#include <algorithm>

namespace warpwright::families::convolution {

std::vector<Together> together(const ConvolutionPhases &all) {
  std::vector<Together> list;
  for (const ConvolutionPhase &phase : all.phases) {
    if (list.empty() || list.back().first[0] != phase.first[0] ||
        list.back().first[1] != phase.first[1])
      list.push_back({phase.first, phase.count, {}});
    Together &last = list.back();
    last.count[2] = std::max(last.count[2], phase.count[2]);
    for (const ConvolutionTap &tap : phase.taps)
      last.taps.emplace_back(tap, phase.first[2]);
  }
  for (Together &one : list)
    std::ranges::stable_sort(one.taps, {}, [](const auto &tap) { return tap.first.offset; });
  return list;
}

DirectTaps::DirectTaps(const elements::ConvolutionShape &shape, const std::vector<Together> &parts,
                       bool straight, const std::array<bool, 3> &leaving) {
  for (const Together &part : parts)
    for (const auto &[tap, phase] : part.taps)
      for (std::int64_t d = 1; d < 3; ++d) {
        const std::int64_t offset = tap.offset[static_cast<std::size_t>(d)];
        if (leaving[static_cast<std::size_t>(d)] && std::ranges::find(bits, Numbers{d, offset}) == bits.end())
          bits.push_back({d, offset});
      }
  masks = straight && bits.size() < 31;
  if (!straight)
    return;
  const auto mask_of = [&](const ConvolutionTap &tap) {
    std::int64_t mask = 0;
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (tap.offset[static_cast<std::size_t>(bits[i][0])] == bits[i][1])
        mask |= std::int64_t{1} << i;
    return masks ? mask : 0;
  };
  const std::int64_t slice = shape.kernel[1] * shape.kernel[2];
  for (const Together &part : parts) {
    const auto known = std::ranges::find(heights, part.first[1], [](const Numbers &height) { return height[0]; });
    if (known != heights.end() || part.taps.empty())
      continue;
    const std::int64_t depth = part.taps.front().first.weight / slice, first_step = std::ssize(steps);
    const ConvolutionTap *last = nullptr;
    for (const auto &[tap, phase] : part.taps) {
      if (tap.weight / slice != depth)
        continue;
      if (!last || tap.offset != last->offset)
        steps.push_back({tap.offset[1], tap.offset[2], mask_of(tap), std::ssize(products), 0});
      products.push_back({phase, tap.weight % slice});
      steps.back()[4] = std::ssize(products);
      last = &tap;
    }
    heights.push_back({part.first[1], first_step, std::ssize(steps)});
  }
  if (!masks)
    bits.clear();
}

} // namespace warpwright::families::convolution
