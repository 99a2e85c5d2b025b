// Depthwise convolution: each output channel reads one input channel (a multiplier may give it several outputs).
//
// window_tile.h provides the loops of this weighted sliding window. It is memory-bound: a tile reads each input element
// once, and products and sums are FP32 without tensor cores. Weights stay in registers if the window is small. Leaves
// out: transposed depthwise convolution, which the convolution family handles.
#include "generator/elements/convolution_shape.h"
#include "generator/families/windows/window_channels.h"
#include "generator/families/windows/depthwise.h"
#include "generator/families/windows/window_tile.h"

#include <algorithm>

namespace warpwright::families::windows {
namespace {

constexpr std::int64_t kRegisterTaps = 50;

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const auto shape = elements::convolution_shape(index, anchor);
  return shape && !shape->transposed && shape->group_in == 1 && shape->groups > 1 &&
         model::is_floating(anchor.type().dtype);
}

WindowShape window_of(const elements::ConvolutionShape &shape) {
  WindowShape window;
  window.leading = {shape.batch, shape.channels_out()};
  window.spatial = shape.spatial;
  window.in = shape.in;
  window.out = shape.out;
  window.kernel = shape.kernel;
  window.stride = shape.stride;
  window.padding = shape.padding;
  window.dilation = shape.dilation;
  return window;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const model::Node &anchor = index.node(region.anchor);
  const elements::ConvolutionShape shape = *elements::convolution_shape(index, anchor);
  const WindowShape window = window_of(shape);
  std::vector<elements::Configuration> list;
  if (shape.group_out == 1) {
    const elements::ElementWriter writer(index, region);
    list = channel_configurations(writer, window, anchor.inputs[0], device);
  }
  std::ranges::copy(window_configurations(window, device), std::back_inserter(list));
  return list;
}

/// Lowering for channels-last memory in which each output channel reads the input channel of the same number.
Result<elements::Lowering> lower_along_channels(const ops::GraphIndex &index,
                                                const elements::Region &region,
                                                const elements::Configuration &configuration,
                                                const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const elements::ConvolutionShape shape = *elements::convolution_shape(index, anchor);
  elements::ElementWriter writer(index, region);
  writer.bound("channel", shape.channels_out());
  const std::string channel = "const int channel = c1 * kWidth + i;\n";
  std::string weight_before;
  const std::string weight = writer.load(
      anchor.inputs[1], elements::convolution_index(shape, "channel", "0", "kd", "kh", "kw"),
      weight_before);
  ChannelBody body{writer.compute_type(region.anchor), "Value(0)",
                   channel + "const int kw = from / " + std::to_string(shape.dilation[2]) + ";\n" +
                       weight_before + "sum += (Value)(" + weight + ") * value;",
                   "const Value element = sum;"};
  if (shape.bias) {
    std::string before;
    const std::string bias = writer.load(anchor.inputs[2], {"channel"}, before);
    body.result = channel + before + "const Value element = sum + (Value)(" + bias + ");";
  }
  return lower_channels(window_of(shape), body, configuration, writer, anchor.inputs[0],
                        prefix + "_depthwise");
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  if (configuration.contains("channels_last"))
    return lower_along_channels(index, region, configuration, prefix);
  const model::Node &anchor = index.node(region.anchor);
  const elements::ConvolutionShape shape = *elements::convolution_shape(index, anchor);
  const WindowShape window = window_of(shape);
  const auto rows = elements::setting_of(configuration, "rows", 1, 64);
  const auto columns = elements::setting_of(configuration, "columns", 1, 4);
  for (const auto &setting : {rows, columns})
    if (!setting)
      return std::unexpected(setting.error());
  elements::ElementWriter writer(index, region);
  writer.bound("plane", window.planes());
  writer.bound("channel", shape.channels_out());
  writer.bound("tap", shape.taps());
  WindowBody body;
  body.type = writer.compute_type(region.anchor);
  body.fill = body.initial = "Value(0)";

  write_window_access(body, window, writer, anchor.inputs[0], shape.group_out);
  const bool in_registers =
      shape.taps() <= kRegisterTaps && unrolls_depths(window, *rows, *columns);
  body.setup = "  const int channel = plane % " + std::to_string(shape.channels_out()) + ";\n";
  const auto weight_at = [&](const std::string &kd, const std::string &kh, const std::string &kw,
                             std::string &statements) {
    return writer.load(anchor.inputs[1],
                       elements::convolution_index(shape, "channel", "0", kd, kh, kw), statements);
  };
  std::string weight_before;
  if (in_registers) {
    const elements::Index tap =
        elements::unflatten("tap", {shape.kernel[0], shape.kernel[1], shape.kernel[2]});
    const std::string weight = weight_at(tap[0], tap[1], tap[2], weight_before);
    body.setup += "  Value weights[kKD * kKH * kKW];\n#pragma unroll\n"
                  "  for (int tap = 0; tap < kKD * kKH * kKW; ++tap) {\n" +
                  weight_before + "    weights[tap] = (Value)(" + weight + ");\n  }\n";
    body.accumulate = R"cuda(
#pragma unroll
          for (int kw = 0; kw < kKW; ++kw)
            sum += weights[(kd * kKH + kh) * kKW + kw] * v[kw];)cuda";
  } else {
    const std::string weight = weight_at("kd", "kh", "kw", weight_before);
    body.accumulate = "#pragma unroll\n          for (int kw = 0; kw < kKW; ++kw) {\n" +
                      weight_before + "            sum += (Value)(" + weight +
                      ") * v[kw];\n          }";
  }
  body.result = "          const Value element = sum";
  if (shape.bias) {
    std::string bias_before;
    const std::string bias = writer.load(anchor.inputs[2], {"channel"}, bias_before);
    body.setup += bias_before + "  const Value bias = (Value)(" + bias + ");\n";
    body.result += " + bias";
  }
  body.result += ";";
  return lower_window(window, body, configuration, device, writer, prefix + "_depthwise");
}

/// Fit of measurements on an H200 (bench/results/h200/windows.md):
/// memory time and the arithmetic that it does not hide.
double estimate(const ops::GraphIndex &index, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  const arch::DepthwiseRates &rates = device.rates.depthwise;
  const model::TensorType &in = index.node(anchor.inputs[0]).type(), &out = anchor.type();
  const auto outputs = static_cast<double>(model::elements_of(out.shape));
  const double bytes = (static_cast<double>(model::elements_of(in.shape)) + outputs) *
                       static_cast<double>(model::size_bytes(out.dtype));
  const double memory = bytes / rates.bytes;
  const double products = outputs *
                          static_cast<double>(elements::convolution_shape(index, anchor)->taps()) /
                          rates.products;
  return rates.launch_us + std::max(memory, products) + 0.25 * std::min(memory, products);
}

} // namespace

const elements::Family kDepthwiseFamily{.name = "depthwise",
                                        .claims = claims,
                                        .takes_prologue = true,
                                        .takes_epilogue = true,
                                        .configurations = configurations,
                                        .lower = lower,
                                        .estimate = estimate,
                                        .ordinary_cores = true,
                                        .keeps_layout = true};

} // namespace warpwright::families::windows
