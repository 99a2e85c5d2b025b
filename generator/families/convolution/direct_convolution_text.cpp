// Text of the direct convolution's products. See direct_convolution_text.h.
#include "generator/families/convolution/direct_convolution_text.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

std::string place(std::size_t d) { return std::string(1, "dhw"[d]) + "0[p]"; }
std::string limit(std::size_t d) { return "@I" + std::string(1, "DHW"[d]) + "@u"; }

} // namespace

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

DirectText::DirectText(const ConvolutionShape &shape, const std::vector<Together> &parts,
                       bool straight, const std::array<bool, 3> &leaving, const std::string &load)
    : shape_(shape), parts_(parts), straight_(straight), leaving_(leaving), load_(load) {
  for (const Together &part : parts)
    for (const auto &[tap, phase] : part.taps)
      for (std::size_t d = 1; d < 3; ++d)
        if (leaving[d] && !bit(d, tap.offset[d]))
          bits_.push_back({d, tap.offset[d]});
  masks_ = straight && bits_.size() < 31;
}

std::string DirectText::masks() const {
  if (!masks_ || bits_.empty())
    return "";
  std::string text = "  int seen_around[kP];\n#pragma unroll\n  for (int p = 0; p < kP; ++p)\n"
                     "    seen_around[p] = 0";
  for (std::size_t i = 0; i < bits_.size(); ++i)
    text += " | ((unsigned)(" + place(bits_[i].first) + " + (" + std::to_string(bits_[i].second) + ")) < " +
            limit(bits_[i].first) + " ? " + std::to_string(std::int64_t{1} << i) + " : 0)";
  return text + ";\n";
}

std::string DirectText::multiply() const {
  std::string text;
  const std::string slice = std::to_string(shape_.kernel[1] * shape_.kernel[2]);
  if (deep())
    text = "#pragma unroll 1\n    for (int i = 0; i < part[6]; ++i) {\n"
           "      const int *const depth = @PREFIX@_depths[part[5] + i];\n"
           "      const int dd = depth[0];\n      const float *const row = weights + (input * "
           "@TAPS@ + depth[1] * " +
           slice + ") * kC;\n";
  else
    text = "    {\n      const float *const row = weights + input * (@TAPS@ * kC);\n";
  if (masks_ && (leaving_[0] || !bits_.empty())) {
    text += "      int seen[kP];\n#pragma unroll\n      for (int p = 0; p < kP; ++p)\n        "
            "seen[p] = ";
    if (leaving_[0])
      text += "(unsigned)(d0[p] + " + depth_offset() + ") >= " + limit(0) + " ? 0 : ";
    text += (bits_.empty() ? "1" : "seen_around[p]") + std::string(";\n");
  }
  std::vector<std::int64_t> heights;
  for (const Together &part : parts_) {
    if (std::ranges::find(heights, part.first[1]) != heights.end() || part.taps.empty())
      continue;
    heights.push_back(part.first[1]);
    const std::string body = straight_ ? height_text(part) : lines_text();
    text += shape_.transposed && shape_.stride[1] > 1
                ? "    if (part[1] == " + std::to_string(part.first[1]) + ") {\n" + body + "    }\n"
                : body;
  }
  return text + "    }\n";
}

std::optional<std::size_t> DirectText::bit(std::size_t d, std::int64_t offset) const {
  const auto found = std::ranges::find(bits_, std::pair{d, offset});
  return found == bits_.end() ? std::nullopt : std::optional<std::size_t>(found - bits_.begin());
}

std::string DirectText::height_text(const Together &part) const {
  const std::int64_t slice = shape_.kernel[1] * shape_.kernel[2];
  const std::int64_t depth = part.taps.front().first.weight / slice;
  std::string text;
  for (std::size_t i = 0; i < part.taps.size();) {
    if (part.taps[i].first.weight / slice != depth) {
      ++i;
      continue;
    }
    const auto &offset = part.taps[i].first.offset;
    std::string multiplications;
    for (; i < part.taps.size() && part.taps[i].first.offset == offset; ++i)
      multiplications += "      multiply(x, sums[" + std::to_string(part.taps[i].second) + "], row + " +
                         std::to_string(part.taps[i].first.weight % slice) + " * kC);\n";
    std::int64_t mask = 0;
    for (std::size_t d = 1; d < 3; ++d)
      if (const auto found = bit(d, offset[d]))
        mask |= std::int64_t{1} << *found;
    std::string condition = compared("(" + std::to_string(offset[1]) + ")", "(" + std::to_string(offset[2]) + ")");
    if (masks_ && (mask != 0 || leaving_[0]))
      condition = "(seen[p] & " + std::to_string(std::max<std::int64_t>(mask, 1)) +
                  ") == " + std::to_string(std::max<std::int64_t>(mask, 1));
    if (masks_ && mask == 0 && leaving_[0])
      condition = "seen[p] != 0";
    text += step("(" + std::to_string(offset[1]) + ")", "(" + std::to_string(offset[2]) + ")", multiplications,
                 condition);
  }
  return text;
}

std::string DirectText::compared(const std::string &h, const std::string &w) const {
  std::string text;
  const std::array<std::string, 3> offsets{depth_offset(), h, w};
  for (std::size_t d = 0; d < 3; ++d)
    if (leaving_[d])
      text += (text.empty() ? "" : " && ") + ("(unsigned)(" + place(d) + " + " + offsets[d]) +
              ") < " + limit(d);
  return text;
}

std::string DirectText::lines_text() const {
  std::string text =
      "#pragma unroll 1\n    for (int kh = 0; kh < @KH@; ++kh) {\n      const int dh = kh * " +
      std::to_string(shape_.dilation[1]) + " - " + std::to_string(shape_.padding[1]) + ";\n";
  for (std::int64_t kw = 0; kw < shape_.kernel[2]; ++kw) {
    const std::string w = "(" + std::to_string(kw * shape_.dilation[2] - shape_.padding[2]) + ")";
    text +=
        step("dh", w, "      multiply(x, sums[0], row + (kh * @KW@ + " + std::to_string(kw) + ") * kC);\n",
             compared("dh", w));
  }
  return text + "    }\n";
}

std::string DirectText::step(const std::string &h, const std::string &w,
                             const std::string &multiplications,
                             const std::string &condition) const {
  std::string text =
      "    {\n      float x[kP];\n#pragma unroll\n      for (int p = 0; p < kP; ++p) "
      "{\n        float value = 0;\n";
  if (!condition.empty())
    text += "        if (" + condition + ") {\n";
  text += fill_places(load_, {{"D", depth_offset()}, {"H", h}, {"W", w}});
  if (!condition.empty())
    text += "        }\n";
  return text + "        x[p] = value;\n      }\n" + multiplications + "    }\n";
}

} // namespace warpwright::generator
