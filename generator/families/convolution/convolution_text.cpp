// Text around the device templates of convolutions; see convolution_text.h.
#include "generator/families/convolution/convolution_text.h"

#include "generator/elements/window_text.h"

#include <algorithm>

namespace warpwright::families::convolution {
namespace {

std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string functor(const std::string &last, const std::string &body) {
  return "[&](const int n, const int channel, const int od, const int oh, const int " + last + ") {\n" + body + "  }";
}

} // namespace

std::string row_text(const Numbers &row) {
  std::vector<std::string> parts;
  for (const std::int64_t number : row)
    parts.push_back(std::to_string(number));
  return "{" + join(parts) + "}";
}

std::string table_text(const std::vector<Numbers> &rows) {
  std::vector<std::string> parts;
  for (const Numbers &row : rows)
    parts.push_back(row_text(row));
  return "{" + (parts.empty() ? "{}" : join(parts)) + "}";
}

std::string static_constants(const Constants &constants) {
  return "  static constexpr int " + elements::constants_text(constants) + ";\n";
}

std::string shape_constants(const elements::ConvolutionShape &shape,
                            const std::array<std::int64_t, 3> &input_step,
                            const std::array<std::int64_t, 3> &output_step,
                            const std::array<std::int64_t, 3> &count) {
  Constants all{{"kBatch", shape.batch},          {"kGroupIn", shape.group_in},
                {"kGroupOut", shape.group_out},   {"kChannelsIn", shape.channels_in()},
                {"kChannelsOut", shape.channels_out()}, {"kTransposed", shape.transposed},
                {"kOutW", shape.out[2]}};
  std::string text = static_constants(all);
  for (const auto &[name, values] : {std::pair{"kIn", &shape.in},
                                     {"kKernel", &shape.kernel},
                                     {"kInputStep", &input_step},
                                     {"kOutputStep", &output_step},
                                     {"kCount", &count}}) {
    Constants three;
    for (std::size_t d = 0; d < 3; ++d)
      three.emplace_back(std::string(name) + "DHW"[d], (*values)[d]);
    text += static_constants(three);
  }
  return text;
}

ConvolutionText::ConvolutionText(const ops::GraphIndex &index, const elements::Region &region)
    : anchor_(index.node(region.anchor)), shape_(*elements::convolution_shape(index, anchor_)),
      writer_(index, region) {
  const auto operand = std::ranges::find(region.inputs, anchor_.inputs[0]);
  const model::TensorType input = elements::region_type(index, region, anchor_.inputs[0]);
  if (operand != region.inputs.end() && model::is_contiguous(input) && input.dtype == model::Dtype::Float32)
    input_ = "in" + std::to_string(operand - region.inputs.begin());
}

std::string ConvolutionText::element(std::size_t operand, const elements::Index &at) {
  std::string before;
  const std::string value = writer_.load(anchor_.inputs[operand], at, before);
  return before + "    return (float)(" + value + ");\n  }";
}

std::string ConvolutionText::load() {
  return "[&](const int n, const int channel, const int d, const int h, const int w) {\n" +
         element(0, elements::convolution_index(shape_, "n", "channel", "d", "h", "w"));
}

std::string ConvolutionText::weight() {
  const char *first = shape_.transposed ? "input_channel" : "output_channel";
  const char *second = shape_.transposed ? "output_channel" : "input_channel";
  return "[&](const int output_channel, const int input_channel, const int tap_d, const int tap_h, "
         "const int tap_w) {\n" +
         element(1, elements::convolution_index(shape_, first, second, "tap_d", "tap_h", "tap_w"));
}

std::pair<std::string, std::string> ConvolutionText::bias() {
  if (!shape_.bias)
    return {};
  std::string before;
  const std::string value = writer_.load(anchor_.inputs[2], {"channel"}, before);
  return {before + "    const float added = (float)(" + value + ");\n", " + added"};
}

std::string ConvolutionText::finish() {
  const auto [before, plus] = bias();
  return functor(
      "ow, const float sum",
      before + "    const float element = sum" + plus + ";\n" +
          writer_.store(elements::convolution_index(shape_, "n", "channel", "od", "oh", "ow"),
                        "element"));
}

std::string ConvolutionText::finish_all(std::int64_t along) {
  const std::string count = std::to_string(along);
  auto [text, plus] = bias();
  std::vector<elements::Index> lanes;
  std::vector<std::string> elements;
  for (std::int64_t i = 0; i < along; ++i) {
    elements.push_back("element" + std::to_string(i));
    text += "    const float " + elements.back() + " = sums[" + std::to_string(i) + "]" + plus + ";\n";
    lanes.push_back(elements::convolution_index(shape_, "n", "channel", "od", "oh",
                                                count + " * qw + " + std::to_string(i)));
  }
  return functor("qw, const float (&sums)[" + count + "]", text + writer_.store(lanes, elements));
}

} // namespace warpwright::families::convolution
